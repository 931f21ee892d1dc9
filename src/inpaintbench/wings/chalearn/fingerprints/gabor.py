"""Bank of Gabor kernels that ridges are grown with, in integers, so that sums over them are exact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH

__all__ = ["FREQUENCIES", "ORIENTATIONS", "Bank", "bank", "border_pixels", "kernel_numbers", "kernel_size", "period_of_bin"]

# One for each degree.
ORIENTATIONS = 180
FREQUENCIES = 100
MOST_PIXELS_PER_INCH = 1200.0
# At lower resolutions the narrowest ridges and valleys are about 2 pixels wide and merge as they grow.
LEAST_PIXELS_PER_INCH = 330.0
# Kernel rows are padded with zeros to a multiple of this, the width of vector instructions.
LANES = 16
# Radius of a kernel and standard deviation of its Gaussian, pixels at 500 per inch; those of Anguli.
_BORDER = 15
_SIGMA = 7.5
# Frequency of bin 0, which is not used, and step between bins, cycles per pixel at 500 pixels per inch.
_LEAST_FREQUENCY, _FREQUENCY_STEP = 0.075, 0.0008


@dataclass(frozen=True)
class Bank:
    """Kernels for one resolution."""

    size: int
    """Side of a kernel, pixels; odd."""
    border: int
    """Width of the canvas's border without ridges, pixels: half a kernel."""
    kernels: npt.NDArray[np.int8]
    """``int8[FREQUENCIES * ORIENTATIONS, size, padded size]``, -46..54; columns from ``size`` on are 0."""


def border_pixels(pixels_per_inch: float) -> int:
    """Radius of a kernel without its centre: 15 pixels at 500 pixels per inch.

    Raises:
        InputError: the resolution is outside ``LEAST_PIXELS_PER_INCH`` to ``MOST_PIXELS_PER_INCH``.
    """
    if not LEAST_PIXELS_PER_INCH <= pixels_per_inch <= MOST_PIXELS_PER_INCH:  # also catches NaN
        raise InputError(
            f"fingerprints of {pixels_per_inch!r} pixels per inch cannot be made: "
            f"choose {LEAST_PIXELS_PER_INCH:g} to {MOST_PIXELS_PER_INCH:g}, usually 500"
        )
    return round(_BORDER * pixels_per_inch / REFERENCE_PIXELS_PER_INCH)


def kernel_size(pixels_per_inch: float) -> int:
    """Side of a kernel: 31 pixels at 500 pixels per inch, always odd."""
    return 2 * border_pixels(pixels_per_inch) + 1


def period_of_bin(frequency_bin: npt.ArrayLike, *, pixels_per_inch: float) -> npt.NDArray[np.float64]:
    """Ridge period of frequency bins 1..100, pixels: 13.2 to 6.5 at 500 pixels per inch."""
    bins = np.asarray(frequency_bin, np.float64)
    period: npt.NDArray[np.float64] = pixels_per_inch / REFERENCE_PIXELS_PER_INCH / (_LEAST_FREQUENCY + _FREQUENCY_STEP * bins)
    return period


def kernel_numbers(
    orientation: npt.NDArray[np.float32], period: npt.NDArray[np.float32], *, pixels_per_inch: float
) -> npt.NDArray[np.int32]:
    """Index of the kernel of the bank for each pixel, ``int32[H, W]``.

    ``orientation`` is the ridge angle in radians, ``period`` in pixels; both are rounded to the nearest bin.
    """
    degrees = np.rint(orientation * np.float32(180 / math.pi)).astype(np.int32) % ORIENTATIONS
    frequency = np.float32(pixels_per_inch / REFERENCE_PIXELS_PER_INCH) / period
    bins = np.rint((frequency - np.float32(_LEAST_FREQUENCY)) / np.float32(_FREQUENCY_STEP)).astype(np.int32)
    numbers: npt.NDArray[np.int32] = (np.clip(bins, 1, FREQUENCIES) - 1) * np.int32(ORIENTATIONS) + degrees
    return numbers


@lru_cache(maxsize=1)  # one, since a bank takes 18 MB at 500 pixels per inch
def bank(pixels_per_inch: float) -> Bank:
    """Build the kernels of every frequency bin and ridge angle; index ``(bin - 1) * ORIENTATIONS + degrees``.

    A kernel is exp(-(x^2 + y^2) / (2 sigma^2)) cos(2 pi f (x cos t + y sin t)) with sigma = 7.5 pixels at 500 pixels per inch
    and t the direction across the ridges, quantised to 8 bits and scaled to 100 levels with 0 where the wave is 0.
    Source: the open generator Anguli; the filter is that of Cappelli, Maio and Maltoni, ICPR 2000.
    """
    border, size = border_pixels(pixels_per_inch), kernel_size(pixels_per_inch)
    kernels = np.zeros((FREQUENCIES, ORIENTATIONS, size, -(-size // LANES) * LANES), np.int8)
    for number in range(FREQUENCIES):
        kernels[number, :, :, :size] = _levels(_waves(number + 1, border, pixels_per_inch))
    kernels.flags.writeable = False
    return Bank(size, border, kernels.reshape(FREQUENCIES * ORIENTATIONS, size, -1))


def _waves(frequency_bin: int, border: int, pixels_per_inch: float) -> npt.NDArray[np.float64]:
    """Gabor waves of one frequency, ``float64[ORIENTATIONS, size, size]``, -1..1, as outer products of waves along the axes."""
    place = np.arange(-border, border + 1)
    per_pixel = 2 * math.pi / float(period_of_bin(frequency_bin, pixels_per_inch=pixels_per_inch))
    across = np.radians(90.0 - np.arange(ORIENTATIONS))  # y points down
    bell = np.exp(-0.5 * (place * REFERENCE_PIXELS_PER_INCH / (_SIGMA * pixels_per_inch)) ** 2)
    waves = [bell * np.exp(1j * per_pixel * np.outer(way, place)) for way in (np.sin(across), np.cos(across))]
    # exp(i(a + b)) = exp(ia) exp(ib): two waves on lines cost far less than one in the plane.
    product: npt.NDArray[np.float64] = np.ascontiguousarray((waves[0][:, :, None] * waves[1][:, None, :]).real)
    return product


def _levels(waves: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Quantise -1..1 to integers -46..54 through 8 bits, as Anguli does; both steps truncate towards 0."""
    stored = (127.5 + 127.5 * waves).astype(np.int64)
    low, high = stored.min(axis=(1, 2), keepdims=True), stored.max(axis=(1, 2), keepdims=True)
    levels: npt.NDArray[np.int64] = (100 * (stored - low) / (high - low) - 46).astype(np.int64)
    return levels
