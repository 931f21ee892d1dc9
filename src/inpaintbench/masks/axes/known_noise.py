"""Noise of known pixels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from inpaintbench.masks.axes.base import Axis
from inpaintbench.types import Frames, Hole

# Standard deviation in grey levels: 34 dB, as a small camera has indoors, and 22 dB, as it has at night.
LEVELS: Mapping[str, float] = {"none": 0.0, "weak": 5.0, "strong": 20.0}


class KnownNoise(Axis):
    """Normal noise on known pixels, of 0, 5 or 20 grey levels in each channel: the same random numbers, times the strength."""

    name = "known_noise"
    version = "1"
    levels = tuple(LEVELS)
    base_level = "none"
    changes = "input"
    property = "noise of the known pixels"

    def input(self, level: str, truth: Frames, hole: Hole, fps: float, rng: np.random.Generator) -> Frames:  # noqa: ARG002 - leaf signature
        """The clip with noise."""
        made = np.empty_like(truth)
        for target, frame in zip(made, truth, strict=True):  # frame by frame: noise takes four times the memory of pixels
            noise = rng.standard_normal(frame.shape, np.float32)
            np.clip(np.rint(frame + LEVELS[level] * noise), 0, 255, out=noise)
            target[...] = noise
        return made

    def facts(self, level: str, *, frames: int, height: int, width: int) -> Mapping[str, float]:  # noqa: ARG002 - leaf signature
        """Standard deviation, grey levels."""
        return {"noise_levels": LEVELS[level]}
