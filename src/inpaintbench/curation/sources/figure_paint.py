"""Painting limbs: round, shaded, in cloth, with exact anti-aliased edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import cv2
import numpy as np
import numpy.typing as npt

# `float32[H, W, 3]` RGB, 0..255.
Canvas = npt.NDArray[np.float32]
Plane = npt.NDArray[np.float32]
Colour = tuple[float, float, float]
# Towards the light, from the upper left and the front: x right, y down, z to the viewer; a unit vector.
LIGHT = np.array([-0.42, -0.62, 0.66])
AMBIENT = 0.5
# How softly the shapes of one part flow into each other, as a share of their radius.
_BLEND = 0.22
_SHADOW = 0.34


@dataclass(frozen=True)
class Cloth:
    """What a part is made of."""

    colour: Colour
    second: Colour
    pattern: str = "plain"
    """``plain``, ``stripes``, ``checks`` or ``weave``."""
    period: float = 10.0
    """Of the pattern, in pixels."""


@dataclass(frozen=True)
class Limb:
    """A straight piece of a body that tapers: a disc of radius ``first`` moved to ``end`` while growing to ``last``. Pixels."""

    start: tuple[float, float]
    """(x, y)"""
    end: tuple[float, float]
    first: float
    last: float


@dataclass(frozen=True)
class Part:
    """Limbs of one cloth that are painted as one shape."""

    name: str
    limbs: tuple[Limb, ...]
    cloth: Cloth
    depth: float
    """Parts of greater depth are painted later."""


def paint(canvas: Canvas, part: Part, *, weave: Plane) -> None:
    """Paint ``part`` over ``canvas``, in place; ``weave``: noise of its size, about -1..1, for the grain of cloth."""
    box = _box(part, canvas.shape[:2])
    if box is None:
        return
    rows, columns = box
    inside, normal, along, across = _shape(part, rows, columns)
    coverage = np.clip(inside + 0.5, 0, 1)
    under = canvas[rows, columns]
    under *= (1 - _SHADOW * _halo(coverage))[..., None]
    lit = _cloth_colour(part.cloth, along, across, weave[rows, columns]) * _shading(normal)[..., None]
    under += coverage[..., None] * (lit - under)


def covers(part: Part, x: float, y: float) -> bool:
    """Whether a limb of ``part`` lies over the point (x, y)."""
    point = np.array(x, np.float32), np.array(y, np.float32)
    return any(float(_limb_field(limb, *point)[0]) > 0 for limb in part.limbs)


def _box(part: Part, shape: tuple[int, ...]) -> tuple[slice, slice] | None:
    """Rows and columns that hold the part and its shadow, inside the canvas."""
    reach = max(max(limb.first, limb.last) for limb in part.limbs) * 1.3 + 8
    points = np.array([point for limb in part.limbs for point in (limb.start, limb.end)])
    low, high = points.min(axis=0) - reach, points.max(axis=0) + reach
    left, top = (max(0, int(value)) for value in low)
    right, bottom = (min(side, int(value) + 1) for value, side in zip(high, (shape[1], shape[0]), strict=True))
    return (slice(top, bottom), slice(left, right)) if left < right and top < bottom else None


def _shape(part: Part, rows: slice, columns: slice) -> tuple[Plane, Plane, Plane, Plane]:
    """How deep inside the part each pixel is, the surface's normal (x, y, z last), and cloth coordinates along and across."""
    y, x = np.mgrid[rows, columns].astype(np.float32)
    fields = [_limb_field(limb, x, y) for limb in part.limbs]
    softness = _BLEND * min(min(limb.first, limb.last) for limb in part.limbs) + 0.3
    depth = np.stack([field[0] for field in fields])
    nearest = depth.max(axis=0)
    weights = np.exp((depth - nearest) / softness)
    total = weights.sum(axis=0)
    weights /= total
    mixed = sum(weight[..., None] * field[1] for weight, field in zip(weights, fields, strict=True))
    # The logarithm lets shapes flow together where they meet, and changes nothing where one is alone.
    deep = nearest + softness * np.log(total) if len(fields) > 1 else nearest
    # Cloth of the first limb everywhere: patterns run on where shapes meet.
    return deep.astype(np.float32), np.asarray(mixed, np.float32), fields[0][2], fields[0][3]


