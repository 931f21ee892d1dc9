"""Flicker of the error: what a fill does from frame to frame that the truth does not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import (
    Measurement,
    Metric,
    mean_over_clip,
    region_pixels,
)
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

LEVELS = 255
Pixels = npt.NDArray[np.bool_]


class FramePairs(Metric):
    """Base of metrics that look at each frame and the next one, pixel by pixel."""

    higher_is_better = False
    decimals = 5
    bounds = (0.0, math.inf)
    needs = ("truth", "composite", "hole")
    fewest_frames = 2


def mean_level(levels: npt.NDArray[Any], pixels: Pixels) -> float:
    """The mean of grey levels, ``[H, W, 3]``, over ``pixels``, ``bool[H, W]``, and channels, in intensities of 0..1."""
    channels = cv2.mean(levels, pixels.view(np.uint8))[:3]
    return sum(channels) / (3 * LEVELS)


def shared_pixels(view: ItemView, *, regions: tuple[str, ...], band_radius_pixels: int) -> Iterator[dict[str, Pixels]]:
    """For each pair of consecutive frames the pixels of each region in both, without the regions that have none.

    Raises:
        NotMeasurable: there is one frame only.
    """
    if view.frames < 2:
        raise NotMeasurable("one frame has no next frame")
    masks = {region: region_pixels(view, region, band_radius_pixels=band_radius_pixels) for region in regions}
    for index in range(view.frames - 1):
        both = {region: pixels[index] & pixels[index + 1] for region, pixels in masks.items()}
        yield {region: pixels for region, pixels in both.items() if pixels.any()}


def missing_pair(region: str) -> str:
    """Return why there is no value when ``shared_pixels`` gave none."""
    return f"no two consecutive frames share a pixel of the region {region!r}"


# Difference of two frames in grey levels, `int16[H, W, 3]`.
Change = npt.NDArray[np.int16]


class Flicker(FramePairs):
    """Mean absolute change of the error from each frame to the next, averaged over pairs of frames.

    The error of frame t is E(t) = composite(t) - truth(t), in intensities of 0..1; a pair's value is the mean of
    |E(t + 1) - E(t)| over the pixels that are in the region in both frames, and over channels. This is the temporal flickering
    of VBench, CVPR 2024 (the mean absolute difference of consecutive frames), taken of the error, so that motion in the truth
    does not count. Pairs without such a pixel are left out. Lower is better: 0 for a perfect copy and for any error that stays
    the same at its place, at most 2. It tells steadiness and not fidelity, and a fill that is frozen while the scene moves is not
    steady by it: its error changes.
    """

    name = "flicker"
    label = "Flicker"
    version = "1"
    diagnostic = "an error that stays the same is steady, and it does not ask how large the error is"

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values in 0..2 for each region; None where no pair of frames shares a pixel of it.

        Raises:
            NotMeasurable: there is one frame only.
        """
        values: dict[str, list[float]] = {region: [] for region in self.regions}
        shared = shared_pixels(view, regions=self.regions, band_radius_pixels=self.band_radius_pixels)
        for true, ours, masks in zip(changes(view.truth), changes(view.composite), shared, strict=True):
            difference = cv2.absdiff(true, ours)
            for region, pixels in masks.items():
                values[region].append(mean_level(difference, pixels))
        return {region: mean_over_clip(scores, parts="pairs", missing=missing_pair(region)) for region, scores in values.items()}


def changes(frames: Frames) -> Iterator[Change]:
    """Each frame less the one before it, from the second on."""
    for before, after in pairwise(frames):
        yield cv2.subtract(after, before, dtype=cv2.CV_16S).astype(np.int16, copy=False)


class Pair(NamedTuple):
    """Mean absolute changes between two frames, in intensities of 0..1."""

    truth: float
    composite: float


class TemporalDifference(FramePairs):
    """How far the amount of change from each frame to the next is from the truth's, averaged over pairs of frames.

    With D(t, X) the mean of |X(t + 1) - X(t)| over channels and the pixels that are in the region in both frames, intensities
    0..1, a pair's value is |D(t, composite) - D(t, truth)|. Pairs without such a pixel are left out. Lower is better: 0 for a
    perfect copy, at most 1. Unlike flicker it does not ask where something moves, so a fill with other content that moves as
    much as the truth is not blamed.

    The details tell both faults apart: ``signed``, the mean of D(composite) - D(truth), is negative for a fill that is frozen or
    blurred away and positive for one that flickers; ``composite`` and ``truth`` are the means behind it.
    """

    name = "temporal_difference"
    version = "1"
    diagnostic = "blur takes change away and noise brings it back, and it asks for the amount of change alone"

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values in 0..1 for each region; None where no pair of frames shares a pixel of it.

        Raises:
            NotMeasurable: there is one frame only.
        """
        key = ("amounts of change", self.regions, self.band_radius_pixels)
        truth = view.shared.once_of((view.truth,), key, lambda: self._amounts(view, view.truth))
        composite = self._amounts(view, view.composite)
        return {
            region: _over_clip([Pair(*both) for both in zip(truth[region], composite[region], strict=True)], region)
            for region in self.regions
        }

    def _amounts(self, view: ItemView, frames: Frames) -> dict[str, list[float]]:
        """For each region the mean absolute change of every pair of frames that share a pixel of it."""
        amounts: dict[str, list[float]] = {region: [] for region in self.regions}
        shared = shared_pixels(view, regions=self.regions, band_radius_pixels=self.band_radius_pixels)
        for masks, (before, after) in zip(shared, pairwise(frames), strict=True):
            change = cv2.absdiff(after, before)
            for region, pixels in masks.items():
                amounts[region].append(mean_level(change, pixels))
        return amounts


def _over_clip(pairs: Sequence[Pair], region: str) -> Measurement:
    found = mean_over_clip([abs(pair.composite - pair.truth) for pair in pairs], parts="pairs", missing=missing_pair(region))
    if not pairs:
        return found
    truth, composite = (math.fsum(changes) / len(pairs) for changes in zip(*pairs, strict=True))
    return replace(found, details={**found.details, "signed": composite - truth, "composite": composite, "truth": truth})
