"""Peak signal-to-noise ratio."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, Unpack, get_args

from inpaintbench.catalogue import known_name
from inpaintbench.eval.metrics.base import Measurement, Metric, Where, mean_over_clip
from inpaintbench.eval.metrics.mse import frame_errors
from inpaintbench.eval.values.statistics import InfiniteRule, check_infinite_rule, mean_of
from inpaintbench.ranges import Amount, Positive
from inpaintbench.view import ItemView

# What is averaged over a clip: squared errors, whose mean is then put in decibels, or the decibels of each frame.
Averaged = Literal["errors", "decibels"]


class DecibelRule(NamedTuple):
    """How the squared errors of a clip become one value in dB."""

    data_range: float
    averaged: Averaged
    ceiling_decibels: float | None
    """The largest value that is given; None = an error of 0 is infinite."""
    infinite: InfiniteRule

    def checked(self) -> DecibelRule:
        """The rule itself.

        Raises:
            UnknownNameError: no such way to average, or no such rule for infinite values.
        """
        known_name("kind of value to average", self.averaged, get_args(Averaged))
        check_infinite_rule(self.infinite)
        return self

    def over_clip(self, errors: Sequence[float], *, parts: str, missing: str) -> Measurement:
        """Value in dB of the squared errors (0..1) of a clip's ``parts``; None without any, for the reason ``missing``."""
        if self.averaged == "decibels":
            return mean_over_clip([self.of(error) for error in errors], parts=parts, missing=missing, infinite=self.infinite)
        pooled = mean_over_clip(errors, parts=parts, missing=missing)
        return pooled if pooled.value is None else replace(pooled, value=self.of(pooled.value))

    def of(self, error: float) -> float:
        """One squared error (0..1) in dB, at most the ceiling."""
        value = decibels(error, data_range=self.data_range)
        return value if self.ceiling_decibels is None else min(value, self.ceiling_decibels)


class Psnr(Metric):
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
    unit = "dB"
    higher_is_better = True
    decimals = 2
    bounds = (0.0, math.inf)
    needs = ("truth", "composite", "hole")

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
        self.rule = DecibelRule(data_range, averaged, ceiling_decibels, infinite).checked()

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values in dB for each region; None where no frame has a pixel of it."""
        errors = frame_errors(view, regions=self.regions, band_radius_pixels=self.band_radius_pixels)
        return {
            region: self.rule.over_clip(values, parts="frames", missing=f"no frame has a pixel of the region {region!r}")
            for region, values in errors.items()
        }

    def reduce(self, measurements: Sequence[float]) -> float | None:
        """The mean, each item with equal weight, infinite ones by the rule ``infinite``."""
        return mean_of(measurements, infinite=self.rule.infinite)


def decibels(error: float, *, data_range: float) -> float:
    """``10 log10(data_range^2 / error)``; infinite for an error of 0."""
    return 10 * math.log10(data_range**2 / error) if error else math.inf
