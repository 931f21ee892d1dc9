"""Geometry of hole masks: areas, centroids, dilation, boundary bands, and the regions that metrics are measured on.

All functions take ``bool[T, H, W]`` holes, True = hole, and lengths in pixels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import MaskShapeError
from inpaintbench.large import zeros
from inpaintbench.lazily import lazily
from inpaintbench.types import Hole

cv2 = lazily("cv2")

# Pixels that a metric is measured on: all of them, hole pixels, or a band of pixels around the border of the hole.
REGIONS = ("frame", "hole", "band")
# Of items whose object is to be removed: the object; what it changes outside itself, such as its shadow; and what neither of the
# two comes near.
OBJECT_REGIONS = ("object", "effect", "rest")
ALL_REGIONS = (*REGIONS, *OBJECT_REGIONS)
# Distance that ``rest`` keeps from object and effect.
GUARD_PIXELS = 2


def masks_of(region: str) -> tuple[str, ...]:
    """Parts of the view that ``region`` is made of, besides the hole; ``rest`` can do without them."""
    return () if region in REGIONS else ("object_mask",) if region == "object" else ("object_mask", "effect_mask")


def hole_fraction(hole: Hole) -> npt.NDArray[np.float64]:
    """Share of hole pixels in each frame, ``float64[T]`` in 0..1."""
    # Counted frame by frame: a tenth of the time of a mean, and as exact.
    counts = np.array([np.count_nonzero(frame) for frame in hole], np.float64)
    return counts / math.prod(hole.shape[1:])


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


def box_of(mask: npt.NDArray[Any]) -> tuple[slice, slice] | None:
    """Rows and columns of the smallest box around what is not 0 in ``[H, W]``; None where everything is."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return (slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)) if len(rows) else None


def dilate(hole: Hole, *, radius: int) -> Hole:
    """Dilate each frame's hole by ``radius`` pixels in every direction (square neighbourhood)."""
    return _morph(hole, radius, cv2.dilate)


def dilate_by_cross(hole: Hole, *, times: int) -> Hole:
    """Dilate each frame's hole ``times`` times by a 3x3 cross, which gives a diamond: what codes of video inpainting do."""
    if not times:
        return hole
    cross = cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))
    return np.stack([cv2.dilate(frame.view(np.uint8), cross, iterations=times) for frame in hole]).view(np.bool_)


def boundary_band(hole: Hole, *, radius: int) -> Hole:
    """Pixels within ``radius`` of the hole's border, on both sides of it."""
    band = dilate(hole, radius=radius)
    for frame, inner in zip(band, _morph(hole, radius, cv2.erode), strict=True):
        if (box := box_of(inner)) is not None:
            frame[box] &= ~inner[box]
    return band


def select(
    hole: Hole, region: str, *, band_radius: int, object_mask: Hole | None = None, effect_mask: Hole | None = None
) -> Hole:  # fmt: skip
    """Mask of the pixels of ``region``, ``bool[T, H, W]``.

    Args:
        hole: of the item.
        region: one of ``ALL_REGIONS``.
        band_radius: reach of the band on both sides of the hole's border.
        object_mask: the object, which ``object`` and ``effect`` are about.
        effect_mask: what the object changes; where the object itself is among it, ``effect`` leaves it out. Without it, ``rest``
            keeps away from the hole and from what is known of the object.

    Raises:
        ValueError: ``region`` is not one of ``ALL_REGIONS``, or the masks that it is made of are not there.
    """
    if region == "frame":
        return np.broadcast_to(np.ones_like(hole[:1]), hole.shape)  # one frame in memory
    if region == "hole":
        return hole
    if region == "band":
        return boundary_band(hole, radius=band_radius)
    if region == "rest":
        changed = [mask for mask in (object_mask, hole if effect_mask is None else effect_mask) if mask is not None]
        return _by_frame(lambda *masks: ~dilate(np.logical_or.reduce(masks)[None], radius=GUARD_PIXELS)[0], changed)
    if region == "object" and object_mask is not None:
        return object_mask
    if region == "effect" and object_mask is not None and effect_mask is not None:
        return _by_frame(lambda effect, inside: effect & ~inside, (effect_mask, object_mask))
    if region in OBJECT_REGIONS:
        raise ValueError(f"the region {region!r} needs {' and '.join(masks_of(region))}")
    raise ValueError(f"unknown region {region!r}, choose from {', '.join(ALL_REGIONS)}")


def _by_frame(pixels: Callable[..., npt.NDArray[np.bool_]], masks: Sequence[Hole]) -> Hole:
    """``pixels`` of each frame of ``masks``, in a file where these are of a long clip."""
    made = zeros(masks[0].shape)
    for found, *frames in zip(made, *masks, strict=True):
        found[...] = pixels(*frames)
    return made


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
    grown = zeros(hole.shape)
    for frame, found in zip(hole, grown, strict=True):
        left, top, across, down = cv2.boundingRect(frame.view(np.uint8))
        if across:  # nothing is found farther away
            around = slice(max(top - radius, 0), top + down + radius), slice(max(left - radius, 0), left + across + radius)
            pixels = frame[around].view(np.uint8)
            found[around] = operation(pixels, kernel, borderType=cv2.BORDER_CONSTANT, borderValue=border)  # type: ignore[operator]
    return grown
