"""A Gaussian filter."""

from __future__ import annotations

import cv2
import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.eval.methods.base import Method, where_judged
from inpaintbench.ranges import Radius
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


class Gaussian(Method):
    """Smooths every frame with a Gaussian, channel by channel: removes fine noise, and what is fine in the picture with it.

    Args:
        sigma_pixels: standard deviation, above 0.

    Raises:
        InputError: a standard deviation that is not above 0.
    """

    name = "gaussian"
    version = "1"
    stateless = True
    needs = ("input",)
    uses = ("hole",)

    def __init__(self, *, sigma_pixels: Radius = 1.5) -> None:
        if not sigma_pixels > 0:
            raise InputError(f"sigma_pixels is {sigma_pixels}, choose a number above 0, e.g. 1.5")
        self.sigma_pixels = float(sigma_pixels)

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``."""
        blurred = [cv2.GaussianBlur(frame, (0, 0), self.sigma_pixels, borderType=cv2.BORDER_REPLICATE) for frame in view.input]
        return where_judged(view, np.stack(blurred))
