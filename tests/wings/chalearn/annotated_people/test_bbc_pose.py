from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pose_files import bbc_file

from inpaintbench.errors import InputError
from inpaintbench.wings.chalearn.annotated_people.matlab import BbcPoseReader

ORDER = ["None head", "right wrist", "left wrist", "right elbow", "left elbow", "right shoulder", "left shoulder"]


def joints(frames: int, *, start: float) -> np.ndarray:
    return start + np.arange(2 * 7 * frames, dtype=float).reshape(2, 7, frames)


TRAIN = {"train_frames": np.array([[5, 9]]), "train_joints": joints(2, start=1)}
TEST = {"test_frames": np.array([[12, 20, 30]]), "test_joints": joints(3, start=101)}


@pytest.mark.parametrize("test_first", [True, False])
@pytest.mark.parametrize("variable", ["shortbbcpose", "bbcpose"])
def test_fields_go_by_name_not_by_order(tmp_path: Path, variable: str, test_first: bool) -> None:
    parts = {**TEST, **TRAIN} if test_first else {**TRAIN, **TEST}
    video = {"videoName": "1", "type": "test", "source": "x", **parts}
    found = BbcPoseReader().read(bbc_file(tmp_path / "bbc.mat", [video, {**video, "videoName": 2}], variable=variable))
    assert [(person.image, person.published_split) for person in found.people[:5]] == [
        ("1/5.jpg", "train"), ("1/9.jpg", "train"), ("1/12.jpg", "test"), ("1/20.jpg", "test"), ("1/30.jpg", "test"),
    ]  # fmt: skip
    assert {person.split_group for person in found.people} == {"bbc_pose/1", "bbc_pose/2"}
    second = found.people[1].joints
    assert [f"{joint.side} {joint.name}" for joint in second] == ORDER
    expected = TRAIN["train_joints"][:, :, 1].T - 1
    assert np.array_equal([(joint.x, joint.y) for joint in second], expected)
    assert not found.problems


def test_one_frame_counts_that_differ_and_missing_points(tmp_path: Path) -> None:
    one = joints(1, start=1)[:, :, 0].copy()
    one[0, 0] = np.nan
    rows = [
        {
            "videoName": "a",
            "train_frames": 4,
            "train_joints": one,
            "test_frames": np.array([[1, 2.5]]),
            "test_joints": joints(3, start=1),
        },
        {"videoName": "b", "train_frames": np.array([[1]]), "train_joints": np.zeros((3, 3))},
        {"train_frames": np.array([[1]])},
    ]
    found = BbcPoseReader().read(bbc_file(tmp_path / "bbc.mat", rows))
    assert [person.image for person in found.people] == ["a/4.jpg", "a/1.jpg"]
    assert len(found.people[0].joints) == 6
    assert [problem.where for problem in found.problems] == [
        "a/4.jpg#0", "a: test_frames", "a: test_frames", "b: train_joints", "video 3",
    ]  # fmt: skip


def test_a_missing_field_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'test_frames' is missing"):
        BbcPoseReader().read(bbc_file(tmp_path / "bbc.mat", [{"videoName": "1", **TRAIN}]))
    with pytest.raises(InputError, match="no variable 'bbcpose'"):
        BbcPoseReader().read(bbc_file(tmp_path / "bbc.mat", [{"videoName": "1"}], variable="other"))
