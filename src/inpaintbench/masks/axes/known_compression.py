"""Compression of known pixels."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import cv2
import numpy as np

from inpaintbench import video
from inpaintbench.masks.axes.base import Axis
from inpaintbench.types import Frames, Hole

# Quality factors of libx264: blocks begin to be seen at the first, and are what one sees at the second. None = as it is.
FACTORS: Mapping[str, int | None] = {"none": None, "weak": 32, "strong": 44}
# Most frames between key frames, as films on the web have.
KEY_EVERY = 250


class KnownCompression(Axis):
    """The clip as H.264 of quality factor 32 or 44 before its hole is made.

    Where libx264 is missing it is VP9 of about the same error. Hidden pixels are compressed with the others, then removed.
    """

    name = "known_compression"
    version = "1"
    levels = tuple(FACTORS)
    base_level = "none"
    changes = "input"
    property = "compression of the known pixels"

    def input(self, level: str, truth: Frames, hole: Hole, fps: float, rng: np.random.Generator) -> Frames:  # noqa: ARG002 - leaf signature
        """The clip, written and read."""
        factor = FACTORS[level]
        if factor is None:
            return truth
        height, width = truth.shape[1:3]
        odd = (0, height % 2, 0, width % 2)  # 4:2:0 takes even sides
        padded = (cv2.copyMakeBorder(frame, *odd, cv2.BORDER_REPLICATE) for frame in truth)
        with tempfile.TemporaryDirectory(prefix="inpaintbench-") as scratch:
            path = Path(scratch) / "clip.mp4"
            video.write_browser(path, (np.asarray(frame, np.uint8) for frame in padded), fps=fps, crf=factor, key_every=KEY_EVERY)
            return np.ascontiguousarray(video.read_frames(path)[:, :height, :width])

    def facts(self, level: str, *, frames: int, height: int, width: int) -> Mapping[str, float]:  # noqa: ARG002 - leaf signature
        """Quality factor, on the scale of libx264."""
        factor = FACTORS[level]
        return {} if factor is None else {"quality_factor": factor}
