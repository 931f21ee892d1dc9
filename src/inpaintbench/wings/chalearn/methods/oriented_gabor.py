"""Gabor filters along the ridges of a fingerprint: ridges restored from a degraded picture of a print.

The background is removed by local normalisation of the logarithm. A bank of one-sided log-Gabor filters (Field, 1987) yields
the energy of every orientation and period independently of the phase, so that textures without ridges, or with ridges of
another period, have little weight. Ridges are restored by Gabor filters of the estimated orientation and period (Hong, Wan and
Jain, 1998) that follow the curvature of ridges; grey levels express certainty, which the mean squared error rewards. Constants
were fitted to prints of this package, degraded by all its recipes.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt
import scipy.fft

from inpaintbench.errors import InputError
from inpaintbench.eval.methods.base import Method, where_judged
from inpaintbench.ranges import Amount, Positive, Radius
from inpaintbench.types import Frames
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.fingerprints.estimation import Map, blurred, wrapped
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH

# Directions at twice the ridge angle, with certainty as their length, `complex64[H, W]`.
Field = npt.NDArray[np.complex64]
Picture = npt.NDArray[np.uint8]

# Centres of the bank; ridges of adults are 7 to 11 pixels apart.
PERIODS_PIXELS = (6.3, 7.4, 8.7, 10.2, 12.0)
ORIENTATIONS = 12
# Standard deviation of a filter over the logarithm of frequency: filters of neighbouring periods overlap at 0.7.
_LOG_SPREAD = 0.22
# Standard deviation of a filter over direction, radians: likewise.
_ANGLE_SPREAD = 0.24
# Downscaling of the picture before filtering, which preserves the shortest period.
_REDUCTION = 2
# Mirrored border against wrap-around of the Fourier transform: two of the longest periods.
_PADDING_PIXELS = 24
# Standard deviations of the smoothing of energies, of the period and of the quality; periods vary more slowly than directions.
_SMOOTHING_PIXELS = 7.0
_PERIOD_SMOOTHING_PIXELS = 24.0
_QUALITY_SMOOTHING_PIXELS = 6.0
# Smoothing, in multiples of `_SMOOTHING_PIXELS`, and weight of distant directions, which fill in where near ones are uncertain.
_FAR_SHARES = ((2, 0.3), (5, 0.1))
# Added to the local variance, so that blank parts of a picture have no quality.
_FAINT = 0.05
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


class Ridges(NamedTuple):
    """Estimates of the filter bank at every pixel, each ``float32[H, W]``."""

    theta: Map
    """Ridge angle, radians in [0, pi), counter-clockwise as seen, 0 = horizontal ridges."""
    period: Map
    """Ridge period, pixels."""
    quality: Map
    """0 = no ridges; about 3 to 5 = clear ridges and nothing else."""


def find_ridges(dark: Map) -> Ridges:
    """Estimate orientation, period and quality of ridges in ``float32[H, W]``, normalised to a local deviation of about 1."""
    height, width = dark.shape
    small = (-(-width // _REDUCTION), -(-height // _REDUCTION))
    reduced = np.asarray(cv2.resize(dark, small, interpolation=cv2.INTER_AREA), np.float32)
    energies = _energies(reduced)
    directions = np.exp(2j * np.pi * np.arange(ORIENTATIONS) / ORIENTATIONS).astype(np.complex64)
    # Squares favour the single strong response of ridges over the many weak ones of a texture.
    shares = (energies / (energies.sum(axis=(0, 1)) + np.float32(1e-6))) ** 2
    vector, near = np.tensordot(directions, shares.sum(axis=0), axes=1), _SMOOTHING_PIXELS / _REDUCTION
    # From nearby where directions are certain, from far around where they are not.
    far = (np.float32(weight) * _blurred_field(vector, multiple * near) for multiple, weight in _FAR_SHARES)
    theta = 0.5 * np.angle(_blurred_field(vector, near) + sum(far))
    period = _period(energies, theta)
    # Quality is the energy in the dominant direction over the local variance.
    dominant = _blurred_field(np.tensordot(directions, energies.sum(axis=0), axes=1), _QUALITY_SMOOTHING_PIXELS / _REDUCTION)
    quality = np.abs(dominant) / (blurred(reduced * reduced, sigma=near) + np.float32(_FAINT))
    maps = (np.cos(2 * theta), np.sin(2 * theta), period, quality)
    cosine, sine, period, quality = (
        np.asarray(cv2.resize(np.asarray(reduced_map, np.float32), (width, height), interpolation=cv2.INTER_LINEAR), np.float32)
        for reduced_map in maps
    )
    return Ridges(wrapped(0.5 * np.arctan2(sine, cosine)), period, quality)


def _period(energies: Map, theta: Map) -> Map:
    """Ridge period in pixels: the centre, over the logarithm of period, of the energies of filters along ``theta``."""
    angles = np.arange(ORIENTATIONS)[:, None, None] * (math.pi / ORIENTATIONS)
    along = np.maximum(np.cos(2 * (theta - angles)), 0) ** 4
    weights = (energies * along).sum(axis=1) ** 2
    weights /= weights.sum(axis=0) + np.float32(1e-9)
    smooth = np.stack([blurred(weight, sigma=_PERIOD_SMOOTHING_PIXELS / _REDUCTION) for weight in weights])
    total = smooth.sum(axis=0) + np.float32(1e-9)
    centre = np.tensordot(np.log(np.array(PERIODS_PIXELS, np.float32)), smooth, axes=1)
    # Without energy nearby: the middle of the bank.
    return np.asarray(np.where(total > 1e-6, np.exp(centre / total), PERIODS_PIXELS[len(PERIODS_PIXELS) // 2]), np.float32)


def _energies(dark: Map) -> Map:
    """Smoothed energies of the bank in a downscaled picture, ``float32[period, orientation, H, W]``."""
    pad = _PADDING_PIXELS // _REDUCTION
    padded = cv2.copyMakeBorder(dark, pad, pad, pad, pad, cv2.BORDER_REFLECT)
    down, across = (scipy.fft.next_fast_len(side) for side in padded.shape)
    spectrum = scipy.fft.fft2(padded, s=(down, across))
    inner = (slice(pad, pad + dark.shape[0]), slice(pad, pad + dark.shape[1]))
    energies = np.empty((len(PERIODS_PIXELS), ORIENTATIONS, *dark.shape), np.float32)
    for period, orientation in np.ndindex(*energies.shape[:2]):
        response = scipy.fft.ifft2(spectrum * _filters(down, across)[period, orientation], overwrite_x=True)[inner]
        power = response.real * response.real + response.imag * response.imag
        energies[period, orientation] = blurred(power, sigma=_SMOOTHING_PIXELS / _REDUCTION)
    return energies


@lru_cache(maxsize=2)
def _filters(height: int, width: int) -> Map:
    """Frequency responses of the bank for a transform of that size, ``float32[period, orientation, H, W]``."""
    across, down = np.meshgrid(scipy.fft.fftfreq(width), scipy.fft.fftfreq(height))
    radius, direction = np.hypot(across, down), np.arctan2(-down, across)
    radius[0, 0] = 1e-9  # the logarithm of 0 is not finite
    angles = np.arange(ORIENTATIONS)[:, None, None] * (math.pi / ORIENTATIONS) + math.pi / 2
    away = np.angle(np.exp(1j * (direction - angles)))
    angular = 2 * np.exp(-0.5 * (away / _ANGLE_SPREAD) ** 2)
    periods = np.array(PERIODS_PIXELS)[:, None, None] / _REDUCTION
    radial = np.exp(-0.5 * (np.log(radius * periods) / _LOG_SPREAD) ** 2)
    return np.asarray(radial[:, None] * angular[None], np.float32)


def _blurred_field(vector: Field, sigma: float) -> Field:
    real, imaginary = (blurred(np.ascontiguousarray(part, np.float32), sigma=sigma) for part in (vector.real, vector.imag))
    return np.asarray(real + 1j * imaginary, np.complex64)


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
    # The print is where ridges are, darker than the picture's rim (3.5 % of the shorter side), and not in a corner.
    brightness = blurred(_log_brightness(resized), sigma=8)
    y, x = np.mgrid[: size[1], : size[0]].astype(np.float32)
    from_centre = (np.abs(2 * x + 1 - size[0]) / (0.94 * size[0])) ** 3 + (np.abs(2 * y + 1 - size[1]) / (0.96 * size[1])) ** 3
    rim, depth = np.ones(brightness.shape, np.bool_), max(1, round(0.035 * min(size)))
    rim[depth:-depth, depth:-depth] = False
    # Coefficients fitted to degraded prints; see the module.
    evidence = 3.7 + 0.8 * certainty - 5.3 * (brightness - float(np.median(brightness[rim]))) - 7.4 * from_centre
    # Nearer to the mean the less certain the ridges.
    sure = _sigmoid(1.2 * certainty - 1.1)
    ink = _sigmoid(evidence) * _sigmoid(contrast * (sure * (1.95 * drawn - 0.78) - 0.55))
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
    y, x = np.mgrid[: dark.shape[0], : dark.shape[1]].astype(np.float32)
    # Across the ridges: a Gabor wave of the local period along their normal.
    right, down = -np.sin(ridges.theta), -np.cos(ridges.theta)
    spread = np.float32(_ACROSS_PERIODS) * ridges.period
    reach = math.ceil(2.7 * float(spread.max()))
    total, energy = np.zeros_like(dark), np.zeros_like(dark)
    for step in range(-reach, reach + 1):
        wave = np.exp(-0.5 * (step / spread) ** 2) * np.cos(np.float32(2 * math.pi * step) / ridges.period)
        total += wave * _sampled(dark, x + step * right, y + step * down)
        energy += wave * wave
    crossed = np.asarray(total / energy, np.float32)
    # Along the ridge through every pixel: a Gaussian that follows its curvature.
    right, down = np.cos(ridges.theta), -np.sin(ridges.theta)
    filtered = crossed.copy()
    for sign in (1, -1):
        at_x, at_y, step_x, step_y = x, y, sign * right, sign * down
        for step in range(1, math.ceil(2.5 * along_pixels) + 1):
            at_x, at_y = at_x + step_x, at_y + step_y
            filtered += np.float32(math.exp(-0.5 * (step / along_pixels) ** 2)) * _sampled(crossed, at_x, at_y)
            next_x, next_y = (
                cv2.remap(axis, at_x, at_y, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE) for axis in (right, down)
            )
            # Ridge angles are defined up to half a turn: keep the sense of the previous step.
            ahead = np.where(next_x * step_x + next_y * step_y < 0, np.float32(-1), np.float32(1))
            step_x, step_y = next_x * ahead, next_y * ahead
    return np.asarray(filtered / np.sqrt(blurred(filtered * filtered, sigma=_SPREAD_PIXELS) + np.float32(0.1)), np.float32)


def _resized(picture: Picture, size: tuple[int, int], *, interpolation: int) -> Picture:
    return (
        picture if picture.shape[1::-1] == size else np.asarray(cv2.resize(picture, size, interpolation=interpolation), np.uint8)
    )


def _log_brightness(colours: Picture) -> Map:
    brightest = blurred(colours.max(axis=2).astype(np.float32), sigma=0.8)
    return np.asarray(np.log(brightest + np.float32(_DARKEST)), np.float32)


def _sampled(values: Map, x: Map, y: Map) -> Map:
    return np.asarray(cv2.remap(values, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT), np.float32)


def _sigmoid(values: npt.NDArray[np.floating]) -> Map:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -60, 60))), np.float32)


class OrientedGabor(Method):
    """Draws a fingerprint anew, dark on white: divides the background out, finds the direction and distance of the ridges by a
    bank of oriented filters, and filters along them (Hong, Wan and Jain, 1998). Grey where it is not sure; needs no training.

    Args:
        pixels_per_inch: resolution of the frames.
        along_pixels: standard deviation of the filter along the ridge at 500 pixels per inch; longer closes longer gaps and
            loses more ends of ridges.
        contrast: 1 gives the grey levels with the least squared error; more makes darker ridges and whiter valleys.

    Raises:
        InputError: a constant that is not above 0.
    """

    name = "oriented_gabor"
    version = "1"
    stateless = True
    needs = ("input",)
    uses = ("hole",)

    def __init__(
        self,
        *,
        pixels_per_inch: Positive = REFERENCE_PIXELS_PER_INCH,
        along_pixels: Radius = ALONG_PIXELS,
        contrast: Amount = CONTRAST,
    ) -> None:
        constants = {"pixels_per_inch": pixels_per_inch, "along_pixels": along_pixels, "contrast": contrast}
        for name, value in constants.items():
            if not (value > 0 and math.isfinite(value)):
                raise InputError(f"{name} is {value}, choose a number above 0")
        self.pixels_per_inch, self.along_pixels, self.contrast = pixels_per_inch, along_pixels, contrast

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``, three equal channels where there is no hole around which the input stays."""
        drawn = [
            enhance(frame, pixels_per_inch=self.pixels_per_inch, along_pixels=self.along_pixels, contrast=self.contrast)
            for frame in view.input
        ]
        return where_judged(view, np.stack([cv2.cvtColor(levels, cv2.COLOR_GRAY2RGB) for levels in drawn]))
