"""Fast marching inpainting."""

from __future__ import annotations

import cv2

from inpaintbench.eval.methods.base import Method, fill_each_frame
from inpaintbench.ranges import Radius
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


class Telea(Method):
    """Fills each frame by itself, from the border of the hole inwards (Telea, "An image inpainting technique based on the fast
    marching method", 2004, as OpenCV has it).

    Args:
        radius_pixels: how far around a pixel its colour is drawn from.
    """

    name = "telea"
    version = "1"
    stateless = True
    needs = ("input", "hole")

    def __init__(self, *, radius_pixels: Radius = 3.0) -> None:
        self.radius_pixels = radius_pixels

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``; a frame that is all hole stays as it is."""
        return fill_each_frame(view.input, view.hole, algorithm=cv2.INPAINT_TELEA, radius_pixels=self.radius_pixels)
