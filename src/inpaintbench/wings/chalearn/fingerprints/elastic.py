"""Elastic distortion of prints: random displacement fields, shared by truth and input, and warping by them.

Source: Simard, Steinkraus and Platt, "Best practices for convolutional neural networks", ICDAR 2003.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError
from inpaintbench.types import item_rng
from inpaintbench.wings.chalearn.fingerprints.smooth import FloatArray, smoothed_noise

# `uint8[H, W]` or `uint8[H, W, 3]`.
Picture = npt.NDArray[np.uint8]
# (dx, dy), each `float32[H, W]` in pixels.
Field = tuple[FloatArray, FloatArray]

# Default strength and reach in shares of the longer side.
STRENGTH_SHARE = 2.0
REACH_SHARE = 0.08
# Noise is -127.5 .. 127.5 in steps of 1.
_MOST_LEVEL = 127.5


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
    _check(height, width, strength, reach)
    if strength == 0:
        return np.zeros((height, width), np.float32), np.zeros((height, width), np.float32)
    rng = item_rng(seed, "fingerprints.elastic", "")
    dx, dy = (smoothed_noise(_noise(height, width, rng=rng), reach=reach, scale=strength / _MOST_LEVEL) for _ in "xy")
    return dx, dy


def warp(picture: Picture, field: Field, *, outside: int = 255) -> Picture:
    """Sample ``picture`` at (y + dy, x + dx) for every pixel (y, x): bilinear, ``outside`` beyond the edges.

    Positions are rounded to 1/32 of a pixel. A field of zeros is the identity, to the last bit.

    Raises:
        InputError: picture and field differ in size.
    """
    dx, dy = field
    height, width = dx.shape
    if picture.shape[:2] != (height, width):
        raise InputError(
            f"the picture is {picture.shape[1]}x{picture.shape[0]} and the field {width}x{height}: make the field for its size"
        )
    x = np.asarray(dx + np.arange(width, dtype=np.float32), np.float32)
    y = np.asarray(dy + np.arange(height, dtype=np.float32)[:, None], np.float32)
    return remapped(picture, x, y, outside=outside)


def remapped(picture: Picture, x: FloatArray, y: FloatArray, *, outside: int = 255) -> Picture:
    """Sample ``picture`` at the pixel coordinates (``x``, ``y``), bilinear, ``outside`` beyond the edges."""
    value = (outside,) * 4
    out = cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=value)
    return np.asarray(out, np.uint8)


def _noise(height: int, width: int, *, rng: np.random.Generator) -> FloatArray:
    """Draw white noise of -127.5, -126.5 .. 127.5: sums of so few digits are exact, hence equal on every processor."""
    return np.frombuffer(rng.bytes(height * width), np.uint8).reshape(height, width) - np.float32(_MOST_LEVEL)


def _check(height: int, width: int, strength: float, reach: float) -> None:
    if min(height, width) < 1:
        raise InputError(f"an elastic field of {width}x{height} pixels has no pixel: give sides of 1 or more")
    if not (math.isfinite(strength) and strength >= 0):
        raise InputError(f"the strength of an elastic field is {strength}: give 0 (none) or more, in pixels")
    if not (math.isfinite(reach) and reach > 0):
        raise InputError(f"the reach of an elastic field is {reach}: give more than 0, in pixels")
