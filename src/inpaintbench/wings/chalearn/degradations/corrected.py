"""Degradations of a print like the published ones without their oddities, and dry and wet skin.

Regions lie anywhere in the picture, resampling is smooth, lines are curved and run in all directions, ink fades whether it is
grey or black. At strength 0 each is the identity, to the last bit; none changes blank paper except by smearing ink on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import cv2
import numpy as np

from inpaintbench.wings.chalearn.degradations.ellipses import soft_ellipse
from inpaintbench.wings.chalearn.degradations.planes import Grey, Rgb, clouds, levels, mixed, multiplied

MOST_LINES = 20
# Radius of the mean that contrast is measured from: one period of the ridges at 500 pixels per inch.
SURROUNDINGS_PIXELS = 9.0
# OpenCV's drawing takes fixed-point coordinates: sixteenths of a pixel.
_FRACTION_BITS = 4
Facts = dict[str, Any]


def draw_lines(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Draw 0 to 20 lines without ink over ``uint8[H, W]``, slightly curved, 0.5 to 6 pixels wide, most of them thin."""
    count = round(strength * int(rng.integers(0, MOST_LINES, endpoint=True)))
    uniform = rng.random((count, 6))
    widths = (0.5 + 5.5 * uniform[:, 5] ** 2) * scale
    points = _bowed(uniform[:, :4] * (picture.shape[::-1] * 2), 0.24 * uniform[:, 4] - 0.12)
    worn = np.zeros_like(picture)
    for line in np.argsort(widths, kind="stable"):  # faint ones first, so that they do not lighten wider ones
        _stroke(worn, points[line], float(widths[line]))
    return mixed(np.full_like(picture, 255), picture, worn), {"count": count}


