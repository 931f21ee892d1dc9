"""Figures: their parts lie on their joints, and joints behind something are told."""

from __future__ import annotations

import numpy as np
import pytest

from inpaintbench.curation.sources.figure import POSES, Figure, Pose, covers, draw_look, labels, place_figure, skeleton
from inpaintbench.types import Joint


def figure(pose: Pose, *, turn: float = 0, x: float = 200, size: float = 400, seated: bool = False) -> Figure:
    bones = skeleton(pose, turn_degrees=turn)
    look = draw_look(np.random.default_rng(1), size=size)
    return place_figure(bones, look, turn_degrees=turn, size=size, pelvis=(x, 240), seated=seated)


def visible(joints: list[Joint], name: str, side: str | None) -> bool | None:
    return next(joint.visible for joint in joints if (joint.name, joint.side) == (name, side))


@pytest.mark.parametrize("pose", sorted(POSES))
@pytest.mark.parametrize("turn", [-80, 0, 60, 180])
def test_every_joint_lies_on_the_figure(pose: str, turn: float) -> None:
    drawn = figure(POSES[pose], turn=turn, seated=pose == "sitting")
    found = list(labels([drawn], width=400, height=500))
    assert len(found) == 16
    for joint in found:
        if joint.name != "head_top":  # the highest point, so on the edge
            assert any(covers(part, joint.x, joint.y) for part in drawn.parts), joint


def test_who_faces_us_hides_nothing_and_who_stands_behind_is_hidden() -> None:
    one = list(labels([figure(POSES["arms_out"])], width=400, height=500))
    assert all(joint.visible for joint in one)
    both = list(labels([figure(POSES["arms_out"]), figure(POSES["arms_out"])], width=400, height=500))
    hidden = {(joint.name, joint.side) for joint in both if joint.person == 0 and not joint.visible}
    assert {("pelvis", None), ("thorax", None), ("knee", "left"), ("wrist", "right")} <= hidden
    assert all(joint.visible for joint in both if joint.person == 1)


def test_the_far_arm_is_behind_the_trunk_of_who_is_seen_from_the_side() -> None:
    joints = list(labels([figure(Pose(shoulder_abduction=(2, 2), elbow=(2, 2)), turn=88)], width=400, height=500))
    assert visible(joints, "elbow", "left") is False
    assert visible(joints, "shoulder", "left") is False
    assert visible(joints, "elbow", "right") is True


def test_joints_outside_the_picture_are_left_out() -> None:
    inside = list(labels([figure(POSES["standing"])], width=400, height=300))
    assert {joint.name for joint in inside} == {
        "head_top", "upper_neck", "thorax", "shoulder", "elbow", "wrist", "pelvis", "hip",
    }  # fmt: skip
