"""The trail of one clip."""

from __future__ import annotations

import pytest
from selection_world import RULES, fill

from inpaintbench.curation.why import find_clip, margin, trail, unit_and_direction
from inpaintbench.errors import InputError
from inpaintbench.types import Selection
from inpaintbench.workspace import Workspace


def test_everything_about_a_clip(workspace: Workspace) -> None:
    fill(workspace)
    found = trail(workspace, find_clip(workspace, "c00"))
    assert found.source is not None
    assert found.download is not None
    assert (found.source.source_id, found.download.page_url) == ("s00", "https://example.org/page/0")
    assert found.download.retrieved_at == "2025-01-01T00:00:00Z"
    assert [row.name for row in found.facts] == ["probe.frames", "crispness", "cut_score", "kind"]
    assert [row.rule for row in found.selections] == [rule.label for rule in RULES]
    assert [row.answer for row in found.answers] == ["keep"]
    assert found.copies == ("c05",)
    assert [(one.item.item_id, one.slices) for one in found.endings] == [("i00", ("motion-low",)), ("i01", ("motion-high",))]
    assert found.endings[0].corruption is not None
    assert found.endings[0].corruption.generator == "devil_blobs"


@pytest.mark.parametrize("name", ["c05", "folder/video%202.mp4:15", "folder/video 2.mp4:19"])
def test_names_of_a_clip(workspace: Workspace, name: str) -> None:
    assert find_clip(fill(workspace), name).clip_id == "c05"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("c0", "10 clips are called 'c0'; name one by its id, such as c00, c01"),
        ("folder/video 2.mp4", "2 clips are called .* such as c04, c05, or as SOURCE:FRAME"),
        ("folder/video 2.mp4:99", "no clip is called"),
        ("", "no clip is called ''"),
    ],
)
def test_names_that_are_not_one_clip(workspace: Workspace, name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        find_clip(fill(workspace), name)


def test_an_empty_workspace(workspace: Workspace) -> None:
    with pytest.raises(InputError, match="has no clips yet"):
        find_clip(workspace, "c00")


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [
        ("a <= 0.5", 0.3, 0.2), ("a < 0.5", 0.7, -0.2), ("a >= 1 and a <= 4", 3.5, 0.5), ("a >= 1 and a <= 4", 0.5, -0.5),
        ('a = "x"', "x", None), ("a among the highest 70%", 0.3, None), ("a <= 0.5", None, None),
    ],
)  # fmt: skip
def test_margins(rule: str, value: float | str | None, expected: float | None) -> None:
    assert margin(Selection("c", rule, value, True, None)) == (None if expected is None else pytest.approx(expected))


def test_units_come_from_the_leaf() -> None:
    assert unit_and_direction("cut_score")[0] == "scene score, 0..1"
    assert unit_and_direction("probe.width") == ("", "")
