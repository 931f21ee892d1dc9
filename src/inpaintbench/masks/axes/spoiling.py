"""Axes that change what methods are given: the hole (duration, frames, error), or known pixels (noise, blur, compression)."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import cv2
import numpy as np

from inpaintbench import video
from inpaintbench.errors import Rejected
from inpaintbench.masks.axes.base import Axis
from inpaintbench.masks.mask_errors import Kind, spoilt
from inpaintbench.types import Frames, Hole

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


# Standard deviation in grey levels: 34 dB, as a small camera has indoors, and 22 dB, as it has at night.
NOISE_LEVELS: Mapping[str, float] = {"none": 0.0, "weak": 5.0, "strong": 20.0}


class KnownNoise(Axis):
    """Normal noise on known pixels, of 0, 5 or 20 grey levels in each channel: the same random numbers, times the strength."""

    name = "known_noise"
    version = "1"
    levels = tuple(NOISE_LEVELS)
    base_level = "none"
    changes = "input"
    property = "noise of the known pixels"

    def input(self, level: str, truth: Frames, hole: Hole, fps: float, rng: np.random.Generator) -> Frames:  # noqa: ARG002 - leaf signature
        """The clip with noise."""
        made = np.empty_like(truth)
        for target, frame in zip(made, truth, strict=True):  # frame by frame: noise takes four times the memory of pixels
            noise = rng.standard_normal(frame.shape, np.float32)
            np.clip(np.rint(frame + NOISE_LEVELS[level] * noise), 0, 255, out=noise)
            target[...] = noise
        return made

    def facts(self, level: str, *, frames: int, height: int, width: int) -> Mapping[str, float]:  # noqa: ARG002 - leaf signature
        """Standard deviation, grey levels."""
        return {"noise_levels": NOISE_LEVELS[level]}


# Standard deviation as a share of the longer side: 1 and 3 pixels at 832, a lens a little and clearly out of focus.
BLUR_SHARES: Mapping[str, float] = {"none": 0.0, "weak": 1 / 832, "strong": 3 / 832}


class KnownBlur(Axis):
    """A normal blur of known pixels by known pixels alone, of 1 or 3 pixels at 832: nothing of what is hidden is mixed in."""

    name = "known_blur"
    version = "1"
    levels = tuple(BLUR_SHARES)
    base_level = "none"
    changes = "input"
    property = "blur of the known pixels"

    def input(self, level: str, truth: Frames, hole: Hole, fps: float, rng: np.random.Generator) -> Frames:  # noqa: ARG002 - leaf signature
        """The clip, each known pixel the mean of the known ones around it."""
        sigma = BLUR_SHARES[level] * max(truth.shape[1:3])
        if not sigma:
            return truth
        made = truth.copy()
        for target, hidden in zip(made, hole, strict=True):
            known = (~hidden).astype(np.float32)
            weight = np.asarray(cv2.GaussianBlur(known, (0, 0), sigma))
            summed = np.asarray(cv2.GaussianBlur(target * known[..., None], (0, 0), sigma))
            target[~hidden] = np.rint(summed[~hidden] / weight[~hidden, None])
        return made

    def facts(self, level: str, *, frames: int, height: int, width: int) -> Mapping[str, float]:  # noqa: ARG002 - leaf signature
        """Standard deviation, pixels."""
        return {"blur_pixels": BLUR_SHARES[level] * max(height, width)}


# Quality factors of libx264: blocks begin to be seen at the first, and are what one sees at the second. None = as it is.
QUALITY_FACTORS: Mapping[str, int | None] = {"none": None, "weak": 32, "strong": 44}
# Most frames between key frames, as films on the web have.
KEY_FRAME_EVERY = 250


class KnownCompression(Axis):
    """The clip as H.264 of quality factor 32 or 44 before its hole is made.

    Where libx264 is missing it is VP9 of about the same error. Hidden pixels are compressed with the others, then removed.
    """

    name = "known_compression"
    version = "1"
    levels = tuple(QUALITY_FACTORS)
    base_level = "none"
    changes = "input"
    property = "compression of the known pixels"

    def input(self, level: str, truth: Frames, hole: Hole, fps: float, rng: np.random.Generator) -> Frames:  # noqa: ARG002 - leaf signature
        """The clip, written and read."""
        factor = QUALITY_FACTORS[level]
        if factor is None:
            return truth
        height, width = truth.shape[1:3]
        odd = (0, height % 2, 0, width % 2)  # 4:2:0 takes even sides
        padded = (cv2.copyMakeBorder(frame, *odd, cv2.BORDER_REPLICATE) for frame in truth)
        with tempfile.TemporaryDirectory(prefix="inpaintbench-") as scratch:
            path = Path(scratch) / "clip.mp4"
            video.write_browser(
                path, (np.asarray(frame, np.uint8) for frame in padded), fps=fps, crf=factor, key_every=KEY_FRAME_EVERY
            )
            return np.ascontiguousarray(video.read_frames(path)[:, :height, :width])

    def facts(self, level: str, *, frames: int, height: int, width: int) -> Mapping[str, float]:  # noqa: ARG002 - leaf signature
        """Quality factor, on the scale of libx264."""
        factor = QUALITY_FACTORS[level]
        return {} if factor is None else {"quality_factor": factor}
