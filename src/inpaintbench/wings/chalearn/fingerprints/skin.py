"""From a master print to its truth: movement of the skin, and what it and the elastic field do to points and ridge angles.

The skin has a still centre, a border that is rotated and translated, and a smooth transition between them. Source: Cappelli, Maio
and Maltoni, "Modelling plastic distortion in fingerprint images", ICAPR 2001. Positions are mapped back from the picture to the
master, so that every pixel has a value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.lazily import lazily
from inpaintbench.wings.chalearn.fingerprints.fields import (
    DoubleArray,
    Field,
    FloatArray,
    elastic_field,
    grid_positions,
    interpolated,
    positions,
)
from inpaintbench.wings.chalearn.fingerprints.master import LARGEST_ANGLE, orientation_at
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH, Finger, Impression, Point, Print

ndimage = lazily("scipy.ndimage")

# Half axes (x, y) of the ellipse that does not move, pixels at 500 per inch.
STILL_HALF_AXES = (40.0, 33.0)
# Grid of the inverse mapping, pixels.
_STEP = 4
# Fixed-point iterations for the origins on that grid, and where they end.
_MOST_ITERATIONS, _ITERATED_PIXELS = 60, 1e-3
# Iterations of Newton's method for one point, and the largest error of its place.
_ROUNDS, _TOLERANCE_PIXELS = 20, 0.01
# Determinant below which a Jacobian is not inverted: near a fold of the picture.
_SINGULAR = 0.05


@dataclass(frozen=True)
class Skin:
    """Movement of skin on a canvas of (width, height), pixels."""

    width: int
    height: int
    pixels_per_inch: float
    rotation_degrees: float
    """Counter-clockwise as seen."""
    translation: tuple[float, float]
    plasticity: float
    """Width of the transition in half axes of the still ellipse; 0 = rigid motion."""

    @classmethod
    def of(cls, finger: Finger, impression: Impression) -> Skin:
        """Build the movement of ``impression``."""
        canvas = finger.width, finger.height, finger.pixels_per_inch
        return cls(*canvas, impression.rotation_degrees, impression.translation, impression.skin_plasticity)


def moved(skin: Skin, x: DoubleArray, y: DoubleArray) -> tuple[DoubleArray, DoubleArray]:
    """Map points (``x``, ``y``) of the master to their positions after the movement, pixels."""
    shift_x, shift_y = _moved_by(skin, x, y)
    return x + shift_x, y + shift_y


def origins(skin: Skin) -> Field:
    """Origin (x, y) in the master of each pixel, each ``float32[H, W]``, pixels.

    Solved by fixed-point iteration on a grid of 4 pixels, exact to 0.01 pixels after interpolation.

    Raises:
        InputError: the movement folds the skin, so that a pixel would have two origins.
    """
    target_x, target_y = np.meshgrid(grid_positions(skin.width, _STEP), grid_positions(skin.height, _STEP))
    back_x, back_y = np.zeros_like(target_x), np.zeros_like(target_y)
    for _ in range(_MOST_ITERATIONS):
        shift_x, shift_y = _moved_by(skin, target_x + back_x, target_y + back_y)
        error = max(np.abs(back_x + shift_x).max(), np.abs(back_y + shift_y).max())
        back_x, back_y = -shift_x, -shift_y
        if error < _ITERATED_PIXELS:
            break
    else:
        raise InputError(
            f"a rotation of {skin.rotation_degrees} degrees and a translation of {skin.translation} pixels fold the skin at "
            f"plasticity {skin.plasticity}: give a smaller movement, or a larger plasticity"
        )
    dx, dy = (interpolated(back, height=skin.height, width=skin.width, step=_STEP) for back in (back_x, back_y))
    return positions((dx, dy))


def _moved_by(skin: Skin, x: DoubleArray, y: DoubleArray) -> tuple[DoubleArray, DoubleArray]:
    """Displacement of points, pixels: rigid motion about the centre, attenuated towards it."""
    angle = math.radians(skin.rotation_degrees)
    across, down = x - (skin.width - 1) / 2, y - (skin.height - 1) / 2
    # y points down: counter-clockwise as seen turns +x towards -y.
    rigid_x = (math.cos(angle) - 1) * across + math.sin(angle) * down + skin.translation[0]
    rigid_y = (math.cos(angle) - 1) * down - math.sin(angle) * across + skin.translation[1]
    if skin.plasticity == 0:
        return rigid_x, rigid_y
    scale = skin.pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    distance = np.hypot(across / (scale * STILL_HALF_AXES[0]), down / (scale * STILL_HALF_AXES[1])) - 1
    brake = 0.5 - 0.5 * np.cos(np.pi * np.clip(distance / skin.plasticity, 0, 1))
    return rigid_x * brake, rigid_y * brake


def points_in_truth(print_: Print, points: tuple[Point, ...]) -> tuple[Point | None, ...]:
    """Map points (x, y) of the master to the truth, pixels; None for points outside the canvas.

    Where an elastic field folds the picture, a point has several images, of which one is returned.
    """
    field = elastic_field_of(print_)
    xy = np.array(points, np.float64).reshape(-1, 2)
    after = moved(Skin.of(print_.finger, print_.impression), xy[:, 0], xy[:, 1])
    return tuple(_inverse_warp(field, target) for target in np.stack(after, axis=1))


def orientation_in_truth(print_: Print) -> FloatArray:
    """Ridge angle of every pixel of the truth, ``float32[H, W]``: radians in [0, pi), counter-clockwise as seen.

    It is the master's ridge direction at the pixel's origin, transformed by the inverse Jacobian of that mapping.
    """
    x, y = origins_in_truth(print_)
    return transformed_angles(np.asarray(orientation_at(print_.finger, x, y), np.float64), x, y)


def origins_in_truth(print_: Print) -> Field:
    """Origin (x, y) in the master of each pixel of the truth, each ``float32[H, W]``, pixels."""
    columns, rows = positions(elastic_field_of(print_))
    x, y = origins(Skin.of(print_.finger, print_.impression))
    height, width = x.shape
    back = x - np.arange(width, dtype=np.float32), y - np.arange(height, dtype=np.float32)[:, None]
    back_x, back_y = (ndimage.map_coordinates(values, [rows, columns], order=1, mode="nearest") for values in back)
    return columns + back_x, rows + back_y


def transformed_angles(theta: DoubleArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Transform ridge angles ``theta`` at the points (``x``, ``y``) of one picture to the picture that maps to these points.

    All ``[H, W]``; a direction v of the latter corresponds to the direction J v of the former, J = d(x, y) / d(column, row).
    """
    x_row, x_column = np.gradient(x.astype(np.float64))
    y_row, y_column = np.gradient(y.astype(np.float64))
    along_x, along_y = np.cos(theta), -np.sin(theta)  # y points down
    right = y_row * along_x - x_row * along_y
    down = x_column * along_y - y_column * along_x
    return np.minimum(np.mod(np.arctan2(-down, right), np.pi).astype(np.float32), LARGEST_ANGLE)


