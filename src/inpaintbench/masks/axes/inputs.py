"""Axes that spoil known pixels: noise, blur and compression."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import cv2
import numpy as np

from inpaintbench import video
from inpaintbench.masks.axes.base import Axis
from inpaintbench.types import Frames, Hole

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
