"""Mean squared error."""

from __future__ import annotations

import cv2
import numpy as np

from inpaintbench.eval.metrics.base import Measurement, Metric, mean_over_clip, region_pixels
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

CHANNELS = 3


class Mse(Metric):
    """Mean squared difference of intensities in 0..1, of each frame over the pixels of a region, averaged over frames.

    0 for a perfect copy, at most 1. Frames without a pixel of the region are left out.
    """

    name = "mse"
    version = "1"
    higher_is_better = False
    decimals = 6
    bounds = (0.0, 1.0)
    needs = ("truth", "composite", "hole")

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values in 0..1 for each region; None where no frame has a pixel of it."""
        errors = frame_errors(view, regions=self.regions, band_radius_pixels=self.band_radius_pixels)
        return {
            region: mean_over_clip(values, parts="frames", missing=f"no frame has a pixel of the region {region!r}")
            for region, values in errors.items()
        }


def frame_errors(view: ItemView, *, regions: tuple[str, ...], band_radius_pixels: int) -> dict[str, list[float]]:
    """For each region the mean squared error (0..1) of every frame that has a pixel of it, in order.

    Worked out once for all metrics; not to be written to.
    """

    def errors(region: str) -> list[float]:
        pixels = None if region == "frame" else region_pixels(view, region, band_radius_pixels=band_radius_pixels)
        key = ("squared errors", region, band_radius_pixels)
        both = view.truth, view.composite
        found: list[float] = view.shared.once_of(both, key, lambda: masked_errors(*both, pixels))
        return found

    return {region: errors(region) for region in regions}


def masked_errors(one: Frames, other: Frames, masks: Hole | None) -> list[float]:
    """The mean squared error (0..1) of every frame that has a pixel of ``masks``, in order; None = of all pixels."""
    errors = []
    for index, (first, second) in enumerate(zip(one, other, strict=True)):
        mask = None if masks is None else masks[index].view(np.uint8)
        pixels = first.shape[0] * first.shape[1] if mask is None else cv2.countNonZero(mask)
        if pixels:
            # The sum is a whole number, of which OpenCV gives the square of the root.
            total = round(cv2.norm(first, second, cv2.NORM_L2SQR, mask))
            errors.append(total * (1 / pixels) / (CHANNELS * 255**2))  # in this order, in which released scores were rounded
    return errors
