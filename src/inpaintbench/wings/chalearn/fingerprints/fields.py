"""Smooth random fields, bit by bit equal on all processors, and the elastic distortion that truth and input of a print share.

Fields are computed on a coarse grid and interpolated to every pixel. Source of the distortion: Simard, Steinkraus and Platt,
"Best practices for convolutional neural networks", ICDAR 2003.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError
from inpaintbench.lazily import lazily
from inpaintbench.types import item_rng

cv2 = lazily("cv2")

FloatArray = npt.NDArray[np.float32]
DoubleArray = npt.NDArray[np.float64]

LARGEST_STEP = 32
# Least number of grid points per standard deviation.
_STEPS_PER_REACH = 4
# A Gaussian is truncated at 4 standard deviations.
_TAPS_PER_REACH = 4
# Border of zeros around a picture that is halved, points: more than its filter reaches beyond the border.
_MARGIN = 4
# Coarse values are rounded to 1/1024, so that the last bits of sums, which differ between processors, reach no picture.
_GRAIN = 1024

# `uint8[H, W]` or `uint8[H, W, 3]`.
Picture = npt.NDArray[np.uint8]
# (dx, dy), each `float32[H, W]` in pixels.
Field = tuple[FloatArray, FloatArray]

# Default strength and reach in shares of the longer side.
STRENGTH_SHARE = 2.0
REACH_SHARE = 0.08
# Noise is -127.5 .. 127.5 in steps of 1.
_MOST_LEVEL = 127.5


def grid_step(reach: float) -> int:
    """Spacing in pixels of a coarse grid fine enough for a standard deviation of ``reach`` pixels: a power of two, 1..32."""
    step = 1
    while step < LARGEST_STEP and 2 * step * _STEPS_PER_REACH <= reach:
        step *= 2
    return step


def grid_positions(size: int, step: int) -> DoubleArray:
    """Pixel coordinates of the grid points of one axis; they extend beyond both ends, as interpolation requires."""
    return step * np.arange(-1, -(-size // step) + 2, dtype=np.float64)


def interpolated(coarse: DoubleArray | FloatArray, *, height: int, width: int, step: int) -> FloatArray:
    """Interpolate values at the points of ``grid_positions`` to every pixel by cubic convolution, ``float32[H, W]``.

    Source: Keys, "Cubic convolution interpolation for digital image processing", IEEE TASSP 1981.
    """
    known = (np.rint(coarse * _GRAIN) / _GRAIN).astype(np.float32)
    if step == 1:
        return known[1 : 1 + height, 1 : 1 + width]
    wide = np.ascontiguousarray(_refined(np.ascontiguousarray(known.T), width, step).T)
    return _refined(wide, height, step)


def smoothed_noise(white: DoubleArray | FloatArray, *, reach: float, scale: float = 1.0) -> FloatArray:
    """Smooth ``white`` by a Gaussian of standard deviation ``reach`` pixels, zeros outside, times ``scale``; ``float32[H, W]``.

    For large ``reach`` it is halved first, down to a spacing of half a grid step, by the binomial filter of 5 taps, variance 1.
    Source: Burt and Adelson, "The Laplacian pyramid as a compact image code", IEEE TCOM 1983.
    """
    height, width = white.shape
    step = grid_step(reach)
    halvings = max(step.bit_length() - 2, 0)
    spacing = 1 << halvings
    margin = _MARGIN * spacing
    small: npt.NDArray[Any] = white
    if halvings:
        small = np.zeros((height + 2 * margin, width + 2 * margin), white.dtype)
        small[margin : margin + height, margin : margin + width] = white
    for _ in range(halvings):
        small = np.asarray(cv2.pyrDown(small), np.float64)
    # Variances of Gaussians add up: that of the halvings, (spacing^2 - 1) / 3, is subtracted.
    remaining = math.sqrt(reach**2 - (spacing**2 - 1) / 3) / spacing
    before = _MARGIN if halvings else 0
    down, across = (
        _gaussian(points, grid_positions(size, step).size, step // spacing, before, remaining)
        for points, size in zip(small.shape, (height, width), strict=True)
    )
    coarse = _product(_product(down, np.asarray(small, np.float64)), across.T)
    return interpolated(coarse * scale, height=height, width=width, step=step)


def smooth_noise(rng: np.random.Generator, *, height: int, width: int, reach: float) -> FloatArray:
    """Draw smooth noise ``float32[H, W]`` of mean 0 and variance 1, correlated over about ``reach`` pixels."""
    step = grid_step(reach)
    rows, columns = grid_positions(height, step).size, grid_positions(width, step).size
    taps = _taps(reach / step)
    margin = taps.size // 2
    white = rng.standard_normal((rows + 2 * margin, columns + 2 * margin), np.float32)
    even = cv2.sepFilter2D(white, cv2.CV_32F, taps, taps)[margin : margin + rows, margin : margin + columns]
    return interpolated(even / np.sum(taps**2), height=height, width=width, step=step)


def _product(left: DoubleArray, right: DoubleArray) -> DoubleArray:
    """Matrix product on this thread alone; numpy's uses threads of its own, which other workers would delay."""
    nothing = np.zeros((left.shape[0], right.shape[1]))
    return np.asarray(cv2.gemm(left, right, 1.0, nothing, 0.0), np.float64)


