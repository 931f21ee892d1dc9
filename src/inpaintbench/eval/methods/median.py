"""A median filter."""

from __future__ import annotations

import cv2
import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.eval.methods.base import Method, where_judged
from inpaintbench.ranges import Side
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


class Median(Method):
    """Gives every pixel the median of a square around it, channel by channel: removes specks and keeps edges.

    Args:
        window_pixels: side of the square, odd, from 3 to 99.

    Raises:
        InputError: a side that is even or out of range.
    """

    name = "median"
    version = "1"
    stateless = True
    needs = ("input",)
    uses = ("hole",)

    def __init__(self, *, window_pixels: Side = 3) -> None:
        if window_pixels not in range(3, 100, 2):
            raise InputError(f"window_pixels is {window_pixels}, choose an odd number from 3 to 99")
        self.window_pixels = int(window_pixels)

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``."""
        # A frame has to lie in one piece: OpenCV takes no slices of wider ones.
        filtered = [cv2.medianBlur(np.ascontiguousarray(frame), self.window_pixels) for frame in view.input]
        return where_judged(view, np.stack(filtered))
