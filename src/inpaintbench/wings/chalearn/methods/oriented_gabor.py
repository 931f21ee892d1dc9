"""Gabor filters along the ridges of a fingerprint."""

from __future__ import annotations

import math

import cv2
import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.eval.methods.base import Method, where_judged
from inpaintbench.ranges import Amount, Positive, Radius
from inpaintbench.types import Frames
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.fingerprints.enhancement import ALONG_PIXELS, CONTRAST, enhance
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH


class OrientedGabor(Method):
    """Draws a fingerprint anew, dark on white: divides the background out, finds the direction and distance of the ridges by a
    bank of oriented filters, and filters along them (Hong, Wan and Jain, 1998). Grey where it is not sure; needs no training.

    Args:
        pixels_per_inch: resolution of the frames.
        along_pixels: standard deviation of the filter along the ridge at 500 pixels per inch; longer closes longer gaps and
            loses more ends of ridges.
        contrast: 1 gives the grey levels with the least squared error; more makes darker ridges and whiter valleys.

    Raises:
        InputError: a constant that is not above 0.
    """

    name = "oriented_gabor"
    version = "1"
    stateless = True
    needs = ("input",)
    uses = ("hole",)

    def __init__(
        self,
        *,
        pixels_per_inch: Positive = REFERENCE_PIXELS_PER_INCH,
        along_pixels: Radius = ALONG_PIXELS,
        contrast: Amount = CONTRAST,
    ) -> None:
        constants = {"pixels_per_inch": pixels_per_inch, "along_pixels": along_pixels, "contrast": contrast}
        for name, value in constants.items():
            if not (value > 0 and math.isfinite(value)):
                raise InputError(f"{name} is {value}, choose a number above 0")
        self.pixels_per_inch, self.along_pixels, self.contrast = pixels_per_inch, along_pixels, contrast

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``, three equal channels where there is no hole around which the input stays."""
        drawn = [
            enhance(frame, pixels_per_inch=self.pixels_per_inch, along_pixels=self.along_pixels, contrast=self.contrast)
            for frame in view.input
        ]
        return where_judged(view, np.stack([cv2.cvtColor(levels, cv2.COLOR_GRAY2RGB) for levels in drawn]))
