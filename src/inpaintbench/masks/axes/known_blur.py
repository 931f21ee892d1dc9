"""Blur of known pixels."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from inpaintbench.masks.axes.base import Axis
from inpaintbench.types import Frames, Hole

# Standard deviation as a share of the longer side: 1 and 3 pixels at 832, a lens a little and clearly out of focus.
SHARES: Mapping[str, float] = {"none": 0.0, "weak": 1 / 832, "strong": 3 / 832}


class KnownBlur(Axis):
    """A normal blur of known pixels by known pixels alone, of 1 or 3 pixels at 832: nothing of what is hidden is mixed in."""

    name = "known_blur"
    version = "1"
    levels = tuple(SHARES)
    base_level = "none"
    changes = "input"
    property = "blur of the known pixels"

    def input(self, level: str, truth: Frames, hole: Hole, fps: float, rng: np.random.Generator) -> Frames:  # noqa: ARG002 - leaf signature
        """The clip, each known pixel the mean of the known ones around it."""
        sigma = SHARES[level] * max(truth.shape[1:3])
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
        return {"blur_pixels": SHARES[level] * max(height, width)}
