"""Mean squared error, and the peak signal-to-noise ratio that is made of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, Unpack, get_args

import numpy as np

from inpaintbench.catalogue import known_name
from inpaintbench.eval.metrics.base import Measurement, Metric, Where, means_by_region, region_pixels
from inpaintbench.eval.values.statistics import InfiniteRule, check_infinite_rule, mean_of
from inpaintbench.lazily import lazily
from inpaintbench.ranges import Amount, Positive
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

cv2 = lazily("cv2")

CHANNELS = 3
# What is averaged over a clip: squared errors, whose mean is then put in decibels, or the decibels of each frame.
Averaged = Literal["errors", "decibels"]


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
        return means_by_region(frame_errors(view, regions=self.regions, band_radius_pixels=self.band_radius_pixels))


class Mae(Mse):
    """Mean absolute difference in the place of the squared one; ``masked_mae`` is made of it, and no protocol has it alone."""

    name = "mae"
    label = "MAE"

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values in 0..1 for each region; None where no frame has a pixel of it."""
        values: dict[str, list[float]] = {}
        for region in self.regions:
            masks = region_pixels(view, region, band_radius_pixels=self.band_radius_pixels)
            kept = ((one, other, mask) for one, other, mask in zip(view.truth, view.composite, masks, strict=True) if mask.any())
            values[region] = [
                cv2.norm(one, other, cv2.NORM_L1, mask.view(np.uint8)) / (CHANNELS * 255 * np.count_nonzero(mask))
                for one, other, mask in kept
            ]
        return means_by_region(values)


class Decibels(Where):
    """Constants that every metric in decibels is built with; see ``Psnr``."""

    data_range: Positive
    averaged: Averaged
    ceiling_decibels: Amount | None
    infinite: InfiniteRule


class DecibelMetric(Metric):
    """Base of metrics that put squared errors in decibels; arguments as for ``Psnr``."""

    unit = "dB"
    higher_is_better = True
    decimals = 2
    bounds = (0.0, math.inf)

    def __init__(
        self,
        *,
        data_range: Positive,
        averaged: Averaged,
        ceiling_decibels: Amount | None,
        infinite: InfiniteRule,
        **where: Unpack[Where],
    ) -> None:
        super().__init__(**where)
        known_name("kind of value to average", averaged, get_args(Averaged))
        self.data_range, self.averaged, self.ceiling_decibels = data_range, averaged, ceiling_decibels
        self.infinite = check_infinite_rule(infinite)

    def over_clip(
        self,
        errors: Mapping[str, Sequence[float]],
        *,
        parts: str = "frames",
        missing: str = "no frame has a pixel of the region {!r}",
    ) -> dict[str, Measurement]:
        """Value in dB of the squared errors (0..1) of a clip's ``parts`` in each region; None without any, for ``missing``."""
        if self.averaged == "decibels":
            values = {region: [self._decibels(error) for error in found] for region, found in errors.items()}
            return means_by_region(values, parts=parts, missing=missing, infinite=self.infinite)
        pooled = means_by_region(errors, parts=parts, missing=missing)
        return {
            region: mean if mean.value is None else replace(mean, value=self._decibels(mean.value))
            for region, mean in pooled.items()
        }

    def _decibels(self, error: float) -> float:
        value = decibels(error, data_range=self.data_range)
        return value if self.ceiling_decibels is None else min(value, self.ceiling_decibels)

    def reduce(self, measurements: Sequence[float]) -> float | None:
        """The mean, each item with equal weight, infinite ones by the rule ``infinite``."""
        return mean_of(measurements, infinite=self.infinite)


class Psnr(DecibelMetric):
    """``10 log10(data_range^2 / MSE)`` over the pixels of a region, in dB.

    Intensities are 0..1; frames without a pixel of the region are left out. Of a clip it is, by the constants of the protocol,

    * the PSNR of the mean squared error of all its frames (``averaged="errors"``): PSNR and MSE of an item say the same, and one
      frame without an error cannot decide. Nothing is above ``ceiling_decibels``, so a perfect copy has a finite value that
      counts in means, ranks and tests like any other, and damage never raises a value;
    * or the mean of the values of its frames (``averaged="decibels"``), as DEVIL, CVPR 2022, has it, where a frame that equals
      the truth is infinite. Where such frames are left out of the mean, a clip that is spoilt a little everywhere can be above
      one that is exact in most frames.

    Args:
        data_range: the peak; 1 for intensities in 0..1.
        averaged: ``"errors"`` or ``"decibels"``.
        ceiling_decibels: the largest value that is given; None = a perfect copy is infinite.
        infinite: ``"largest_finite"`` (one infinite frame makes the item infinite, and an infinite item counts as the largest
            finite one in ``reduce``), ``"count"`` (infinite frames and items are left out of their means and counted) or
            ``"keep"`` (one infinite frame or item makes its mean infinite). Without effect below a ceiling.
    """

    name = "psnr"
    version = "1"
    needs = ("truth", "composite", "hole")

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values in dB for each region; None where no frame has a pixel of it."""
        return self.over_clip(frame_errors(view, regions=self.regions, band_radius_pixels=self.band_radius_pixels))


def decibels(error: float, *, data_range: float) -> float:
    """``10 log10(data_range^2 / error)``; infinite for an error of 0."""
    return 10 * math.log10(data_range**2 / error) if error else math.inf


def frame_errors(view: ItemView, *, regions: tuple[str, ...], band_radius_pixels: int) -> dict[str, list[float]]:
    """For each region the mean squared error (0..1) of every frame that has a pixel of it, in order.

    Worked out once for all metrics; not to be written to.
    """

    both = view.truth, view.composite
    found: dict[str, list[float]] = {}
    for region in regions:
        pixels = None if region == "frame" else region_pixels(view, region, band_radius_pixels=band_radius_pixels)
        key = ("squared errors", region, band_radius_pixels)
        found[region] = view.shared.once_of(both, key, partial(masked_errors, *both, pixels))
    return found


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
