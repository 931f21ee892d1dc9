"""Scale so that the shorter side has a given length."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from inpaintbench.curation.normalizers import geometry
from inpaintbench.curation.normalizers.base import Normalizer
from inpaintbench.errors import InputError
from inpaintbench.ranges import Enlargement, Side


class ShortestSide(Normalizer):
    """The shorter side becomes ``pixels`` and the longer one the nearest even number, bicubic with anti-aliasing.

    Nothing is cut off and shapes stay, so clips of one benchmark differ in size.
    """

    name = "shortest_side"
    version = "2"

    def __init__(self, *, pixels: Side = 480, most_enlargement: Enlargement = 1.0) -> None:
        if pixels < geometry.LEAST_SIDE or pixels % 2:
            raise InputError(
                f"the shorter side should have {pixels} pixels; it must be an even number of {geometry.LEAST_SIDE} or more"
            )
        geometry.check_enlargement(most_enlargement)
        self.pixels, self.most_enlargement = pixels, most_enlargement

    def apply(self, frame: npt.NDArray[np.uint8], *, pixel_aspect: float) -> npt.NDArray[np.uint8]:
        """``uint8[h, w, 3]`` -> ``uint8[H, W, 3]`` with ``min(H, W) == pixels``.

        Raises:
            Rejected: it would be enlarged more than ``most_enlargement`` times.
        """
        size = geometry.square_size(frame, pixel_aspect=pixel_aspect)
        ratio = self.pixels / min(size)
        geometry.refuse_enlarging(
            size, ratio=ratio, most_enlargement=self.most_enlargement, target=f"a shorter side of {self.pixels}"
        )
        columns, rows = (geometry.nearest_even(side * ratio) for side in size)
        return geometry.resized(frame, width=columns, height=rows)

    def describe(self) -> str:
        """Description of the operation in a few words."""
        return f"shorter side {self.pixels}, even sides, bicubic{geometry.enlargement_words(self.most_enlargement)}"
