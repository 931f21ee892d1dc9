"""Share of what items hide that inputs of others show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.recipes.test_growing import made, pictures

from inpaintbench import frozen, video
from inpaintbench.export import removed
from inpaintbench.export.diff import difference, only_adds
from inpaintbench.export.exposure import shown_by_others
from inpaintbench.frozen import SHOWN
from inpaintbench.recipes.settings import export
from inpaintbench.recipes.versions import Asked
from inpaintbench.types import Dataset
from inpaintbench.workspace import Workspace

pytestmark = pytest.mark.usefixtures("pictures_are_known")

FRAMES, HEIGHT, WIDTH = 8, 48, 64


def film(root: Path, name: str, *holes: tuple[int, int], **row: Any) -> list[dict[str, Any]]:
    """Items of one clip, of which each hides some columns; truths are never looked at."""
    rows = []
    for place, (low, high) in enumerate(holes):
        frames, height, width = (
            row.get(side, usual) for side, usual in (("frames", FRAMES), ("height", HEIGHT), ("width", WIDTH))
        )
        hole = np.zeros((frames, height, width), bool)
        hole[:, :, low:high] = True
        video.write_hole(root / f"{name}{place}.mp4", hole, fps=25.0)
        rows.append({
            "item_id": f"{name}{place}", "clip_id": name, "source_id": "s", "start_frame": 0, "end_frame": FRAMES, "fps": 25.0,
            "frames": frames, "height": height, "width": width, "truth_rgb_sha256": name, "hole_sha256": f"{low}-{high}",
            "hole_file_name": f"{name}{place}.mp4", **row,
        })  # fmt: skip
    return rows


def shares(root: Path, rows: list[dict[str, Any]]) -> dict[str, float | None]:
    return {name: shown and shown.share for name, shown in shown_by_others(root, rows).items()}


def test_holes_of_one_clip_show_what_they_do_not_share(tmp_path: Path) -> None:
    rows = film(tmp_path, "a", (0, 20), (10, 30), (10, 30), (0, 64))
    everywhere = range(10, 20)  # all four hide these
    expected = {"a0": (0, 20), "a1": (10, 30), "a2": (10, 30), "a3": (0, 64)}
    counted = {
        name: round(sum(column not in everywhere for column in range(*hole)) / (hole[1] - hole[0]), 4)
        for name, hole in expected.items()
    }
    assert shares(tmp_path, rows) == counted


def test_equal_holes_and_lone_items_show_nothing_and_are_not_decoded(tmp_path: Path) -> None:
    rows = [*film(tmp_path, "a", (0, 20), (0, 20)), *film(tmp_path, "b", (5, 9), source_id="t")]
    for row in rows:
        (tmp_path / row["hole_file_name"]).unlink()
    assert shares(tmp_path, rows) == {"a0": 0.0, "a1": 0.0, "b0": 0.0}


def test_edits_and_inputs_without_a_truth_hide_nothing(tmp_path: Path) -> None:
    rows = [
        *film(tmp_path, "a", (0, 20), (30, 40), target_prompt="a red car"),
        *film(tmp_path, "b", (0, 20), (30, 40), generator="unpaired", start_frame=100, end_frame=108),
    ]
    assert set(shares(tmp_path, rows).values()) == {None}


def test_what_is_degraded_everywhere_shows_nothing(tmp_path: Path) -> None:
    rows = film(tmp_path, "a", (0, 20), (30, 40))
    for row in rows:
        row |= {"hole_file_name": None, "hole_sha256": None, "input_sha256": row["item_id"]}
    assert shares(tmp_path, rows) == {"a0": 0.0, "a1": 0.0}


def test_an_object_and_its_effects_in_an_input_are_not_the_truth(tmp_path: Path) -> None:
    rows = film(tmp_path, "a", (0, 20), (30, 40))
    mask = np.zeros((FRAMES, HEIGHT, WIDTH), bool)
    mask[:, :, 5:40] = True
    video.write_hole(tmp_path / "effect.mp4", mask, fps=25.0)
    rows[1] |= {"effect_mask_file_name": "effect.mp4", "effect_mask_sha256": "e"}
    assert shares(tmp_path, rows) == {"a0": 0.25, "a1": 1.0}


def test_spans_that_overlap_show_each_other_at_the_same_time(tmp_path: Path) -> None:
    one = film(tmp_path, "a", (0, 20))
    other = film(tmp_path, "b", (40, 50), start_frame=6, end_frame=6 + FRAMES)
    apart = film(tmp_path, "c", (40, 50), start_frame=40, end_frame=40 + FRAMES)
    assert shares(tmp_path, [*one, *other, *apart]) == {"a0": 2 / 8, "b0": 2 / 8, "c0": 0.0}
    # Every second frame of the same span, at half the rate: all of its frames are shown, and half of the other's.
    slow = film(tmp_path, "d", (40, 50), frames=4, fps=12.5, end_frame=4)
    assert shares(tmp_path, [*one, *slow]) == {"a0": 0.5, "d0": 1.0}
    # Half the size: the same place of the picture.
    small = film(tmp_path, "e", (0, 5), height=HEIGHT // 2, width=WIDTH // 2)
    assert shares(tmp_path, [*one, *small]) == {"a0": 0.5, "e0": 0.0}


def check(folder: Path, dataset: Dataset) -> Dataset:
    """Shares are what holes say that are decoded and counted here."""
    for row in dataset.items:
        holes = [frozen.hole_of(folder, one) for one in beside(dataset, row)]
        hole = frozen.hole_of(folder, row)
        assert row[SHOWN] == round(float((hole & ~np.logical_and.reduce(holes)).sum() / hole.sum()), 4)
    return dataset


def beside(dataset: Dataset, row: Any) -> list[Any]:
    return [one for one in dataset.items if one["clip_id"] == row["clip_id"]]


def test_a_frozen_dataset_says_it_and_counts_again_as_it_grows_and_shrinks(tmp_path: Path) -> None:
    recipe, source = pictures(3, tmp_path)
    folder, workspace = tmp_path / "workspace" / "exports" / recipe.kind, tmp_path / "workspace"
    first = check(folder, made(workspace, recipe, source))
    assert any(row[SHOWN] > 0 for row in first.items)
    recipe, source = pictures(5, tmp_path)
    second = check(folder, made(workspace, recipe, source, append=True))
    assert len(second.items) > len(first.items)
    assert only_adds(difference(first, second))
    card = (folder / "README.md").read_text()
    assert "- `shown_by_other_inputs`: share of the hole pixels" in card
    assert "Inputs of one clip show what lies under the holes of others: of " in card
    gone = next(row for row in second.items if len(beside(second, row)) > 1)
    removed.remove(Workspace(workspace), [("item", gone["item_id"])], reason="a test")
    third = check(folder, export(recipe, Workspace(workspace), asked=Asked(replace=True))[1])
    changed = {row["item_id"]: row[SHOWN] for row in beside(third, gone)}
    assert changed != {row["item_id"]: row[SHOWN] for row in beside(second, gone) if row != gone}


def test_a_dataset_of_before_is_read_and_grows_into_one_that_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe, source = pictures(3, tmp_path)
    folder, workspace = tmp_path / "workspace" / "exports" / recipe.kind, tmp_path / "workspace"
    with monkeypatch.context() as before:
        before.setattr(
            "inpaintbench.export.freeze.shown_by_others", lambda _, rows: dict.fromkeys(row["item_id"] for row in rows)
        )
        old = made(workspace, recipe, source)
    assert SHOWN not in old.items[0]
    assert frozen.exposed((row.get(SHOWN), 1) for row in old.items) == (0, 0, 0.0)
    assert "shown_by_other_inputs" not in (folder / "README.md").read_text()
    recipe, source = pictures(5, tmp_path)
    check(folder, made(workspace, recipe, source, append=True))


@pytest.mark.parametrize(("values", "told"), [([None], (0, 0, 0.0)), ([0.0, 0.05, 0.06, 0.09], (4, 2, 0.05))])
def test_sums_over_items(values: list[float | None], told: tuple[int, int, float]) -> None:
    assert frozen.exposed((value, 1) for value in values) == pytest.approx(told)