def _limb_field(limb: Limb, x: Plane, y: Plane) -> tuple[Plane, Plane, Plane, Plane]:
    (x0, y0), (x1, y1) = limb.start, limb.end
    dx, dy = x1 - x0, y1 - y0
    length = max(float(np.hypot(dx, dy)), 1e-3)
    share = ((x - x0) * dx + (y - y0) * dy) / length**2
    held = np.clip(share, 0, 1)
    radius = limb.first + (limb.last - limb.first) * held
    off_x, off_y = x - (x0 + held * dx), y - (y0 + held * dy)
    distance = np.hypot(off_x, off_y)
    tilt_x, tilt_y = off_x / radius, off_y / radius
    flat = np.minimum(tilt_x**2 + tilt_y**2, 1)
    normal = np.stack([tilt_x, tilt_y, np.sqrt(1 - flat)], axis=-1)
    across = (-(x - x0) * dy + (y - y0) * dx) / length
    found = (radius - distance, normal, share * length, across)
    return cast(tuple[Plane, Plane, Plane, Plane], tuple(np.asarray(field, np.float32) for field in found))


def _shading(normal: Plane) -> Plane:
    length = np.sqrt(np.square(normal).sum(axis=-1)) + 1e-6
    facing = np.maximum(normal @ LIGHT.astype(np.float32) / length, 0)
    return np.asarray(AMBIENT + (1.14 - AMBIENT) * facing, np.float32)


def _cloth_colour(cloth: Cloth, along: Plane, across: Plane, weave: Plane) -> Canvas:
    first, second = np.array(cloth.colour, np.float32), np.array(cloth.second, np.float32)
    share = _pattern(cloth, along, across)[..., None]
    return np.asarray((first + share * (second - first)) * (1 + 0.05 * weave[..., None]), np.float32)


def _pattern(cloth: Cloth, along: Plane, across: Plane) -> Plane:
    """Share of the second colour, 0..1, with edges a pixel wide."""
    if cloth.pattern == "stripes":
        return _bars(along, cloth.period)
    if cloth.pattern == "checks":
        return np.asarray((_bars(along, cloth.period) + _bars(across, cloth.period)) / 2, np.float32)
    if cloth.pattern == "weave":
        diagonal: Plane = 0.5 + 0.5 * np.sin((along + across) * (2 * np.pi / cloth.period))
        return diagonal
    return np.zeros_like(along)


def _bars(position: Plane, period: float) -> Plane:
    wave = period / (2 * np.pi) * np.sin(position * (2 * np.pi / period))
    bars: Plane = np.clip(wave + 0.5, 0, 1)
    return bars


def _halo(coverage: Plane) -> Plane:
    """Soft contact shadow of a shape on what lies below it."""
    return np.asarray(cv2.GaussianBlur(coverage, (0, 0), 4.0), np.float32)


def ground_shadow(canvas: Canvas, feet: Sequence[tuple[float, float]], *, size: float) -> None:
    """Darken the ground below feet at (x, y), in place; ``size``: height of the figure in pixels."""
    shadow = np.zeros(canvas.shape[:2], np.float32)
    for x, y in feet:
        axes = (round(0.1 * size), round(0.022 * size))
        cv2.ellipse(shadow, (round(x + 0.03 * size), round(y)), axes, 0, 0, 360, 1.0, -1)
    canvas *= (1 - 0.5 * cv2.GaussianBlur(shadow, (0, 0), 0.02 * size + 1))[..., None]
