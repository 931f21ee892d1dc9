"""Shape and motion of DEVIL's blobs: the control points of their strokes, frame by frame.

Points and velocities are complex numbers, x + iy, in pixels of the canvas. The order of the random draws is part of the
contract: with a legacy ``RandomState`` and ``whole_pixels`` the control points are those of the published masks. Source:
DEVIL (CVPR 2022) with the constants of its released masks.
"""

from __future__ import annotations

import cmath
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.masks.generators.blob_presets import CANVAS, BlobPreset

Rng = np.random.RandomState | np.random.Generator

# Angle of the head's acceleration against its heading; one-sided, so that strokes curl into blobs.
_TURN_RADIANS = (0.0, 3.0)
_ANY_DIRECTION = (-math.pi, math.pi)
# Per frame, for a common acceleration of all control points. This and the angle are of DEVIL's released masks.
_KICK_PROBABILITY = 0.01


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


def trajectory(preset: BlobPreset, rng: Rng, *, frames: int, whole_pixels: bool, canvas: tuple[int, int] = CANVAS) -> Trajectory:
    """Draw a first shape from ``rng`` and move it for ``frames`` frames.

    ``whole_pixels`` cuts every step of a point towards zero to whole pixels, as in the published masks; velocities stay
    fractional.

    Raises:
        InputError: the canvas has no room for the first shape.
    """
    preset.require_room(canvas)
    brush_width = _integer(rng, *preset.brush_width)
    points = _first_shape(preset, rng, canvas)
    velocities = [_vector(rng, preset.start_speed, _ANY_DIRECTION)] * len(points)
    edges = _Box(0, 0, *canvas)
    track = [points]
    for _ in range(frames - 1):
        points, velocities = _move_each(preset, rng, points, velocities, edges=edges, whole_pixels=whole_pixels)
        velocities = _kick(preset, rng, velocities)
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


def _kick(preset: BlobPreset, rng: Rng, velocities: list[complex]) -> list[complex]:
    """Add the same random acceleration to all velocities, in rare frames."""
    if rng.random() >= _KICK_PROBABILITY:
        return velocities
    kick = _vector(rng, preset.kick_speed, _ANY_DIRECTION)
    return [velocity + kick for velocity in velocities]


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
