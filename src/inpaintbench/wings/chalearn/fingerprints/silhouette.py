"""Contact region of a finger: a five-parameter shape, made uneven, with a crumbling edge.

Source of the shape: Cappelli, "Synthetic fingerprint generation", Handbook of Fingerprint Recognition: two half ellipses above,
two below, straight sides between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.wings.chalearn.fingerprints.ink import Specks
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH, Finger, Impression
from inpaintbench.wings.chalearn.fingerprints.smooth import DoubleArray

# `uint8[H, W]`, 1 inside.
Bitmap = npt.NDArray[np.uint8]

# Width of the border without ridges, pixels at 500 per inch.
PADDING = 15.0
# Length of outline that the numbers of `EDGE_SPECKS` refer to, pixels at 500 per inch.
REFERENCE_PERIMETER = 1050.0
# (number, least and greatest distance outwards, largest side) of the white specks along the outline, pixels at 500 per inch.
EDGE_SPECKS = (
    (1000, 0.0, 6.0, 4),
    (1000, -4.0, 4.0, 4),
    (600, -8.0, 0.0, 7),
    (1200, -12.0, 0.0, 5),
    (800, -18.0, 0.0, 4),
)
# Largest random addition to each number of specks.
_MORE_SPECKS = 20
# Points of an outline.
_POINTS = 1440
# Least and largest number of waves of unevenness around the outline.
_WAVES = (3, 48)
# RMS distance between the outline and the five-parameter shape, pixels at 500 per inch.
_UNEVENNESS = 2.7
# Distance at which an outline starts to yield to the border, pixels at 500 per inch.
_BEND = 3.5


@dataclass(frozen=True)
class Outline:
    """Closed curve of points at nearly equal distances, clockwise as seen, with outward unit normals."""

    points: DoubleArray
    """``float64[N, 2]``, (x, y)."""
    normals: DoubleArray
    """``float64[N, 2]``."""

    @property
    def perimeter(self) -> float:
        """Length of the curve, pixels."""
        steps = np.roll(self.points, -1, axis=0) - self.points
        return float(np.hypot(*steps.T).sum())


def draw_axes(rng: np.random.Generator, *, width: int, height: int, pixels_per_inch: float) -> tuple[float, ...]:
    """Draw (left, right, lower, upper) half axes, pixels, of a shape that spans the canvas up to half the padding."""
    padding = PADDING * pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    across, down = max(1.0, width - 2 * padding), max(1.0, height - 2 * padding)
    left = across * rng.uniform(0.45, 0.60)
    lower = down * rng.uniform(0.30, 0.35)
    upper = lower * rng.uniform(1.25, 1.70)
    return left, across + padding - left, lower, upper


def outline(finger: Finger, impression: Impression, rng: np.random.Generator) -> Outline:
    """Outline of the contact region, kept within the ridges of the master.

    The share of the canvas's width that the shape spans determines the length of its straight sides.
    """
    scale = finger.pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    curve = _evenly(_shape(finger, impression, scale))
    curve += _normals(curve) * _waves(rng, _UNEVENNESS * scale)[:, None]
    # Where the shape exceeds the last ridges it bends back to them, unevenly, instead of being cut straight.
    inset = PADDING * scale + np.abs(_waves(rng, _UNEVENNESS * scale))
    size = np.array([finger.width, finger.height]) - 1.0
    points = _evenly(_bent(curve, np.minimum(inset[:, None], size / 2), size, _BEND * scale))
    return Outline(points, _normals(points))


def region(edge: Outline, *, height: int, width: int) -> Bitmap:
    """Mask of the pixels whose centre is inside the outline or on it, ``uint8[H, W]``."""
    inside = np.zeros((height, width), np.uint8)
    cv2.fillPoly(inside, [np.rint(edge.points * 16).astype(np.int32)], 1, cv2.LINE_8, 4)
    return inside


def edge_specks(edge: Outline, *, scale: float, rng: np.random.Generator) -> Specks:
    """Draw the white specks of a crumbling edge, as many per length of outline as in the challenge.

    ``scale``: pixels per pixel at 500 per inch.
    """
    share = edge.perimeter / scale / REFERENCE_PERIMETER
    bands = [_along(edge, round(share * (n + rng.uniform(0, _MORE_SPECKS))), limits, scale, rng) for n, *limits in EDGE_SPECKS]
    x, y, sides = (np.concatenate(column) for column in zip(*bands, strict=True))
    return Specks(x, y, sides)


def _along(
    edge: Outline, number: int, limits: list[float], scale: float, rng: np.random.Generator
) -> tuple[DoubleArray, DoubleArray, DoubleArray]:
    least, greatest, side = limits
    which = rng.integers(0, len(edge.points), number)
    places = edge.points[which] + edge.normals[which] * rng.uniform(least * scale, greatest * scale, number)[:, None]
    return places[:, 0], places[:, 1], rng.integers(1, int(side), number, endpoint=True).astype(np.float64)


def _shape(finger: Finger, impression: Impression, scale: float) -> DoubleArray:
    left, right, lower, upper = impression.silhouette
    padding = PADDING * scale
    span = (left + right) / max(1.0, finger.width - padding)
    sides = max(0.0, span * (finger.height - padding) - lower - upper)
    angle = np.linspace(0, 2 * np.pi, _POINTS, endpoint=False)
    # Clockwise as seen, from the rightmost point: first the lower half, then the upper.
    across, down = np.cos(angle), np.sin(angle)
    x = np.where(across >= 0, right, left) * across + (left - right) / 2
    y = np.where(down >= 0, lower * down + sides / 2, upper * down - sides / 2) + (upper - lower) / 2
    centre = np.array([(finger.width - 1) / 2, (finger.height - 1) / 2])
    return np.asarray(np.stack([x, y], axis=1) + centre + np.array(impression.contact_shift), np.float64)


def _evenly(curve: DoubleArray) -> DoubleArray:
    """Resample a closed curve at equal distances along it."""
    closed = np.concatenate([curve, curve[:1]])
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(closed, axis=0).T))])
    distances = np.linspace(0, along[-1], _POINTS, endpoint=False)
    even: DoubleArray = np.stack([np.interp(distances, along, column) for column in closed.T], axis=1)
    return even


def _bent(curve: DoubleArray, inset: DoubleArray, size: DoubleArray, bend: float) -> DoubleArray:
    """Keep a curve ``inset`` pixels away from the canvas's border, by a soft clamp (softplus) of width ``bend`` pixels."""
    low = inset + bend * np.logaddexp(0, (curve - inset) / bend)
    high = size - inset - bend * np.logaddexp(0, (size - inset - low) / bend)
    return np.asarray(np.maximum(high, np.minimum(inset, size / 2)))


def _normals(curve: DoubleArray) -> DoubleArray:
    tangent = np.roll(curve, -3, axis=0) - np.roll(curve, 3, axis=0)
    normal = np.stack([tangent[:, 1], -tangent[:, 0]], axis=1)
    return np.asarray(normal / np.maximum(np.hypot(*normal.T), 1e-9)[:, None])


def _waves(rng: np.random.Generator, size: float) -> DoubleArray:
    """Draw periodic noise ``float64[_POINTS]`` of RMS about ``size``, with amplitudes in proportion to the wavelength."""
    waves = np.arange(*_WAVES)
    heights = rng.standard_normal((2, waves.size)) / waves
    spectrum = np.zeros(_POINTS // 2 + 1, np.complex128)
    spectrum[waves] = heights[0] + 1j * heights[1]
    rms = np.sqrt(np.sum(1.0 / waves**2))
    return np.asarray(np.fft.irfft(spectrum, _POINTS) * (_POINTS * size / (2 * rms)), np.float64)
