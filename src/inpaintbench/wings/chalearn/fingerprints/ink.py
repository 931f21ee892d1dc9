"""Ink of a print: thickness and darkness of ridges, white specks, scratches, and smoothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.wings.chalearn.fingerprints.smooth import DoubleArray, FloatArray, smooth_noise

# `uint8[H, W]`, 255 = paper, 0 = ink.
Picture = npt.NDArray[np.uint8]
Bitmap = npt.NDArray[np.uint8]

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
class Specks:
    """White specks: positions in pixels, sides in pixels at 500 per inch."""

    x: DoubleArray
    y: DoubleArray
    sides: DoubleArray


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
    level = 0.5 + _level(moisture, pressure, inwards, scale, rng)
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
    for _ in range(number):
        cv2.fillPoly(out, [_scratch(picture.shape, scale, rng)], 255, cv2.LINE_AA, 4)
    return out


def smoothed(picture: Picture, *, kept: Picture) -> Picture:
    """Smooth ``picture`` by a 3x3 binomial filter, but nowhere darker than ``kept``, whose paper stays white."""
    return np.asarray(np.maximum(cv2.GaussianBlur(picture, (3, 3), 0.0), kept), np.uint8)


def _level(moisture: float, pressure: float, inwards: FloatArray, scale: float, rng: np.random.Generator) -> FloatArray:
    """Offset of the threshold of the blurred ridges from 0.5, for each pixel; positive thickens ridges."""
    height, width = inwards.shape
    wet, dry = max(0.0, moisture), max(0.0, -moisture)
    patches = smooth_noise(rng, height=height, width=width, reach=28 * scale)
    unevenness = np.float32(0.07 * wet + 0.04 * dry) * np.clip(patches, -1.5, 1.5)
    level = np.float32(0.24 * (pressure - NEUTRAL_PRESSURE) + 0.19 * wet - 0.05 * dry) + unevenness
    if dry > 0:
        grain = smooth_noise(rng, height=height, width=width, reach=1.6 * scale)
        level = level - np.float32(0.16 * dry) * np.abs(grain)
    fading = np.exp(inwards / np.float32(-14 * scale)) * np.float32(0.35 * (1 - pressure))
    return np.asarray(np.minimum(level, _MOST_FILLED) - fading, np.float32)


def _scratch(shape: tuple[int, ...], scale: float, rng: np.random.Generator) -> npt.NDArray[np.int32]:
    """Outline of one scratch, ``int32[50, 2]`` in sixteenths of a pixel: a parabola whose width vanishes at its ends."""
    size = np.array([shape[1], shape[0]], np.float64)
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
    return np.asarray(np.rint(16 * both), np.int32)
