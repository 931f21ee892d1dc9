"""What a removal takes back of what an object changed, what of it is left, and what it was not to touch."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace
from typing import Literal, NamedTuple, Unpack, get_args

import numpy as np

from inpaintbench.catalogue import known_name
from inpaintbench.eval.metrics.base import Measurement, Metric, SingleRegionMetric, Where, region_pixels
from inpaintbench.eval.metrics.psnr import DecibelMetric, Decibels, masked_errors
from inpaintbench.eval.metrics.ssim import Ssim
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

CHANNELS = 3
# Mean difference of input and truth, in levels, below which a region shows nothing of the object.
LEAST_LEVELS = 1.0


class Sums(NamedTuple):
    """Sums over all values of a region of a clip, with D = input - truth and E = composite - truth in levels."""

    values: int
    squares: int
    """Sum of D^2."""
    products: int
    """Sum of E D."""
    products_left: int
    """Sum of |E D|."""
    change: int
    """Sum of |D|."""
    error: int
    """Sum of |E|."""

    @property
    def removed(self) -> float:
        """Share that is gone on the whole: 1 all, 0 none, above 1 too much, below 0 the change has grown."""
        return 1 - self.products / self.squares

    @property
    def removed_everywhere(self) -> float:
        """Share that is gone place by place, of which what is overdone is taken off: at most 1."""
        return 1 - self.products_left / self.squares

    @property
    def residual(self) -> float:
        """Error as a share of the change, at least 0."""
        return self.error / self.change

    @property
    def levels(self) -> float:
        """Mean of |D|."""
        return self.change / self.values


class _OfTheEffect(Metric):
    """Base of both: one pass over input, truth and composite."""

    decimals = 3
    needs = ("input", "truth", "composite", "hole")
    answers = ("object", "effect")

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values of each region; None where no frame has a pixel of it, or where input and truth are alike in it."""
        return {region: self._of(region, self._sums(view, region)) for region in self.regions}

    def _sums(self, view: ItemView, region: str) -> Sums:
        pixels = region_pixels(view, region, band_radius_pixels=self.band_radius_pixels)
        # Both metrics look at the same composite.
        sums: Sums = view.shared.once_of(
            [view.composite], ("effect", region), lambda: effect_sums(view.input, view.truth, view.composite, pixels)
        )
        return sums

    def _of(self, region: str, sums: Sums) -> Measurement:
        if not sums.values:
            return Measurement(None, f"no frame has a pixel of the region {region!r}")
        if sums.levels < LEAST_LEVELS:
            return Measurement(
                None, f"input and truth differ by {sums.levels:.2f} levels in the region {region!r}, less than {LEAST_LEVELS:g}"
            )
        return Measurement(
            self._value(sums), details={"removed": sums.removed, "residual": sums.residual, "effect_levels": sums.levels}
        )

    @abstractmethod
    def _value(self, sums: Sums) -> float: ...


class EffectRemoved(_OfTheEffect):
    """Share of what an object changed in a region that a prediction takes back; 1 = all of it, 0 = none.

    1 - sum |E D| / sum D^2 over all values of the region in the clip, with D = input - truth and E = composite - truth: of each
    value the share that is left, |E / D|, weighed by D^2. What is taken away too much counts like as much that is left, so a
    shadow that became 1.3 times as bright as it was dark scores 0.7, and below 0 the change has grown. Errors of opposite sign
    do not cancel, so no value that becomes worse raises the share. Sums are of the whole clip, so frames in which the effect is
    faint do not decide; new errors where the object changed nothing do not count: see ``effect_residual``. The details have the
    share by sign (``removed`` = 1 - sum E D / sum D^2, above 1 where too much was taken away on the whole), the residual and the
    mean of |D| (``effect_levels``); where that is below one level, there is no value.
    """

    name = "effect_removed"
    version = "2"
    higher_is_better = True
    bounds = (-np.inf, 1.0)

    def _value(self, sums: Sums) -> float:
        return sums.removed_everywhere


class EffectResidual(_OfTheEffect):
    """What is left in a region after an object was removed, new errors included, as a share of what the object changed there.

    sum |composite - truth| / sum |input - truth| over all values of the region in the clip: 0 = nothing, 1 = as much as before,
    more = the prediction is worse than the input. Lower is better. Details and missing values as ``effect_removed``.
    """

    name = "effect_residual"
    version = "1"
    higher_is_better = False
    bounds = (0.0, np.inf)

    def _value(self, sums: Sums) -> float:
        return sums.residual


