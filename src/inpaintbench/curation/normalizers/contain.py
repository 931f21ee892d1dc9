"""Scale until the whole frame fits into the target; pad the rest or leave it off."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from inpaintbench.curation.normalizers import geometry
from inpaintbench.curation.normalizers.base import Normalizer
from inpaintbench.errors import InputError, Rejected
from inpaintbench.ranges import Enlargement, Side, WholeLevel


class Contain(Normalizer):
    """The whole frame at the largest size that fits, with square pixels: ratio = min(W / w, H / h), bicubic with anti-aliasing.

    Padded to the full size with ``colour`` (RGB, 0..255), the odd line at the bottom or right; ``pad=False`` adds nothing, so
    frames keep their aspect and the sides are the nearest even numbers that fit.
    """

    name = "contain"
    version = "2"

    def __init__(
        self,
        *,
        width: Side = 832,
        height: Side = 480,
        pad: bool = True,
        colour: Sequence[WholeLevel] = (0, 0, 0),
        most_enlargement: Enlargement = 1.0,
    ) -> None:
        geometry.check_size(width, height)
        geometry.check_enlargement(most_enlargement)
        if len(colour) != 3 or not all(0 <= level <= 255 for level in colour):
            raise InputError(f"colour is {list(colour)}, it must be three levels 0..255 (red, green, blue)")
        self.width, self.height, self.pad, self.colour, self.most_enlargement = (
            width,
            height,
            pad,
            tuple(colour),
            most_enlargement,
        )

    def apply(self, frame: npt.NDArray[np.uint8], *, pixel_aspect: float) -> npt.NDArray[np.uint8]:
        """``uint8[h, w, 3]`` -> ``uint8[height, width, 3]``, or smaller where nothing is padded.

        Raises:
            Rejected: it would be enlarged more than ``most_enlargement`` times, or a side would have fewer than 16 pixels.
        """
        size = geometry.square_size(frame, pixel_aspect=pixel_aspect)
        ratio = min(self.width / size[0], self.height / size[1])
        geometry.refuse_enlarging(size, ratio=ratio, most_enlargement=self.most_enlargement, target=f"{self.width}x{self.height}")
        columns, rows = self._side(size[0] * ratio, self.width), self._side(size[1] * ratio, self.height)
        if min(columns, rows) < geometry.LEAST_SIDE:
            raise Rejected(
                f"the picture is {size[0]:.0f}x{size[1]:.0f} and would be {columns}x{rows} inside {self.width}x{self.height}; "
                f"{geometry.LEAST_SIDE} pixels a side is the least"
            )
        scaled = geometry.resized(frame, width=columns, height=rows)
        return self._padded(scaled) if self.pad else scaled

    def _side(self, length: float, most: int) -> int:
        if self.pad:
            return max(1, min(math.floor(length + 0.5), most))
        return min(geometry.nearest_even(length), most - most % 2)

    def _padded(self, scaled: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        rows, columns = scaled.shape[:2]
        padded = np.empty((self.height, self.width, 3), np.uint8)
        padded[:] = self.colour
        top, left = (self.height - rows) // 2, (self.width - columns) // 2
        padded[top : top + rows, left : left + columns] = scaled
        return padded

    def describe(self) -> str:
        """Description of the operation in a few words."""
        padding = f", padded with RGB {'/'.join(map(str, self.colour))}" if self.pad else ", not padded, even sides"
        return f"contain {self.width}x{self.height}, bicubic{padding}{geometry.enlargement_words(self.most_enlargement)}"
