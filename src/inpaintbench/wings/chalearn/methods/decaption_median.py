"""Subtitles found without weights, and filled from the frames in which they are away."""

from __future__ import annotations

import cv2
import numpy as np

from inpaintbench.eval.methods.base import Method, fill_in_place, where_judged
from inpaintbench.eval.methods.temporal_median import median_of_known
from inpaintbench.eval.methods.text_spans import text_hole
from inpaintbench.ranges import Level, Radius
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

_RING_PIXELS = 3
_PIXELS_AT_ONCE = 1 << 15


class DecaptionMedian(Method):
    """Looks for burnt-in subtitles (``text_spans``), fills what they hide with the median over the frames in which it can be seen
    where the picture stands still there, and frame by frame from the border inwards (``telea``) elsewhere.

    Whether the picture stands still is asked of a ring of known pixels around each hole: the median has to come closer to them
    than ``still_levels``. Where the benchmark gives the hole, that is filled instead of what is found.

    Args:
        radius_pixels: of the frame-by-frame filling.
        still_levels: mean difference of the ring from its median over time, in grey levels, up to which the median is taken.
    """

    name = "decaption_median"
    version = "1"
    stateless = True
    needs = ("input",)
    uses = ("hole",)

    def __init__(self, *, radius_pixels: Radius = 3.0, still_levels: Level = 10.0) -> None:
        self.radius_pixels, self.still_levels = radius_pixels, still_levels

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``; without any text a copy of the input."""
        hole = view.hole if view.has("hole") else text_hole(view.input)
        filled = view.input.copy()
        left = hole & ~self._from_other_frames(filled, hole)
        fill_in_place(filled, left, algorithm=cv2.INPAINT_TELEA, radius_pixels=self.radius_pixels)
        return where_judged(view, filled)

    def _from_other_frames(self, frames: Frames, hole: Hole) -> Hole:
        """Fill in place what can be; where that was."""
        some = hole.any(axis=0)
        side = 2 * _RING_PIXELS + 1
        disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
        around = cv2.dilate(np.asarray(some, np.uint8), disc).view(np.bool_) & ~hole.all(axis=0)
        # Over the frames in which a pixel is known; 0 where it is not asked for.
        median = np.zeros(frames.shape[1:], np.uint8)
        rows, columns = np.nonzero(around)
        for first in range(0, len(rows), _PIXELS_AT_ONCE):
            part = (rows[first : first + _PIXELS_AT_ONCE], columns[first : first + _PIXELS_AT_ONCE])
            median[part] = median_of_known(frames[:, *part], hole[:, *part])
        done = np.zeros_like(hole)
        for index in np.flatnonzero(hole.any(axis=(1, 2))):
            ring = cv2.dilate(hole[index].view(np.uint8), disc).view(np.bool_) & ~hole[index] & around
            off = np.abs(median[ring].astype(np.int16) - frames[index][ring])
            if off.size and off.mean() <= self.still_levels:
                done[index] = hole[index] & around
                frames[index][done[index]] = median[done[index]]
        return done
