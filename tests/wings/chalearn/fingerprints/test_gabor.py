"""The filter bank: its formula, its levels, which kernel a pixel takes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from inpaintbench.errors import InputError
from inpaintbench.wings.chalearn.fingerprints.master import (
    FREQUENCIES,
    ORIENTATIONS,
    bank,
    border_pixels,
    kernel_numbers,
    kernel_size,
    period_of_bin,
)


def kernel_by_formula(frequency_bin: int, degrees: int, pixels_per_inch: float) -> np.ndarray:
    """The kernel, pixel by pixel."""
    scale = pixels_per_inch / 500
    half = round(15 * scale)
    frequency = (0.075 + 0.0008 * frequency_bin) / scale
    across = math.radians(90 - degrees)
    stored = np.zeros((2 * half + 1, 2 * half + 1), int)
    for y in range(-half, half + 1):
        for x in range(-half, half + 1):
            bell = math.exp(-(x * x + y * y) / (2 * (7.5 * scale) ** 2))
            wave = math.cos(2 * math.pi * frequency * (x * math.cos(across) + y * math.sin(across)))
            stored[y + half, x + half] = int(127.5 + 127.5 * bell * wave)
    low, high = stored.min(), stored.max()
    return np.trunc(100 * (stored - low) / (high - low) - 46).astype(int)


@pytest.mark.parametrize("pixels_per_inch", [500.0, 391.0])
def test_kernels_are_the_formula(pixels_per_inch: float) -> None:
    made = bank(pixels_per_inch)
    assert made.size == kernel_size(pixels_per_inch) == 2 * made.border + 1
    rng = np.random.default_rng(0)
    for frequency_bin, degrees in [(1, 0), (100, 179), (50, 90), *rng.integers((1, 0), (101, 180), (8, 2)).tolist()]:
        own = made.kernels[(frequency_bin - 1) * ORIENTATIONS + degrees][:, : made.size]
        # Rounding to 8 bits may fall to the other side in a handful of pixels.
        assert np.mean(own != kernel_by_formula(frequency_bin, degrees, pixels_per_inch)) < 0.005


def test_kernels_are_even_whole_and_padded_with_nothing() -> None:
    made = bank(500.0)
    assert made.kernels.shape == (FREQUENCIES * ORIENTATIONS, 31, 32)
    assert made.kernels.dtype == np.int8
    assert not made.kernels[:, :, 31:].any()
    own = made.kernels[:, :, :31]
    assert np.array_equal(own, own[:, ::-1, ::-1])
    assert (own.min(), own.max()) == (-46, 54)
    # Exact in float32 however summed, and in 32 bits.
    assert np.abs(own, dtype=np.int16).sum(axis=(1, 2), dtype=np.int64).max() < 2**24
    assert not made.kernels.flags.writeable


def test_a_kernel_answers_most_to_ridges_of_its_own_angle() -> None:
    made, own = bank(500.0), 30
    y, x = np.mgrid[-15:16, -15:16]
    up = math.radians(own)
    # Ridges 8.7 pixels apart that rise to the right by 30 degrees, as seen.
    ridges = np.cos(2 * math.pi / 8.7 * (x * math.sin(up) + y * math.cos(up)))
    answers = (made.kernels[49 * ORIENTATIONS : 50 * ORIENTATIONS, :, :31] * ridges).sum(axis=(1, 2))
    assert abs(int(np.argmax(answers)) - own) <= 1


def test_numbers_are_those_of_the_nearest_bins() -> None:
    degrees = np.array([[0.0, 0.4, 0.6, 90.0, 179.4, 179.6]], np.float32)
    period = np.array([[1 / 0.0758, 1 / 0.115, 1 / 0.155, 100.0, 1.0, 1 / 0.0762]], np.float32)
    numbers = kernel_numbers(np.radians(degrees), period, pixels_per_inch=500.0)
    assert numbers.dtype == np.int32
    assert numbers.tolist() == [[0, 49 * 180, 99 * 180 + 1, 90, 99 * 180 + 179, 0]]


@pytest.mark.parametrize("pixels_per_inch", [330.0, 500.0, 1200.0])
def test_periods_lead_back_to_their_bins(pixels_per_inch: float) -> None:
    bins = np.arange(1, 101)
    period = period_of_bin(bins, pixels_per_inch=pixels_per_inch).astype(np.float32)
    found = kernel_numbers(np.zeros(100, np.float32), period, pixels_per_inch=pixels_per_inch)
    assert np.array_equal(found // ORIENTATIONS + 1, bins)


def test_lengths_go_with_the_resolution() -> None:
    assert [border_pixels(ppi) for ppi in (330.0, 500.0, 1000.0)] == [10, 15, 30]
    assert kernel_size(391.0) % 2 == 1
    assert period_of_bin(50, pixels_per_inch=500.0) == pytest.approx(8.6957, abs=1e-4)
    assert period_of_bin(50, pixels_per_inch=1000.0) == pytest.approx(2 * 8.6957, abs=1e-4)
    with pytest.raises(InputError, match=r"100\.0 pixels per inch"):
        bank(100.0)
