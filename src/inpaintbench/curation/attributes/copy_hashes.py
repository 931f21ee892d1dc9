"""Perceptual hashes of what copies of a clip show: its mirror image, and parts of it that a crop may have left.

A crop moves every frequency of a picture, so its hash is another one. The hash of a picture that keeps nine tenths of both sides
differs from that of the nearest of nine such parts in 8 of 64 bits at most in nine of ten pictures of the test assets, wherever
it was cut (`perceptual_hash` alone: in 18).
"""

from __future__ import annotations

from itertools import product

import numpy as np

from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.curation.attributes.perceptual_hash import FLAT, frame_hash, looked_at, shrunk, small_frames
from inpaintbench.errors import NotMeasurable
from inpaintbench.ranges import Positive
from inpaintbench.types import Luma
from inpaintbench.view import ItemView

# Of both sides of a view, and where a part lies: 0 at the left or top, 1 at the right or bottom.
PART = 0.9
PLACES = (0.0, 0.5, 1.0)
VIEWS = 1 + len(PLACES) ** 2


class CopyHashes(AttributeLeaf):
    """64-bit hashes of the mirror image and of nine parts, at 0, 1/2, 1, ... seconds, for finding copies.

    The value is the rate and then the hashes of all times, as ``perceptual_hash`` writes them, of the mirror image, then of each
    part, from the top left row by row.
    """

    name = "copy_hashes"
    version = "1"
    unit = "64-bit hashes of frames at a fixed rate"
    direction = "none: copies have hashes that differ in few bits"
    cost = 0.05
    needs = ("luma",)

    def __init__(self, *, hashes_per_second: Positive = 2.0) -> None:
        self.hashes_per_second = hashes_per_second

    def measure(self, view: ItemView) -> str:
        """The hashes in words; ``NotMeasurable`` when every frame looked at is flat."""
        indices = looked_at(view.frames, fps=view.fps, hashes_per_second=self.hashes_per_second)
        distinct, places = np.unique(indices, return_inverse=True)
        whole, barred = small_frames(view.luma, distinct), shrunk(view.luma, distinct)
        # A crop leaves of black bars what it leaves, and uneven ones are no bars.
        shown = [
            [frame_hash(frame[:, ::-1]), *(frame_hash(part) for part in parts(other))]
            for frame, other in zip(whole, barred, strict=True)
        ]
        if not any(hash_ is not None for hashes in shown for hash_ in hashes):
            raise NotMeasurable(f"every one of the {len(distinct)} frames looked at is flat")
        words = [FLAT if (hash_ := shown[at][number]) is None else f"{hash_:016x}" for number in range(VIEWS) for at in places]
        return " ".join([f"{self.hashes_per_second:g}", *words])


def parts(frame: Luma) -> list[Luma]:
    """The nine parts of ``uint8[h, w]``, views of it."""
    height, width = frame.shape
    down, across = max(1, round(PART * height)), max(1, round(PART * width))
    corners = [(round(top * (height - down)), round(left * (width - across))) for top, left in product(PLACES, PLACES)]
    return [frame[top : top + down, left : left + across] for top, left in corners]
