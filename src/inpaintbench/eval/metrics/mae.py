"""Mean absolute error."""

from __future__ import annotations

import cv2
import numpy as np

from inpaintbench.eval.metrics.base import Measurement, Metric, means_by_region, region_pixels
from inpaintbench.view import ItemView

_CHANNELS = 3


class Mae(Metric):
    """Mean absolute difference of intensities in 0..1, of each frame over the pixels of a region, averaged over frames.

    0 for a perfect copy, at most 1. Frames without a pixel of the region are left out.
    """

    name = "mae"
    version = "1"
    label = "MAE"
    higher_is_better = False
    decimals = 6
    bounds = (0.0, 1.0)
    needs = ("truth", "composite", "hole")

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values in 0..1 for each region; None where no frame has a pixel of it."""
        values: dict[str, list[float]] = {}
        for region in self.regions:
            pixels = region_pixels(view, region, band_radius_pixels=self.band_radius_pixels)
            kept = ((view.truth[at], view.composite[at], mask) for at, mask in enumerate(pixels) if mask.any())
            values[region] = [
                cv2.norm(true, ours, cv2.NORM_L1, mask.view(np.uint8)) / (_CHANNELS * 255 * np.count_nonzero(mask))
                for true, ours, mask in kept
            ]
        return means_by_region(values)
