"""Mapping of points and ridge angles from a master print to its truth: through skin, rigid motion and elastic field."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import map_coordinates

from inpaintbench.wings.chalearn.fingerprints.elastic import Field, elastic_field
from inpaintbench.wings.chalearn.fingerprints.orientation import orientation_at
from inpaintbench.wings.chalearn.fingerprints.records import Point, Print
from inpaintbench.wings.chalearn.fingerprints.skin import Skin, moved, origins
from inpaintbench.wings.chalearn.fingerprints.smooth import DoubleArray, FloatArray

# Iterations of Newton's method.
_ROUNDS = 20
_TOLERANCE_PIXELS = 0.01
# Determinant below which a Jacobian is not inverted: near a fold of the picture.
_SINGULAR = 0.05
# Rounding to float32 must not reach pi.
_LARGEST_ANGLE = np.nextafter(np.float32(np.pi), np.float32(0))


def points_in_truth(print_: Print, points: tuple[Point, ...]) -> tuple[Point | None, ...]:
    """Map points (x, y) of the master to the truth, pixels; None for points outside the canvas.

    Where an elastic field folds the picture, a point has several images, of which one is returned.
    """
    skin = Skin.of(print_.finger, print_.impression)
    field = _field(print_)
    xy = np.array(points, np.float64).reshape(-1, 2)
    x, y = moved(skin, xy[:, 0], xy[:, 1])
    return tuple(_inverse_warp(field, float(point_x), float(point_y)) for point_x, point_y in zip(x, y, strict=True))


def orientation_in_truth(print_: Print) -> FloatArray:
    """Ridge angle of every pixel of the truth, ``float32[H, W]``: radians in [0, pi), counter-clockwise as seen.

    It is the master's ridge direction at the pixel's origin, transformed by the inverse Jacobian of that mapping.
    """
    x, y = origins_in_truth(print_)
    theta = orientation_at(print_.finger, x, y)
    return transformed_angles(np.asarray(theta, np.float64), x, y)


def origins_in_truth(print_: Print) -> tuple[FloatArray, FloatArray]:
    """Origin (x, y) in the master of each pixel of the truth, each ``float32[H, W]``, pixels."""
    finger = print_.finger
    dx, dy = _field(print_)
    back_x, back_y = _slides(Skin.of(finger, print_.impression))
    columns = np.asarray(dx + np.arange(finger.width, dtype=np.float32), np.float32)
    rows = np.asarray(dy + np.arange(finger.height, dtype=np.float32)[:, None], np.float32)
    return columns + _sampled(back_x, columns, rows), rows + _sampled(back_y, columns, rows)


def transformed_angles(theta: DoubleArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Transform ridge angles ``theta`` at the points (``x``, ``y``) of one picture to the picture that maps to these points.

    All ``[H, W]``; a direction v of the latter corresponds to the direction J v of the former, J = d(x, y) / d(column, row).
    """
    x_row, x_column = np.gradient(x.astype(np.float64))
    y_row, y_column = np.gradient(y.astype(np.float64))
    along_x, along_y = np.cos(theta), -np.sin(theta)  # y points down
    right = y_row * along_x - x_row * along_y
    down = x_column * along_y - y_column * along_x
    return np.minimum(np.mod(np.arctan2(-down, right), np.pi).astype(np.float32), _LARGEST_ANGLE)


def _field(print_: Print) -> Field:
    finger, elastic = print_.finger, print_.elastic
    return elastic_field(finger.height, finger.width, seed=elastic.seed, strength=elastic.strength, reach=elastic.reach)


def _slides(skin: Skin) -> Field:
    """Displacement of each pixel by the skin's mapping back to the master, pixels."""
    x, y = origins(skin)
    columns, rows = np.arange(skin.width, dtype=np.float32), np.arange(skin.height, dtype=np.float32)[:, None]
    return np.asarray(x - columns, np.float32), np.asarray(y - rows, np.float32)


def _sampled(values: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Sample ``values`` at pixel coordinates, bilinear, the border replicated."""
    return np.asarray(map_coordinates(values, [y, x], order=1, mode="nearest"), np.float32)


def _inverse_warp(field: Field, x: float, y: float) -> Point | None:
    """Position in the warped picture of the point (``x``, ``y``) of the undistorted one: nearest pixel, then Newton's method."""
    height, width = field[0].shape
    away = np.square(field[0] + (np.arange(width) - x)) + np.square(field[1] + (np.arange(height)[:, None] - y))
    row, column = np.unravel_index(int(away.argmin()), away.shape)
    place, target = np.array([float(column), float(row)]), np.array([x, y])
    for _ in range(_ROUNDS):
        shift, jacobian = _shift(field, place)
        residual = target - place - shift
        if abs(np.linalg.det(jacobian)) > _SINGULAR:
            residual = np.linalg.solve(jacobian, residual)
        place = place + np.clip(residual, -1, 1)
    if np.abs(target - place - _shift(field, place)[0]).max() > _TOLERANCE_PIXELS:
        place = np.array([float(column), float(row)])  # no convergence: a fold, or far outside
        if away[row, column] > 1:
            return None
    inside = bool(np.all((place >= -0.5) & (place < np.array([width, height]) - 0.5)))
    return (float(place[0]), float(place[1])) if inside else None


def _shift(field: Field, place: DoubleArray) -> tuple[DoubleArray, DoubleArray]:
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
