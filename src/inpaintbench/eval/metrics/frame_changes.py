"""What changes from frame to frame in a fill and not in the truth: where, or how much."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.eval.metrics.base import (
    Measurement,
    Metric,
    SingleRegionMetric,
    check_next_frame,
    mean_over_clip,
    means_by_region,
    region_pixels,
)
from inpaintbench.lazily import lazily
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

cv2 = lazily("cv2")

LEVELS = 255
Pixels = npt.NDArray[np.bool_]


class FramePairs(Metric):
    """Base of metrics that look at each frame and the next one, pixel by pixel."""

    higher_is_better = False
    decimals = 5
    bounds = (0.0, math.inf)
    needs = ("truth", "composite", "hole")
    fewest_frames = 2

    def shared_pixels(self, view: ItemView) -> Iterator[dict[str, Pixels]]:
        """For each pair of consecutive frames the pixels of each region in both, without the regions that have none.

        Raises:
            NotMeasurable: there is one frame only.
        """
        check_next_frame(view.frames)
        masks = {region: region_pixels(view, region, band_radius_pixels=self.band_radius_pixels) for region in self.regions}
        for index in range(view.frames - 1):
            both = {region: pixels[index] & pixels[index + 1] for region, pixels in masks.items()}
            yield {region: pixels for region, pixels in both.items() if pixels.any()}

    def means(self, view: ItemView, levels: Iterable[npt.NDArray[Any]]) -> dict[str, list[float]]:
        """Of each pair the mean of grey levels ``[H, W, 3]`` over a region's shared pixels and channels, in 0..1."""
        means: dict[str, list[float]] = {region: [] for region in self.regions}
        for of_pair, masks in zip(levels, self.shared_pixels(view), strict=True):
            for region, pixels in masks.items():
                left, top, across, down = cv2.boundingRect(pixels.view(np.uint8))
                box = slice(top, top + down), slice(left, left + across)
                means[region].append(sum(cv2.mean(of_pair[box], pixels[box].view(np.uint8))[:3]) / (3 * LEVELS))
        return means

    def over_clip(self, values: Mapping[str, Sequence[float]]) -> dict[str, Measurement]:
        """The mean over pairs for each region."""
        missing = "no two consecutive frames share a pixel of the region {!r}"
        return means_by_region(values, parts="pairs", missing=missing)


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
    version = "1"
    label = "Flicker"
    diagnostic = "an error that stays the same is steady, and it does not ask how large the error is"

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values in 0..2 for each region; None where no pair of frames shares a pixel of it.

        Raises:
            NotMeasurable: there is one frame only.
        """
        both = zip(changes(view.truth), changes(view.composite), strict=True)
        return self.over_clip(self.means(view, (cv2.absdiff(true, ours) for true, ours in both)))


def changes(frames: Frames) -> Iterator[npt.NDArray[np.int16]]:
    """Each frame less the one before it, from the second on, ``int16[H, W, 3]``."""
    for before, after in pairwise(frames):
        yield cv2.subtract(after, before, dtype=cv2.CV_16S).astype(np.int16, copy=False)


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

        def amounts(frames: Frames) -> dict[str, list[float]]:
            return self.means(view, (cv2.absdiff(after, before) for before, after in pairwise(frames)))

        key = ("amounts of change", self.regions, self.band_radius_pixels)
        truth = view.shared.once_of((view.truth,), key, lambda: amounts(view.truth))
        composite = amounts(view.composite)
        apart = {
            region: [abs(ours - true) for ours, true in zip(composite[region], truth[region], strict=True)]
            for region in self.regions
        }
        return {
            region: self._told_apart(found, composite[region], truth[region]) for region, found in self.over_clip(apart).items()
        }

    @staticmethod
    def _told_apart(found: Measurement, composite: Sequence[float], truth: Sequence[float]) -> Measurement:
        if not truth:
            return found
        ours, true = (math.fsum(changes) / len(changes) for changes in (composite, truth))
        return replace(found, details={**found.details, "signed": ours - true, "composite": ours, "truth": true})


class TemporalFlickering(SingleRegionMetric):
    """How little changes from each frame to the next: 1 less the mean absolute difference in 0..1, averaged over pairs of frames.

    VBench, CVPR 2024, and IVEBench (2025), of the result alone: what moves counts as flicker, and a still clip has 1.
    """

    name = "temporal_flickering"
    version = "1"
    follows = "IVEBench (no licence file)"
    diagnostic = "a frozen or flat clip does not flicker"
    higher_is_better = True
    decimals = 4
    bounds = (0.0, 1.0)
    needs = ("prediction",)
    fewest_frames = 2

    def measurement(self, view: ItemView) -> Measurement:
        """The mean over pairs.

        Raises:
            NotMeasurable: there is one frame only.
        """
        check_next_frame(view.frames)
        values = [1 - cv2.norm(one, other, cv2.NORM_L1) / (LEVELS * one.size) for one, other in pairwise(view.prediction)]
        return mean_over_clip(values, parts="pairs", missing="there is no pair of frames")
