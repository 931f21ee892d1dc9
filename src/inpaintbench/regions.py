"""Geometry of hole masks: areas, centroids, dilation, boundary bands.

All functions take ``bool[T, H, W]`` holes, True = hole, and lengths in pixels.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import MaskShapeError
from inpaintbench.lazily import lazily
from inpaintbench.types import Hole

cv2 = lazily("cv2")

# Pixels that a metric is measured on: all of them, hole pixels, or a band of pixels around the border of the hole.
REGIONS = ("frame", "hole", "band")


def hole_fraction(hole: Hole) -> npt.NDArray[np.float64]:
    """Share of hole pixels in each frame, ``float64[T]`` in 0..1."""
    fractions: npt.NDArray[np.float64] = hole.reshape(len(hole), -1).mean(axis=1, dtype=np.float64)
    return fractions


def centroids(hole: Hole) -> npt.NDArray[np.float64]:
    """Mean (row, column) of the hole of each frame, ``float64[T, 2]``; NaN rows where a frame has no hole."""
    nowhere = (float("nan"), float("nan"))
    return np.array([centroid(frame) or nowhere for frame in np.ascontiguousarray(hole)], dtype=np.float64)


def centroid(hole: npt.NDArray[np.bool_]) -> tuple[float, float] | None:
    """Mean (row, column) of the hole of one frame, ``bool[H, W]``; None without one."""
    # Sums of rows and columns by OpenCV are exact and twenty times cheaper than listing the pixels.
    pixels = hole.view(np.uint8)
    by_row = cv2.reduce(pixels, 1, cv2.REDUCE_SUM, dtype=cv2.CV_32S).ravel().astype(np.int64)
    by_column = cv2.reduce(pixels, 0, cv2.REDUCE_SUM, dtype=cv2.CV_32S).ravel().astype(np.int64)
    count = by_row.sum()
    if not count:
        return None
    return float(by_row @ np.arange(len(by_row)) / count), float(by_column @ np.arange(len(by_column)) / count)


def dilate(hole: Hole, *, radius: int) -> Hole:
    """Dilate each frame's hole by ``radius`` pixels in every direction (square neighbourhood)."""
    return _morph(hole, radius, cv2.dilate)


def boundary_band(hole: Hole, *, radius: int) -> Hole:
    """Pixels within ``radius`` of the hole's border, on both sides of it."""
    return dilate(hole, radius=radius) & ~_morph(hole, radius, cv2.erode)


def select(hole: Hole, region: str, *, band_radius: int) -> Hole:
    """Mask of the pixels of ``region``, ``bool[T, H, W]``.

    Raises:
        ValueError: ``region`` is not one of ``REGIONS``.
    """
    if region == "frame":
        return np.broadcast_to(np.ones_like(hole[:1]), hole.shape)  # one frame in memory
    if region == "hole":
        return hole
    if region == "band":
        return boundary_band(hole, radius=band_radius)
    raise ValueError(f"unknown region {region!r}, choose from {', '.join(REGIONS)}")


def check_shape(hole: Hole, *, frames: int, height: int, width: int, subject: str) -> None:
    """Raise ``MaskShapeError`` unless ``hole`` is ``bool[frames, height, width]``."""
    if hole.shape != (frames, height, width) or hole.dtype != np.bool_:
        raise MaskShapeError(f"hole {hole.dtype}{hole.shape} != clip {subject!r} bool{(frames, height, width)}")


def _morph(hole: Hole, radius: int, operation: object) -> Hole:
    if radius < 1:
        return hole.copy()
    kernel = np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)
    # Outside the frame counts as known when growing and as hole when shrinking: the frame edge is not a hole border.
    border = {cv2.dilate: 0, cv2.erode: 1}[operation]
    grown = [
        operation(frame.view(np.uint8), kernel, borderType=cv2.BORDER_CONSTANT, borderValue=border)  # type: ignore[operator]
        for frame in hole
    ]
    return np.stack(grown).view(np.bool_)