def blur(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Blur a region by a Gaussian with a standard deviation of 0 to 3 pixels at 500 pixels per inch."""
    sigma = strength * rng.uniform(0, 3) * scale
    region = soft_ellipse(*picture.shape, scale=scale, rng=rng)
    return mixed(_blurred(picture, sigma), picture, region), {"sigma_pixels": sigma}


def brightness(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Divide the ink of a region by 1 to 4."""
    divisor = 1 + strength * rng.uniform(0, 3)
    region = soft_ellipse(*picture.shape, scale=scale, rng=rng)
    faded = 255 - np.rint((255 - np.arange(256)) / divisor)
    return mixed(_by_table(picture, faded), picture, region), {"divisor": divisor}


def contrast(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Divide differences from the local mean by 1 to 5 in a region: ridges fade and valleys fill."""
    divisor = 1 + strength * rng.uniform(0, 4)
    region = soft_ellipse(*picture.shape, scale=scale, rng=rng)
    reach = 2 * round(SURROUNDINGS_PIXELS * scale) + 1
    mean = cv2.blur(picture, (reach, reach), borderType=cv2.BORDER_REFLECT)
    flat = np.asarray(cv2.addWeighted(picture, 1 / divisor, mean, 1 - 1 / divisor, 0), np.uint8)
    return mixed(flat, picture, region), {"divisor": divisor}


def resolution(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Reduce the resolution of a region by 1 to 4: area averaging down, cubic interpolation up."""
    divisor = 1 + strength * rng.uniform(0, 3)
    region = soft_ellipse(*picture.shape, scale=scale, rng=rng)
    height, width = picture.shape
    ratio = 1 + (divisor - 1) * scale
    size = (max(1, round(width / ratio)), max(1, round(height / ratio)))
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    back = np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)
    return mixed(back, picture, region), {"divisor": divisor}


def rotation(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Rotate a region by up to 10 degrees about the centre of the picture; anticlockwise is positive."""
    degrees = strength * rng.uniform(-10, 10)
    region = soft_ellipse(*picture.shape, scale=scale, rng=rng)
    height, width = picture.shape
    turn = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), degrees, 1.0)
    turned = cv2.warpAffine(picture, turn, (width, height), flags=cv2.INTER_LINEAR, borderValue=255)
    return mixed(np.asarray(turned, np.uint8), picture, region), {"degrees": degrees}


def dry(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Thin the ridges of a region, and break them where the skin did not touch."""
    amount = strength * rng.uniform(0.2, 1)
    region = soft_ellipse(*picture.shape, scale=scale, rng=rng)
    thin = _morphed(picture, radius=0.9 * amount * scale, operation=cv2.dilate)
    # The upper tail of the noise leaves no ink, the rest some.
    patchy = clouds(*picture.shape, period_pixels=5 * scale, octaves=2, rng=rng, gain=0.8)
    patchy += np.float32(amount - 1.2)
    gone = np.minimum(levels(patchy * np.float32(255)), np.uint8(255 * min(amount, 1)))
    return mixed(mixed(np.full_like(picture, 255), thin, gone), picture, region), {"amount": amount}


def wet(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Thicken the ridges of a region until they merge."""
    amount = strength * rng.uniform(0.2, 1)
    region = soft_ellipse(*picture.shape, scale=scale, rng=rng)
    thick = _blurred(_morphed(picture, radius=1.4 * amount * scale, operation=cv2.erode), 0.9 * amount * scale)
    return mixed(thick, picture, region), {"amount": amount}


def composite(picture: Grey, background: Rgb) -> Rgb:
    """Composite of a print and a background, ``uint8[H, W, 3]``: their product, so that a white background keeps the print."""
    return multiplied(background, picture)


Effect = Callable[..., tuple[Grey, Facts]]
# Applied once each, in random order, each in its own region.
EFFECTS: Mapping[str, Effect] = {
    "blur": blur,
    "brightness": brightness,
    "contrast": contrast,
    "resolution": resolution,
    "rotation": rotation,
    "dry": dry,
    "wet": wet,
}


def _blurred(picture: Grey, sigma_pixels: float) -> Grey:
    if sigma_pixels < 0.1:
        return picture
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), sigma_pixels, borderType=cv2.BORDER_REFLECT), np.uint8)


def _by_table(picture: Grey, table: Any) -> Grey:
    return np.asarray(cv2.LUT(picture, np.asarray(table, np.uint8)), np.uint8)


def _morphed(picture: Grey, *, radius: float, operation: Callable[..., Any]) -> Grey:
    """Grey erosion or dilation by a disc of any radius: interpolated between the two integer radii around it."""
    low = math.floor(radius)
    smaller, larger = (_disc(picture, integer, operation) for integer in (low, low + 1))
    return np.asarray(cv2.addWeighted(smaller, 1 - (radius - low), larger, radius - low, 0), np.uint8)


def _disc(picture: Grey, radius: int, operation: Callable[..., Any]) -> Grey:
    if radius == 0:
        return picture
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1))
    return np.asarray(operation(picture, kernel), np.uint8)


def _bowed(ends: Any, bow: Any) -> Any:
    """Points (x, y) of parabolas between ends (x0, y0, x1, y1) with a rise of ``bow`` times the chord, ``[N, 9, 2]``."""
    start, chord = ends[:, None, :2], (ends[:, 2:] - ends[:, :2])[:, None]
    t = np.linspace(0, 1, 9)[:, None]
    away = 4 * bow[:, None, None] * t * (1 - t)
    return start + chord * t + chord[..., ::-1] * (-1, 1) * away


def _stroke(opacity: Grey, points: Any, width_pixels: float) -> None:
    """Draw a line onto ``opacity`` in place; one thinner than a pixel is a pixel wide and fainter."""
    fixed = np.rint(points * (1 << _FRACTION_BITS)).astype(np.int32)
    ink, thickness = round(255 * min(width_pixels, 1.0)), max(1, round(width_pixels))
    cv2.polylines(opacity, [fixed], False, ink, thickness, cv2.LINE_AA, _FRACTION_BITS)
