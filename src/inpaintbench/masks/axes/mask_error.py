"""Error of the mask that methods are given."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from inpaintbench.masks.axes.base import Axis
from inpaintbench.masks.mask_errors import Kind, spoilt
from inpaintbench.types import Hole

# The exact one first: levels are compared with the first.
KINDS: Mapping[str, Kind | None] = {"exact": None, "eroded": "erode", "dilated": "dilate"}
# Intersection over union with the exact mask, which detectors and trackers reach: the middle, 0.8, is aimed at.
IOU = (0.7, 0.9)


class MaskError(Axis):
    """A mask that is exact, too small or too large, by as many pixels as bring its IoU with the exact one to about .8.

    What is missing stays missing: under a mask that is too small its rim shows in the fill value.
    """

    name = "mask_error"
    version = "1"
    levels = tuple(KINDS)
    base_level = "exact"
    changes = "hole"
    property = "size of the mask, against what is missing"
    exact = False

    def hole(self, level: str, hole: Hole, rng: np.random.Generator) -> Hole:
        """The mask that methods are given.

        Raises:
            Rejected: no number of pixels brings it there.
        """
        kind = KINDS[level]
        if kind is None:
            return hole
        return spoilt(hole, kind, amount=None, iou=IOU, rng=rng)[0]
