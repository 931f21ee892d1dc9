"""How long a hole is there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from inpaintbench.errors import Rejected
from inpaintbench.masks.axes.base import Axis
from inpaintbench.types import Hole

SHARES: Mapping[str, float] = {"eighth": 1 / 8, "half": 1 / 2, "whole": 1.0}
# Fewest frames of a clip: an eighth of them are two.
LEAST_FRAMES = 16


class HoleDuration(Axis):
    """The same hole through an eighth, a half or all of the clip: before and after, in equal parts, nothing is missing."""

    name = "hole_duration"
    version = "1"
    levels = tuple(SHARES)
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
        count = round(SHARES[level] * len(hole))
        start = (len(hole) - count) // 2
        made = np.zeros_like(hole)
        made[start : start + count] = hole[start : start + count]
        if not made.any():
            raise Rejected(f"the hole is not there in the middle {count} frames")
        return made