def effect_sums(given: Frames, truth: Frames, composite: Frames, pixels: Hole) -> Sums:
    """Sums over ``pixels``, ``bool[T, H, W]``, of three clips ``uint8[T, H, W, 3]``; whole numbers, so of any order."""
    totals = np.zeros(5, np.int64)
    for shown, true, ours, inside in zip(given, truth, composite, pixels, strict=True):
        if inside.any():
            level = true[inside].astype(np.int64)
            change, error = shown[inside] - level, ours[inside] - level
            both = error * change
            totals += [(change * change).sum(), both.sum(), np.abs(both).sum(), np.abs(change).sum(), np.abs(error).sum()]
    return Sums(CHANNELS * int(np.count_nonzero(pixels)), *totals.tolist())


Pixels = Literal["rest", "zeroed"]
_WANG = {
    "data_range": 1.0, "window": "gaussian", "window_pixels": 11, "sigma": 1.5, "k1": 0.01, "k2": 0.03, "ddof": 0,
    "padding": "valid",
}  # fmt: skip


class BackgroundPreserved(SingleRegionMetric, DecibelMetric):
    """PSNR of a prediction with the *input* where neither an object nor its effects are, in dB.

    No truth is needed, and the prediction is measured as it came, so that whatever it changes outside the mask counts. Higher is
    better; who returns the input has the ceiling, so read it beside what was to be removed. The details have the mean absolute
    difference in levels (``mae_levels``) and the SSIM (Wang et al., 2004) of the same pixels.

    Args:
        pixels: ``"rest"``: errors are averaged over the pixels of ``rest``, 2 px from object and effect (or from the hole, where
            no effect is known). ``"zeroed"``, as PIE-Bench (ICLR 2024) has it: the object (or the hole) and the four border lines
            are blackened in both pictures, and errors averaged over the *whole* picture, which they dilute: 3 dB more for a mask
            of half of it.
        data_range: the peak; 1 for intensities in 0..1.
        averaged: ``"errors"`` (pooled over the clip) or ``"decibels"`` (of each frame).
        ceiling_decibels: the largest value that is given; None = an untouched background is infinite.
        infinite: see ``Psnr``.
    """

    name = "background_preserved"
    version = "1"
    follows = "PIE-Bench (no licence file) in `zeroed`"
    diagnostic = "it compares with the input, so that a result that changes nothing has the best value"
    needs = ("input", "composite", "hole")
    answers = ("rest",)

    def __init__(self, *, pixels: Pixels, **decibels: Unpack[Decibels]) -> None:
        super().__init__(**decibels)
        self.pixels = known_name("kind of background", pixels, get_args(Pixels))
        where = Where(regions=decibels["regions"], band_radius_pixels=decibels["band_radius_pixels"])
        self.ssim = Ssim(**_WANG, **where)  # type: ignore[arg-type]

    def measurement(self, view: ItemView) -> Measurement:
        """The value in dB; None where no frame has a pixel of the background."""
        given, ours = view.input, view.composite
        if self.pixels == "zeroed":
            mask = view.object_mask if view.has("object_mask") else view.hole
            outside = np.zeros_like(mask)  # without the outermost rows and columns
            outside[:, 1:-1, 1:-1] = ~mask[:, 1:-1, 1:-1]
            given, ours = (np.where(outside[..., None], frames, np.uint8(0)) for frames in (given, ours))
            counted = np.broadcast_to(outside.any(axis=(1, 2), keepdims=True), outside.shape)
        else:
            counted = region_pixels(view, "rest", band_radius_pixels=self.band_radius_pixels)
        errors = {"rest": masked_errors(given, ours, counted)}
        found = self.over_clip(errors, missing="no frame shows anything but the object and what it changes")["rest"]
        if found.value is None:
            return found
        # Of the same pixels the mean absolute difference in levels, and SSIM, each the mean over frames.
        half = self.ssim.window_pixels // 2
        levels, alike = [], []
        for before, after, pixels in zip(given, ours, counted, strict=True):
            if pixels.any():
                levels.append(float(np.abs(before[pixels].astype(np.int16) - after[pixels]).mean()))
            inner = pixels[half:-half, half:-half]
            if inner.any():
                alike.append(float(self.ssim.similarity(before, after)[inner].mean()))
        further = {"mae_levels": math.fsum(levels) / len(levels)}
        if alike:
            further["ssim"] = math.fsum(alike) / len(alike)
        return replace(found, details={**found.details, **further})
