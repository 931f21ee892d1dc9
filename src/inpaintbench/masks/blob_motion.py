"""Presets, shape and motion of DEVIL's blobs: the control points of their strokes, frame by frame.

Points and velocities are complex numbers, x + iy, in pixels of the canvas. The order of the random draws is part of the
contract: with a legacy ``RandomState`` and ``whole_pixels`` the control points are those of the published masks. Source:
DEVIL (CVPR 2022) with the constants of its released masks.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import known_name
from inpaintbench.errors import InputError

# (width, height) in pixels that the presets' lengths refer to.
CANVAS = (1920, 1080)

Range = tuple[float, float]


@dataclass(frozen=True)
class BlobPreset:
    """Parameters of one kind of blob: ranges are (lowest, highest), lengths in pixels of the canvas, speeds per frame."""

    control_points: tuple[int, int]
    head_speed: Range
    """Distance between control points of the first shape."""
    head_acceleration: Range
    brush_width: tuple[int, int]
    start_gap: int
    """Least distance of the first shape's control points from every edge of the canvas."""
    acceleration_probability: float
    """Probability of a random acceleration, per control point and frame."""
    acceleration_limit: float
    centroid_distance: float | None
    """Distance from the centroid beyond which control points are pulled back; None = never."""
    centroid_pull: float
    """Acceleration per pixel beyond ``centroid_distance``."""
    start_speed: Range = (0, 3)
    kick_speed: Range = (1, 1)
    """Size of the rare acceleration common to all control points."""

    def require_room(self, canvas: tuple[int, int]) -> None:
        """Raise ``InputError`` if no point of a canvas (width, height) is ``start_gap`` away from every edge."""
        if min(canvas) <= 2 * self.start_gap:
            raise InputError(
                f"a canvas of {canvas[0]} x {canvas[1]} has no room for a blob that starts {self.start_gap} px from every edge, "
                f"both sides must be above {2 * self.start_gap}"
            )


_SMALL_STIFF = BlobPreset(
    control_points=(10, 22),
    head_speed=(10, 35),
    head_acceleration=(0, 50),
    brush_width=(75, 150),
    start_gap=400,
    acceleration_probability=0.05,
    acceleration_limit=0.05,
    centroid_distance=300,
    centroid_pull=1.0,
)
_SMALL_LIMBER = BlobPreset(
    control_points=(10, 22),
    head_speed=(10, 25),
    head_acceleration=(0, 50),
    brush_width=(50, 125),
    start_gap=400,
    acceleration_probability=0.8,
    acceleration_limit=1.0,
    centroid_distance=150,
    centroid_pull=1.0,
)
_LARGE_STIFF = BlobPreset(
    control_points=(7, 13),
    head_speed=(50, 80),
    head_acceleration=(0, 70),
    brush_width=(205, 375),
    start_gap=300,
    acceleration_probability=0.05,
    acceleration_limit=0.5,
    centroid_distance=None,
    centroid_pull=1.0,
)
_LARGE_LIMBER = BlobPreset(
    control_points=(7, 13),
    head_speed=(50, 70),
    head_acceleration=(0, 60),
    brush_width=(150, 300),
    start_gap=300,
    acceleration_probability=0.8,
    acceleration_limit=1.5,
    centroid_distance=300,
    centroid_pull=0.75,
)


def _fast(preset: BlobPreset, *, start_speed: Range) -> BlobPreset:
    return replace(preset, start_speed=start_speed, kick_speed=(1, 3))


# Name -> parameters, in the order of the published preset list (low before high; size, pose, displacement).
PRESETS: Mapping[str, BlobPreset] = {
    "size-low_pose-low_displacement-low": _SMALL_STIFF,
    "size-low_pose-low_displacement-high": _fast(_SMALL_STIFF, start_speed=(5, 8)),
    "size-low_pose-high_displacement-low": _SMALL_LIMBER,
    "size-low_pose-high_displacement-high": _fast(_SMALL_LIMBER, start_speed=(9, 15)),
    "size-high_pose-low_displacement-low": _LARGE_STIFF,
    "size-high_pose-low_displacement-high": _fast(_LARGE_STIFF, start_speed=(5, 8)),
    "size-high_pose-high_displacement-low": _LARGE_LIMBER,
    "size-high_pose-high_displacement-high": _fast(_LARGE_LIMBER, start_speed=(9, 15)),
}


def find_preset(name: str) -> BlobPreset:
    """Look up the preset ``name``.

    Raises:
        UnknownNameError: not one of ``PRESETS``; the text suggests the nearest name.
    """
    return PRESETS[known_name("blob preset", name, PRESETS)]


Rng = np.random.RandomState | np.random.Generator

# Angle of the head's acceleration against its heading; one-sided, so that strokes curl into blobs.
_TURN_RADIANS = (0.0, 3.0)
_ANY_DIRECTION = (-math.pi, math.pi)
# Per frame, for a common acceleration of all control points. This and the angle are of DEVIL's released masks.
_KICK_PROBABILITY = 0.01


class Streams(NamedTuple):
    """Random numbers of a blob, apart by what they decide, so that presets that take more of one kind get the same of another."""

    shape: Rng
    """Brush, place and first shape."""
    start: Rng
    """First velocity."""
    points: Rng
    """Accelerations of single control points."""
    kicks: Rng
    """Accelerations common to all."""


