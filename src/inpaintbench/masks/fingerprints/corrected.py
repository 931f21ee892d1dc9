"""Degradations of a print without the oddities of the published ones, and dry and wet skin besides.

Regions lie anywhere in the picture, resampling is smooth, lines are curved and run in all directions, ink fades whether it is
grey or black. All leave a picture as it is, to the last bit, at strength 0; none touches blank paper but by smearing ink on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import cv2
import numpy as np

from inpaintbench.masks.fingerprints.ellipses import soft_ellipse
from inpaintbench.masks.fingerprints.planes import Grey, Rgb, clouds, levels, mixed, multiplied

MOST_LINES = 20
# Reach of the mean that contrast is measured from: one period of the ridges at 500 pixels per inch.
SURROUNDINGS_PIXELS = 9.0
_FRACTION_BITS = 4
Facts = dict[str, Any]


def draw_lines(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """0 to 20 lines without ink over ``uint8[H, W]``, slightly curved, 0.5 to 6 pixels wide (most thin), and their number."""
    count = round(strength * int(rng.integers(0, MOST_LINES, endpoint=True)))
    drawn = rng.random((count, 6))
    widths = (0.5 + 5.5 * drawn[:, 5] ** 2) * scale
    points = _bowed(drawn[:, :4] * (picture.shape[::-1] * 2), 0.24 * drawn[:, 4] - 0.12)
    worn = np.zeros_like(picture)
    for line in np.argsort(widths, kind="stable"):  # faint ones first: they thin nothing that is drawn
        _stroke(worn, points[line], float(widths[line]))
    return mixed(np.full_like(picture, 255), picture, worn), {"count": count}


def blur(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """A Gaussian with a standard deviation of 0 to 3 in a region."""
    sigma = strength * rng.uniform(0, 3) * scale
    region = soft_ellipse(*picture.shape, scale=scale, rng=rng)
    return mixed(_blurred(picture, sigma), picture, region), {"sigma_pixels": sigma}


def brightness(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Ink divided by 1 to 4 in a region."""
    divisor = 1 + strength * rng.uniform(0, 3)
    region = soft_ellipse(*picture.shape, scale=scale, rng=rng)
    faded = 255 - np.rint((255 - np.arange(256)) / divisor)
    return mixed(_by_table(picture, faded), picture, region), {"divisor": divisor}


def contrast(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Distances from the mean of the surroundings divided by 1 to 5 in a region: ridges fade and valleys fill."""
    divisor = 1 + strength * rng.uniform(0, 4)
    region = soft_ellipse(*picture.shape, scale=scale, rng=rng)
    reach = 2 * round(SURROUNDINGS_PIXELS * scale) + 1
    mean = cv2.blur(picture, (reach, reach), borderType=cv2.BORDER_REFLECT)
    flat = np.asarray(cv2.addWeighted(picture, 1 / divisor, mean, 1 - 1 / divisor, 0), np.uint8)
    return mixed(flat, picture, region), {"divisor": divisor}


def resolution(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Seen at 1 to 4 times fewer pixels per inch in a region: averaged down, smoothly up."""
    divisor = 1 + strength * rng.uniform(0, 3)
    region = soft_ellipse(*picture.shape, scale=scale, rng=rng)
    height, width = picture.shape
    ratio = 1 + (divisor - 1) * scale
    size = (max(1, round(width / ratio)), max(1, round(height / ratio)))
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    back = np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)
    return mixed(back, picture, region), {"divisor": divisor}


def rotation(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Turned by up to 10 degrees about the middle of the picture in a region; anticlockwise is positive."""
    degrees = strength * rng.uniform(-10, 10)
    region = soft_ellipse(*picture.shape, scale=scale, rng=rng)
    height, width = picture.shape
    turn = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), degrees, 1.0)
    turned = cv2.warpAffine(picture, turn, (width, height), flags=cv2.INTER_LINEAR, borderValue=255)
    return mixed(np.asarray(turned, np.uint8), picture, region), {"degrees": degrees}


def dry(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Thinner ridges, broken where the skin did not touch, in a region."""
    amount = strength * rng.uniform(0.2, 1)
    region = soft_ellipse(*picture.shape, scale=scale, rng=rng)
    thin = _thickened(picture, radius=0.9 * amount * scale, of=cv2.dilate)
    # The rarer half of the noise leaves no ink at all, the rest some.
    patchy = clouds(*picture.shape, period_pixels=5 * scale, octaves=2, rng=rng, gain=0.8)
    patchy += np.float32(amount - 1.2)
    gone = np.minimum(levels(patchy * np.float32(255)), np.uint8(255 * min(amount, 1)))
    return mixed(mixed(np.full_like(picture, 255), thin, gone), picture, region), {"amount": amount}


def wet(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Thicker ridges that run into each other, in a region."""
    amount = strength * rng.uniform(0.2, 1)
    region = soft_ellipse(*picture.shape, scale=scale, rng=rng)
    thick = _blurred(_thickened(picture, radius=1.4 * amount * scale, of=cv2.erode), 0.9 * amount * scale)
    return mixed(thick, picture, region), {"amount": amount}


def composite(picture: Grey, background: Rgb) -> Rgb:
    """Ink of that grey on a background, ``uint8[H, W, 3]``: the product of both, so paper white leaves the print as it is."""
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


def _thickened(picture: Grey, *, radius: float, of: Callable[..., Any]) -> Grey:
    """Grey erosion or dilation by a disc of any radius: a mixture of the two whole ones around it."""
    low = math.floor(radius)
    low_one, high_one = (_disc(picture, whole, of) for whole in (low, low + 1))
    return np.asarray(cv2.addWeighted(low_one, 1 - (radius - low), high_one, radius - low, 0), np.uint8)


def _disc(picture: Grey, radius: int, of: Callable[..., Any]) -> Grey:
    if radius == 0:
        return picture
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1))
    return np.asarray(of(picture, kernel), np.uint8)


def _bowed(ends: Any, bow: Any) -> Any:
    """Points of parabolas between ends (x0, y0, x1, y1) that leave their chords by ``bow`` of them, ``[N, 9, (x, y)]``."""
    start, chord = ends[:, None, :2], (ends[:, 2:] - ends[:, :2])[:, None]
    t = np.linspace(0, 1, 9)[:, None]
    away = 4 * bow[:, None, None] * t * (1 - t)
    return start + chord * t + chord[..., ::-1] * (-1, 1) * away


def _stroke(opacity: Grey, points: Any, width_pixels: float) -> None:
    """Draw a line onto ``opacity`` in place; one thinner than a pixel is fainter instead."""
    fixed = np.rint(points * (1 << _FRACTION_BITS)).astype(np.int32)
    ink, thickness = round(255 * min(width_pixels, 1.0)), max(1, round(width_pixels))
    cv2.polylines(opacity, [fixed], False, ink, thickness, cv2.LINE_AA, _FRACTION_BITS)
