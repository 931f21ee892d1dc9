"""Resolution of the clip."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from inpaintbench.errors import Rejected
from inpaintbench.masks.axes.base import LEAST_SIDE, Axis
from inpaintbench.types import Frames, Hole

SCALES: Mapping[str, float] = {"quarter": 1 / 4, "half": 1 / 2, "full": 1.0}


class Resolution(Axis):
    """The clip at a quarter, a half or all of its size; what is at least half hidden of a new pixel's area is hole."""

    name = "resolution"
    version = "1"
    levels = tuple(SCALES)
    base_level = "full"
    changes = "clip"
    property = "resolution"
    truth = "the clip, resampled"

    @staticmethod
    def check_size(*, width: int, height: int) -> None:
        """Raise ``Rejected`` where a quarter of a clip of this size is too small."""
        if min(least := _size(height, width, min(SCALES, key=SCALES.__getitem__))) < LEAST_SIDE:
            raise Rejected(f"a quarter of {width}x{height} is {least[0]}x{least[1]}, and sides of {LEAST_SIDE} are asked for")

    def clip(self, level: str, frames: Frames, fps: float) -> tuple[Frames, float]:
        """The frames at another size, even on both sides.

        Raises:
            Rejected: a quarter of them is too small.
        """
        height, width = frames.shape[1:3]
        self.check_size(width=width, height=height)
        return _resampled(frames, _size(height, width, level)), fps

    def hole(self, level: str, hole: Hole, rng: np.random.Generator) -> Hole:  # noqa: ARG002 - leaf signature
        """The hole at that size.

        Raises:
            Rejected: it is thinner than a pixel.
        """
        levels = np.ascontiguousarray(hole).view(np.uint8) * np.uint8(255)
        made = _resampled(levels, _size(hole.shape[1], hole.shape[2], level)) >= 128
        if not made.any():
            raise Rejected("the hole is too thin for so few pixels")
        return made


def _size(height: int, width: int, level: str) -> tuple[int, int]:
    """(width, height) in pixels."""
    return 2 * round(SCALES[level] * width / 2), 2 * round(SCALES[level] * height / 2)


def _resampled(frames: Frames, size: tuple[int, int]) -> Frames:
    return np.stack([cv2.resize(frame, size, interpolation=cv2.INTER_AREA) for frame in frames]).astype(np.uint8, copy=False)
