"""Pictures of ridges whose orientation and period are known."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Picture = npt.NDArray[np.uint8]
Map = npt.NDArray[np.float32]


def straight(degrees: float, *, period: float = 8.6, height: int = 150, width: int = 170) -> Picture:
    """Ridges at an angle counter-clockwise as seen: their normal with y down is (-sin, -cos)."""
    y, x = np.mgrid[:height, :width].astype(float)
    along_normal = -math.sin(math.radians(degrees)) * x - math.cos(math.radians(degrees)) * y
    return np.rint(127.5 + 120 * np.cos(2 * math.pi * along_normal / period)).astype(np.uint8)


def rings(*, period: float = 8.6, side: int = 201) -> tuple[Picture, Map]:
    """Circles around the middle and their angle, which is that of two cores in one place."""
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    picture = np.rint(127.5 + 120 * np.cos(2 * math.pi * np.hypot(x, y) / period)).astype(np.uint8)
    return picture, np.mod(np.arctan2(-y, x) + math.pi / 2, math.pi).astype(np.float32)


def zero_pole(cores: list[tuple[float, float]], deltas: list[tuple[float, float]], *, height: int = 120, width: int = 100) -> Map:
    """The angle of a field with those singular points (Sherlock and Monro, 1993), y down."""
    y, x = np.mgrid[:height, :width].astype(float)
    turns = [(1, *point) for point in deltas] + [(-1, *point) for point in cores]
    return np.mod(sum(sign * np.arctan2(y - v, x - u) for sign, u, v in turns) / 2, math.pi).astype(np.float32)


def grown(theta: Map, *, period: float = 8.6, seed: int = 0) -> Picture:
    """Ridges that follow a field: noise, smoothed along it again and again by plain sums over a window."""
    height, width = theta.shape
    values = np.random.default_rng(seed).normal(size=theta.shape)
    y, x = np.mgrid[:height, :width]
    for _ in range(6):
        total = np.zeros_like(values)
        for down in range(-9, 10):
            for right in range(-9, 10):
                across = -np.sin(theta) * right - np.cos(theta) * down
                weight = np.exp(-(right**2 + down**2) / 32) * np.cos(2 * math.pi * across / period)
                total += weight * values[np.clip(y + down, 0, height - 1), np.clip(x + right, 0, width - 1)]
        values = np.tanh(2 * total / total.std())
    return np.rint(127.5 - 127.5 * values).astype(np.uint8)
