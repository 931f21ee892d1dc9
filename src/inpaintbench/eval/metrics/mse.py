"""Mean squared error."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.eval.metrics.base import Measurement, Metric, mean_over_clip, region_pixels
from inpaintbench.view import ItemView

CHANNELS = 3
_SUM_CHANNELS = np.ones((1, CHANNELS), np.float32)


class Mse(Metric):
    """Mean squared difference of intensities in 0..1, of each frame over the pixels of a region, averaged over frames.

    0 for a perfect copy, at most 1. Frames without a pixel of the region are left out.
    """

    name = "mse"
    version = "1"
    unit = ""
    higher_is_better = False
    decimals = 6
    needs = ("truth", "composite", "hole")

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values in 0..1 for each region; None where no frame has a pixel of it."""
        errors = frame_errors(view, regions=self.regions, band_radius_pixels=self.band_radius_pixels)
        return {
            region: mean_over_clip(values, parts="frames", missing=f"no frame has a pixel of the region {region!r}")
            for region, values in errors.items()
        }


def frame_errors(view: ItemView, *, regions: tuple[str, ...], band_radius_pixels: int) -> dict[str, list[float]]:
    """For each region the mean squared error (0..1) of every frame that has a pixel of it, in order."""
    errors: dict[str, list[float]] = {region: [] for region in regions}
    for truth, composite, hole in zip(view.truth, view.composite, view.hole, strict=True):
        squares = _squared_differences(truth, composite)
        for region in regions:
            pixels = region_pixels(hole, region, band_radius_pixels=band_radius_pixels)
            if pixels.any():
                errors[region].append(cv2.mean(squares, pixels.view(np.uint8))[0] / (CHANNELS * 255**2))
    return errors


def _squared_differences(truth: npt.NDArray[np.uint8], composite: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """Squared differences in grey levels summed over the channels, whole numbers in ``float32[H, W]``."""
    # cv2.norm(..., NORM_L2SQR) would be one call, but its integer sum overflows where whole frames differ by 255.
    difference = cv2.absdiff(truth, composite)
    squares = cv2.multiply(difference, difference, dtype=cv2.CV_32F)
    return cv2.transform(squares, _SUM_CHANNELS).astype(np.float32, copy=False)
