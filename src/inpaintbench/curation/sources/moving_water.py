"""A procedural body of water that lies in a photograph: fixed to the scene, always moving, its extent exactly known.

The surface is a sum of travelling waves that obey the dispersion relation of deep water, seen in perspective. It mirrors
the photograph above the shoreline, broken up by the slope of the waves, over a depth tinted by the photograph's colours.
Lengths are photograph pixels unless named otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.curation.sources.virtual_camera import Image, Transforms, scale_of
from inpaintbench.types import stated

Map = npt.NDArray[np.float32]

# Metres per second squared; angular frequency of a wave = sqrt(GRAVITY * wave number), Airy's deep-water relation.
GRAVITY = 9.81
WAVES = 8
WAVELENGTHS_METRES = (0.35, 3.2)
# Of every wave; so longer waves are higher.
WAVE_SLOPE = 0.085
# Waves per metre times metres away at which a wave is dimmed by half.
FINEST_WAVE = 110.0
WIND_SPREAD_RADIANS = 0.9
CAMERA_HEIGHT_METRES = 3.4
# View heights above the shoreline at which the water plane would vanish.
HORIZON = 0.42
BENDS = 3
# Amplitude of a bend of the shoreline with wave number 1 per view height; it falls with the root of the number.
BEND_HEIGHT = 0.05
# Over which water and land blend, in frame pixels.
SHORE_WIDTH_PIXELS = 2.0
SKY = (150.0, 178.0, 200.0)
DEPTH = (10.0, 52.0, 66.0)
# Pixels between the points where areas are measured; the shoreline runs across, so rows need more of them.
_COARSE_COLUMNS, _COARSE_ROWS = 16, 2


@dataclass(frozen=True)
class Shoreline:
    """Edge of the water; everything below it is water."""

    level: float
    """Mean row."""
    unit: float
    """Height of the view."""
    bends: npt.NDArray[np.float64]
    """(wave number per view height, phase) of each bend, ``float64[B, 2]``."""

    def depth(self, x: Map, y: Map) -> Map:
        """Return how far scene points (x, y) lie below the shore; negative on land."""
        return y - self.level - _bend(x, unit=self.unit, bends=self.bends)

    def highest_row(self) -> float:
        """No bend reaches above this row."""
        return self.level - BEND_HEIGHT * self.unit * float(np.sum(self.bends[:, 0] ** -0.5))

    def share(self, path: Transforms, *, view: tuple[int, int]) -> float:
        """Share of the view that is water at all, averaged over all frames, in 0..1; from geometry alone."""
        x, y = _coarse_grid(path, view)
        scales = np.array([[scale_of(transform)] for transform in path], np.float32)
        return float(np.mean(_opacity(self.depth(x, y), scale=scales) > 0))


def lay_shoreline(path: Transforms, *, view: tuple[int, int], share: float, rng: np.random.Generator) -> Shoreline:
    """An irregular shoreline below which ``share`` of everything lies that a camera on ``path`` sees."""
    unit = view[1] * float(np.mean([scale_of(transform) for transform in path]))
    numbers = np.geomspace(4, 30, BENDS) * rng.uniform(0.8, 1.25, BENDS)
    bends = np.stack([numbers, rng.uniform(0, 2 * np.pi, BENDS)], axis=1)
    x, y = _coarse_grid(path, view)
    # In float32 a quantile comes out otherwise under another version of numpy, and pixels of the shore with it.
    depths = (y - _bend(x, unit=unit, bends=bends)).astype(np.float64)
    return Shoreline(level=stated(float(np.quantile(depths, 1 - share))), unit=unit, bends=bends)


@dataclass(frozen=True)
class Water:
    """Appearance of the water below a shoreline."""

    shoreline: Shoreline
    middle: float
    """Column in front of the camera."""
    mirrored: Image
    """The photograph, softened."""
    depth_colour: tuple[float, float, float]
    """RGB."""
    waves: npt.NDArray[np.float64]
    """(wave number per metre, direction, phase) of each wave, ``float64[N, 3]``."""

    def paint(self, frame: Image, *, transform: npt.NDArray[np.float64], seconds: float) -> npt.NDArray[np.bool_]:
        """Paint the water as it is at ``seconds`` into ``frame``, in place; True in ``bool[H, W]`` where there is any."""
        scale = scale_of(transform)
        x, y = _scene_grid(transform, frame.shape[1], frame.shape[0])
        first = self.shoreline.highest_row() - SHORE_WIDTH_PIXELS * scale
        top = int(np.argmax(np.append(y.max(axis=1) >= first, True)))
        painted = np.zeros(frame.shape[:2], np.bool_)
        if top < len(frame):
            x, y, land = x[top:], y[top:], frame[top:]
            depth = self.shoreline.depth(x, y)
            opacity = _opacity(depth, scale=scale)
            near = np.maximum((y - self.shoreline.level) / self.shoreline.unit + HORIZON, 0.05)
            # Half the resolution is enough for the finest wave and four times cheaper.
            slopes = self._slopes(x[::2, ::2], near[::2, ::2], seconds)
            across, along = (np.asarray(cv2.resize(slope, depth.shape[::-1]), np.float32) for slope in slopes)
            # Water mirrors far away and where a wave leans away; looking down on it, or at a wave's near face, shows its depth.
            reflectance = np.clip(0.92 - 0.62 * (near - HORIZON) - 1.9 * along, 0.08, 0.95)
            glint = 620 * np.square(np.maximum(along * 0.55 + across * 0.85 - 0.2, 0))
            wet_edge = 0.6 + 0.4 * np.clip(depth / (0.03 * self.shoreline.unit), 0, 1)
            mirrored = cv2.split(self._reflection(x, y, depth, across, along))
            # Channel by channel, because arithmetic over a last axis of three is slow.
            planes = []
            for reflection, sky, below in zip(mirrored, SKY, self.depth_colour, strict=True):
                seen = reflection * np.float32(0.78) + (0.22 * sky - below)
                planes.append(cv2.convertScaleAbs((below + reflectance * seen + glint) * wet_edge))
            land[:] = cv2.blendLinear(land, np.asarray(cv2.merge(planes), np.uint8), 1 - opacity, opacity)
            painted[top:] = opacity > 0
        return painted

    def _slopes(self, x: Map, near: Map, seconds: float) -> tuple[Map, Map]:
        """Slope of the surface to the right and away from the camera."""
        metres_away = CAMERA_HEIGHT_METRES / near
        metres_right = (x - self.middle) * metres_away / self.shoreline.unit
        across, along = np.zeros_like(near), np.zeros_like(near)
        for number, direction, phase in self.waves.tolist():
            right, away = math.sin(direction), math.cos(direction)
            turn = phase - math.sqrt(GRAVITY * number) * seconds
            slope = np.cos(metres_right * (number * right) + metres_away * (number * away) + turn)
            # Waves that are finer than the view can show would flicker.
            slope *= WAVE_SLOPE / (1 + np.square(metres_away * (number / FINEST_WAVE)))
            across += slope * right
            along += slope * away
        return across, along

    def _reflection(self, x: Map, y: Map, depth: Map, across: Map, along: Map) -> Image:
        """The part of the photograph that the water mirrors, ``uint8[H, W, 3]``."""
        above = y - 1.9 * depth + 0.55 * self.shoreline.unit * along
        aside = x + 0.25 * self.shoreline.unit * across
        mirrored = cv2.remap(self.mirrored, aside, above, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101)
        return np.asarray(mirrored, np.uint8)


def fill(shoreline: Shoreline, *, photograph: Image, middle: float, rng: np.random.Generator) -> Water:
    """Water below ``shoreline`` that belongs to ``photograph``, with waves drawn from ``rng``."""
    numbers = 2 * np.pi / np.geomspace(*WAVELENGTHS_METRES, WAVES)
    red, green, blue = photograph.mean(axis=(0, 1)).tolist()
    directions = np.pi + rng.uniform(-0.6, 0.6) + WIND_SPREAD_RADIANS * rng.uniform(-1, 1, WAVES)
    return Water(
        shoreline=shoreline,
        middle=middle,
        mirrored=np.asarray(cv2.GaussianBlur(photograph, (0, 0), 0.006 * shoreline.unit), np.uint8),
        depth_colour=(0.35 * red + 0.65 * DEPTH[0], 0.35 * green + 0.65 * DEPTH[1], 0.35 * blue + 0.65 * DEPTH[2]),
        waves=np.stack([numbers, directions, rng.uniform(0, 2 * np.pi, WAVES)], axis=1),
    )


def _opacity(depth: Map, *, scale: float | Map) -> Map:
    """Return how much of a frame pixel, ``scale`` photograph pixels wide, is water: 0..1."""
    return np.clip(depth / (SHORE_WIDTH_PIXELS * scale) + 0.5, 0, 1)


def _bend(x: Map, *, unit: float, bends: npt.NDArray[np.float64]) -> Map:
    """Return how far the shoreline lies below its mean row at columns ``x``."""
    bent = np.zeros_like(x)
    for number, phase in bends.tolist():
        bent += BEND_HEIGHT * unit / math.sqrt(number) * np.sin(x * (number / unit) + phase)
    return bent


def _scene_grid(transform: npt.NDArray[np.float64], width: int, height: int) -> tuple[Map, Map]:
    """Photograph coordinates (x, y) of the frame's pixels, ``float32[H, W]`` each."""
    columns, lines = np.arange(width, dtype=np.float32)[None, :], np.arange(height, dtype=np.float32)[:, None]
    x, y = (row[0] * columns + (row[1] * lines + row[2]) for row in transform[:2].tolist())
    return x, y


def _coarse_grid(path: Transforms, view: tuple[int, int]) -> tuple[Map, Map]:
    """Photograph coordinates (x, y) of points spread evenly over all frames, ``float32[T, P]`` each."""
    columns, lines = _spread(view[0], every=_COARSE_COLUMNS), _spread(view[1], every=_COARSE_ROWS)
    points = np.stack([np.tile(columns, len(lines)), np.repeat(lines, len(columns)), np.ones(len(columns) * len(lines))])
    x, y = np.einsum("tij,jp->itp", path[:, :2], points).astype(np.float32)
    return x, y


def _spread(side: int, *, every: int) -> npt.NDArray[np.float64]:
    cells = max(side // every, 1)
    return (np.arange(cells) + 0.5) * side / cells - 0.5
