"""Degradations of a print like the published ones without their oddities, dry and wet skin, and opaque blocks over it.

Regions lie anywhere in the picture, resampling is smooth, lines are curved and run in all directions, ink fades whether it is
grey or black. At strength 0 each is the identity, to the last bit; none changes blank paper except by smearing ink on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.lazily import lazily
from inpaintbench.wings.chalearn.degradations.planes import (
    Colour,
    Grey,
    Rgb,
    clouds,
    grain,
    levels,
    mixed,
    multiplied,
    soft_ellipse,
)

cv2 = lazily("cv2")

MOST_LINES = 20
# Radius of the mean that contrast is measured from: one period of the ridges at 500 pixels per inch.
SURROUNDINGS_PIXELS = 9.0
# OpenCV's drawing takes fixed-point coordinates: sixteenths of a pixel.
_FRACTION_BITS = 4
MOST_BLOCKS = 3
# Sides of a block, as shares of the shorter side of the picture.
LEAST_SHARE, MOST_SHARE = 0.05, 0.22
_COLOURS: tuple[Colour, ...] = (
    (244, 242, 236),
    (250, 226, 92),
    (206, 176, 128),
    (40, 40, 44),
    (112, 116, 120),
    (196, 52, 44),
    (62, 104, 168),
    (84, 132, 84),
)
Facts = dict[str, Any]


def draw_lines(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Draw 0 to 20 lines without ink over ``uint8[H, W]``, slightly curved, 0.5 to 6 pixels wide, most of them thin."""
    count = round(strength * int(rng.integers(0, MOST_LINES, endpoint=True)))
    uniform = rng.random((count, 6))
    widths = (0.5 + 5.5 * uniform[:, 5] ** 2) * scale
    # Parabolas between their ends (x0, y0, x1, y1), which rise by up to 0.12 of the chord.
    ends = uniform[:, :4] * (picture.shape[::-1] * 2)
    start, chord = ends[:, None, :2], (ends[:, 2:] - ends[:, :2])[:, None]
    t = np.linspace(0, 1, 9)[:, None]
    away = 4 * (0.24 * uniform[:, 4] - 0.12)[:, None, None] * t * (1 - t)
    points = np.rint((start + chord * t + chord[..., ::-1] * (-1, 1) * away) * (1 << _FRACTION_BITS)).astype(np.int32)
    worn = np.zeros_like(picture)
    for line in np.argsort(widths, kind="stable"):  # faint ones first, so that they do not lighten wider ones
        # A line thinner than a pixel is a pixel wide and fainter.
        width = float(widths[line])
        ink, thickness = round(255 * min(width, 1.0)), max(1, round(width))
        cv2.polylines(worn, [points[line]], False, ink, thickness, cv2.LINE_AA, _FRACTION_BITS)
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
    faded = (255 - np.rint((255 - np.arange(256)) / divisor)).astype(np.uint8)
    return mixed(np.asarray(cv2.LUT(picture, faded), np.uint8), picture, region), {"divisor": divisor}


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


def lay_blocks(picture: Rgb, *, strength: float, rng: np.random.Generator) -> tuple[Rgb, Facts]:
    """Paint 0 to 3 opaque blocks over a copy of ``uint8[H, W, 3]``; facts: their number and the share of touched pixels."""
    picture = picture.copy()
    height, width = picture.shape[:2]
    count = round(strength * int(rng.integers(0, MOST_BLOCKS, endpoint=True)))
    covered = np.zeros((height, width), np.uint8)
    for _ in range(count):
        outline = _outline(height, width, rng)
        (left, top), (right, bottom) = np.floor(outline.min(axis=0)) - 1, np.ceil(outline.max(axis=0)) + 2
        box = slice(max(0, int(top)), min(height, int(bottom))), slice(max(0, int(left)), min(width, int(right)))
        under = picture[box]
        size = under.shape[0], under.shape[1]
        opacity = np.zeros(size, np.uint8)
        corners = np.rint((outline - (box[1].start, box[0].start)) * (1 << _FRACTION_BITS)).astype(np.int32)
        cv2.fillPoly(opacity, [corners], 255, cv2.LINE_AA, _FRACTION_BITS)
        colour = _COLOURS[int(rng.integers(len(_COLOURS)))]
        shade = clouds(*size, period_pixels=max(size), octaves=3, rng=rng) * np.float32(4)
        shade += grain(*size, rng=rng) * np.float32(2)
        surface = np.asarray(cv2.merge([levels(shade + np.float32(level)) for level in colour]), np.uint8)
        picture[box] = mixed(surface, under, opacity)
        np.maximum(covered[box], opacity, out=covered[box])
    return picture, {"count": count, "area_fraction": cv2.countNonZero(covered) / covered.size}


def _outline(height: int, width: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Outline (x, y) of a rotated rectangle with straight or torn edges, ``float64[160, 2]``, pixels."""
    sides = rng.uniform(LEAST_SHARE, MOST_SHARE, 2) * min(height, width)
    centre, turn = rng.uniform((0, 0), (width, height)), rng.uniform(0, np.pi)
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) / 2 * sides
    steps = np.linspace(0, 4, 161)[:-1]
    points = np.stack([np.interp(steps, np.arange(5), corners[:, i]) for i in range(2)], axis=-1)
    # Wide bays with fine teeth, standard deviation about 1.
    frequencies = np.arange(1, len(steps) // 2 + 1)
    waves = rng.normal(size=(2, 2, len(frequencies))) / np.sqrt(frequencies)
    spectrum = np.concatenate([np.zeros((2, 1)), waves[0] + 1j * waves[1]], axis=1)
    rough = np.fft.irfft(spectrum, len(steps), axis=1).T
    torn = (rough / rough.std()) * 0.02 * float(sides.min()) * float(rng.random() < 0.5)
    cosine, sine = np.cos(turn), np.sin(turn)
    return np.asarray(centre + (points + torn) @ np.array([(cosine, sine), (-sine, cosine)]), np.float64)


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


def _morphed(picture: Grey, *, radius: float, operation: Callable[..., Any]) -> Grey:
    """Grey erosion or dilation by a disc of any radius: interpolated between the two integer radii around it."""
    low, sizes = math.floor(radius), []
    for size in (2 * low + 1, 2 * low + 3):
        disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
        sizes.append(operation(picture, disc) if size > 1 else picture)
    return np.asarray(cv2.addWeighted(sizes[0], 1 - (radius - low), sizes[1], radius - low, 0), np.uint8)
