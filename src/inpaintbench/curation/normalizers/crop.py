"""Cut the centre out without scaling."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from inpaintbench.curation.normalizers.base import Normalizer
from inpaintbench.curation.normalizers.geometry import check_size, resized, square_size
from inpaintbench.errors import Rejected
from inpaintbench.ranges import Side


class Crop(Normalizer):
    """The middle ``width`` x ``height`` pixels, offset rounded down; only pixels that are not square are scaled, in width."""

    name = "crop"
    version = "2"

    def __init__(self, *, width: Side = 832, height: Side = 480) -> None:
        check_size(width, height)
        self.width, self.height = width, height

    def apply(self, frame: npt.NDArray[np.uint8], *, pixel_aspect: float) -> npt.NDArray[np.uint8]:
        """``uint8[h, w, 3]`` -> ``uint8[height, width, 3]``.

        Raises:
            Rejected: the frame is smaller than that.
        """
        size = square_size(frame, pixel_aspect=pixel_aspect)
        columns, rows = round(size[0]), round(size[1])
        if columns < self.width or rows < self.height:
            raise Rejected(f"the picture is {columns}x{rows}, smaller than the crop of {self.width}x{self.height}")
        square = resized(frame, width=columns, height=rows)
        left, top = (columns - self.width) // 2, (rows - self.height) // 2
        return np.ascontiguousarray(square[top : top + self.height, left : left + self.width])

    def describe(self) -> str:
        """Description of the operation in a few words."""
        return f"crop {self.width}x{self.height} from the centre, not scaled"
