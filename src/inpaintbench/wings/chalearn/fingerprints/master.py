"""Master print of a finger: its complete ridge pattern in pure black and white, before any impression.

Ridges are grown over two fields of the finger: their angle, by the zero-pole model, and their period.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError
from inpaintbench.types import item_rng
from inpaintbench.wings.chalearn.fingerprints.fields import DoubleArray, FloatArray
from inpaintbench.wings.chalearn.fingerprints.growth import (
    FREQUENCIES,
    Backend,
    bank,
    border_pixels,
    grow,
    grow_many,
    kernel_numbers,
    period_of_bin,
)
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH, Finger

Picture = npt.NDArray[np.uint8]

# Range of the number of points that ridges grow from, on 275x400 pixels at 500 per inch; the upper end is excluded.
_POINTS = (750, 850)
_REFERENCE_AREA = 275 * 400
# Side of a point, and its least distance from the edge; pixels at 500 per inch.
_POINT_SIZE, _POINT_MARGIN = 4, 5
# Bends of the eight directions around a core, in shares of its u (on its left) and v (on its right); none above and below.
_SHARES_OF_U = np.array([1, 2 / 3, 0, 0, 0, 0, 0, 2 / 3, 1])
_SHARES_OF_V = np.array([0, 0, 0, 2 / 3, 1, 2 / 3, 0, 0, 0])
# Rounding to float32 must not reach pi.
LARGEST_ANGLE = np.nextafter(np.float32(math.pi), np.float32(0))
# Rows and columns of a map of ridge width; stamps are painted on a grid that is finer by a factor.
_CELLS, _FINE = (26, 18), 4
# Side of a stamp on the fine grid: about a twelfth of the height.
_STAMP = 8


def master(finger: Finger, *, backend: Backend = "auto") -> Picture:
    """Render the master print, ``uint8[H, W]``: 0 = ridge, 255 = paper, no other values; white borders of half a kernel.

    All backends give the same bytes. Errors: those of ``growth.grow``.
    """
    grown = grow(*_seeds(finger), bank(finger.pixels_per_inch), backend=backend)
    return np.where(grown, np.uint8(0), np.uint8(255))


def masters(fingers: Sequence[Finger], *, device: str) -> Picture:
    """Render master prints of fingers of one size and resolution, ``uint8[N, H, W]``, by torch on ``device`` (``cuda``, ``cpu``).

    The bytes equal those of ``master``.

    Raises:
        InputError: no fingers, or several sizes or resolutions.
    """
    if not fingers:
        raise InputError("0 fingers were given to print: give at least 1")
    canvases = {(finger.width, finger.height, finger.pixels_per_inch) for finger in fingers}
    if len(canvases) > 1:
        kinds = ", ".join(f"{width}x{height} at {ppi:g}" for width, height, ppi in sorted(canvases))
        raise InputError(f"fingers printed together must be of one size and resolution, not {kinds}: print them in groups")
    numbers, points = (np.stack(arrays) for arrays in zip(*map(_seeds, fingers), strict=True))
    grown = grow_many(numbers, points, bank(fingers[0].pixels_per_inch), device=device)
    return np.where(grown, np.uint8(0), np.uint8(255))


def _seeds(finger: Finger) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """Kernel of every pixel, and the squares that ridges grow from, drawn uniformly over the canvas; ``[H, W]`` both."""
    numbers = kernel_numbers(orientation(finger), ridge_period(finger), pixels_per_inch=finger.pixels_per_inch)
    rng = item_rng(finger.seed, "ridge points", "")
    scale = finger.pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    side, margin = max(1, round(_POINT_SIZE * scale)), round(_POINT_MARGIN * scale)
    share = finger.width * finger.height / (_REFERENCE_AREA * scale**2)
    count = max(1, round(float(rng.integers(*_POINTS)) * share))
    points = np.zeros((finger.height, finger.width), np.bool_)
    rows = rng.integers(margin, finger.height - margin - side, count, endpoint=True)
    columns = rng.integers(margin, finger.width - margin - side, count, endpoint=True)
    offsets = np.arange(side)
    points[rows[:, None, None] + offsets[:, None], columns[:, None, None] + offsets] = True
    return numbers, points


def orientation(finger: Finger) -> FloatArray:
    """Ridge angle of every pixel, ``float32[H, W]``: radians in [0, pi), counter-clockwise as seen, 0 = horizontal ridges."""
    x = np.arange(finger.width, dtype=np.float64)[None, :]
    y = np.arange(finger.height, dtype=np.float64)[:, None]
    return np.minimum(orientation_at(finger, x, y).astype(np.float32), LARGEST_ANGLE)


def orientation_at(finger: Finger, x: npt.ArrayLike, y: npt.ArrayLike) -> DoubleArray:
    """Ridge angle at points of the canvas in pixels (broadcast against each other), radians in [0, pi).

    Cores and deltas turn the ridges by half the angle around them; a core's turn is corrected by a function that is piecewise
    linear between eight directions and scaled by its bends. Sources: Sherlock and Monro, Pattern Recognition 26 (1993); Vizcaya
    and Gerhardt, Pattern Recognition 29 (1996). A plain arch is a wave that flattens towards the tip.
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    angle = np.zeros(np.broadcast_shapes(x.shape, y.shape))
    if finger.arch is not None:
        steepness, width, height = finger.arch
        border = border_pixels(finger.pixels_per_inch)
        from_side = finger.width - 1 - x if width < 0 else x  # a negative width mirrors the wave
        across = (from_side - border) / ((finger.width - 2 * border) * abs(width))
        down = (y - border) / ((finger.height - 2 * border) * height)
        slope = np.maximum(0.0, steepness * (1 - down)) * np.cos(math.pi * across)
        angle = np.arctan(math.copysign(1.0, width) * slope)
    for delta_x, delta_y in finger.deltas:
        angle += np.arctan2(y - delta_y, x - delta_x) / 2
    for (core_x, core_y), bends in zip(finger.cores, finger.bends_degrees, strict=True):
        around = np.arctan2(y - core_y, x - core_x)
        u, v = np.radians(bends)
        bent = _SHARES_OF_U * u + _SHARES_OF_V * v
        slopes = np.diff(bent)
        place = (around + math.pi) * (4 / math.pi)
        before = np.minimum(place.astype(np.int8), 7)
        angle -= (around + ((bent[:-1] - slopes * np.arange(8))[before] + slopes[before] * place)) / 2
    inside = angle - math.pi * np.floor(angle / math.pi)
    return np.where(inside >= math.pi, 0.0, np.maximum(inside, 0.0))


