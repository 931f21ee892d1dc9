"""Speed of all that moves: the same span with fewer of its frames."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from inpaintbench.errors import Rejected
from inpaintbench.masks.axes.base import Axis
from inpaintbench.types import Frames, Hole

STEPS: Mapping[str, int] = {"every_frame": 1, "every_second": 2, "every_fourth": 4}
# Fewest frames of a version: camera motion is measured by ten, and 12 are what DEVIL's shortest clips, of 45 frames, leave.
LEAST_FRAMES = 12


class Speed(Axis):
    """Every frame, every second or every fourth frame of the clip at 1/2 or 1/4 of its rate: all moves 2 or 4 times as far."""

    name = "speed"
    version = "1"
    levels = tuple(STEPS)
    base_level = "every_frame"
    changes = "clip"
    property = "motion from frame to frame"
    truth = "the frames that are kept"

    def clip(self, level: str, frames: Frames, fps: float) -> tuple[Frames, float]:
        """The frames that are kept.

        Raises:
            Rejected: every fourth of them are too few.
        """
        left = -(-len(frames) // max(STEPS.values()))
        if left < LEAST_FRAMES:
            raise Rejected(f"every fourth of {len(frames)} frames are {left}, fewer than {LEAST_FRAMES}")
        return frames[:: STEPS[level]], fps / STEPS[level]

    def hole(self, level: str, hole: Hole, rng: np.random.Generator) -> Hole:  # noqa: ARG002 - leaf signature
        """The hole of the same frames."""
        return np.ascontiguousarray(hole[:: STEPS[level]])

    def facts(self, level: str, *, frames: int, height: int, width: int) -> Mapping[str, float]:  # noqa: ARG002 - leaf signature
        """Distance of neighbouring frames in the clip."""
        return {"frame_step": STEPS[level]}
