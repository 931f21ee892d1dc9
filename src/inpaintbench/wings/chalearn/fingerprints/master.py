"""Master print of a finger: its complete ridge pattern in pure black and white, before any impression."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError
from inpaintbench.types import item_rng
from inpaintbench.wings.chalearn.fingerprints import gabor
from inpaintbench.wings.chalearn.fingerprints.density import ridge_period
from inpaintbench.wings.chalearn.fingerprints.growth import Backend, grow, grow_many
from inpaintbench.wings.chalearn.fingerprints.orientation import orientation
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH, Finger

__all__ = ["master", "masters"]

Picture = npt.NDArray[np.uint8]
BoolArray = npt.NDArray[np.bool_]

# Range of the number of points that ridges grow from, on 275x400 pixels at 500 per inch; the upper end is excluded.
_POINTS = (750, 850)
# Side of a point, and its least distance from the edge; pixels at 500 per inch.
_POINT_SIZE = 4
_POINT_MARGIN = 5
_REFERENCE_AREA = 275 * 400


def master(finger: Finger, *, backend: Backend = "auto") -> Picture:
    """Render the master print, ``uint8[H, W]``: 0 = ridge, 255 = paper, no other values; white borders of half a kernel.

    All backends give the same bytes. Errors: those of ``growth.grow``.
    """
    grown = grow(_kernel_numbers(finger), _points(finger), gabor.bank(finger.pixels_per_inch), backend=backend)
    return _picture(grown)


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
    numbers = np.stack([_kernel_numbers(finger) for finger in fingers])
    points = np.stack([_points(finger) for finger in fingers])
    return _picture(grow_many(numbers, points, gabor.bank(fingers[0].pixels_per_inch), device=device))


def _picture(grown: BoolArray) -> Picture:
    return np.where(grown, np.uint8(0), np.uint8(255))


def _kernel_numbers(finger: Finger) -> npt.NDArray[np.int32]:
    return gabor.kernel_numbers(orientation(finger), ridge_period(finger), pixels_per_inch=finger.pixels_per_inch)


def _points(finger: Finger) -> BoolArray:
    """Draw the squares that ridges grow from, uniform over the canvas, ``bool[H, W]``."""
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
    return points
