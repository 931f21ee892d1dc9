"""Fluid-dynamics inpainting."""

from __future__ import annotations

import cv2

from inpaintbench.eval.methods.base import Method, fill_each_frame
from inpaintbench.ranges import Radius
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


class NavierStokes(Method):
    """Fills each frame by itself, continuing the lines of equal brightness into the hole (Bertalmio, Bertozzi and Sapiro,
    "Navier-Stokes, fluid dynamics, and image and video inpainting", 2001, as OpenCV has it).

    Args:
        radius_pixels: how far around a pixel its colour is drawn from.
    """

    name = "navier_stokes"
    version = "1"
    stateless = True
    needs = ("input", "hole")

    def __init__(self, *, radius_pixels: Radius = 3.0) -> None:
        self.radius_pixels = radius_pixels

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``; a frame that is all hole stays as it is."""
        return fill_each_frame(view.input, view.hole, algorithm=cv2.INPAINT_NS, radius_pixels=self.radius_pixels)
