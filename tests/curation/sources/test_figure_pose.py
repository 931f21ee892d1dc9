"""Where joints are: lengths stay, sides are the figure's own, turning turns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.curation.sources.figure import (
    FOREARM,
    HALF_HIPS,
    HALF_SHOULDERS,
    HEAD,
    NECK,
    POSES,
    SHIN,
    THIGH,
    TORSO,
    UPPER_ARM,
    Pose,
    skeleton,
    vary,
)

BONES = {
    ("shoulder", "elbow"): UPPER_ARM,
    ("elbow", "wrist"): FOREARM,
    ("hip", "knee"): THIGH,
    ("knee", "ankle"): SHIN,
}


@settings(max_examples=30, deadline=None)
@given(pose=st.sampled_from(sorted(POSES)), turn=st.floats(-180, 180), seed=st.integers(0, 2**32))
def test_bones_keep_their_lengths(pose: str, turn: float, seed: int) -> None:
    joints = skeleton(vary(POSES[pose], np.random.default_rng(seed)), turn_degrees=turn)

    def length(one: tuple[str, str | None], other: tuple[str, str | None]) -> float:
        return float(np.linalg.norm(joints[one] - joints[other]))

    for side in ("left", "right"):
        for (one, other), bone in BONES.items():
            assert length((one, side), (other, side)) == pytest.approx(bone)
    assert length(("shoulder", "left"), ("shoulder", "right")) == pytest.approx(2 * HALF_SHOULDERS)
    assert length(("hip", "left"), ("hip", "right")) == pytest.approx(2 * HALF_HIPS)
    assert length(("pelvis", None), ("thorax", None)) == pytest.approx(TORSO)
    assert length(("thorax", None), ("upper_neck", None)) == pytest.approx(NECK)
    assert length(("upper_neck", None), ("head_top", None)) == pytest.approx(HEAD)


@pytest.mark.parametrize(("turn", "sign"), [(0, 1), (180, -1)])
def test_left_is_right_in_the_picture_of_who_faces_us(turn: float, sign: int) -> None:
    joints = skeleton(Pose(), turn_degrees=turn)
    for name in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle"):
        assert sign * joints[name, "left"][0] > 0 > sign * joints[name, "right"][0]


def test_a_figure_turned_by_90_degrees_looks_to_the_right_of_the_picture() -> None:
    joints = skeleton(Pose(shoulder_flexion=(90, 0)), turn_degrees=90)
    assert joints["wrist", "left"][0] > joints["shoulder", "left"][0] + 0.2
    assert joints["toe", "right"][0] > joints["ankle", "right"][0]
    # The figure's left is then the far side.
    assert joints["shoulder", "left"][2] < 0 < joints["shoulder", "right"][2]


def test_limbs_bend_the_way_limbs_do() -> None:
    joints = skeleton(Pose(hip_flexion=(90, 0), knee=(90, 90), shoulder_abduction=(90, 0), elbow=(0, 90)), turn_degrees=0)
    thigh = joints["knee", "left"] - joints["hip", "left"]
    shin = joints["ankle", "left"] - joints["knee", "left"]
    assert thigh[2] > 0.9 * THIGH
    assert shin[1] > 0.9 * SHIN
    assert (joints["ankle", "right"] - joints["knee", "right"])[2] < -0.9 * SHIN
    assert (joints["elbow", "left"] - joints["shoulder", "left"])[0] == pytest.approx(UPPER_ARM)
    assert (joints["wrist", "right"] - joints["elbow", "right"])[2] == pytest.approx(FOREARM)


def test_varied_poses_are_mirrored_in_half_of_the_cases() -> None:
    raised = [vary(POSES["waving"], np.random.default_rng(seed)).shoulder_abduction for seed in range(100)]
    assert 25 < sum(left > right for left, right in raised) < 75
