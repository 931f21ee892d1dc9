"""A hole that is there for a while."""

from __future__ import annotations

import numpy as np
import pytest

from inpaintbench.errors import Rejected
from inpaintbench.masks.axes.spoiling import HoleDuration

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("level", "frames", "open_frames"), [("eighth", 90, 11), ("half", 90, 45), ("half", 17, 8), ("eighth", 16, 2)]
)
def test_it_is_open_in_one_run_of_frames_in_the_middle(level: str, frames: int, open_frames: int) -> None:
    hole = np.ones((frames, 4, 4), np.bool_)
    there = np.flatnonzero(HoleDuration().hole(level, hole, RNG).any(axis=(1, 2)))
    assert len(there) == open_frames == there[-1] - there[0] + 1
    before, after = there[0], frames - 1 - there[-1]
    assert 0 <= after - before <= 1


def test_a_hole_that_is_elsewhere_or_a_short_clip_is_refused() -> None:
    hole = np.zeros((32, 4, 4), np.bool_)
    hole[0] = True
    with pytest.raises(Rejected, match="not there in the middle 4 frames"):
        HoleDuration().hole("eighth", hole, RNG)
    with pytest.raises(Rejected, match="an eighth of 15 frames"):
        HoleDuration().hole("half", hole[:15], RNG)
