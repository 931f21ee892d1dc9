"""A blur of the stated width that mixes in nothing of what is hidden."""

from __future__ import annotations

import numpy as np
import pytest
from axes_made import film

from inpaintbench.masks.axes.spoiling import KnownBlur

RNG = np.random.default_rng(0)


def test_hidden_pixels_change_no_known_pixel() -> None:
    truth = film()[:2].copy()
    hole = np.zeros(truth.shape[:3], np.bool_)
    hole[:, 60:120, 90:150] = True
    one = KnownBlur().input("strong", truth, hole, 24.0, RNG)
    truth[hole] = 255 - truth[hole]
    other = KnownBlur().input("strong", truth, hole, 24.0, RNG)
    np.testing.assert_array_equal(one[~hole], other[~hole])


@pytest.mark.parametrize(("level", "pixels"), [("weak", 1), ("strong", 3)])
def test_an_edge_is_as_wide_as_is_stated(level: str, pixels: float) -> None:
    """Of a step between two levels, the slope in the middle is that of a normal distribution of the stated deviation."""
    truth = np.zeros((1, 32, 832, 3), np.uint8)
    truth[:, :, 416:] = 200
    made = KnownBlur().input(level, truth, np.zeros(truth.shape[:3], np.bool_), 24.0, RNG)[0, 16, :, 0].astype(float)
    assert KnownBlur().facts(level, frames=1, height=32, width=832) == {"blur_pixels": pixels}
    assert np.diff(made).max() == pytest.approx(200 / (pixels * np.sqrt(2 * np.pi)), rel=0.05)
    plain = KnownBlur().input(level, np.full_like(truth, 77), np.arange(832)[None, None] < np.full((1, 32, 1), 400), 24.0, RNG)
    assert (plain == 77).all()
