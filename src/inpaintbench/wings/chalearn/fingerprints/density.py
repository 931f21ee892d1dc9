"""Ridge density: the ridge period everywhere on a finger's canvas, wider at the tip and below the deltas."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.types import item_rng
from inpaintbench.wings.chalearn.fingerprints.gabor import FREQUENCIES, period_of_bin
from inpaintbench.wings.chalearn.fingerprints.records import Finger

__all__ = ["ridge_period"]

FloatArray = npt.NDArray[np.float32]

# Rows and columns of a map.
_CELLS = (26, 18)
# Stamps are painted on a grid this much finer than the map.
_FINE = 4
# Side of a stamp on the fine grid: about a twelfth of the height.
_STAMP = 8


def ridge_period(finger: Finger) -> FloatArray:
    """Ridge period of every pixel in pixels, ``float32[H, W]``: 6.5 to 13.2 at 500 pixels per inch, mostly 7 to 10.

    It depends on the finger's seed, size and resolution alone; its values are those of the 100 frequency bins.
    """
    rng = item_rng(finger.seed, "ridge density", "")
    count = int(rng.integers(2, 4))
    width_map = np.stack([_map(rng) for _ in range(count)]).mean(axis=0)
    wide = cv2.resize(width_map, (finger.width, finger.height), interpolation=cv2.INTER_LINEAR)
    bins = np.clip(FREQUENCIES + 1 - np.floor(FREQUENCIES * wide), 1, FREQUENCIES).astype(np.intp)
    periods = period_of_bin(np.arange(FREQUENCIES + 1), pixels_per_inch=finger.pixels_per_inch).astype(np.float32)
    return np.asarray(periods[bins])


def _map(rng: np.random.Generator) -> FloatArray:
    """Draw one map of ridge width, ``float32[26, 18]`` in 0..1: patches, one or two narrow blobs, and the wide tip and base."""
    height, width = _CELLS[0] * _FINE, _CELLS[1] * _FINE
    fine = _patches(rng, height, width)
    for _ in range(int(rng.integers(1, 3))):
        centre = rng.uniform((0.3 * height, 0.2 * width), (0.7 * height, 0.8 * width))
        axes = (rng.uniform(1, 3) * height / 16, rng.uniform(1, 3) * width / 16)
        _stamp(fine, rng, int(rng.integers(100, 201)), centre=centre, axes=axes, values=(0.10, 0.17))
    for centre_row in (rng.uniform(0.16, 0.20), rng.uniform(0.81, 0.85)):
        centre = np.array([centre_row * height, rng.uniform(0.4, 0.6) * width])
        axes = (rng.uniform(0.07, 0.11) * height, rng.uniform(0.45, 0.65) * width)
        _stamp(fine, rng, int(rng.integers(200, 301)), centre=centre, axes=axes, values=(0.75, 0.80))
    coarse = cv2.resize(fine, (_CELLS[1], _CELLS[0]), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.GaussianBlur(coarse, (9, 9), 0), np.float32)


def _patches(rng: np.random.Generator, height: int, width: int) -> FloatArray:
    tiles = rng.uniform(0.20, 0.25, (-(-height // _STAMP), -(-width // _STAMP))).astype(np.float32)
    return np.ascontiguousarray(tiles.repeat(_STAMP, axis=0).repeat(_STAMP, axis=1)[:height, :width])


def _stamp(
    fine: FloatArray,
    rng: np.random.Generator,
    count: int,
    *,
    centre: npt.NDArray[np.float64],
    axes: tuple[float, float],
    values: tuple[float, float],
) -> None:
    """Paint squares of random values onto ``fine``, with centres uniform in an ellipse, later ones over earlier ones."""
    radius, turn = np.sqrt(rng.random(count)), rng.uniform(0, 2 * np.pi, count)
    rows = np.rint(centre[0] + axes[0] * radius * np.cos(turn)).astype(int) - _STAMP // 2
    columns = np.rint(centre[1] + axes[1] * radius * np.sin(turn)).astype(int) - _STAMP // 2
    for row, column, value in zip(rows.tolist(), columns.tolist(), rng.uniform(*values, count).tolist(), strict=True):
        fine[max(0, row) : max(0, row + _STAMP), max(0, column) : max(0, column + _STAMP)] = value
