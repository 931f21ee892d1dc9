"""Crops around what was removed as tokens of a vision transformer, and how far sets of tokens lie apart: for RC-S and RC-T.

PROVE, ACM MM 2026 (`utils/metrics.py`, Apache-2.0). Distances are squared maximum mean discrepancies of unit vectors under a
Gaussian kernel of width 10, times 1000, biased: to 3e-4 that is ten times the squared distance of the two mean vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.compute import Shared
from inpaintbench.eval.passes.frame_vectors import Vectors, frame_vectors, normalised, unit_length
from inpaintbench.models.dino import DEVIATION, LENGTH, MEAN, dino

Picture = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
# Picture `uint8[H, W, 3]` whose sides are multiples of a patch -> tokens `float64[rows, columns, d]`.
Network = Callable[[Picture], Vectors]

# Longer side of a crop, and what fills it up to whole patches.
SIDE_PIXELS = 448
FILL = (123, 116, 103)
# Smaller pieces of a mask do not count beside larger ones.
LEAST_PIXELS = 200
# Of the kernel exp(-|x - y|^2 / (2 sigma^2)), and the factor that values are printed with.
_GAMMA, _SCALE = 1 / 200, 1000.0
# Patch side of the networks that give tokens.
BACKBONES = {"dino-vit-b-16": 16}
_BYTES_PER_NUMBER = 80


class Box(NamedTuple):
    """Square crop, half open; it may reach beyond the frame."""

    left: int
    top: int
    right: int
    bottom: int


class Crop(NamedTuple):
    """Tokens of a crop, by rows and columns."""

    tokens: Vectors
    """``float64[rows, columns, d]``, of length one."""
    inside: Mask
    """Of the mask, ``bool[rows, columns]``."""
    valid: Mask
    """Of the frame, not only of what fills the crop up."""


def discrepancy(one: Vectors, other: Vectors) -> float:
    """Squared maximum mean discrepancy of two sets of vectors, each brought to length one, times 1000.

    Args:
        one: ``float64[n, d]``.
        other: ``float64[m, d]``.
    """
    x, y = unit_length(one), unit_length(other)
    first, second, between = (_mean_kernel(*pair) for pair in ((x, x), (y, y), (x, y)))
    return _SCALE * (first + second - 2 * between)


def _mean_kernel(one: Vectors, other: Vectors) -> float:
    squares = (one * one).sum(axis=1)[:, None] + (other * other).sum(axis=1)[None] - 2 * one @ other.T
    return float(np.exp(-_GAMMA * np.maximum(squares, 0)).mean())


def components(mask: Mask) -> Iterator[Mask]:
    """The pieces of ``bool[H, W]``, joined along sides, of 200 pixels and more; else the largest; none of an empty mask."""
    count, labels, facts, _ = cv2.connectedComponentsWithStats(mask.view(np.uint8), connectivity=4)
    areas = facts[1:, cv2.CC_STAT_AREA]
    if count > 1:
        kept = np.flatnonzero(areas >= LEAST_PIXELS).tolist() or [int(areas.argmax())]
        for label in kept:
            yield labels == label + 1


def square_of(mask: Mask, *, cut: bool) -> Box:
    """The square around a mask that is not empty, with a margin of a third of its side.

    Args:
        mask: ``bool[H, W]``.
        cut: as published: the margin is as large as the frame leaves room for on every side, the side at most the frame's
            shorter one, which may leave some of the mask out; else the square may reach beyond the frame.
    """
    height, width = mask.shape
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    left, top, right, bottom = int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
    side = max(right - left, bottom - top)
    left, top = round((left + right) / 2 - side / 2), round((top + bottom) / 2 - side / 2)
    grown = min(round(side / 3), side // 2)
    if cut:
        grown = max(0, min(grown, left, top, width - left - side, height - top - side))
    left, top, side = left - grown, top - grown, side + 2 * grown
    if cut:
        side = min(side, height, width)
        left, top = min(max(left, 0), width - side), min(max(top, 0), height - side)
    return Box(left, top, left + side, top + side)


def crop_tokens(frame: Picture, mask: Mask, box: Box, *, network: Network, patch_pixels: int) -> Crop:
    """Tokens of a crop of a frame; beyond the frame it is filled up with the nearest pixel."""
    height, width = mask.shape
    rows, columns = np.arange(box.top, box.bottom), np.arange(box.left, box.right)
    near = np.ix_(np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1))
    real = ((rows >= 0) & (rows < height))[:, None] & ((columns >= 0) & (columns < width))[None]
    side = box.right - box.left
    scale = SIDE_PIXELS / side
    size = (int(side * scale), int(side * scale))
    picture = cv2.resize(frame[near], size, interpolation=cv2.INTER_LINEAR)
    beyond = -size[0] % patch_pixels
    picture = cv2.copyMakeBorder(picture, 0, beyond, 0, beyond, cv2.BORDER_CONSTANT, value=FILL)
    flags = []
    for part in (mask[near] & real, real):
        scaled = cv2.resize(part.view(np.uint8), size, interpolation=cv2.INTER_NEAREST)
        scaled = cv2.copyMakeBorder(scaled, 0, beyond, 0, beyond, cv2.BORDER_CONSTANT, value=(0,))
        count = scaled.shape[0] // patch_pixels
        flags.append(scaled.reshape(count, patch_pixels, count, patch_pixels).max(axis=(1, 3)).astype(np.bool_))
    return Crop(unit_length(network(np.asarray(picture, np.uint8))), flags[0], flags[1] | flags[0])


def windows(rows: int, columns: int, *, cover: bool) -> Iterator[tuple[slice, slice]]:
    """Windows of a quarter of the longer side, half overlapping; ``cover``: the last ones end where the tokens end."""
    scale = max(rows, columns) / 64
    length, step = max(1, int(16 * scale)), max(1, int(8 * scale))
    for top in _starts(rows, length, step, cover=cover):
        for left in _starts(columns, length, step, cover=cover):
            yield slice(top, top + length), slice(left, left + length)


def _starts(count: int, length: int, step: int, *, cover: bool) -> list[int]:
    starts = list(range(0, count - length + 1, step))
    return [*starts, count - length] if cover and starts and starts[-1] + length < count else starts


def network_of(shared: Shared) -> Network:
    """DINO's tokens of the patches of a picture, after the last norm.

    Raises:
        NotMeasurable: the weights are missing, damaged or others.
        MissingExtraError: PyTorch is not installed.
    """
    module = dino(shared.compute)

    def tokens(picture: Picture) -> Vectors:
        size = _BYTES_PER_NUMBER * LENGTH * (1 + picture.shape[0] * picture.shape[1] // BACKBONES["dino-vit-b-16"] ** 2)
        found = frame_vectors(
            picture[None], Shared(compute=shared.compute), lambda some: module.patch_tokens(normalised(some, MEAN, DEVIATION)),
            picture_bytes=size,
        )  # fmt: skip
        return np.asarray(found[0])

    return tokens
