"""Meanings of the levels of masks: white or black is the object, or the four values of programs that remove objects in layers."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import Rejected
from inpaintbench.lazily import lazily
from inpaintbench.types import Hole

cv2 = lazily("cv2")

MaskValues = Literal["white", "black", "quad"]
MASK_VALUES: tuple[str, ...] = get_args(MaskValues)
# Of a quadmask: the object; where it and what it changes overlap; what it changes outside itself; the rest. Source: VOID, 2026.
OBJECT, OVERLAP, AFFECTED, BACKGROUND = 0, 63, 127, 255
QUAD = (OBJECT, OVERLAP, AFFECTED, BACKGROUND)
# Levels that coding shifts areas of one value by at most; more, and they are of another value.
_FEW = 12
# Levels by which the neighbours of a pixel differ inside an area, and pixels that coded edges reach.
_EVEN, _REACH = 8, 2
# Share of the pixels inside areas that may lie apart, where coding left a block.
_STRAY = 0.001

Levels = npt.NDArray[np.uint8]


def dark(levels: Levels) -> Hole:
    """Pixels ``bool[...]`` that are the object in masks whose object is black."""
    return levels <= AFFECTED


def quad_layers(levels: Levels) -> tuple[Hole, Hole]:
    """The object, and the object with all that it changes, of a quadmask; each ``bool[T, H, W]``.

    Levels a little off go to the nearest of ``QUAD``. What lossy coding leaves between two areas goes to the nearer of those
    that it lies between, so that an object has no rim of a value that stands nowhere near.

    Args:
        levels: ``uint8[T, H, W]``.

    Raises:
        Rejected: an area has another value than the four.
    """
    values = np.array(QUAD, np.int16)
    distances = np.abs(np.arange(256, dtype=np.int16)[:, None] - values)  # of each level from each value
    off = distances.min(axis=1) > _FEW
    nearest = distances.argmin(axis=1).astype(np.uint8)
    classes = nearest[levels]
    if off[levels].any():
        counts = np.zeros(256, np.int64)
        for place, plane in enumerate(levels):
            # Pixels whose neighbours are like them.
            square = np.ones((3, 3), np.uint8)
            inside = np.asarray(cv2.subtract(cv2.dilate(plane, square), cv2.erode(plane, square)) <= _EVEN)
            counts += np.bincount(plane[inside], minlength=256)
            classes[place] = _between_areas(plane, inside, distances, nearest)
        if counts[off].sum() > _STRAY * counts.sum():
            worst = int(np.argmax(np.where(off, counts, 0)))
            raise Rejected(
                f"its mask has areas of {worst}, which is none of {', '.join(map(str, QUAD))}: it is no quadmask, so say whether "
                "white or black is the object"
            )
    return classes <= QUAD.index(OVERLAP), classes != QUAD.index(BACKGROUND)


def _between_areas(plane: Levels, inside: Hole, distances: npt.NDArray[np.int16], nearest: Levels) -> Levels:
    """Places among ``QUAD``: inside areas the nearest, elsewhere the nearest of those that an area close by has."""
    square, classes = np.ones((2 * _REACH + 1, 2 * _REACH + 1), np.uint8), nearest[plane]
    costs = distances[plane]  # `int16[H, W, 4]`
    for value in range(len(QUAD)):
        close_by = cv2.dilate((inside & (classes == value)).view(np.uint8), square).view(np.bool_)
        costs[~inside & ~close_by, value] += 256  # more than any two levels differ by
    return np.asarray(costs.argmin(axis=2), np.uint8)
