"""Brightness of a clip."""

from __future__ import annotations

import numpy as np

from inpaintbench.curation.attributes.base import AttributeLeaf, evenly_spaced
from inpaintbench.ranges import AtLeastOne
from inpaintbench.view import ItemView

# Coded luma of black and white in limited range (ITU-R BT.601 and BT.709).
BLACK, WHITE = 16, 235


class Exposure(AttributeLeaf):
    """Mean coded luma of a few frames, between black (0) and white (1)."""

    name = "exposure"
    version = "1"
    unit = "0..1, mean luma between black and white"
    direction = "higher: brighter; 0.1 is night, 0.9 snow or fog"
    needs = ("luma",)
    cost = 0.01

    def __init__(self, *, sampled_frames: AtLeastOne = 10) -> None:
        self.sampled_frames = sampled_frames

    def measure(self, view: ItemView) -> float:
        """The mean in 0..1; footroom and headroom count as black and white."""
        level = np.mean([view.luma[index].mean() for index in evenly_spaced(view.frames, count=self.sampled_frames)])
        return float(np.clip((level - BLACK) / (WHITE - BLACK), 0, 1))
