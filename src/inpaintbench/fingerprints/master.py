"""The master print of a finger: its whole ridge pattern in pure black and white, as nobody ever leaves it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError
from inpaintbench.fingerprints import gabor
from inpaintbench.fingerprints.density import ridge_period
from inpaintbench.fingerprints.growth import Backend, grow, grow_many
from inpaintbench.fingerprints.orientation import orientation
from inpaintbench.fingerprints.records import REFERENCE_PIXELS_PER_INCH, Finger
from inpaintbench.types import item_rng

__all__ = ["master", "masters"]

Picture = npt.NDArray[np.uint8]
BoolArray = npt.NDArray[np.bool_]

# On 275x400 pixels at 500 pixels per inch; the upper end is not drawn.
_POINTS = (750, 850)
_POINT_SIZE = 4
_POINT_MARGIN = 5
_REFERENCE_AREA = 275 * 400


def master(finger: Finger, *, backend: Backend = "auto") -> Picture:
    """The print, ``uint8[H, W]``: 0 = ridge, 255 = paper and nothing between; white borders of half a kernel.

    The same bytes from every backend. Errors: those of ``growth.grow``.
    """
    grown = grow(_kernel_numbers(finger), _points(finger), gabor.bank(finger.pixels_per_inch), backend=backend)
    return _picture(grown)


def masters(fingers: Sequence[Finger], *, device: str) -> Picture:
    """The prints of fingers of one size and resolution, ``uint8[N, H, W]``, through torch on ``device`` (``cuda`` or ``cpu``).

    The same bytes as ``master``.

    Raises:
        InputError: no fingers, or of several sizes or resolutions.
    """
    if not fingers:
        raise InputError("0 fingers were given to print: give at least 1")
    canvases = {(one.width, one.height, one.pixels_per_inch) for one in fingers}
    if len(canvases) > 1:
        kinds = ", ".join(f"{width}x{height} at {ppi:g}" for width, height, ppi in sorted(canvases))
        raise InputError(f"fingers printed together must be of one size and resolution, not {kinds}: print them in groups")
    numbers = np.stack([_kernel_numbers(one) for one in fingers])
    points = np.stack([_points(one) for one in fingers])
    return _picture(grow_many(numbers, points, gabor.bank(fingers[0].pixels_per_inch), device=device))


def _picture(grown: BoolArray) -> Picture:
    return np.where(grown, np.uint8(0), np.uint8(255))


def _kernel_numbers(finger: Finger) -> npt.NDArray[np.int32]:
    return gabor.kernel_numbers(orientation(finger), ridge_period(finger), pixels_per_inch=finger.pixels_per_inch)


def _points(finger: Finger) -> BoolArray:
    """The squares that ridges grow from, uniform over the canvas, ``bool[H, W]``."""
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
