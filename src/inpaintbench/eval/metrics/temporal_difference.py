"""Amount of change from frame to frame, beside that of the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import cv2

from inpaintbench.eval.metrics.base import Measurement, mean_over_clip
from inpaintbench.eval.metrics.frame_changes import FramePairs, mean_level, missing_pair, shared_pixels
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


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