def ridge_period(finger: Finger) -> FloatArray:
    """Ridge period of every pixel in pixels, ``float32[H, W]``: 6.5 to 13.2 at 500 pixels per inch, mostly 7 to 10.

    Ridges are wider at the tip and below the deltas. It depends on the finger's seed, size and resolution alone; its values are
    those of the 100 frequency bins.
    """
    rng = item_rng(finger.seed, "ridge density", "")
    count = int(rng.integers(2, 4))
    width_map = np.stack([_ridge_width(rng) for _ in range(count)]).mean(axis=0)
    wide = cv2.resize(width_map, (finger.width, finger.height), interpolation=cv2.INTER_LINEAR)
    bins = np.clip(FREQUENCIES + 1 - np.floor(FREQUENCIES * wide), 1, FREQUENCIES).astype(np.intp)
    periods = period_of_bin(np.arange(FREQUENCIES + 1), pixels_per_inch=finger.pixels_per_inch).astype(np.float32)
    return np.asarray(periods[bins])


def _ridge_width(rng: np.random.Generator) -> FloatArray:
    """Draw one map of ridge width, ``float32[26, 18]`` in 0..1: patches, one or two narrow blobs, and the wide tip and base."""
    height, width = _CELLS[0] * _FINE, _CELLS[1] * _FINE
    tiles = rng.uniform(0.20, 0.25, (-(-height // _STAMP), -(-width // _STAMP))).astype(np.float32)
    fine = np.ascontiguousarray(tiles.repeat(_STAMP, axis=0).repeat(_STAMP, axis=1)[:height, :width])

    def stamp(count: int, centre: DoubleArray, axes: tuple[float, float], least: float, most: float) -> None:
        # Squares of random values with centres uniform in an ellipse, later ones over earlier ones.
        radius, turn = np.sqrt(rng.random(count)), rng.uniform(0, 2 * np.pi, count)
        rows = np.rint(centre[0] + axes[0] * radius * np.cos(turn)).astype(int) - _STAMP // 2
        columns = np.rint(centre[1] + axes[1] * radius * np.sin(turn)).astype(int) - _STAMP // 2
        for row, column, value in zip(rows.tolist(), columns.tolist(), rng.uniform(least, most, count).tolist(), strict=True):
            fine[max(0, row) : max(0, row + _STAMP), max(0, column) : max(0, column + _STAMP)] = value

    for _ in range(int(rng.integers(1, 3))):
        centre = rng.uniform((0.3 * height, 0.2 * width), (0.7 * height, 0.8 * width))
        axes = (rng.uniform(1, 3) * height / 16, rng.uniform(1, 3) * width / 16)
        stamp(int(rng.integers(100, 201)), centre, axes, 0.10, 0.17)
    for centre_row in (rng.uniform(0.16, 0.20), rng.uniform(0.81, 0.85)):
        centre = np.array([centre_row * height, rng.uniform(0.4, 0.6) * width])
        axes = (rng.uniform(0.07, 0.11) * height, rng.uniform(0.45, 0.65) * width)
        stamp(int(rng.integers(200, 301)), centre, axes, 0.75, 0.80)
    coarse = cv2.resize(fine, (_CELLS[1], _CELLS[0]), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.GaussianBlur(coarse, (9, 9), 0), np.float32)
