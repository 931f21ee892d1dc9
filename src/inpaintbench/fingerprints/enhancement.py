"""A clean drawing of the ridges in a degraded picture of a print.

The background is divided out by local normalisation of the logarithm; ridges are drawn by Gabor filters that follow the
orientation and the period found (Hong, Wan and Jain, 1998), bent along the ridge; grey levels say how sure the drawing is, which
is what the mean squared error rewards. Constants were fitted to prints of this package, degraded by all its recipes.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.fingerprints.estimation import Map, blurred
from inpaintbench.fingerprints.filter_bank import Ridges, find_ridges
from inpaintbench.fingerprints.records import REFERENCE_PIXELS_PER_INCH

Picture = npt.NDArray[np.uint8]

# Standard deviation of the filter along the ridge.
ALONG_PIXELS = 3.5
# Darker than what has the least squared error, by which it loses a fortieth; nearer to the structure of ink.
CONTRAST = 1.2
# Standard deviation of the filter across the ridge, in ridge periods.
_ACROSS_PERIODS = 0.42
# Grey levels added before the logarithm, so that noise in black does not count.
_DARKEST = 12
_SURROUNDINGS_PIXELS, _SPREAD_PIXELS = 9.0, 14.0
_LARGEST_DEVIATION = 2.5
# Share of the picture itself that is added to what the filter drew: it still has the specks and ends of ridges.
_UNFILTERED = 0.4


def enhance(
    colours: Picture,
    *,
    pixels_per_inch: float = REFERENCE_PIXELS_PER_INCH,
    along_pixels: float = ALONG_PIXELS,
    contrast: float = CONTRAST,
) -> Picture:
    """The ridges of ``uint8[H, W, 3]`` dark on white as ``uint8[H, W]``, white outside the print.

    Args:
        colours: a print on any background.
        pixels_per_inch: of the picture; it is brought to 500 and the drawing back.
        along_pixels: standard deviation of the filter along the ridge at 500 pixels per inch; longer closes longer gaps.
        contrast: 1 = the least squared error, grey where it is not sure; more makes up its mind.
    """
    height, width = colours.shape[:2]
    scale = REFERENCE_PIXELS_PER_INCH / pixels_per_inch
    size = max(1, round(width * scale)), max(1, round(height * scale))
    smooth = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    resized = _resized(colours, size, interpolation=smooth)
    dark = normalised(resized)
    ridges = find_ridges(dark)
    drawn = draw_ridges(dark, ridges, along_pixels=along_pixels) + np.float32(_UNFILTERED) * dark
    certainty = np.log(blurred(ridges.quality, sigma=4) + np.float32(0.2))
    ink = _inside(resized, certainty) * _ink(drawn, certainty, contrast=contrast)
    levels = np.rint(255 * (1 - np.clip(ink, 0, 1))).astype(np.uint8)
    return _resized(levels, (width, height), interpolation=cv2.INTER_LINEAR)


def normalised(colours: Picture) -> Map:
    """How dark every pixel of ``uint8[H, W, 3]`` is beside its surroundings, in local standard deviations within -2.5..2.5.

    The brightest channel counts: ink multiplies the background, so that is where a saturated colour leaves most contrast.
    """
    dark = -_log_brightness(colours)
    dark -= blurred(dark, sigma=_SURROUNDINGS_PIXELS)
    low, high = np.percentile(dark, (1, 99))
    dark = np.clip(dark, low, high).astype(np.float32)
    spread = np.sqrt(blurred(dark * dark, sigma=_SPREAD_PIXELS)) + np.float32(0.01)
    return np.asarray(np.clip(dark / spread, -_LARGEST_DEVIATION, _LARGEST_DEVIATION), np.float32)


def draw_ridges(dark: Map, ridges: Ridges, *, along_pixels: float = ALONG_PIXELS) -> Map:
    """``dark`` filtered along ``ridges``, ``float32[H, W]``: above 0 on ridges, below in valleys, 1 = a local deviation."""
    filtered = _along(_across(dark, ridges), ridges.theta, along_pixels=along_pixels)
    return np.asarray(filtered / np.sqrt(blurred(filtered * filtered, sigma=_SPREAD_PIXELS) + np.float32(0.1)), np.float32)


def _across(dark: Map, ridges: Ridges) -> Map:
    """A Gabor wave of the local period along the normal of the ridges."""
    y, x = np.mgrid[: dark.shape[0], : dark.shape[1]].astype(np.float32)
    right, down = -np.sin(ridges.theta), -np.cos(ridges.theta)
    spread = np.float32(_ACROSS_PERIODS) * ridges.period
    reach = math.ceil(2.7 * float(spread.max()))
    total, energy = np.zeros_like(dark), np.zeros_like(dark)
    for step in range(-reach, reach + 1):
        wave = np.exp(-0.5 * (step / spread) ** 2) * np.cos(np.float32(2 * math.pi * step) / ridges.period)
        total += wave * _sampled(dark, x + step * right, y + step * down)
        energy += wave * wave
    return np.asarray(total / energy, np.float32)


def _along(values: Map, theta: Map, *, along_pixels: float) -> Map:
    """A Gaussian along the ridge through every pixel, which it follows round bends."""
    y, x = np.mgrid[: values.shape[0], : values.shape[1]].astype(np.float32)
    right, down = np.cos(theta), -np.sin(theta)
    total = values.copy()
    for sign in (1, -1):
        at_x, at_y, step_x, step_y = x, y, sign * right, sign * down
        for step in range(1, math.ceil(2.5 * along_pixels) + 1):
            at_x, at_y = at_x + step_x, at_y + step_y
            total += np.float32(math.exp(-0.5 * (step / along_pixels) ** 2)) * _sampled(values, at_x, at_y)
            next_x, next_y = (
                cv2.remap(one, at_x, at_y, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE) for one in (right, down)
            )
            # A ridge has no sense of direction: keep going, do not turn back.
            ahead = np.where(next_x * step_x + next_y * step_y < 0, np.float32(-1), np.float32(1))
            step_x, step_y = next_x * ahead, next_y * ahead
    return total


def _inside(colours: Picture, certainty: Map) -> Map:
    """How likely every pixel lies in the print, 0..1: ridges, darker than the rim of the picture, and not in a corner."""
    height, width = certainty.shape
    brightness = blurred(_log_brightness(colours), sigma=8)
    y, x = np.mgrid[:height, :width].astype(np.float32)
    from_centre = (np.abs(2 * x + 1 - width) / (0.94 * width)) ** 3 + (np.abs(2 * y + 1 - height) / (0.96 * height)) ** 3
    evidence = 3.7 + 0.8 * certainty - 5.3 * (brightness - _rim_median(brightness)) - 7.4 * from_centre
    return _sigmoid(evidence)


def _ink(drawn: Map, certainty: Map, *, contrast: float) -> Map:
    """Ink in 0..1 where the filter drew ``drawn``: nearer to the mean the less sure the field is."""
    sure = _sigmoid(1.2 * certainty - 1.1)
    return _sigmoid(contrast * (sure * (1.95 * drawn - 0.78) - 0.55))


def _resized(picture: Picture, size: tuple[int, int], *, interpolation: int) -> Picture:
    return (
        picture if picture.shape[1::-1] == size else np.asarray(cv2.resize(picture, size, interpolation=interpolation), np.uint8)
    )


def _log_brightness(colours: Picture) -> Map:
    brightest = blurred(colours.max(axis=2).astype(np.float32), sigma=0.8)
    return np.asarray(np.log(brightest + np.float32(_DARKEST)), np.float32)


def _rim_median(values: Map) -> float:
    """The median of the outermost 3.5 % of the shorter side."""
    rim = np.ones(values.shape, np.bool_)
    depth = max(1, round(0.035 * min(values.shape)))
    rim[depth:-depth, depth:-depth] = False
    return float(np.median(values[rim]))


def _sampled(values: Map, x: Map, y: Map) -> Map:
    return np.asarray(cv2.remap(values, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT), np.float32)


def _sigmoid(values: npt.NDArray[np.floating]) -> Map:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -60, 60))), np.float32)
