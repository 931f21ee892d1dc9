"""Fidelity to the input of what a removal or an edit was not to touch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, Unpack, get_args

import numpy as np

from inpaintbench.catalogue import known_name
from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where, region_pixels
from inpaintbench.eval.metrics.psnr import Averaged, DecibelRule, masked_errors
from inpaintbench.eval.metrics.ssim import Ssim
from inpaintbench.eval.values.statistics import InfiniteRule, mean_of
from inpaintbench.ranges import Amount, Positive
from inpaintbench.types import Frames, Hole, Plain
from inpaintbench.view import ItemView

Pixels = Literal["rest", "zeroed"]
_WANG = {
    "data_range": 1.0, "window": "gaussian", "window_pixels": 11, "sigma": 1.5, "k1": 0.01, "k2": 0.03, "ddof": 0,
    "padding": "valid",
}  # fmt: skip


class BackgroundPreserved(SingleRegionMetric):
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
    follows = "PIE-Bench (no licence file) in `zeroed`"
    version = "1"
    diagnostic = "it compares with the input, so that a result that changes nothing has the best value"
    unit = "dB"
    higher_is_better = True
    decimals = 2
    bounds = (0.0, math.inf)
    needs = ("input", "composite", "hole")
    answers = ("rest",)

    def __init__(
        self,
        *,
        pixels: Pixels,
        data_range: Positive,
        averaged: Averaged,
        ceiling_decibels: Amount | None,
        infinite: InfiniteRule,
        **where: Unpack[Where],
    ) -> None:
        super().__init__(**where)
        self.pixels = known_name("kind of background", pixels, get_args(Pixels))
        self.rule = DecibelRule(data_range, averaged, ceiling_decibels, infinite).checked()
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
        errors = masked_errors(given, ours, counted)
        found = self.rule.over_clip(errors, parts="frames", missing="no frame shows anything but the object and what it changes")
        if found.value is None:
            return found
        return replace(found, details={**found.details, **self._further(given, ours, counted)})

    def _further(self, given: Frames, ours: Frames, counted: Hole) -> Plain:
        """Mean absolute difference in levels, and SSIM, of the same pixels, each the mean over frames."""
        half = self.ssim.window_pixels // 2
        levels, alike = [], []
        for before, after, pixels in zip(given, ours, counted, strict=True):
            if pixels.any():
                levels.append(float(np.abs(before[pixels].astype(np.int16) - after[pixels]).mean()))
            inner = pixels[half:-half, half:-half]
            if inner.any():
                alike.append(float(self.ssim.similarity(before, after)[inner].mean()))
        return {"mae_levels": math.fsum(levels) / len(levels), **({"ssim": math.fsum(alike) / len(alike)} if alike else {})}

    def reduce(self, measurements: Sequence[float]) -> float | None:
        """The mean, each item with equal weight, infinite ones by the rule ``infinite``."""
        return mean_of(measurements, infinite=self.rule.infinite)
