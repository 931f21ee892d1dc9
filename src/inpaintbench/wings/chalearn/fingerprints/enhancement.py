"""Fingerprint enhancement: ridges restored from a degraded picture of a print.

The background is removed by local normalisation of the logarithm; ridges are restored by Gabor filters of the estimated
orientation and period (Hong, Wan and Jain, 1998) that follow the curvature of ridges; grey levels express certainty, which the
mean squared error rewards. Constants were fitted to prints of this package, degraded by all its recipes.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.wings.chalearn.fingerprints.estimation import Map, blurred
from inpaintbench.wings.chalearn.fingerprints.filter_bank import Ridges, find_ridges
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH

Picture = npt.NDArray[np.uint8]

# Standard deviation of the filter along the ridge, pixels at 500 per inch.
ALONG_PIXELS = 3.5
# Above 1, which has the least squared error: a fortieth of it is given up for a structure nearer to ink.
CONTRAST = 1.2
# Standard deviation of the filter across the ridge, in ridge periods.
_ACROSS_PERIODS = 0.42
# Grey levels added before the logarithm, so that noise in black is not amplified.
_DARKEST = 12
# Standard deviations of the Gaussians of the local mean, about one ridge period, and of the local deviation.
_SURROUNDINGS_PIXELS, _SPREAD_PIXELS = 9.0, 14.0
# Normalised darkness is clipped to so many deviations, against outliers.
_LARGEST_DEVIATION = 2.5
# Weight of the unfiltered picture in the sum with the filtered one; it retains specks and ends of ridges.
_UNFILTERED = 0.4


def enhance(
    colours: Picture,
    *,
    pixels_per_inch: float = REFERENCE_PIXELS_PER_INCH,
    along_pixels: float = ALONG_PIXELS,
    contrast: float = CONTRAST,
) -> Picture:
    """Enhance a print: dark ridges on white, ``uint8[H, W]``, white outside the print.

    Args:
        colours: print on any background, ``uint8[H, W, 3]`` RGB.
        pixels_per_inch: of the picture; it is resized to 500 for the computation.
        along_pixels: standard deviation of the filter along the ridge at 500 pixels per inch; larger closes longer gaps.
        contrast: 1 = least squared error, grey where uncertain; larger = nearer to black and white.
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
    """Darkness of every pixel of ``uint8[H, W, 3]`` against its surroundings, in local standard deviations, clipped to -2.5..2.5.

    It is measured in the brightest channel: ink multiplies the background, so that this one has the highest contrast.
    """
    dark = -_log_brightness(colours)
    dark -= blurred(dark, sigma=_SURROUNDINGS_PIXELS)
    low, high = np.percentile(dark, (1, 99))
    dark = np.clip(dark, low, high).astype(np.float32)
    spread = np.sqrt(blurred(dark * dark, sigma=_SPREAD_PIXELS)) + np.float32(0.01)
    return np.asarray(np.clip(dark / spread, -_LARGEST_DEVIATION, _LARGEST_DEVIATION), np.float32)


def draw_ridges(dark: Map, ridges: Ridges, *, along_pixels: float = ALONG_PIXELS) -> Map:
    """Filter ``dark`` along ``ridges``, ``float32[H, W]``: positive on ridges, negative in valleys, 1 = a local deviation."""
    filtered = _along(_across(dark, ridges), ridges.theta, along_pixels=along_pixels)
    return np.asarray(filtered / np.sqrt(blurred(filtered * filtered, sigma=_SPREAD_PIXELS) + np.float32(0.1)), np.float32)


def _across(dark: Map, ridges: Ridges) -> Map:
    """Filter by a Gabor wave of the local period along the normal of the ridges."""
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
    """Filter by a Gaussian along the ridge through every pixel, following its curvature."""
    y, x = np.mgrid[: values.shape[0], : values.shape[1]].astype(np.float32)
    right, down = np.cos(theta), -np.sin(theta)
    total = values.copy()
    for sign in (1, -1):
        at_x, at_y, step_x, step_y = x, y, sign * right, sign * down
        for step in range(1, math.ceil(2.5 * along_pixels) + 1):
            at_x, at_y = at_x + step_x, at_y + step_y
            total += np.float32(math.exp(-0.5 * (step / along_pixels) ** 2)) * _sampled(values, at_x, at_y)
            next_x, next_y = (
                cv2.remap(axis, at_x, at_y, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE) for axis in (right, down)
            )
            # Ridge angles are defined up to half a turn: keep the sense of the previous step.
            ahead = np.where(next_x * step_x + next_y * step_y < 0, np.float32(-1), np.float32(1))
            step_x, step_y = next_x * ahead, next_y * ahead
    return total


def _inside(colours: Picture, certainty: Map) -> Map:
    """Probability of every pixel to lie in the print, 0..1: ridges, darker than the picture's rim, and not in a corner."""
    height, width = certainty.shape
    brightness = blurred(_log_brightness(colours), sigma=8)
    y, x = np.mgrid[:height, :width].astype(np.float32)
    from_centre = (np.abs(2 * x + 1 - width) / (0.94 * width)) ** 3 + (np.abs(2 * y + 1 - height) / (0.96 * height)) ** 3
    # Coefficients fitted to degraded prints; see the module.
    evidence = 3.7 + 0.8 * certainty - 5.3 * (brightness - _rim_median(brightness)) - 7.4 * from_centre
    return _sigmoid(evidence)


def _ink(drawn: Map, certainty: Map, *, contrast: float) -> Map:
    """Ink 0..1 from the filtered picture ``drawn``: nearer to the mean the less certain the ridges."""
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
    """Median over a rim as deep as 3.5 % of the shorter side."""
    rim = np.ones(values.shape, np.bool_)
    depth = max(1, round(0.035 * min(values.shape)))
    rim[depth:-depth, depth:-depth] = False
    return float(np.median(values[rim]))


def _sampled(values: Map, x: Map, y: Map) -> Map:
    return np.asarray(cv2.remap(values, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT), np.float32)


def _sigmoid(values: npt.NDArray[np.floating]) -> Map:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -60, 60))), np.float32)
