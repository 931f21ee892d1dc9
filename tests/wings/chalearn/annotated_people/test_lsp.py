from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pose_files import lsp_file

from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.wings.chalearn.annotated_people.matlab import LSP_JOINTS, LspReader

ORDER = [
    "right ankle", "right knee", "right hip", "left hip", "left knee", "left ankle", "right wrist", "right elbow",
    "right shoulder", "left shoulder", "left elbow", "left wrist", "None upper_neck", "None head_top",
]  # fmt: skip


def people(count: int, *, flag: float = 0) -> np.ndarray:
    """(N, 14, 3): joint k of picture n at (10 k + 1, n + 1)."""
    found = np.full((count, 14, 3), float(flag))
    found[:, :, 0], found[:, :, 1] = 10 * np.arange(14) + 1, np.arange(count)[:, None] + 1
    return found


def test_order_of_the_joints() -> None:
    assert [f"{side} {name}" for name, side in LSP_JOINTS] == ORDER


def test_lsp_is_3_14_n_and_its_one_means_occluded(tmp_path: Path) -> None:
    given = people(1002)
    given[1, 2, 2] = 1
    found = LspReader().read(lsp_file(tmp_path / "joints.mat", given.transpose(2, 1, 0)))
    second = found.people[1]
    assert (second.image, second.dataset, second.split_group) == ("im0002.jpg", "lsp", "lsp/im0002.jpg")
    assert [(joint.x, joint.y) for joint in second.joints] == [(10.0 * index, 1.0) for index in range(14)]
    assert [joint.visible for joint in second.joints] == [index != 2 for index in range(14)]
    assert [person.published_split for person in found.people[998:]] == ["train", "train", "test", "test"]
    assert not found.problems


def test_extended_is_14_3_n_and_its_one_means_visible(tmp_path: Path) -> None:
    given = people(20, flag=1)
    given[3, 0] = 0, 0, 0
    given[4, 1, 2] = 0
    found = LspReader().read(lsp_file(tmp_path / "joints.mat", given.transpose(1, 2, 0)))
    assert (found.people[0].image, found.people[0].dataset) == ("im00001.jpg", "lsp_extended")
    assert {joint.visible for joint in found.people[0].joints} == {True}
    assert len(found.people[3].joints) == 13
    assert found.people[4].joints[1].visible is False
    assert [problem.where for problem in found.problems] == ["im00004.jpg#0"]


@pytest.mark.parametrize("extended", [False, True])
def test_a_third_row_that_means_the_opposite_is_found_out(tmp_path: Path, extended: bool) -> None:
    given = people(20, flag=0 if extended else 1)
    path = lsp_file(tmp_path / "joints.mat", given.transpose(1, 2, 0) if extended else given.transpose(2, 1, 0))
    found = LspReader().read(path)
    assert {joint.visible for person in found.people for joint in person.joints} == {True}
    assert [problem.where for problem in found.problems] == ["third row"]
    told = LspReader(third_row="visible" if extended else "occluded").read(path)
    assert {joint.visible for person in told.people for joint in person.joints} == {False}


def test_one_picture_whose_last_dimension_was_dropped(tmp_path: Path) -> None:
    found = LspReader().read(lsp_file(tmp_path / "joints.mat", people(1)[0].T))
    assert len(found.people) == 1


def test_missing_coordinates_and_strange_flags_are_named(tmp_path: Path) -> None:
    given = people(2)
    given[0, 3, 0], given[0, 4, 2], given[1, :, :2] = np.nan, 7, np.nan
    found = LspReader().read(lsp_file(tmp_path / "joints.mat", given.transpose(2, 1, 0)))
    assert len(found.people) == 1
    assert [joint.visible for joint in found.people[0].joints].count(None) == 1
    assert [problem.reason for problem in found.problems if problem.lost] == ["no labelled joints"]
    assert len(found.problems) == 2 + 14 + 1


def test_wrong_shape_and_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"joints is \(5, 5\)"):
        LspReader().read(lsp_file(tmp_path / "joints.mat", np.zeros((5, 5))))
    with pytest.raises(UnknownNameError, match="did you mean 'visible'"):
        LspReader(third_row="visibel")  # type: ignore[arg-type]
