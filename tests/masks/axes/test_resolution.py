"""The clip at fewer pixels: means of areas, even sides, and none too small."""

from __future__ import annotations

import numpy as np
import pytest
from axes_made import film

from inpaintbench.errors import Rejected
from inpaintbench.masks.axes.clips import Resolution

LEAF, RNG = Resolution(), np.random.default_rng(0)


@pytest.mark.parametrize(("level", "size"), [("half", 2), ("quarter", 4)])
def test_pixels_are_means_of_squares(level: str, size: int) -> None:
    truth = film()[:2, :, :256]
    made = LEAF.clip(level, truth, 24.0)
    means = truth.reshape(2, 256 // size, size, 256 // size, size, 3).mean(axis=(2, 4))
    assert made[1] == 24.0
    assert np.abs(made[0] - means).max() <= 0.5  # rounded, either way


def test_a_pixel_is_hole_when_half_of_it_is_hidden() -> None:
    hole = np.zeros((1, 256, 256), np.bool_)
    hole[0, 100:104, 102:103] = True  # a quarter of one
    with pytest.raises(Rejected, match="too thin"):
        LEAF.hole("quarter", hole, RNG)
    hole[0, 100:104, 102:104] = True
    made = LEAF.hole("quarter", hole, RNG)
    assert np.argwhere(made).tolist() == [[0, 25, 25]]
    wide = np.random.default_rng(0).random((1, 16, 16)) < 0.1
    wide = wide.repeat(16, axis=1).repeat(16, axis=2)
    assert LEAF.hole("half", wide, RNG).mean() == wide.mean()


def test_sides_are_even_and_at_least_64() -> None:
    made = LEAF.clip("quarter", np.zeros((1, 262, 331, 3), np.uint8), 24.0)
    assert made[0].shape == (1, 66, 82, 3)
    with pytest.raises(Rejected, match="a quarter of 320x240 is 80x60, and sides of 64 are asked for"):
        LEAF.clip("half", np.zeros((1, 240, 320, 3), np.uint8), 24.0)
