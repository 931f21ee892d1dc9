"""Impressions: from the master print of a finger to one picture of it, by contact region, ink and movement of the skin.

The contact region has a crumbling edge; ink has ridges, white specks and scratches. Source of the region's shape: Cappelli,
"Synthetic fingerprint generation", Handbook of Fingerprint Recognition: two half ellipses above, two below, straight sides
between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError
from inpaintbench.lazily import lazily
from inpaintbench.types import item_rng
from inpaintbench.wings.chalearn.fingerprints.fields import DoubleArray, FloatArray, remapped, smooth_noise, warp
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH, Finger, Impression, Print
from inpaintbench.wings.chalearn.fingerprints.skin import Skin, elastic_field_of, origins

cv2 = lazily("cv2")

# `uint8[H, W]`, 255 = paper, 0 = ink.
Picture = npt.NDArray[np.uint8]
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
# Pressure at which ridges print as thick and dark as in the master.
NEUTRAL_PRESSURE = 0.5
# White specks of the ChaLearn 2018 challenge on its canvas (width, height): 5,000 and, on average, 4,000 more.
CHALLENGE_SPECKS = 9000
CHALLENGE_CANVAS = (275, 400)
_SPECK_SIDES = (1, 2)
# Standard deviation of the blur of ridges before thresholding, pixels at 500 per inch.
_SOFTENING = 1.3
# Slope of the soft threshold: ink per unit of the blurred picture.
_STEEPNESS = 5.0
# Largest rise of the threshold: narrow valleys fill in patches, wide ones stay open.
_MOST_FILLED = 0.29


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


@dataclass(frozen=True)
class Specks:
    """White specks: positions in pixels, sides in pixels at 500 per inch."""

    x: DoubleArray
    y: DoubleArray
    sides: DoubleArray


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
    left, right, lower, upper = impression.silhouette
    padding, bend = PADDING * scale, _BEND * scale
    span = (left + right) / max(1.0, finger.width - padding)
    sides = max(0.0, span * (finger.height - padding) - lower - upper)
    angle = np.linspace(0, 2 * np.pi, _POINTS, endpoint=False)
    # Clockwise as seen, from the rightmost point: first the lower half, then the upper.
    across, down = np.cos(angle), np.sin(angle)
    x = np.where(across >= 0, right, left) * across + (left - right) / 2
    y = np.where(down >= 0, lower * down + sides / 2, upper * down - sides / 2) + (upper - lower) / 2
    size = np.array([finger.width, finger.height]) - 1.0
    curve = _evenly(np.stack([x, y], axis=1) + size / 2 + np.array(impression.contact_shift))
    curve += _normals(curve) * _waves(rng, _UNEVENNESS * scale)[:, None]
    # Where the shape exceeds the last ridges it bends back to them, unevenly, instead of being cut straight: by a softplus.
    inset = np.minimum((padding + np.abs(_waves(rng, _UNEVENNESS * scale)))[:, None], size / 2)
    low = inset + bend * np.logaddexp(0, (curve - inset) / bend)
    high = size - inset - bend * np.logaddexp(0, (size - inset - low) / bend)
    points = _evenly(np.maximum(high, inset))
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
    places, sides = [], []
    for usual, least, greatest, side in EDGE_SPECKS:
        number = round(share * (usual + rng.uniform(0, _MORE_SPECKS)))
        which = rng.integers(0, len(edge.points), number)
        outwards = rng.uniform(least * scale, greatest * scale, number)
        places.append(edge.points[which] + edge.normals[which] * outwards[:, None])
        sides.append(rng.integers(1, side, number, endpoint=True).astype(np.float64))
    x, y = np.concatenate(places).T
    return Specks(x, y, np.concatenate(sides))


def _evenly(curve: DoubleArray) -> DoubleArray:
    """Resample a closed curve at equal distances along it."""
    closed = np.concatenate([curve, curve[:1]])
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(closed, axis=0).T))])
    distances = np.linspace(0, along[-1], _POINTS, endpoint=False)
    even: DoubleArray = np.stack([np.interp(distances, along, column) for column in closed.T], axis=1)
    return even


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


def thickened(
    master: Picture, *, moisture: float, pressure: float, inwards: FloatArray, scale: float, rng: np.random.Generator
) -> Picture:
    """Render the ridges of a dry (-1) to wet (1) finger under light (0) to heavy (1) pressure, ``uint8[H, W]``.

    ``inwards`` is each pixel's distance from the edge of the contact region, pixels: light prints fade there. Moisture 0 with
    ``NEUTRAL_PRESSURE`` is the identity. ``scale``: pixels per pixel at 500 per inch.
    """
    if moisture == 0 and pressure == NEUTRAL_PRESSURE:
        return master.copy()
    white = cv2.GaussianBlur(master.astype(np.float32) / 255, (0, 0), _SOFTENING * scale)
    # The threshold of the blurred ridges against 0.5: higher thickens them.
    height, width = inwards.shape
    wet, dry = max(0.0, moisture), max(0.0, -moisture)
    patches = smooth_noise(rng, height=height, width=width, reach=28 * scale)
    unevenness = np.float32(0.07 * wet + 0.04 * dry) * np.clip(patches, -1.5, 1.5)
    level = np.float32(0.24 * (pressure - NEUTRAL_PRESSURE) + 0.19 * wet - 0.05 * dry) + unevenness
    if dry > 0:
        grain = smooth_noise(rng, height=height, width=width, reach=1.6 * scale)
        level = level - np.float32(0.16 * dry) * np.abs(grain)
    fading = np.exp(inwards / np.float32(-14 * scale)) * np.float32(0.35 * (1 - pressure))
    level = 0.5 + (np.minimum(level, _MOST_FILLED) - fading)
    darkness = min(1.0, 0.75 + 0.5 * pressure)
    ink = np.clip(0.5 + _STEEPNESS * (level - white), 0, 1) * np.float32(darkness)
    return np.asarray(np.rint(255 * (1 - ink)), np.uint8)


def random_specks(density: float, *, height: int, width: int, scale: float, rng: np.random.Generator) -> Specks:
    """Draw specks of one or two pixels, uniform over the canvas; ``density`` 1 covers as much as in the challenge."""
    area = height * width / scale**2 / (CHALLENGE_CANVAS[0] * CHALLENGE_CANVAS[1])
    number = round(density * CHALLENGE_SPECKS * area)
    sides = rng.choice(np.array(_SPECK_SIDES, np.float64), number)
    return Specks(rng.uniform(0, width, number) - 0.5, rng.uniform(0, height, number) - 0.5, sides)


def stamped(specks: Specks, *, height: int, width: int, scale: float, rng: np.random.Generator) -> Bitmap:
    """Render specks, ``uint8[H, W]``, 1 = speck; those centred outside the canvas are dropped.

    Sides are rounded up to whole pixels; where that enlarges specks, proportionally fewer are stamped.
    """
    out = np.zeros((height, width), np.uint8)
    x, y = np.rint(specks.x).astype(np.int64), np.rint(specks.y).astype(np.int64)
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    chances = rng.uniform(0, 1, x.size)
    for side in np.unique(specks.sides):
        shape = speck_shape(int(side))
        pixels = max(1, math.ceil(side * scale - 1e-9))
        scaled = cv2.resize(shape, (pixels, pixels), interpolation=cv2.INTER_NEAREST)
        selected = inside & (specks.sides == side) & (chances * scaled.sum() < shape.sum() * scale**2)
        places = np.zeros((height, width), np.uint8)
        places[y[selected], x[selected]] = 1
        np.bitwise_or(out, np.asarray(cv2.dilate(places, scaled), np.uint8), out=out)
    return out


def speck_shape(side: int) -> Bitmap:
    """Shape of a speck, ``uint8[side, side]``: square (1, 2), plus (3), clipped square (4), diamond (5), disc (larger)."""
    if side <= 2:
        return np.ones((side, side), np.uint8)
    away = np.abs(np.arange(side) - (side - 1) / 2)
    if side <= 5:
        return np.asarray(away[:, None] + away <= (side - 1) / 2 + (0.5 if side == 4 else 0), np.uint8)
    return np.asarray(np.hypot(away[:, None], away) <= side / 2, np.uint8)


def scratched(picture: Picture, number: int, *, scale: float, rng: np.random.Generator) -> Picture:
    """Draw ``number`` thin white curved scratches, tapering to both ends, over the central 80 % of a copy of ``picture``."""
    out = picture.copy()
    size = np.array([picture.shape[1], picture.shape[0]], np.float64)
    for _ in range(number):
        # A parabola whose width vanishes at its ends.
        start = size * rng.uniform(0.1, 0.9, 2)
        angle, length = rng.uniform(0, 2 * np.pi), scale * rng.uniform(25, 120)
        end = np.clip(start + length * np.array([np.cos(angle), np.sin(angle)]), 0.1 * size, 0.9 * size)
        chord = end - start
        across = np.array([-chord[1], chord[0]])
        t = np.linspace(0, 1, 25)[:, None]
        wander = np.cumsum(rng.normal(0, 0.012, t.shape), axis=0)
        middle = start + t * chord + (rng.uniform(-0.5, 0.5) * t * (1 - t) + wander) * across
        unit = across / max(float(np.hypot(*across)), 1e-9)
        half = 0.5 * scale * rng.uniform(1.0, 2.8) * np.sqrt(np.clip(4 * t * (1 - t), 0, 1)) * rng.uniform(0.6, 1.2, t.shape)
        both = np.concatenate([middle + half * unit, (middle - half * unit)[::-1]])
        cv2.fillPoly(out, [np.rint(16 * both).astype(np.int32)], 255, cv2.LINE_AA, 4)
    return out


def smoothed(picture: Picture, *, kept: Picture) -> Picture:
    """Smooth ``picture`` by a 3x3 binomial filter, but nowhere darker than ``kept``, whose paper stays white."""
    return np.asarray(np.maximum(cv2.GaussianBlur(picture, (3, 3), 0.0), kept), np.uint8)


PAPER = 255
Style = Literal["natural", "challenge"]
CHALLENGE_PLASTICITY = 2.0
MOST_ROTATION_DEGREES = 10.0
# Largest translation along each axis, pixels at 500 per inch.
MOST_TRANSLATION = 5


def draw_impression(
    rng: np.random.Generator,
    *,
    finger: Finger,
    number: int,
    seed: int,
    moisture: float | None = None,
    style: Style = "natural",
) -> Impression:
    """Draw impression ``number`` of ``finger``.

    Style ``challenge`` is that of the ChaLearn 2018 challenge: no moisture and no scratches, all of the finger, specks of density
    5/9 to 13/9, rotation within 10 degrees and translation by whole pixels within 5 (at 500 per inch). ``natural`` also draws
    moisture (unless given), pressure, the contact region, specks and scratches; a quarter of its prints move rigidly.

    Raises:
        InputError: an unknown style, a negative number, a moisture outside -1..1, or any moisture in the challenge's style.
    """
    if style not in get_args(Style):
        raise InputError(f"there is no style {style!r} of impressions: give natural or challenge")
    if number < 0:
        raise InputError(f"the number of the impression is {number}: impressions count from 0")
    if moisture is not None and not (math.isfinite(moisture) and -1 <= moisture <= 1):
        raise InputError(f"the moisture is {moisture}: give -1 (dry) to 1 (wet), or None to have it drawn")
    if style == "challenge" and moisture:
        raise InputError(f"the moisture is {moisture}, but the challenge's style has none: give None, or the style natural")
    axes = draw_axes(rng, width=finger.width, height=finger.height, pixels_per_inch=finger.pixels_per_inch)
    scale = finger.pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    if style == "challenge":
        moisture, pressure, touching, contact = 0.0, NEUTRAL_PRESSURE, 1.0, np.zeros(2)
        shift = rng.integers(-MOST_TRANSLATION, MOST_TRANSLATION, 2, endpoint=True) * scale
        rotation = float(rng.uniform(-MOST_ROTATION_DEGREES, MOST_ROTATION_DEGREES))
        plasticity, noise, scratches = CHALLENGE_PLASTICITY, float(rng.uniform(5, 13)) / 9, 0
    else:
        pressure = float(rng.beta(2.5, 2.0))
        drawn = float(np.clip(rng.normal(0, 0.45), -1, 1))
        moisture = drawn if moisture is None else float(moisture)
        touching = 0.80 + 0.18 * pressure
        contact = np.clip(rng.normal(0, 0.5, 2), -1, 1) * (np.array([finger.width, finger.height]) * (0.51 - 0.5 * touching))
        rotation = float(np.clip(rng.normal(0, 0.45), -1, 1)) * MOST_ROTATION_DEGREES
        shift = np.clip(rng.normal(0, 0.5, 2), -1, 1) * MOST_TRANSLATION * scale
        plasticity = 0.0 if rng.random() < 0.25 else float(rng.uniform(1.5, 3.0))
        noise, scratches = float(rng.uniform(0.15, 0.9)), int(rng.poisson(1.6))
    left, right, lower, upper = (touching * axis for axis in axes)
    return Impression(
        number=number,
        moisture=moisture,
        pressure=pressure,
        silhouette=(left, right, lower, upper),
        contact_shift=(float(contact[0]), float(contact[1])),
        rotation_degrees=rotation,
        translation=(float(shift[0]), float(shift[1])),
        skin_plasticity=plasticity,
        noise=noise,
        scratches=scratches,
        seed=seed,
    )


def impress(master: Picture, finger: Finger, impression: Impression) -> Picture:
    """Render the undistorted picture ``uint8[H, W]``: the impression of ``master`` before the elastic field.

    Raises:
        InputError: the master is not of the finger's size.
    """
    height, width = finger.height, finger.width
    if master.shape != (height, width):
        raise InputError(
            f"the master is an array of shape {master.shape}, but the finger's canvas has {height} rows and "
            f"{width} columns: make the master from this finger"
        )
    scale = finger.pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    # Each stage has its own random stream, so that none changes with what the others draw.
    streams = {
        stage: item_rng(impression.seed, f"fingerprints.impression.{stage}", "")
        for stage in ("outline", "moisture", "scratches", "edge", "specks")
    }
    edge = outline(finger, impression, streams["outline"])
    inside = region(edge, height=height, width=width)
    picture = thickened(
        master,
        moisture=impression.moisture,
        pressure=impression.pressure,
        inwards=np.asarray(cv2.distanceTransform(inside, cv2.DIST_L2, 3), np.float32),
        scale=scale,
        rng=streams["moisture"],
    )
    picture = scratched(picture, impression.scratches, scale=scale, rng=streams["scratches"])
    crumbs = edge_specks(edge, scale=scale, rng=streams["edge"])
    specks = random_specks(impression.noise, height=height, width=width, scale=scale, rng=streams["specks"])
    missing, specked = (
        stamped(drawn, height=height, width=width, scale=scale, rng=streams[stage]) > 0
        for stage, drawn in (("edge", crumbs), ("specks", specks))
    )
    picture[(inside == 0) | missing] = PAPER
    # Random specks are smoothed to grey, not set to white again as in Anguli: so the mean square of the truth and its share of
    # dark pixels equal those of the challenge's prints.
    inked = smoothed(np.where(specked, np.uint8(PAPER), picture), kept=picture)
    return remapped(inked, *origins(Skin.of(finger, impression)))


def printed(master: Picture, print_: Print) -> tuple[Picture, Picture]:
    """Render (undistorted, truth), both ``uint8[H, W]``: the truth is the undistorted picture warped by the elastic field."""
    undistorted = impress(master, print_.finger, print_.impression)
    return undistorted, warp(undistorted, elastic_field_of(print_))
