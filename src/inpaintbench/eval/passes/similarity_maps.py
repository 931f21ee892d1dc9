"""Structural similarity of two pictures at every pixel, in one pass over them.

Sums over windows, and what comes of them, stay in a few rows that fit into the processor's nearest cache, instead of in a dozen
pictures of their own. Uniform windows have whole numbers as sums, so that nothing cancels.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.compiled import compiled, has_numba

Picture = npt.NDArray[np.uint8]
Map = npt.NDArray[np.float64]

CHANNELS = 3
# Up to here twice the square of a window's sum fits into 31 bits: 2 * (11^2 * 255)^2 does, 2 * (13^2 * 255)^2 does not.
LARGEST_UNIFORM_PIXELS = 11
# Pixels whose similarity OpenCV's filters find in about the time that importing numba takes, 0.6 s.
_PIXELS_BEFORE_COMPILING = 8_000_000
_pixels_asked = 0
# Columns that are worked on at a time: four rows of sums of them, with the window's margin, take 25 of 32 KiB of cache.
_TILE = 256


def is_worth_compiling(picture: Picture, *, window_pixels: int, taps: npt.NDArray[np.float64] | None) -> bool:
    """Return whether ``similarity_map`` is to be used in the place of filters of whole pictures.

    For uniform windows both give the same bits, so that a process that measures little can do without importing numba: it is
    taken from the picture on with which that many pixels were asked for that it would have paid.
    """
    global _pixels_asked
    if not has_numba():
        return False
    if taps is not None:
        return True
    _pixels_asked += picture.shape[0] * picture.shape[1]
    return window_pixels <= LARGEST_UNIFORM_PIXELS and _pixels_asked > _PIXELS_BEFORE_COMPILING


def similarity_map(
    first: Picture, second: Picture, *, window_pixels: int, taps: npt.NDArray[np.float64] | None, c1: float, c2: float
) -> Map:
    """Return the similarity of every whole window, averaged over channels.

    Args:
        first: ``uint8[H, W, 3]``.
        second: the same shape.
        window_pixels: side of the window, odd; at most ``LARGEST_UNIFORM_PIXELS`` for a uniform one.
        taps: weights of a symmetric window in one direction, ``float64[window_pixels]`` with sum 1; None = all pixels alike.
        c1: constant of the luminance term; for a uniform window times ``window_pixels ** 4``.
        c2: constant of the contrast term; likewise.

    Returns:
        ``float64[H - window_pixels + 1, W - window_pixels + 1]``.
    """
    height, width = first.shape[:2]
    rows = np.ascontiguousarray(first).reshape(height, -1), np.ascontiguousarray(second).reshape(height, -1)
    similarity = np.empty((height - window_pixels + 1, width - window_pixels + 1))
    if taps is None:
        _uniform(window_pixels)(*rows, np.int32(window_pixels**2), float(c1), float(c2), similarity)
    else:
        _weighted(window_pixels)(*rows, taps, float(c1), float(c2), similarity)
    return similarity


@lru_cache
def _uniform(side: int) -> Any:
    """Compile the loop for windows of this side, which the compiler unrolls."""

    def uniform(first, second, total, c1, c2, similarity):  # type: ignore[no-untyped-def]  # numba knows the types
        height, values = first.shape
        inner = values - CHANNELS * (side - 1)
        x_column, y_column = np.zeros(values, np.int32), np.zeros(values, np.int32)
        square_column, product_column = np.zeros(values, np.int32), np.zeros(values, np.int32)
        likeness = np.empty(inner)
        for row in range(height):
            for i in range(values):  # sums over the last ``side`` rows
                x, y = np.int32(first[row, i]), np.int32(second[row, i])
                x_column[i] += x
                y_column[i] += y
                square_column[i] += x * x + y * y
                product_column[i] += x * y
            if row >= side:
                for i in range(values):
                    x, y = np.int32(first[row - side, i]), np.int32(second[row - side, i])
                    x_column[i] -= x
                    y_column[i] -= y
                    square_column[i] -= x * x + y * y
                    product_column[i] -= x * y
            if row < side - 1:
                continue
            for i in range(inner):
                x_sum, y_sum, squares, products = np.int32(0), np.int32(0), np.int32(0), np.int32(0)
                for j in range(side):
                    x_sum += x_column[i + CHANNELS * j]
                    y_sum += y_column[i + CHANNELS * j]
                    squares += square_column[i + CHANNELS * j]
                    products += product_column[i + CHANNELS * j]
                product = x_sum * y_sum
                power = x_sum * x_sum + y_sum * y_sum
                likeness[i] = ((2.0 * product + c1) * (2.0 * (total * products - product) + c2)) / (
                    (power + c1) * ((total * squares - power) + c2)
                )
            for i in range(inner // CHANNELS):
                similarity[row - side + 1, i] = (
                    likeness[CHANNELS * i] + likeness[CHANNELS * i + 1] + likeness[CHANNELS * i + 2]
                ) / CHANNELS

    return compiled(uniform, error_model="numpy")


@lru_cache
def _weighted(side: int) -> Any:
    """Compile the loop for symmetric windows of this side, which the compiler unrolls."""
    half, margin = side // 2, CHANNELS * (side - 1)

    def weighted(first, second, taps, c1, c2, similarity):  # type: ignore[no-untyped-def]  # numba knows the types
        height, values = first.shape
        x_column, y_column = np.empty(CHANNELS * _TILE + margin), np.empty(CHANNELS * _TILE + margin)
        square_column, product_column = np.empty(CHANNELS * _TILE + margin), np.empty(CHANNELS * _TILE + margin)
        likeness = np.empty(CHANNELS * _TILE)
        for left in range(0, values - margin, CHANNELS * _TILE):
            inner = min(CHANNELS * _TILE, values - margin - left)
            for top in range(height - side + 1):
                for i in range(inner + margin):
                    x, y = np.int32(first[top + half, left + i]), np.int32(second[top + half, left + i])
                    weight = taps[half]
                    x_mean, y_mean, square, product = weight * x, weight * y, weight * (x * x + y * y), weight * (x * y)
                    for j in range(half):  # both rows of a weight at once, as whole numbers
                        other = top + side - 1 - j
                        x, y = np.int32(first[top + j, left + i]), np.int32(second[top + j, left + i])
                        u, v = np.int32(first[other, left + i]), np.int32(second[other, left + i])
                        weight = taps[j]
                        x_mean += weight * (x + u)
                        y_mean += weight * (y + v)
                        square += weight * (x * x + y * y + u * u + v * v)
                        product += weight * (x * y + u * v)
                    x_column[i], y_column[i], square_column[i], product_column[i] = x_mean, y_mean, square, product
                for i in range(inner):
                    weight, middle = taps[half], i + CHANNELS * half
                    x_mean, y_mean = weight * x_column[middle], weight * y_column[middle]
                    square, product = weight * square_column[middle], weight * product_column[middle]
                    for j in range(half):
                        weight, near, far = taps[j], i + CHANNELS * j, i + CHANNELS * (side - 1 - j)
                        x_mean += weight * (x_column[near] + x_column[far])
                        y_mean += weight * (y_column[near] + y_column[far])
                        square += weight * (square_column[near] + square_column[far])
                        product += weight * (product_column[near] + product_column[far])
                    means, powers = x_mean * y_mean, x_mean * x_mean + y_mean * y_mean
                    likeness[i] = ((2 * means + c1) * (2 * (product - means) + c2)) / ((powers + c1) * (square - powers + c2))
                for i in range(inner // CHANNELS):
                    similarity[top, left // CHANNELS + i] = (
                        likeness[CHANNELS * i] + likeness[CHANNELS * i + 1] + likeness[CHANNELS * i + 2]
                    ) / CHANNELS

    return compiled(weighted, error_model="numpy")