class Trajectory(NamedTuple):
    """Control points of a blob over time."""

    points: npt.NDArray[np.float64]
    """``float64[T, n, 2]``: (x, y) of every control point in pixels of the canvas."""
    brush_width: int


class _Box(NamedTuple):
    """Rectangle that control points stay in, edges included."""

    left: float
    top: float
    right: float
    bottom: float


def trajectory(
    preset: BlobPreset, rng: Rng | Streams, *, frames: int, whole_pixels: bool, canvas: tuple[int, int] = CANVAS
) -> Trajectory:
    """Draw a first shape from ``rng``, or from streams, and move it for ``frames`` frames.

    ``whole_pixels`` cuts every step of a point towards zero to whole pixels, as in the published masks; velocities stay
    fractional.

    Raises:
        InputError: the canvas has no room for the first shape.
    """
    preset.require_room(canvas)
    streams = rng if isinstance(rng, Streams) else Streams(rng, rng, rng, rng)
    brush_width = _integer(streams.shape, *preset.brush_width)
    points = _first_shape(preset, streams.shape, canvas)
    velocities = [_vector(streams.start, preset.start_speed, _ANY_DIRECTION)] * len(points)
    edges = _Box(0, 0, *canvas)
    track = [points]
    for _ in range(frames - 1):
        points, velocities = _move_each(preset, streams.points, points, velocities, edges=edges, whole_pixels=whole_pixels)
        if streams.kicks.random() < _KICK_PROBABILITY:
            kick = _vector(streams.kicks, preset.kick_speed, _ANY_DIRECTION)
            velocities = [velocity + kick for velocity in velocities]
        velocities = _pull_together(preset, points, velocities)
        track.append(points)
    return Trajectory(np.array(track).view(np.float64).reshape(frames, -1, 2), brush_width)


def _first_shape(preset: BlobPreset, rng: Rng, canvas: tuple[int, int]) -> list[complex]:
    """Control points along the path of a head that keeps turning in the same sense."""
    width, height = canvas
    gap = preset.start_gap
    box = _Box(gap, gap, width - gap, height - gap)
    x = _integer(rng, 0, width - 1)
    y = _integer(rng, 0, height - 1)
    points = [complex(_clip(x, box.left, box.right), _clip(y, box.top, box.bottom))]
    count = _integer(rng, *preset.control_points)
    head = _vector(rng, preset.head_speed, (0.0, 2 * math.pi))
    for _ in range(count - 1):
        head += _vector(rng, preset.head_acceleration, _TURN_RADIANS) * (head / abs(head))
        head *= _clip(abs(head), *preset.head_speed) / abs(head)
        point, head = _step(points[-1], head, head, box)
        points.append(point)
    return points


def _move_each(
    preset: BlobPreset, rng: Rng, points: list[complex], velocities: list[complex], *, edges: _Box, whole_pixels: bool
) -> tuple[list[complex], list[complex]]:
    """Move every point by its own velocity (blobs deform at the edges), and change some velocities at random."""
    moved, changed = [], []
    for start, before in zip(points, velocities, strict=True):
        offset = complex(int(before.real), int(before.imag)) if whole_pixels else before
        point, velocity = _step(start, offset, before, edges)
        if rng.random() < preset.acceleration_probability:
            velocity += _vector(rng, (0.0, preset.acceleration_limit), _ANY_DIRECTION)
        moved.append(point)
        changed.append(velocity)
    return moved, changed


def _pull_together(preset: BlobPreset, points: list[complex], velocities: list[complex]) -> list[complex]:
    """Accelerate points beyond the preset's distance towards the centroid, in proportion to the excess."""
    if preset.centroid_distance is None:
        return velocities
    centroid = sum(points) / len(points)
    pulled = []
    for point, velocity in zip(points, velocities, strict=True):
        distance = abs(centroid - point)
        excess = max(0.0, distance - preset.centroid_distance)
        pulled.append(velocity + preset.centroid_pull * excess * (centroid - point) / distance if excess else velocity)
    return pulled


def _step(point: complex, offset: complex, velocity: complex, box: _Box) -> tuple[complex, complex]:
    """Move by ``offset``, bouncing off the box, and turn the velocity with every bounce."""
    x, x_sign = _reflect(point.real + offset.real, box.left, box.right)
    y, y_sign = _reflect(point.imag + offset.imag, box.top, box.bottom)
    return complex(x, y), complex(x_sign * velocity.real, y_sign * velocity.imag)


def _reflect(value: float, low: float, high: float) -> tuple[float, int]:
    """Reflect ``value`` at the limits until it lies between them; also -1 after an odd number of reflections, else 1."""
    sign = 1
    while not low <= value <= high:
        value = 2 * (low if value < low else high) - value
        sign = -sign
    return value, sign


def _clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _integer(rng: Rng, low: int, high: int) -> int:
    """Draw an integer uniformly from ``low`` ... ``high``, both included."""
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(low, high, endpoint=True))
    return int(rng.randint(low, high + 1))


def _uniform(rng: Rng, low: float, high: float) -> float:
    # Equal to rng.uniform(low, high), but ten times faster for a single number.
    return low + (high - low) * rng.random()


def _vector(rng: Rng, length: tuple[float, float], angle: tuple[float, float]) -> complex:
    """Draw a vector of random length and direction; the length first."""
    return cmath.rect(_uniform(rng, *length), _uniform(rng, *angle))
