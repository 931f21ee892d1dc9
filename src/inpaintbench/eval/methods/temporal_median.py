"""The median over time."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.eval.methods.base import Method, fill_in_place
from inpaintbench.ranges import Radius
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

_PIXELS_AT_ONCE = 1 << 15  # bounds memory: 32,768 pixels of 90 frames are 9 MB


class TemporalMedian(Method):
    """Fills a pixel with the median, channel by channel, of the frames in which it is known; pixels that are never known are
    filled frame by frame (``telea``). Right behind a camera on a tripod, wrong behind any other.

    Args:
        radius_pixels: of the frame-by-frame filling.
    """

    name = "temporal_median"
    version = "1"
    stateless = True
    needs = ("input", "hole")

    def __init__(self, *, radius_pixels: Radius = 3.0) -> None:
        self.radius_pixels = radius_pixels

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``."""
        frames, hole = view.input.copy(), view.hole
        never_known = hole.all(axis=0)
        rows, columns = np.nonzero(hole.any(axis=0) & ~never_known)
        for first in range(0, len(rows), _PIXELS_AT_ONCE):
            some = slice(first, first + _PIXELS_AT_ONCE)
            levels, missing = frames[:, rows[some], columns[some]], hole[:, rows[some], columns[some]]
            filled = np.where(missing[..., None], median_of_known(levels, missing), levels)
            frames[:, rows[some], columns[some]] = filled
        rest = np.broadcast_to(never_known, hole.shape)
        return fill_in_place(frames, rest, algorithm=cv2.INPAINT_TELEA, radius_pixels=self.radius_pixels)


def median_of_known(levels: npt.NDArray[np.uint8], missing: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    """Median over time of ``uint8[T, N, 3]`` where not ``bool[T, N]`` missing, as ``uint8[N, 3]``, halves rounded up.

    Every pixel must be known at least once.
    """
    # A missing level sorts behind every known one, or among equals, so the first `known` levels are the known ones.
    ordered = np.sort(np.where(missing[..., None], np.uint8(255), levels), axis=0)
    known, pixels = (~missing).sum(axis=0), np.arange(levels.shape[1])
    lower, upper = ordered[(known - 1) // 2, pixels], ordered[known // 2, pixels]
    median: npt.NDArray[np.uint8] = ((lower.astype(np.uint16) + upper + 1) // 2).astype(np.uint8)
    return median
