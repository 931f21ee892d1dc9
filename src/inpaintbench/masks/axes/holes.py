"""Axes that change the hole: how long it is there, in which frames, and the error of the mask that methods are given."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from inpaintbench.errors import Rejected
from inpaintbench.masks.axes.base import Axis
from inpaintbench.masks.mask_errors import Kind, spoilt
from inpaintbench.types import Hole

DURATIONS: Mapping[str, float] = {"eighth": 1 / 8, "half": 1 / 2, "whole": 1.0}
# Fewest frames of a clip: an eighth of them are two.
LEAST_FRAMES = 16


class HoleDuration(Axis):
    """The same hole through an eighth, a half or all of the clip: before and after, in equal parts, nothing is missing."""

    name = "hole_duration"
    version = "1"
    levels = tuple(DURATIONS)
    base_level = "whole"
    changes = "hole"
    property = "duration of the hole"

    def hole(self, level: str, hole: Hole, rng: np.random.Generator) -> Hole:  # noqa: ARG002 - leaf signature
        """The hole, closed at the beginning and the end.

        Raises:
            Rejected: the clip is too short, or the hole is elsewhere.
        """
        if len(hole) < LEAST_FRAMES:
            raise Rejected(f"an eighth of {len(hole)} frames is fewer than 2")
        count = round(DURATIONS[level] * len(hole))
        start = (len(hole) - count) // 2
        made = np.zeros_like(hole)
        made[start : start + count] = hole[start : start + count]
        if not made.any():
            raise Rejected(f"the hole is not there in the middle {count} frames")
        return made


# The hole is there in every n-th frame.
EVERY: Mapping[str, int] = {"none": 1, "half": 2, "most": 4}
# Fewest frames of a clip: the hole is then there twice at least.
LEAST_WITH_WHOLE = 8


class WholeFrames(Axis):
    """The same hole in every frame, every second or every fourth: none, half or three quarters of the frames are whole."""

    name = "whole_frames"
    version = "1"
    levels = tuple(EVERY)
    base_level = "none"
    changes = "hole"
    property = "share of frames that are whole"

    def hole(self, level: str, hole: Hole, rng: np.random.Generator) -> Hole:  # noqa: ARG002 - leaf signature
        """The hole, closed in the other frames.

        Raises:
            Rejected: the clip is too short, or the hole is elsewhere.
        """
        if len(hole) < LEAST_WITH_WHOLE:
            raise Rejected(f"a clip of {len(hole)} frames has no room for whole frames between holes, {LEAST_WITH_WHOLE} have")
        made = np.zeros_like(hole)
        made[:: EVERY[level]] = hole[:: EVERY[level]]
        if not made.any():
            raise Rejected("the hole is in other frames only")
        return made


# The exact one first: levels are compared with the first.
KINDS: Mapping[str, Kind | None] = {"exact": None, "eroded": "erode", "dilated": "dilate"}
# Intersection over union with the exact mask, which detectors and trackers reach: the middle, 0.8, is aimed at.
IOU = (0.7, 0.9)


class MaskError(Axis):
    """A mask that is exact, too small or too large, by as many pixels as bring its IoU with the exact one to about .8.

    What is missing stays missing: under a mask that is too small its rim shows in the fill value.
    """

    name = "mask_error"
    version = "1"
    levels = tuple(KINDS)
    base_level = "exact"
    changes = "hole"
    property = "size of the mask, against what is missing"
    exact = False

    def hole(self, level: str, hole: Hole, rng: np.random.Generator) -> Hole:
        """The mask that methods are given.

        Raises:
            Rejected: no number of pixels brings it there.
        """
        kind = KINDS[level]
        if kind is None:
            return hole
        return spoilt(hole, kind, amount=None, iou=IOU, rng=rng)[0]
