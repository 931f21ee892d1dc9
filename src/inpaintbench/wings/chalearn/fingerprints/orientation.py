"""Orientation field of a finger: the ridge angle everywhere on its canvas, by the zero-pole model."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from inpaintbench.wings.chalearn.fingerprints.gabor import border_pixels
from inpaintbench.wings.chalearn.fingerprints.records import Finger

__all__ = ["orientation", "orientation_at"]

FloatArray = npt.NDArray[np.float64]

# Bend of each knot, and its weight: u on the left of a core, v on its right, neither above nor below.
_BEND_OF_KNOT = (
    ("u", 1.0),
    ("u", 2 / 3),
    ("u", 0.0),
    ("v", 2 / 3),
    ("v", 1.0),
    ("v", 2 / 3),
    ("v", 0.0),
    ("u", 2 / 3),
    ("u", 1.0),
)
# Rounding to float32 must not reach pi.
_LARGEST = np.nextafter(np.float32(math.pi), np.float32(0))


def orientation(finger: Finger) -> npt.NDArray[np.float32]:
    """Ridge angle of every pixel, ``float32[H, W]``: radians in [0, pi), counter-clockwise as seen, 0 = horizontal ridges."""
    x = np.arange(finger.width, dtype=np.float64)[None, :]
    y = np.arange(finger.height, dtype=np.float64)[:, None]
    return np.minimum(orientation_at(finger, x, y).astype(np.float32), _LARGEST)


def orientation_at(finger: Finger, x: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
    """Ridge angle at points of the canvas in pixels (broadcast against each other), radians in [0, pi).

    Cores and deltas turn the ridges by half the angle around them; a core's turn is corrected by a function that is piecewise
    linear between eight directions and scaled by its bends. Sources: Sherlock and Monro, Pattern Recognition 26 (1993); Vizcaya
    and Gerhardt, Pattern Recognition 29 (1996). A plain arch is a wave that flattens towards the tip.
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if finger.arch is not None:
        return _wrapped(_arch(finger, x, y, finger.arch))
    twice = np.zeros(np.broadcast_shapes(x.shape, y.shape))
    for delta_x, delta_y in finger.deltas:
        twice += np.arctan2(y - delta_y, x - delta_x)
    for (core_x, core_y), bends in zip(finger.cores, finger.bends_degrees, strict=True):
        around = np.arctan2(y - core_y, x - core_x)
        twice -= around + _bend(around, bends)
    return _wrapped(twice / 2)


def _wrapped(angle: FloatArray) -> FloatArray:
    """Wrap ridge angles into [0, pi)."""
    inside = angle - math.pi * np.floor(angle / math.pi)
    return np.where(inside >= math.pi, 0.0, np.maximum(inside, 0.0))


def _bend(around: FloatArray, bends_degrees: tuple[float, float]) -> FloatArray:
    """Correction of the angle around a core, radians; equal at -pi and pi."""
    bends = dict(zip("uv", np.radians(bends_degrees).tolist(), strict=True))
    values = np.array([share * bends[side] for side, share in _BEND_OF_KNOT])
    place = (around + math.pi) * (4 / math.pi)
    before = np.minimum(place.astype(np.int8), 7)
    slopes = np.diff(values)
    bent: FloatArray = (values[:-1] - slopes * np.arange(8))[before] + slopes[before] * place
    return bent


def _arch(finger: Finger, x: FloatArray, y: FloatArray, arch: tuple[float, float, float]) -> FloatArray:
    """Ridge angle of a plain arch, radians: a wave that flattens towards the tip; a negative width mirrors it."""
    steepness, width, height = arch
    border = border_pixels(finger.pixels_per_inch)
    if width < 0:
        x = finger.width - 1 - x
    across = (x - border) / ((finger.width - 2 * border) * abs(width))
    down = (y - border) / ((finger.height - 2 * border) * height)
    slope = np.maximum(0.0, steepness * (1 - down)) * np.cos(math.pi * across)
    return np.arctan(math.copysign(1.0, width) * slope)
