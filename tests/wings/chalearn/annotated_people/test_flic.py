from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pose_files import flic_file
from scipy import io

from inpaintbench.errors import InputError
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.annotated_people.base import Box
from inpaintbench.wings.chalearn.annotated_people.matlab import FlicReader


def test_an_example(tmp_path: Path) -> None:
    found = FlicReader().read(flic_file(tmp_path / "examples.mat", [{}, {"istrain": 0, "istest": 1, "moviename": "film-b"}]))
    first, second = found.people
    assert first.joints == (
        Joint(0, "shoulder", "left", 100.0, 50.0),
        Joint(0, "elbow", "left", 110.0, 80.0),
        Joint(0, "wrist", "left", 120.0, 110.0),
        Joint(0, "shoulder", "right", 60.0, 50.0),
        Joint(0, "nose", None, 80.0, 30.0),
    )
    assert (first.dataset, first.size, first.torso_box) == ("flic", (720, 480), Box(50, 40, 110, 140))
    assert [(p.split_group, p.published_split, p.number) for p in (first, second)] == [
        ("flic/film-a", "train", 0), ("flic/film-b", "test", 1),
    ]  # fmt: skip
    assert not found.problems


def test_every_labelled_column_has_its_joint(tmp_path: Path) -> None:
    coords = np.arange(58, dtype=float).reshape(2, 29) + 1
    found = FlicReader().read(flic_file(tmp_path / "examples.mat", [{"coords": coords}]))
    names = [f"{joint.side} {joint.name} {joint.x:g}" for joint in found.people[0].joints]
    labelled = "0 left shoulder,1 left elbow,2 left wrist,3 right shoulder,4 right elbow,5 right wrist,6 left hip,9 right hip"
    for entry in f"{labelled},12 left eye,13 right eye,16 None nose".split(","):
        column, _, name = entry.partition(" ")
        assert names[int(column)] == f"{name} {column}"
    assert len(names) == 17


def test_full_set_leaves_bad_examples_out_by_name(tmp_path: Path) -> None:
    rows = [{"isbad": 1, "isunchecked": 0}, {"isbad": 0, "isunchecked": 1}, {"isbad": 0, "isunchecked": 0}]
    found = FlicReader().read(flic_file(tmp_path / "examples.mat", rows))
    assert [(person.dataset, person.number) for person in found.people] == [("flic_full", 1), ("flic_full", 2)]
    assert [(problem.where, problem.lost) for problem in found.problems] == [
        ("film-a-00001.jpg#0", True), ("film-a-00001.jpg#1", False),
    ]  # fmt: skip


def test_missing_and_strange_fields_are_named(tmp_path: Path) -> None:
    half = np.full((2, 29), np.nan)
    half[0, 0], half[:, 1] = 5, (900, 5)
    nothing = np.zeros((0, 0))
    rows = [{"filepath": nothing}, {"coords": np.zeros((3, 3))}, {"coords": half, "moviename": nothing, "torsobox": nothing}]
    found = FlicReader().read(flic_file(tmp_path / "examples.mat", rows))
    person = found.people[0]
    assert person.joints == (Joint(1, "elbow", "left", 899.0, 4.0),)
    assert (person.split_group, person.torso_box) == ("flic/film-a-00001.jpg", None)
    assert sum(problem.lost for problem in found.problems) == 2
    assert any("outside" in problem.reason for problem in found.problems)
    assert any("one coordinate" in problem.reason for problem in found.problems)


def test_another_file(tmp_path: Path) -> None:
    io.savemat(tmp_path / "examples.mat", {"examples": {"name": "x"}})
    with pytest.raises(InputError, match="no field 'coords', only name"):
        FlicReader().read(tmp_path / "examples.mat")
