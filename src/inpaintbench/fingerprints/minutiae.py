"""Minutiae extraction: ridge endings and bifurcations by the crossing number on the skeleton (Rutovitz, 1966)."""

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

# Blur before thresholding, so that specks leave no holes.
SMOOTHING_PIXELS = 1.2
# Gaussian of the local mean that ridges are thresholded by: about one ridge period.
_SURROUNDINGS_PIXELS = 8.0
# Smaller pieces of ridge are dirt; smaller holes than half of it are pores or specks.
_SPECK_AREA_PIXELS = 40
# Minutiae nearer to each other than one ridge period are a break, a spur or a bridge.
_SPUR_PIXELS = 9.0
_NEIGHBOURS = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))


class Minutia(NamedTuple):
    """Ridge ending or bifurcation at (x, y), pixels."""

    x: float
    y: float
    kind: str
    """``ending`` or ``fork``."""


def find_minutiae(
    picture: Picture, mask: Mask | None = None, *, pixels_per_inch: float = REFERENCE_PIXELS_PER_INCH
) -> tuple[Minutia, ...]:
    """Find the minutiae of ``uint8[H, W]`` (ridges dark) within ``bool[H, W]`` (by default ``print_area``), row by row.

    Excluded are those near the edge of the print, and those so near to each other that they stem from specks and gaps.
    """
    scale = pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    area = print_area(picture, pixels_per_inch=pixels_per_inch) if mask is None else mask
    skeleton = ridge_skeleton(picture, scale=scale) & area
    crossings = crossing_numbers(skeleton)
    inner = shrunk(area, RIM_PIXELS * scale)
    minutiae = [
        Minutia(float(x), float(y), "ending" if crossings[y, x] == 1 else "fork")
        for y, x in np.argwhere(np.isin(crossings, (1, 3))).tolist()
    ]
    return tuple(point for point in _isolated(minutiae, pixels=_SPUR_PIXELS * scale) if inner[int(point.y), int(point.x)])


def ridge_skeleton(picture: Picture, *, scale: float = 1.0) -> Mask:
    """Skeleton of the ridges of ``uint8[H, W]``, ``bool[H, W]``, one pixel wide; ``scale``: pixels per pixel at 500 per inch."""
    grey = blurred(picture.astype(np.float32), sigma=SMOOTHING_PIXELS * scale)
    ridges = (grey < blurred(grey, sigma=_SURROUNDINGS_PIXELS * scale)) & (grey < 200)
    area = max(1, round(_SPECK_AREA_PIXELS * scale * scale))
    cleaned = remove_small_holes(remove_small_objects(ridges, max_size=area), max_size=area // 2)
    return np.asarray(skeletonize(cleaned), np.bool_)  # type: ignore[no-untyped-call]


def crossing_numbers(skeleton: Mask) -> npt.NDArray[np.int8]:
    """Crossing numbers on a skeleton ``bool[H, W]``, ``int8[H, W]``: 1 = ending, 2 = line, 3 = bifurcation, 0 elsewhere."""
    padded = np.pad(skeleton, 1).astype(np.int8)
    height, width = skeleton.shape
    ring = [padded[1 + down : 1 + down + height, 1 + right : 1 + right + width] for down, right in _NEIGHBOURS]
    changes = sum(np.abs(before - after) for before, after in zip(ring, (*ring[1:], ring[0]), strict=True))
    return np.where(skeleton, np.asarray(changes) // 2, 0).astype(np.int8)


def _isolated(minutiae: list[Minutia], *, pixels: float) -> list[Minutia]:
    """Minutiae without another nearer than ``pixels``."""
    if len(minutiae) < 2:
        return minutiae
    positions = [point[:2] for point in minutiae]
    distances, _ = scipy.spatial.cKDTree(positions).query(positions, k=2)
    return [
        point for point, distance in zip(minutiae, distances[:, 1], strict=True) if distance >= pixels or math.isinf(distance)
    ]
