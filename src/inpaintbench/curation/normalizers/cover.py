"""Scale until the frame covers the target, then cut the centre out."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from inpaintbench.curation.normalizers import geometry
from inpaintbench.curation.normalizers.base import Normalizer
from inpaintbench.ranges import Enlargement, Side


class Cover(Normalizer):
    """Cover resize and centre crop, with square pixels.

    As in DEVIL (CVPR 2022): ratio = max(W / w, H / h), each side rounded up, bicubic with anti-aliasing, and the crop's
    offset rounded down. 1920x1080 becomes 854x480, of which columns 11..842 stay. Changes of size inside a file are taken
    frame by frame. By default small frames are enlarged as much as it takes; ``most_enlargement`` refuses beyond a ratio.
    ``resample``: one of ``geometry.FILTERS``.
    """

    name = "cover"
    version = "2"

    def __init__(
        self, *, width: Side = 832, height: Side = 480, most_enlargement: Enlargement = math.inf, resample: str = "bicubic"
    ) -> None:
        geometry.check_size(width, height)
        geometry.check_enlargement(most_enlargement)
        geometry.check_filter(resample)
        self.resample = resample
        self.width, self.height, self.most_enlargement = width, height, most_enlargement

    def apply(self, frame: npt.NDArray[np.uint8], *, pixel_aspect: float) -> npt.NDArray[np.uint8]:
        """``uint8[h, w, 3]`` -> ``uint8[height, width, 3]``.

        Raises:
            Rejected: it would be enlarged more than ``most_enlargement`` times.
        """
        size = geometry.square_size(frame, pixel_aspect=pixel_aspect)
        ratio = max(self.width / size[0], self.height / size[1])
        geometry.refuse_enlarging(size, ratio=ratio, most_enlargement=self.most_enlargement, target=f"{self.width}x{self.height}")
        columns, rows = geometry.rounded_up(size[0] * ratio), geometry.rounded_up(size[1] * ratio)
        scaled = geometry.resized(frame, width=columns, height=rows, resample=self.resample)
        left, top = (columns - self.width) // 2, (rows - self.height) // 2
        return np.ascontiguousarray(scaled[top : top + self.height, left : left + self.width])

    def describe(self) -> str:
        """Description of the operation in a few words."""
        return f"cover {self.width}x{self.height}, {self.resample}{geometry.enlargement_words(self.most_enlargement)}"
