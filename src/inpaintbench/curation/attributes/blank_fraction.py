"""How much of a clip shows nothing."""

from __future__ import annotations

import cv2
import numpy as np

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.ranges import Level
from inpaintbench.view import ItemView

# Small enough that noise and grain are gone.
_SIZE = (64, 36)


class BlankFraction(AttributeLeaf):
    """Share of the frames that show nothing: black, white or one grey, up to ``most_levels`` of deviation."""

    name = "blank_fraction"
    version = "1"
    unit = "fraction of the frames"
    direction = "higher: more frames show nothing"
    cost = 0.1
    needs = ("luma",)

    def __init__(self, *, most_levels: Level = 2.0) -> None:
        self.most_levels = most_levels

    def measure(self, view: ItemView) -> float:
        """The share in 0..1."""
        small = (cv2.resize(luma, _SIZE, interpolation=cv2.INTER_AREA) for luma in view.luma)
        return float(np.mean([plane.std() <= self.most_levels for plane in small]))
