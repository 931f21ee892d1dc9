"""Slow fields: interpolation that is exact where it should be, smoothing against a straightforward filter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter

from inpaintbench.wings.chalearn.fingerprints.fields import (
    LARGEST_STEP,
    grid_positions,
    grid_step,
    interpolated,
    smooth_noise,
    smoothed_noise,
)


@given(height=st.integers(1, 90), width=st.integers(1, 90), step=st.sampled_from([1, 2, 4, 8, 16]))
@settings(max_examples=40, deadline=None)
def test_a_quadratic_is_carried_exactly(height: int, width: int, step: int) -> None:
    def surface(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return 3 + 0.5 * x - 0.25 * y + 0.01 * x * y + 0.004 * x**2 - 0.003 * y**2

    coarse = surface(grid_positions(width, step), grid_positions(height, step)[:, None])
    expected = surface(np.arange(width), np.arange(height)[:, None])
    found = interpolated(coarse, height=height, width=width, step=step)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1 / 1024)


@pytest.mark.parametrize(
    ("height", "width", "reach"),
    [(400, 275, 32.0), (275, 401, 64.0), (37, 51, 17.0), (37, 51, 3.0), (64, 30, 1.0), (20, 20, 0.3), (5, 3, 40.0), (1, 1, 2.0)],
)
def test_smoothing_is_a_gaussian_with_zeros_outside(height: int, width: int, reach: float) -> None:
    white = 500 * np.random.default_rng(1).uniform(-1, 1, (height, width))
    expected = gaussian_filter(white, reach, mode="constant", truncate=4.0)
    found = smoothed_noise(white, reach=reach)
    np.testing.assert_allclose(found, expected, atol=0.002 * expected.std() + 1 / 1024)


def test_noise_of_few_digits_is_smoothed_alike_in_either_type() -> None:
    white = np.random.default_rng(1).integers(0, 256, (90, 71)) - 127.5
    for reach in (3.0, 9.0, 33.0):
        np.testing.assert_array_equal(smoothed_noise(white.astype(np.float32), reach=reach), smoothed_noise(white, reach=reach))


def test_steps_are_powers_of_two_below_the_reach() -> None:
    assert [grid_step(reach) for reach in (0.3, 1, 8, 15.9, 16, 32, 128, 10_000)] == [1, 1, 2, 2, 4, 8, 32, LARGEST_STEP]


@pytest.mark.parametrize("reach", [0.5, 1.6, 3.0, 11.0])
def test_noise_has_variance_one_and_keeps_together_over_its_reach(reach: float) -> None:
    noise = smooth_noise(np.random.default_rng(2), height=500, width=460, reach=reach)
    assert noise.shape == (500, 460)
    assert abs(noise.mean()) < 0.15
    assert 0.85 < noise.std() < 1.15
    lag = max(1, round(reach))
    # two values of Gaussian-smoothed noise at distance d correlate by exp(-d^2 / (4 reach^2)); interpolation adds a little
    expected = np.exp(-(lag**2) / (4 * reach**2))
    along_x = np.mean(noise[:, lag:] * noise[:, :-lag]) / noise.var()
    along_y = np.mean(noise[lag:] * noise[:-lag]) / noise.var()
    assert abs(along_x - expected) < 0.15
    assert abs(along_y - along_x) < 0.12
