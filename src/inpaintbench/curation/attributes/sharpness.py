"""Sharpness of a clip by itself, without a reference: Crete, Dolmiere, Ladret and Nicolas, "The blur effect", SPIE 6492, 2007.

Blurring a sharp picture takes away much of the difference between neighbouring pixels, blurring a blurred one little. The part
of these differences that a box of nine pixels takes away is the sharpness: 1 less the published blur measure.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.curation.attributes.base import AttributeLeaf, evenly_spaced
from inpaintbench.errors import NotMeasurable
from inpaintbench.ranges import AtLeastOne, Side
from inpaintbench.view import ItemView


class Sharpness(AttributeLeaf):
    """Median over a few frames of the part of neighbouring pixels' differences that a box of nine pixels takes away.

    The lesser of the two directions counts, as published, so a frame that motion has smeared along one of them is not sharp.
    Noise is sharp too, so look at ``noise`` beside it; a view enlarged from a smaller one is not.
    """

    name = "sharpness"
    version = "1"
    unit = "0..1, part of the differences between neighbours that a box blur takes away"
    direction = "higher: sharper, or noisier"
    needs = ("luma",)
    cost = 0.1

    def __init__(self, *, sampled_frames: AtLeastOne = 5, box: Side = 9) -> None:
        self.sampled_frames, self.box = sampled_frames, box

    def measure(self, view: ItemView) -> float:
        """The sharpness in 0..1; ``NotMeasurable`` for a clip without any differences."""
        chosen = evenly_spaced(view.frames, count=self.sampled_frames)
        estimates = [self._of_frame(view.luma[index]) for index in chosen]
        known = [value for value in estimates if value is not None]
        if not known:
            raise NotMeasurable("the frames are of one level each, so nothing in them could be sharp")
        return float(np.median(known))

    def _of_frame(self, frame: npt.NDArray[np.uint8]) -> float | None:
        plane = frame.astype(np.float32)
        along = [_taken_away(turned, box=self.box) for turned in (plane, np.ascontiguousarray(plane.T))]
        known = [value for value in along if value is not None]
        return min(known) if known else None


def _taken_away(plane: npt.NDArray[np.float32], *, box: int) -> float | None:
    """Part of the differences down the columns that a blur down the columns takes away; None where there are none."""
    blurred = cv2.blur(plane, (1, box), borderType=cv2.BORDER_REFLECT_101)
    before, after = (np.abs(np.diff(levels, axis=0)) for levels in (plane, blurred))
    total = float(before.sum(dtype=np.float64))
    return float(np.maximum(before - after, 0).sum(dtype=np.float64)) / total if total else None