def elastic_field_of(print_: Print) -> Field:
    """The elastic field (dx, dy) of a print, each ``float32[H, W]``, pixels."""
    finger, elastic = print_.finger, print_.elastic
    return elastic_field(finger.height, finger.width, seed=elastic.seed, strength=elastic.strength, reach=elastic.reach)


def _inverse_warp(field: Field, target: DoubleArray) -> Point | None:
    """Position in the warped picture of the point ``target`` of the undistorted one: nearest pixel, then Newton's method."""
    height, width = field[0].shape
    away = np.square(field[0] + (np.arange(width) - target[0])) + np.square(field[1] + (np.arange(height)[:, None] - target[1]))
    row, column = np.unravel_index(int(away.argmin()), away.shape)
    nearest = place = np.array([float(column), float(row)])
    for _ in range(_ROUNDS):
        shift, jacobian = _shift_at(field, place)
        residual = target - place - shift
        if abs(np.linalg.det(jacobian)) > _SINGULAR:
            residual = np.linalg.solve(jacobian, residual)
        place = place + np.clip(residual, -1, 1)
    if np.abs(target - place - _shift_at(field, place)[0]).max() > _TOLERANCE_PIXELS:
        place = nearest  # no convergence: a fold, or far outside
        if away[row, column] > 1:
            return None
    inside = bool(np.all((place >= -0.5) & (place < np.array([width, height]) - 0.5)))
    return (float(place[0]), float(place[1])) if inside else None


def _shift_at(field: Field, place: DoubleArray) -> tuple[DoubleArray, DoubleArray]:
    """Displacement at one point, bilinear, the border replicated, and the Jacobian of point plus displacement."""
    height, width = field[0].shape
    column = int(np.clip(np.floor(place[0]), 0, max(0, width - 2)))
    row = int(np.clip(np.floor(place[1]), 0, max(0, height - 2)))
    across, down = np.clip(place - (column, row), 0, 1)
    cell = np.stack([values[row : row + 2, column : column + 2].astype(np.float64) for values in field])
    cell = np.pad(cell, ((0, 0), (0, 2 - cell.shape[1]), (0, 2 - cell.shape[2])), mode="edge")
    rows = cell[:, 0] * (1 - down) + cell[:, 1] * down
    columns = cell[:, :, 0] * (1 - across) + cell[:, :, 1] * across
    slopes = np.stack([rows[:, 1] - rows[:, 0], columns[:, 1] - columns[:, 0]], axis=1)
    inside = (place >= 0) & (place <= np.array([width, height]) - 1)
    return rows[:, 0] * (1 - across) + rows[:, 1] * across, np.eye(2) + slopes * inside
