from __future__ import annotations

from pathlib import Path

import pytest

from inpaintbench.errors import InputError
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.annotated_people.plain import SynchronicReader

PERSON = """101 51 101 151
81 61 71 101
121 61 131 101
73 103 61 141
141 141 133 99
101 41 103 11
"""
HIDDEN = "NaN NaN NaN NaN\n"


def read(folder: Path, text: str):
    path = folder / "sticks.txt"
    path.write_text(text)
    return SynchronicReader().read(path)


def at(name: str, side: str | None, x: float, y: float) -> Joint:
    return Joint(0, name, side, x, y, side_of="image")


def test_joints_of_sticks_whichever_way_they_point(tmp_path: Path) -> None:
    found = read(tmp_path, "a.jpg 1 6\n" + PERSON)
    assert found.people[0].joints == (
        at("thorax", None, 100, 100),
        at("shoulder", "left", 80, 60), at("elbow", "left", 71, 101), at("wrist", "left", 60, 140),
        at("shoulder", "right", 120, 60), at("elbow", "right", 131, 99), at("wrist", "right", 140, 140),
        at("head_top", None, 102, 10), at("upper_neck", None, 100, 40),
    )  # fmt: skip
    assert found.people[0].split_group == "synchronic/a.jpg"
    assert not found.problems


def test_hidden_sticks_are_named_and_give_no_joints(tmp_path: Path) -> None:
    lines = PERSON.splitlines(keepends=True)
    lines[0], lines[3] = HIDDEN, HIDDEN
    found = read(tmp_path, "a.jpg 2 6\n" + "".join(lines) + HIDDEN * 6)
    assert [(joint.name, joint.side) for joint in found.people[0].joints] == [
        ("shoulder", "right"), ("elbow", "right"), ("wrist", "right"), ("head_top", None), ("upper_neck", None),
    ]  # fmt: skip
    assert [problem.reason for problem in found.problems][:3] == [
        "the torso is occluded", "the left lower arm is occluded", "the left arm has one stick: its joints cannot be told apart",
    ]  # fmt: skip
    assert [problem.where for problem in found.problems if problem.lost] == ["a.jpg#1"]


def test_reading_goes_on_at_the_next_picture(tmp_path: Path) -> None:
    cut = "".join(PERSON.splitlines(keepends=True)[:3])
    found = read(tmp_path, f"two words.jpg 1 6\r\n{cut}nonsense\nb.jpg 2 6\n{PERSON}{PERSON}\n1 2 3 4\nc.jpg 0 6\n")
    assert [(person.image, person.number) for person in found.people] == [("b.jpg", 0), ("b.jpg", 1)]
    assert [problem.where for problem in found.problems] == ["two words.jpg#0", "line 5", "line 20"]


def test_a_stick_that_ends_in_6_is_no_header(tmp_path: Path) -> None:
    lines = PERSON.splitlines(keepends=True)
    lines[5] = "101 41 103 6\n"
    found = read(tmp_path, "a.jpg 1 6\n" + "".join(lines))
    assert len(found.people) == 1
    assert not found.problems


@pytest.mark.parametrize("text", ["", "hello\n", "1 2 3 4\n", "../a.jpg 1 6\n" + PERSON])
def test_other_text_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="has no line"):
        read(tmp_path, text)
