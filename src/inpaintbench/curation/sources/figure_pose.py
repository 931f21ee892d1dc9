"""Poses of articulated figures: joint angles in space, and where the joints then are.

Body coordinates have their origin at the pelvis and the figure's height as unit: x to the figure's own left, y down, z
forward. Angles are degrees. Flexion swings a limb forward, abduction away from the middle of the body; both are 0 for a limb
that hangs down.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

# `float64[3]`: x, y, z.
Point = npt.NDArray[np.float64]
# Name and side of a joint, as in `types.Joint`.
Key = tuple[str, str | None]
SIDES: tuple[tuple[str, int], ...] = (("left", 1), ("right", -1))

SHIN = THIGH = 0.245
UPPER_ARM, FOREARM, HAND = 0.172, 0.145, 0.06
TORSO, NECK, HEAD = 0.285, 0.055, 0.135
HALF_SHOULDERS, HALF_HIPS, SHOULDER_DROP, HIP_DROP = 0.105, 0.05, 0.012, 0.02
FOOT = 0.085


@dataclass(frozen=True)
class Pose:
    """Angles in degrees; pairs are (left, right)."""

    shoulder_flexion: tuple[float, float] = (0, 0)
    shoulder_abduction: tuple[float, float] = (12, 12)
    elbow: tuple[float, float] = (12, 12)
    """Angle by which the forearm is bent out of the line of the upper arm, forward."""
    forearm_abduction: tuple[float, float] = (0, 0)
    """Angle by which the forearm is bent outwards; negative is inwards."""
    hip_flexion: tuple[float, float] = (0, 0)
    hip_abduction: tuple[float, float] = (5, 5)
    knee: tuple[float, float] = (3, 3)
    lean: float = 0
    """Lean of the trunk, forward."""
    bend: float = 0
    """Bend of the trunk, to the figure's left."""
    nod: float = 0
    tilt: float = 0


# Named poses, before chance varies them.
POSES: Mapping[str, Pose] = {
    "standing": Pose(shoulder_abduction=(14, 13), forearm_abduction=(-6, -6)),
    "at_ease": Pose(
        shoulder_abduction=(32, 12), elbow=(20, 14), forearm_abduction=(-95, -4), hip_abduction=(3, 9), knee=(2, 8), bend=3
    ),
    "walking": Pose(
        shoulder_flexion=(-26, 28), shoulder_abduction=(8, 8), elbow=(18, 30), hip_flexion=(27, -20), hip_abduction=(2, 2),
        knee=(8, 30), lean=3,
    ),
    "striding": Pose(
        shoulder_flexion=(34, -36), shoulder_abduction=(8, 8), elbow=(62, 55), hip_flexion=(-22, 42), hip_abduction=(2, 2),
        knee=(48, 28), lean=9,
    ),
    "arms_raised": Pose(
        shoulder_abduction=(148, 152), elbow=(10, 10), forearm_abduction=(18, 14), hip_abduction=(9, 9), nod=-6
    ),
    "waving": Pose(
        shoulder_abduction=(95, 12), forearm_abduction=(65, -4), elbow=(8, 15), hip_abduction=(5, 6), bend=-3, tilt=5
    ),
    "arms_out": Pose(shoulder_abduction=(82, 86), elbow=(14, 10), forearm_abduction=(4, 8), hip_abduction=(14, 13)),
    "reaching": Pose(
        shoulder_flexion=(82, 64), shoulder_abduction=(10, 16), elbow=(20, 34), hip_flexion=(14, -8), knee=(14, 6), lean=8
    ),
    "sitting": Pose(
        shoulder_flexion=(30, 28), shoulder_abduction=(9, 10), elbow=(48, 52), forearm_abduction=(-10, -8),
        hip_flexion=(82, 80), hip_abduction=(9, 10), knee=(80, 84), lean=4,
    ),
}  # fmt: skip


