"""Beside a rate on the pages of an alignment: nothing with five sources, all of it with six."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.eval.comparing.test_few_sources import read_csv, told
from tests.wings.align.planted_answers import ballot

from inpaintbench.wings.align.align import align
from inpaintbench.wings.align.page import write_alignment
from inpaintbench.wings.align.reading import Answers, Measured


@pytest.mark.parametrize("sources", [5, 6])
def test_the_alignment(sources: int, tmp_path: Path) -> None:
    items = [f"film{number}" for number in range(sources)]
    answers = Answers(
        tuple(
            ballot(item, "a", "b", "a" if (at + rater) % 4 else "b", rater=f"r{rater}")
            for at, item in enumerate(items)
            for rater in range(6)
        )
    )
    values = {name: {(item, method): sign * place for item in items for place, method in enumerate("ab")}
              for name, sign in (("mine", -1.0), ("worse", 1.0))}  # fmt: skip
    found = align(answers, Measured(values, dict.fromkeys(values, True)), tie_quantile=0.1, slices={"s": items})
    few = sources == 5
    page = write_alignment(tmp_path / "out", found).read_text()
    for path in (tmp_path / "out").glob("*.csv"):
        rows = read_csv(path.read_text())
        for column in {"low", "high", "interval_low", "interval_high"} & set(rows[0] if rows else {}):
            assert (told(rows, column) == {""}) == few or not few, path.name
    assert ('<td class="n best"' not in page) == ("Nothing could be told" in page) == few
    assert (found.dimensions[0].lines[0].matched.rate.low is None) == few
    drawn = "".join(path.read_text() for path in (tmp_path / "out").rglob("*.svg"))
    hollow = re.findall(r'<path aria-label="[^"]*all answers[^>]*d="[^"]*" stroke=', drawn)  # filled ones have a fill
    assert (len(hollow) > 0) == few
