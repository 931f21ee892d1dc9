"""Estimation of ridge orientation and period in degraded prints, by a bank of oriented band-pass filters.

One-sided log-Gabor filters (Field, 1987) yield the energy of every orientation and period independently of the phase, so that
textures without ridges, or with ridges of another period, have little weight. Pictures here are at 500 pixels per inch.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt
import scipy.fft

from inpaintbench.wings.chalearn.fingerprints.estimation import Map, blurred, wrapped

# Directions at twice the ridge angle, with certainty as their length, `complex64[H, W]`.
Field = npt.NDArray[np.complex64]

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
    theta = 0.5 * np.angle(_filled_in(np.tensordot(directions, shares.sum(axis=0), axes=1)))
    period = _period(energies, theta)
    quality = _quality(energies, directions, reduced)
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


def _quality(energies: Map, directions: Field, dark: Map) -> Map:
    """Energy in the dominant direction over the local variance."""
    vector = _blurred_field(np.tensordot(directions, energies.sum(axis=0), axes=1), _QUALITY_SMOOTHING_PIXELS / _REDUCTION)
    variance = blurred(dark * dark, sigma=_SMOOTHING_PIXELS / _REDUCTION) + np.float32(_FAINT)
    return np.asarray(np.abs(vector) / variance, np.float32)


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


def _filled_in(vector: Field) -> Field:
    """Smooth directions: from nearby where they are certain, from far around where they are not."""
    sigma = _SMOOTHING_PIXELS / _REDUCTION
    far = (np.float32(weight) * _blurred_field(vector, multiple * sigma) for multiple, weight in _FAR_SHARES)
    return np.asarray(_blurred_field(vector, sigma) + sum(far), np.complex64)


def _blurred_field(vector: Field, sigma: float) -> Field:
    real, imaginary = (blurred(np.ascontiguousarray(part, np.float32), sigma=sigma) for part in (vector.real, vector.imag))
    return np.asarray(real + 1j * imaginary, np.complex64)