def _taps(reach: float) -> DoubleArray:
    radius = int(_TAPS_PER_REACH * reach + 0.5)
    taps = np.exp(-0.5 * (np.arange(-radius, radius + 1) / max(reach, 1e-9)) ** 2)
    return np.asarray(taps / taps.sum())


@lru_cache(maxsize=16)
def _gaussian(size: int, points: int, step: int, before: int, reach: float) -> DoubleArray:
    """Matrix ``float64[points, size]`` that smooths ``size`` values, ``before`` of them outside the picture, to grid points."""
    taps = _taps(reach)
    radius = taps.size // 2
    offsets = np.arange(size) - before - step * np.arange(-1, points - 1)[:, None]
    return np.where(np.abs(offsets) <= radius, taps[np.clip(offsets + radius, 0, taps.size - 1)], 0.0)


def _refined(coarse: FloatArray, size: int, step: int) -> FloatArray:
    """Interpolate the rows of ``coarse`` to ``size`` pixels, in a fixed order of products and sums, equal on every processor."""
    # Weights of the four grid points around each pixel of a cell.
    distance = np.abs(np.arange(step)[:, None] / step - np.arange(-1, 3))
    near = 1 + distance**2 * (1.5 * distance - 2.5)
    far = 2 + distance * (distance * (2.5 - 0.5 * distance) - 4)
    weights = np.where(distance <= 1, near, far).astype(np.float32)
    cells = -(-size // step)
    full = weights[:, 0, None] * coarse[:cells, None]
    part = np.empty_like(full)
    for tap in range(1, 4):
        np.multiply(weights[:, tap, None], coarse[tap : tap + cells, None], out=part)
        full += part
    return np.asarray(full.reshape(cells * step, -1)[:size], np.float32)


def elastic_field(height: int, width: int, *, seed: int, strength: float | None = None, reach: float | None = None) -> Field:
    """Draw (dx, dy) ``float32[H, W]``, pixels: uniform noise in -1..1 (256 levels), smoothed (zeros outside), times ``strength``.

    ``strength`` (pixels) is 2 and ``reach`` (standard deviation of the smoothing, pixels) 0.08 of the longer side by default;
    at 275x400 points then move by 5.5 pixels (RMS).

    Raises:
        InputError: a side below 1, a strength below 0, or a reach of 0 or less.
    """
    longer = max(height, width)
    strength = STRENGTH_SHARE * longer if strength is None else strength
    reach = REACH_SHARE * longer if reach is None else reach
    if min(height, width) < 1:
        raise InputError(f"an elastic field of {width}x{height} pixels has no pixel: give sides of 1 or more")
    if not (math.isfinite(strength) and strength >= 0):
        raise InputError(f"the strength of an elastic field is {strength}: give 0 (none) or more, in pixels")
    if not (math.isfinite(reach) and reach > 0):
        raise InputError(f"the reach of an elastic field is {reach}: give more than 0, in pixels")
    if strength == 0:
        return np.zeros((height, width), np.float32), np.zeros((height, width), np.float32)
    rng = item_rng(seed, "fingerprints.elastic", "")
    # Sums of numbers of so few digits are exact, hence equal on every processor.
    white = [np.frombuffer(rng.bytes(height * width), np.uint8).reshape(height, width) for _ in "xy"]
    dx, dy = (smoothed_noise(of - np.float32(_MOST_LEVEL), reach=reach, scale=strength / _MOST_LEVEL) for of in white)
    return dx, dy


def positions(field: Field) -> Field:
    """Pixel coordinates (x, y) of every pixel after its displacement (dx, dy), each ``float32[H, W]``."""
    height, width = field[0].shape
    rows, columns = np.arange(height, dtype=np.float32)[:, None], np.arange(width, dtype=np.float32)
    return np.asarray(field[0] + columns, np.float32), np.asarray(field[1] + rows, np.float32)


def warp(picture: Picture, field: Field, *, outside: int = 255) -> Picture:
    """Sample ``picture`` at (y + dy, x + dx) for every pixel (y, x): bilinear, ``outside`` beyond the edges.

    Positions are rounded to 1/32 of a pixel. A field of zeros is the identity, to the last bit.

    Raises:
        InputError: picture and field differ in size.
    """
    height, width = field[0].shape
    if picture.shape[:2] != (height, width):
        raise InputError(
            f"the picture is {picture.shape[1]}x{picture.shape[0]} and the field {width}x{height}: make the field for its size"
        )
    return remapped(picture, *positions(field), outside=outside)


def remapped(picture: Picture, x: FloatArray, y: FloatArray, *, outside: int = 255) -> Picture:
    """Sample ``picture`` at the pixel coordinates (``x``, ``y``), bilinear, ``outside`` beyond the edges."""
    out = cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=(outside,) * 4)
    return np.asarray(out, np.uint8)
