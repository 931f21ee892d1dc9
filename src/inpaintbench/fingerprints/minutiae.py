"""Minutiae of a print: ends and forks of its ridges by the crossing number on their skeleton (Rutovitz, 1966)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.ndimage
import scipy.spatial
from skimage.morphology import remove_small_holes, remove_small_objects, skeletonize

from inpaintbench.fingerprints.estimation import blurred
from inpaintbench.fingerprints.poincare import RIM_PIXELS, Mask, Picture, print_area, shrunk
from inpaintbench.fingerprints.records import REFERENCE_PIXELS_PER_INCH

# Before ridges are told from valleys, so that specks make no holes.
SMOOTHING_PIXELS = 1.2
_SURROUNDINGS_PIXELS = 8.0
_SPECK_AREA_PIXELS = 40
# Minutiae nearer to one another than this are a break, a spur or a bridge, not two minutiae: one ridge period.
_SPUR_PIXELS = 9.0
_NEIGHBOURS = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))


class Minutia(NamedTuple):
    """Where a ridge ends or forks."""

    x: float
    y: float
    kind: str
    """``ending`` or ``fork``."""


def find_minutiae(
    picture: Picture, mask: Mask | None = None, *, pixels_per_inch: float = REFERENCE_PIXELS_PER_INCH
) -> tuple[Minutia, ...]:
    """The minutiae of ``uint8[H, W]`` (ridges dark) inside ``bool[H, W]`` (by default ``print_area``), row by row.

    Left out are those near the edge of the print, and all that lie so near to one another that they come from specks and gaps.
    """
    scale = pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    area = print_area(picture, pixels_per_inch=pixels_per_inch) if mask is None else mask
    skeleton = ridge_skeleton(picture, scale=scale) & area
    crossings = crossing_numbers(skeleton)
    inner = shrunk(area, RIM_PIXELS * scale)
    found = [
        Minutia(float(x), float(y), "ending" if crossings[y, x] == 1 else "fork")
        for y, x in np.argwhere(np.isin(crossings, (1, 3))).tolist()
    ]
    return tuple(one for one in _apart(found, pixels=_SPUR_PIXELS * scale) if inner[int(one.y), int(one.x)])


def ridge_skeleton(picture: Picture, *, scale: float = 1.0) -> Mask:
    """The middle lines of the ridges of ``uint8[H, W]``, ``bool[H, W]``, one pixel wide; ``scale`` in 500 pixels per inch."""
    grey = blurred(picture.astype(np.float32), sigma=SMOOTHING_PIXELS * scale)
    ridges = (grey < blurred(grey, sigma=_SURROUNDINGS_PIXELS * scale)) & (grey < 200)
    area = max(1, round(_SPECK_AREA_PIXELS * scale * scale))
    whole = remove_small_holes(remove_small_objects(ridges, max_size=area), max_size=area // 2)
    return np.asarray(skeletonize(whole), np.bool_)  # type: ignore[no-untyped-call]


def crossing_numbers(skeleton: Mask) -> npt.NDArray[np.int8]:
    """Half the changes around every pixel of ``bool[H, W]``: 1 = end, 2 = on a line, 3 = fork; 0 off the skeleton."""
    padded = np.pad(skeleton, 1).astype(np.int8)
    height, width = skeleton.shape
    ring = [padded[1 + down : 1 + down + height, 1 + right : 1 + right + width] for down, right in _NEIGHBOURS]
    changes = sum(np.abs(one - other) for one, other in zip(ring, (*ring[1:], ring[0]), strict=True))
    return np.where(skeleton, np.asarray(changes) // 2, 0).astype(np.int8)


def _apart(found: list[Minutia], *, pixels: float) -> list[Minutia]:
    """Those that have no other nearer than ``pixels``."""
    if len(found) < 2:
        return found
    distances, _ = scipy.spatial.cKDTree([one[:2] for one in found]).query([one[:2] for one in found], k=2)
    return [one for one, distance in zip(found, distances[:, 1], strict=True) if distance >= pixels or math.isinf(distance)]
