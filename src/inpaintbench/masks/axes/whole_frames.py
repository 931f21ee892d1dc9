"""How many frames, spread over the clip, show everything."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from inpaintbench.errors import Rejected
from inpaintbench.masks.axes.base import Axis
from inpaintbench.types import Hole

# The hole is there in every n-th frame.
STEPS: Mapping[str, int] = {"none": 1, "half": 2, "most": 4}
# Fewest frames of a clip: the hole is then there twice at least.
LEAST_FRAMES = 8


class WholeFrames(Axis):
    """The same hole in every frame, every second or every fourth: none, half or three quarters of the frames are whole."""

    name = "whole_frames"
    version = "1"
    levels = tuple(STEPS)
    base_level = "none"
    changes = "hole"
    property = "share of frames that are whole"

    def hole(self, level: str, hole: Hole, rng: np.random.Generator) -> Hole:  # noqa: ARG002 - leaf signature
        """The hole, closed in the other frames.

        Raises:
            Rejected: the clip is too short, or the hole is elsewhere.
        """
        if len(hole) < LEAST_FRAMES:
            raise Rejected(f"a clip of {len(hole)} frames has no room for whole frames between holes, {LEAST_FRAMES} have")
        made = np.zeros_like(hole)
        made[:: STEPS[level]] = hole[:: STEPS[level]]
        if not made.any():
            raise Rejected("the hole is in other frames only")
        return made
