"""Share of a clip that is bars."""

from __future__ import annotations

import numpy as np

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.curation.bars import find_bars
from inpaintbench.ranges import AtLeastOne
from inpaintbench.view import ItemView


class Letterbox(AttributeLeaf):
    """Share of the view that letterbox and pillarbox bars take, averaged over the frames.

    Bars are found as for whole sources, in at most ``looks`` frames spread over the clip: one frame shows what stays, and a
    dozen what changes. A clip that is dark all over has none.
    """

    name = "letterbox"
    version = "1"
    unit = "fraction of the view"
    direction = "higher: more of the view is bars"
    needs = ("truth",)
    cost = 0.29

    def __init__(self, *, looks: AtLeastOne = 12) -> None:
        self.looks = looks

    def measure(self, view: ItemView) -> float:
        """The share in 0..1, 0 without bars."""
        numbers = np.unique(np.linspace(0, view.frames - 1, min(self.looks, view.frames)).astype(int)).tolist()
        spans = find_bars(((number, view.truth_frame(number)) for number in numbers), frames=view.frames)
        shares = [(span.end_frame - span.start_frame) * span.bars.share(height=view.height, width=view.width) for span in spans]
        return float(sum(shares) / view.frames)
