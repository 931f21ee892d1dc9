"""Soft regions against ellipses painted pixel by pixel; where they may begin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFilter
from scipy import ndimage

from inpaintbench.wings.chalearn.degradations.planes import soft_ellipse
from inpaintbench.wings.chalearn.degradations.published import published_ellipse

HEIGHT, WIDTH = 400, 275


def plain_ellipse(height: int, width: int, *, scale: float, top_below: int, seed: int) -> Any:
    """The box by its stated law, filled by the equation of an ellipse, smoothed by a plain Gaussian; grey levels."""
    rng, margin = np.random.default_rng(seed), 25 * scale
    left, top = rng.uniform(0, width) - margin, rng.uniform(0, top_below) - margin
    right = left + margin + (width - left - margin) * rng.random() + margin
    bottom = top + margin + (height - top - margin) * rng.random() + margin
    rows, columns = np.mgrid[:height, :width] + 0.5
    across, down = (columns - (left + right) / 2) / (right - left), (rows - (top + bottom) / 2) / (bottom - top)
    return ndimage.gaussian_filter(255.0 * (across**2 + down**2 <= 0.25), 25 * scale, mode="nearest")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_regions_are_blurred_ellipses(seed: int, scale: float) -> None:
    size = round(HEIGHT * scale), round(WIDTH * scale)
    # At the edges of the picture it matters what lies beyond, so most of the comparison keeps away from them.
    edge = round(60 * scale)
    inner = (slice(edge, -edge), slice(edge, -edge))
    published = np.asarray(published_ellipse(*size, scale=scale, rng=np.random.default_rng(seed)), float)
    error = np.abs(published - plain_ellipse(*size, scale=scale, top_below=size[1], seed=seed))
    assert error.mean() < 2
    assert error[inner].max() < 16  # three boxes instead of a Gaussian
    soft = soft_ellipse(*size, scale=scale, rng=np.random.default_rng(seed)).astype(float)
    error = np.abs(soft - plain_ellipse(*size, scale=scale, top_below=size[0], seed=seed))
    assert error.mean() < 1
    assert error[inner].max() < 6


@settings(max_examples=80, deadline=None)
@given(
    height=st.integers(1, 420), width=st.integers(1, 420), scale=st.sampled_from([0.1, 0.5, 1.0, 1.7]), seed=st.integers(0, 999)
)
def test_published_regions_are_pillows_to_the_last_bit(height: int, width: int, scale: float, seed: int) -> None:
    rng, margin = np.random.default_rng(seed), 25 * scale
    left, top = rng.uniform(0, width) - margin, rng.uniform(0, width) - margin
    right = left + margin + (width - left - margin) * rng.random() + margin
    bottom = top + margin + (height - top - margin) * rng.random() + margin
    mask = Image.new("L", (width, height), 0)
    ImageDraw.Draw(mask).ellipse((min(left, right), min(top, bottom), max(left, right), max(top, bottom)), fill=255)
    found = published_ellipse(height, width, scale=scale, rng=np.random.default_rng(seed))
    np.testing.assert_array_equal(np.asarray(found), np.asarray(mask.filter(ImageFilter.GaussianBlur(margin))))


def test_published_regions_begin_within_the_width_and_corrected_ones_anywhere() -> None:
    def tops(make: Any) -> list[int]:
        masks = [np.asarray(make(HEIGHT, WIDTH, scale=1.0, rng=np.random.default_rng(seed))) for seed in range(80)]
        # The rim's middle level lies on the ellipse, a little inside where it is strongly curved.
        return [int(rows[0]) for mask in masks if len(rows := np.flatnonzero((mask > 100).any(axis=1)))]

    assert max(tops(published_ellipse)) < WIDTH
    assert sum(top > WIDTH + 20 for top in tops(soft_ellipse)) > 5


@settings(max_examples=60, deadline=None)
@given(height=st.integers(1, 90), width=st.integers(1, 220), scale=st.sampled_from([0.2, 1.0, 3.0]), seed=st.integers(0, 99))
def test_any_size_gets_a_region(height: int, width: int, scale: float, seed: int) -> None:
    published = np.asarray(published_ellipse(height, width, scale=scale, rng=np.random.default_rng(seed)))
    soft = soft_ellipse(height, width, scale=scale, rng=np.random.default_rng(seed))
    for mask in (published, soft):
        assert mask.shape == (height, width)
        assert mask.dtype == np.uint8
    if max(height, width) <= 10 * scale:
        # Far smaller than its margins, a picture lies inside its region.
        assert soft.min() > 60
