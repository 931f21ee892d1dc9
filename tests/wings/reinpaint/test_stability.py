"""Spread by chance: how sure a mean over items is, is said by their sources."""

from __future__ import annotations

import pytest

from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.eval.values.statistics import summarise
from inpaintbench.types import Dataset, Score
from inpaintbench.wings.reinpaint.leaves import metric_of
from inpaintbench.wings.reinpaint.setting import Setting
from inpaintbench.wings.reinpaint.stability import images
from inpaintbench.wings.reinpaint.step import natural

CLIPS = 4


@pytest.mark.parametrize("films", [5, 6])
def test_the_error_of_a_mean_is_by_source_and_there_is_none_below_six(films: int) -> None:
    """Four clips of one film with nearly one value are no four observations."""
    rows = tuple({"item_id": f"i{film}{clip}", "source_id": f"film {film}"} for film in range(films) for clip in range(CLIPS))
    values = [10.0 * film + 0.01 * clip for film in range(films) for clip in range(CLIPS)]
    dataset = Dataset("made", {}, rows, (), {}, {}, {})
    metric = metric_of("1-2", "psnr")
    scores = [
        Score("natural", str(row["item_id"]), metric, "frame", "p", "f", value, None)
        for row, value in zip(rows, values, strict=True)
    ]
    base = Setting(MethodSpec("telea", "telea"))
    made = images(lambda *_: {("natural", base.key): scores}, dataset, [natural()], base, "psnr")
    *_, whole = made.rows
    assert sorted(whole.values) == values
    if films < 6:
        assert whole.told == "5 sources: an interval, rank or lead needs at least 6"
        return
    expected = summarise(values, clusters=[str(row["source_id"]) for row in rows]).standard_error
    assert whole.told == f"standard error of the mean {expected:.4f}, by source"
    assert made.rows[0].label == "10 items"
    by_item = summarise(values, clusters=[str(row["item_id"]) for row in rows]).standard_error
    assert expected is not None
    assert by_item is not None
    assert expected > 1.5 * by_item
