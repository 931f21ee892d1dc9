"""Opaque blocks over a print: scraps of paper or tape, stickers, smears of paint."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.wings.chalearn.degradations.corrected import Facts
from inpaintbench.wings.chalearn.degradations.planes import Colour, Grey, Rgb, clouds, grain, levels, mixed

MOST_BLOCKS = 3
# Sides of a block, as shares of the shorter side of the picture.
LEAST_SHARE, MOST_SHARE = 0.05, 0.22
# OpenCV's drawing takes fixed-point coordinates: sixteenths of a pixel.
_FRACTION_BITS = 4
_COLOURS: tuple[Colour, ...] = (
    (244, 242, 236),
    (250, 226, 92),
    (206, 176, 128),
    (40, 40, 44),
    (112, 116, 120),
    (196, 52, 44),
    (62, 104, 168),
    (84, 132, 84),
)


def lay_blocks(picture: Rgb, *, strength: float, rng: np.random.Generator) -> tuple[Rgb, Facts]:
    """Paint 0 to 3 opaque blocks over a copy of ``uint8[H, W, 3]``; facts: their number and the share of touched pixels."""
    picture = picture.copy()
    height, width = picture.shape[:2]
    count = round(strength * int(rng.integers(0, MOST_BLOCKS, endpoint=True)))
    covered = np.zeros((height, width), np.uint8)
    for _ in range(count):
        outline = _outline(height, width, rng)
        (left, top), (right, bottom) = np.floor(outline.min(axis=0)) - 1, np.ceil(outline.max(axis=0)) + 2
        box = slice(max(0, int(top)), min(height, int(bottom))), slice(max(0, int(left)), min(width, int(right)))
        under = picture[box]
        opacity = _filled(under.shape[0], under.shape[1], outline - (box[1].start, box[0].start))
        picture[box] = mixed(_surface(under.shape[0], under.shape[1], rng), under, opacity)
        np.maximum(covered[box], opacity, out=covered[box])
    return picture, {"count": count, "area_fraction": cv2.countNonZero(covered) / covered.size}


def _outline(height: int, width: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Outline (x, y) of a rotated rectangle with straight or torn edges, ``float64[160, 2]``, pixels."""
    sides = rng.uniform(LEAST_SHARE, MOST_SHARE, 2) * min(height, width)
    centre, turn = rng.uniform((0, 0), (width, height)), rng.uniform(0, np.pi)
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) / 2 * sides
    steps = np.linspace(0, 4, 161)[:-1]
    points = np.stack([np.interp(steps, np.arange(5), corners[:, i]) for i in range(2)], axis=-1)
    torn = _roughness(len(steps), rng) * 0.02 * float(sides.min()) * float(rng.random() < 0.5)
    cosine, sine = np.cos(turn), np.sin(turn)
    return np.asarray(centre + (points + torn) @ np.array([(cosine, sine), (-sine, cosine)]), np.float64)


def _roughness(count: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Noise around a closed outline, ``float64[count, 2]``: wide bays with fine teeth, standard deviation about 1."""
    frequencies = np.arange(1, count // 2 + 1)
    waves = rng.normal(size=(2, 2, len(frequencies))) / np.sqrt(frequencies)
    spectrum = np.concatenate([np.zeros((2, 1)), waves[0] + 1j * waves[1]], axis=1)
    rough = np.fft.irfft(spectrum, count, axis=1).T
    return np.asarray(rough / rough.std(), np.float64)


def _filled(height: int, width: int, outline: npt.NDArray[np.float64]) -> Grey:
    opacity = np.zeros((height, width), np.uint8)
    fixed = np.rint(outline * (1 << _FRACTION_BITS)).astype(np.int32)
    cv2.fillPoly(opacity, [fixed], 255, cv2.LINE_AA, _FRACTION_BITS)
    return opacity


def _surface(height: int, width: int, rng: np.random.Generator) -> Rgb:
    colour = _COLOURS[int(rng.integers(len(_COLOURS)))]
    shade = clouds(height, width, period_pixels=max(height, width), octaves=3, rng=rng) * np.float32(4)
    shade += grain(height, width, rng=rng) * np.float32(2)
    return np.asarray(cv2.merge([levels(shade + np.float32(level)) for level in colour]), np.uint8)
