"""Sharpness of a fill beside that of the truth."""

from __future__ import annotations

import math

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric
from inpaintbench.view import ItemView

_NEIGHBOURS = np.ones((3, 3), np.uint8)


class HoleSharpness(SingleRegionMetric):
    """Mean size of the luma gradient inside the hole, as a share of that of the truth at the same pixels.

    1 = as sharp as the truth, 0 = flat, above 1 = noise or edges that are not there. Neither more nor less is better, so methods
    are not ranked by it (``ranked`` is False): reports show its values and nothing that follows from an order. To be read beside
    PCons, which flat and blurred fills win (DEVIL, CVPR 2022, discussion of Figure 2). The
    gradient is Sobel's; pixels next to a known one are left out, so that a seam does not count as sharpness. Gradients are added
    up over the whole clip before they are divided, so that frames whose truth is flat do not decide.
    """

    name = "hole_sharpness"
    label = "Sharpness"
    version = "2"
    higher_is_better = True
    ranked = False
    decimals = 3
    bounds = (0.0, math.inf)
    answers = ("hole",)
    needs = ("truth", "composite", "hole")

    def measurement(self, view: ItemView) -> Measurement:
        """The ratio, at least 0; None where no hole is wide enough or the truth is flat there."""
        sums, pixels = np.zeros(2), 0
        for truth, composite, hole in zip(view.truth, view.composite, view.hole, strict=True):
            # Outside the frame counts as hole: the edge of the picture is no seam.
            inside = cv2.erode(hole.view(np.uint8), _NEIGHBOURS, borderType=cv2.BORDER_CONSTANT, borderValue=1).view(np.bool_)
            count = int(np.count_nonzero(inside))
            if count:
                sums += [_gradients(frame, inside).sum() for frame in (composite, truth)]
                pixels += count
        if not pixels:
            return Measurement(None, "no frame has a hole pixel whose neighbours are all in the hole")
        if not sums[1]:
            return Measurement(None, "the truth is flat inside the hole")
        return Measurement(float(sums[0] / sums[1]), details={"pixels": pixels})


def _gradients(frame: npt.NDArray[np.uint8], inside: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Size of Sobel's gradient of the luma at the pixels ``inside``, ``float64[N]``."""
    luma = cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY)
    # Whole numbers up to the root, which NumPy rounds correctly: OpenCV's magnitude, and its mean under a mask, differ in their
    # last digits by where in memory the frame begins.
    across, down = (
        np.asarray(cv2.Sobel(luma, cv2.CV_16S, *order, borderType=cv2.BORDER_REPLICATE), np.int32)[inside]
        for order in ((1, 0), (0, 1))
    )
    return np.sqrt(across * across + down * down)
