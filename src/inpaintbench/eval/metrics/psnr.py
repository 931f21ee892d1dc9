"""Peak signal-to-noise ratio."""

from __future__ import annotations

import math
from collections.abc import Sequence

from inpaintbench.eval.metrics.base import Measurement, check_regions, mean_over_clip
from inpaintbench.eval.metrics.mse import frame_errors
from inpaintbench.eval.statistics import InfiniteRule, check_infinite_rule, mean_of
from inpaintbench.view import ItemView


class Psnr:
    """``10 log10(data_range^2 / MSE)`` of each frame over the pixels of a region, averaged over frames, in dB.

    Intensities are 0..1. A frame that equals the truth in the region is infinite; frames without a pixel of the region are left
    out. DEVIL, CVPR 2022, averages the values of frames over the whole composite.

    Args:
        regions: some of ``inpaintbench.regions.REGIONS``.
        band_radius_pixels: reach of the boundary band on both sides of the hole's border.
        data_range: the peak; 1 for intensities in 0..1.
        infinite: ``"largest_finite"`` (one infinite frame makes the item infinite, and an infinite item counts as the largest
            finite one in ``reduce``), ``"count"`` (infinite frames and items are left out of their means and counted) or
            ``"keep"`` (one infinite frame or item makes its mean infinite).
    """

    name = "psnr"
    version = "1"
    unit = "dB"
    higher_is_better = True
    decimals = 2
    needs: tuple[str, ...] = ("truth", "composite", "hole")

    def __init__(self, *, regions: tuple[str, ...], band_radius_pixels: int, data_range: float, infinite: InfiniteRule) -> None:
        self.regions = check_regions(regions)
        self.band_radius_pixels = band_radius_pixels
        self.data_range = data_range
        self.infinite = check_infinite_rule(infinite)

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values in dB for each region, infinite for a perfect copy; None where no frame has a pixel of it."""
        errors = frame_errors(view, regions=self.regions, band_radius_pixels=self.band_radius_pixels)
        return {region: self._over_clip(values, region=region) for region, values in errors.items()}

    def reduce(self, measurements: Sequence[float]) -> float | None:
        """The mean, each item with equal weight, infinite ones by the rule ``infinite``."""
        return mean_of(measurements, infinite=self.infinite)

    def _over_clip(self, errors: Sequence[float], *, region: str) -> Measurement:
        ratios = [decibels(error, data_range=self.data_range) for error in errors]
        missing = f"no frame has a pixel of the region {region!r}"
        return mean_over_clip(ratios, parts="frames", missing=missing, infinite=self.infinite)


def decibels(error: float, *, data_range: float) -> float:
    """``10 log10(data_range^2 / error)``; infinite for an error of 0."""
    return 10 * math.log10(data_range**2 / error) if error else math.inf
