"""How much of a clip stands still, as slides and frozen frames do."""

from __future__ import annotations

import cv2
import numpy as np

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.errors import NotMeasurable
from inpaintbench.ranges import Duration, Level
from inpaintbench.view import ItemView

# Columns and rows of pixels at which frames are compared, and the side of a cell of them.
_SIZE, _CELL = (208, 120), 8


class StillFraction(AttributeLeaf):
    """Share of the frames that show what was there ``apart_seconds`` before: no cell of the view changed by ``most_levels``.

    The view has 26 by 15 cells; that of a tripod has some in which leaves, water or people move. A cell changes with its mean,
    and with its pixels where they do by twice as much, which noise of two levels does not. The frames of a slide that the
    camera of an editing program moves over do not stand still.
    """

    name = "still_fraction"
    version = "1"
    unit = "fraction of the frames"
    direction = "higher: more of the clip is a still picture"
    cost = 0.05
    needs = ("luma",)

    def __init__(self, *, apart_seconds: Duration = 0.4, most_levels: Level = 2.0) -> None:
        self.apart_seconds, self.most_levels = apart_seconds, most_levels

    def measure(self, view: ItemView) -> float:
        """The share in 0..1; ``NotMeasurable`` for a single frame."""
        if view.frames < 2:
            raise NotMeasurable("the clip has one frame, and a still needs two")
        apart = min(max(1, round(self.apart_seconds * view.fps)), view.frames - 1)
        small = [cv2.resize(luma, _SIZE, interpolation=cv2.INTER_AREA).astype(np.float32) for luma in view.luma]
        cells = (_SIZE[0] // _CELL, _SIZE[1] // _CELL)
        changes = [
            max(
                np.abs(cv2.resize(change, cells, interpolation=cv2.INTER_AREA)).max(),
                cv2.resize(np.abs(change), cells, interpolation=cv2.INTER_AREA).max() / 2,
            )
            for change in (other - one for one, other in zip(small, small[apart:], strict=False))
        ]
        return float(np.mean(np.array(changes) < self.most_levels))