def vary(pose: Pose, rng: np.random.Generator, *, spread_degrees: float = 6.0) -> Pose:
    """The pose with normal noise on all angles, mirrored in half of the cases."""
    mirrored = bool(rng.random() < 0.5)
    angles: dict[str, object] = {}
    for entry in fields(Pose):
        value = getattr(pose, entry.name)
        if isinstance(value, tuple):
            left, right = (float(angle + spread_degrees * rng.standard_normal()) for angle in value)
            angles[entry.name] = (right, left) if mirrored else (left, right)
        else:
            noisy = float(value + spread_degrees / 3 * rng.standard_normal())
            angles[entry.name] = -noisy if mirrored and entry.name in ("bend", "tilt") else noisy
    # Knees and elbows do not bend backwards.
    for name in ("knee", "elbow"):
        angles[name] = tuple(max(1.0, angle) for angle in angles[name])  # type: ignore[attr-defined]
    return Pose(**angles)  # type: ignore[arg-type]


def skeleton(pose: Pose, *, turn_degrees: float) -> dict[Key, Point]:
    """The 16 joints, and ``hand`` and ``toe`` of both sides, seen from the front after turning by ``turn_degrees``.

    x is to the right of the picture, y down, z towards the viewer; the origin is the pelvis. A figure that is not turned faces
    the viewer; one turned by 90 looks to the right of the picture.
    """
    up, across = _trunk(pose)
    thorax = TORSO * up
    neck = thorax + NECK * up
    look = _direction(pose.nod - pose.lean, pose.tilt + pose.bend)
    joints: dict[Key, Point] = {
        ("pelvis", None): np.zeros(3),
        ("thorax", None): thorax,
        ("upper_neck", None): neck,
        ("head_top", None): neck - HEAD * look,
    }
    for index, (side, sign) in enumerate(SIDES):
        joints |= _arm(pose, index, sign, side, root=thorax + sign * HALF_SHOULDERS * across - SHOULDER_DROP * up)
        joints |= _leg(pose, index, sign, side, root=np.array([sign * HALF_HIPS, HIP_DROP, 0]))
    return {key: _turned(point, turn_degrees) for key, point in joints.items()}


def _trunk(pose: Pose) -> tuple[Point, Point]:
    """Unit vectors up the trunk and to the figure's left across the shoulders."""
    lean, bend = math.radians(pose.lean), math.radians(pose.bend)
    up = np.array([math.sin(bend), -math.cos(bend) * math.cos(lean), math.cos(bend) * math.sin(lean)])
    return up, np.array([math.cos(bend), math.sin(bend), 0])


def _arm(pose: Pose, index: int, sign: int, side: str, *, root: Point) -> dict[Key, Point]:
    flexion, abduction = pose.shoulder_flexion[index], sign * pose.shoulder_abduction[index]
    bent = abduction + sign * pose.forearm_abduction[index]
    elbow = root + UPPER_ARM * _direction(flexion, abduction)
    along = _direction(flexion + pose.elbow[index], bent)
    wrist = elbow + FOREARM * along
    return {("shoulder", side): root, ("elbow", side): elbow, ("wrist", side): wrist, ("hand", side): wrist + HAND * along}


def _leg(pose: Pose, index: int, sign: int, side: str, *, root: Point) -> dict[Key, Point]:
    flexion, abduction = pose.hip_flexion[index], sign * pose.hip_abduction[index]
    knee = root + THIGH * _direction(flexion, abduction)
    bent = flexion - pose.knee[index]
    ankle = knee + SHIN * _direction(bent, abduction * 0.6)
    toe = ankle + np.array([sign * 0.25 * FOOT, 0.02, 0.95 * FOOT])
    return {("hip", side): root, ("knee", side): knee, ("ankle", side): ankle, ("toe", side): toe}


def _direction(flexion: float, abduction: float) -> Point:
    """The unit vector of a limb; ``abduction`` is positive to the figure's left."""
    forward, aside = math.radians(flexion), math.radians(abduction)
    return np.array([math.sin(aside), math.cos(aside) * math.cos(forward), math.cos(aside) * math.sin(forward)])


def _turned(point: Point, degrees: float) -> Point:
    turn = math.radians(degrees)
    x, y, z = point
    return np.array([x * math.cos(turn) + z * math.sin(turn), y, z * math.cos(turn) - x * math.sin(turn)])
