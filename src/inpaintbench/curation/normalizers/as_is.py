"""Leave frames at their size."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from inpaintbench.curation.normalizers.base import Normalizer
from inpaintbench.curation.normalizers.geometry import resized
from inpaintbench.errors import Rejected
from inpaintbench.ranges import Side


class AsIs(Normalizer):
    """Frames keep their size; only pixels that are not square are made so, by widening.

    For photographs, which the ChaLearn people track publishes at any size.
    """

    name = "as_is"
    version = "2"

    def __init__(self, *, shortest_side: Side = 16) -> None:
        self.shortest_side = shortest_side

    def apply(self, frame: npt.NDArray[np.uint8], *, pixel_aspect: float) -> npt.NDArray[np.uint8]:
        """``uint8[h, w, 3]`` -> the same, or ``uint8[h, w * pixel_aspect, 3]``.

        Raises:
            Rejected: smaller than ``shortest_side``.
        """
        height, width = frame.shape[0], round(frame.shape[1] * pixel_aspect)
        if min(height, width) < self.shortest_side:
            raise Rejected(f"the picture is {width}x{height}, its shorter side should have at least {self.shortest_side} pixels")
        return resized(frame, width=width, height=height)

    def describe(self) -> str:
        """Description of the operation in a few words."""
        return f"size kept, square pixels, sides of {self.shortest_side} or more"
