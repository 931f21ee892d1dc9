"""Whole frames between those with a hole."""

from __future__ import annotations

import numpy as np
import pytest

from inpaintbench.errors import Rejected
from inpaintbench.masks.axes.spoiling import WholeFrames

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("level", "there"), [("half", [0, 2, 4, 6, 8]), ("most", [0, 4, 8])])
def test_holes_are_spread_evenly(level: str, there: list[int]) -> None:
    hole = np.random.default_rng(0).random((9, 6, 6)) < 0.5
    made = WholeFrames().hole(level, hole, RNG)
    assert np.flatnonzero(made.any(axis=(1, 2))).tolist() == there
    np.testing.assert_array_equal(made[there], hole[there])


def test_a_hole_that_is_elsewhere_or_a_short_clip_is_refused() -> None:
    hole = np.zeros((8, 4, 4), np.bool_)
    hole[1] = True
    with pytest.raises(Rejected, match="the hole is in other frames only"):
        WholeFrames().hole("half", hole, RNG)
    with pytest.raises(Rejected, match="a clip of 7 frames has no room"):
        WholeFrames().hole("most", hole[:7], RNG)
