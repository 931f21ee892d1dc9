"""Share of a clip that is without detail because it is black or white."""

from __future__ import annotations

import numpy as np

from inpaintbench.curation.attributes.base import AttributeLeaf, evenly_spaced
from inpaintbench.curation.attributes.exposure import BLACK, WHITE
from inpaintbench.ranges import AtLeastOne
from inpaintbench.view import ItemView


class ClippedFraction(AttributeLeaf):
    """Mean share of a few frames whose coded luma is black or darker, or white or brighter. Black bars count."""

    name = "clipped_fraction"
    version = "1"
    unit = "fraction of the view"
    direction = "higher: more of the view is plain black or white"
    needs = ("luma",)
    cost = 0.01

    def __init__(self, *, sampled_frames: AtLeastOne = 10) -> None:
        self.sampled_frames = sampled_frames

    def measure(self, view: ItemView) -> float:
        """The share in 0..1."""
        chosen = (view.luma[index] for index in evenly_spaced(view.frames, count=self.sampled_frames))
        return float(np.mean([np.mean((plane <= BLACK) | (plane >= WHITE)) for plane in chosen]))
