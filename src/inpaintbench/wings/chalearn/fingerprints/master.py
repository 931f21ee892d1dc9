"""Master print of a finger: its complete ridge pattern in pure black and white, before any impression.

Ridges are grown over two fields of the finger: their angle, by the zero-pole model, and their period.

They grow from scattered points, in six passes of a bank of Gabor kernels, another one at every pixel. Kernels and sums are of
integers and exact, so that both backends give the same bits: ``numpy`` is the reference, ``numba`` the fast one. Minutiae arise
where growing ridges meet.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench import lazily
from inpaintbench.errors import InputError
from inpaintbench.types import item_rng
from inpaintbench.wings.chalearn.fingerprints.fields import DoubleArray, FloatArray
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH, Finger

cv2 = lazily.lazily("cv2")

Backend = Literal["auto", "numpy", "numba"]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int32]

# One for each degree.
ORIENTATIONS = 180
FREQUENCIES = 100
MOST_PIXELS_PER_INCH = 1200.0
# At lower resolutions the narrowest ridges and valleys are about 2 pixels wide and merge as they grow.
LEAST_PIXELS_PER_INCH = 330.0
# Kernel rows are padded with zeros to a multiple of this, the width of vector instructions.
LANES = 16
PASSES = 6
# Passes that filter only near the points; later ones filter everything.
_SPREADING_PASSES = 3
# Radius of a kernel and standard deviation of its Gaussian, pixels at 500 per inch; those of Anguli.
_BORDER, _SIGMA = 15, 7.5
# Frequency of bin 0, which is not used, and step between bins, cycles per pixel at 500 pixels per inch.
_LEAST_FREQUENCY, _FREQUENCY_STEP = 0.075, 0.0008


@dataclass(frozen=True)
class Bank:
    """Kernels for one resolution."""

    size: int
    """Side of a kernel, pixels; odd."""
    border: int
    """Width of the canvas's border without ridges, pixels: half a kernel."""
    kernels: npt.NDArray[np.int8]
    """``int8[FREQUENCIES * ORIENTATIONS, size, padded size]``, -46..54; columns from ``size`` on are 0."""


def border_pixels(pixels_per_inch: float) -> int:
    """Radius of a kernel without its centre: 15 pixels at 500 pixels per inch.

    Raises:
        InputError: the resolution is outside ``LEAST_PIXELS_PER_INCH`` to ``MOST_PIXELS_PER_INCH``.
    """
    if not LEAST_PIXELS_PER_INCH <= pixels_per_inch <= MOST_PIXELS_PER_INCH:  # also catches NaN
        raise InputError(
            f"fingerprints of {pixels_per_inch!r} pixels per inch cannot be made: "
            f"choose {LEAST_PIXELS_PER_INCH:g} to {MOST_PIXELS_PER_INCH:g}, usually 500"
        )
    return round(_BORDER * pixels_per_inch / REFERENCE_PIXELS_PER_INCH)


def kernel_size(pixels_per_inch: float) -> int:
    """Side of a kernel: 31 pixels at 500 pixels per inch, always odd."""
    return 2 * border_pixels(pixels_per_inch) + 1


def period_of_bin(frequency_bin: npt.ArrayLike, *, pixels_per_inch: float) -> npt.NDArray[np.float64]:
    """Ridge period of frequency bins 1..100, pixels: 13.2 to 6.5 at 500 pixels per inch."""
    frequency = _LEAST_FREQUENCY + _FREQUENCY_STEP * np.asarray(frequency_bin, np.float64)
    return np.asarray(pixels_per_inch / REFERENCE_PIXELS_PER_INCH / frequency, np.float64)


def kernel_numbers(orientation: npt.NDArray[np.float32], period: npt.NDArray[np.float32], *, pixels_per_inch: float) -> IntArray:
    """Index of the kernel of the bank for each pixel, ``int32[H, W]``.

    ``orientation`` is the ridge angle in radians, ``period`` in pixels; both are rounded to the nearest bin.
    """
    degrees = np.rint(orientation * np.float32(180 / math.pi)).astype(np.int32) % ORIENTATIONS
    frequency = np.float32(pixels_per_inch / REFERENCE_PIXELS_PER_INCH) / period
    bins = np.rint((frequency - np.float32(_LEAST_FREQUENCY)) / np.float32(_FREQUENCY_STEP)).astype(np.int32)
    return np.asarray((np.clip(bins, 1, FREQUENCIES) - 1) * np.int32(ORIENTATIONS) + degrees, np.int32)


@lru_cache(maxsize=1)  # one, since a bank takes 18 MB at 500 pixels per inch
def bank(pixels_per_inch: float) -> Bank:
    """Build the kernels of every frequency bin and ridge angle; index ``(bin - 1) * ORIENTATIONS + degrees``.

    A kernel is exp(-(x^2 + y^2) / (2 sigma^2)) cos(2 pi f (x cos t + y sin t)) with sigma = 7.5 pixels at 500 pixels per inch
    and t the direction across the ridges, quantised to 8 bits and scaled to 100 levels with 0 where the wave is 0.
    Source: the open generator Anguli; the filter is that of Cappelli, Maio and Maltoni, ICPR 2000.
    """
    border, size = border_pixels(pixels_per_inch), kernel_size(pixels_per_inch)
    place = np.arange(-border, border + 1)
    bell = np.exp(-0.5 * (place * REFERENCE_PIXELS_PER_INCH / (_SIGMA * pixels_per_inch)) ** 2)
    across = np.radians(90.0 - np.arange(ORIENTATIONS))  # y points down
    kernels = np.zeros((FREQUENCIES, ORIENTATIONS, size, -(-size // LANES) * LANES), np.int8)
    for number in range(FREQUENCIES):
        per_pixel = 2 * math.pi / float(period_of_bin(number + 1, pixels_per_inch=pixels_per_inch))
        # exp(i(a + b)) = exp(ia) exp(ib): two waves on lines cost far less than one in the plane.
        down, right = (bell * np.exp(1j * per_pixel * np.outer(way, place)) for way in (np.sin(across), np.cos(across)))
        waves = np.ascontiguousarray((down[:, :, None] * right[:, None, :]).real)
        # Through 8 bits, as Anguli does; both steps truncate towards 0.
        stored = (127.5 + 127.5 * waves).astype(np.int64)
        low, high = stored.min(axis=(1, 2), keepdims=True), stored.max(axis=(1, 2), keepdims=True)
        kernels[number, :, :, :size] = (100 * (stored - low) / (high - low) - 46).astype(np.int64)
    kernels.flags.writeable = False
    return Bank(size, border, kernels.reshape(FREQUENCIES * ORIENTATIONS, size, -1))


def grow(kernel_numbers: IntArray, points: BoolArray, bank: Bank, *, backend: Backend = "auto") -> BoolArray:
    """Grow ridges from ``points``, ``bool[H, W]``, True = ridge; none nearer to the edge than half a kernel.

    ``kernel_numbers``: ``int32[H, W]``, indices into the bank; ``points``: ``bool[H, W]``. In each pass a pixel's response is the
    sum of its kernel over the ridges around it; pixels above 55 % of the range of responses become ridge.

    Raises:
        InputError: unknown backend.
        MissingExtraError: numba was asked for and is not installed.
    """
    respond = _compiled_responses() if select_backend(backend) == "numba" else _responses
    ridges = points
    for active in _active(points, bank.border):
        responses = respond(ridges, kernel_numbers, active, bank)
        values = responses[active]
        low, high = (int(values.min()), int(values.max())) if values.size else (0, 0)
        # 11 / 20 = 55 %, in integers.
        ridges = active & (20 * (responses - low) > 11 * (high - low))
    return ridges


def select_backend(backend: Backend) -> str:
    """Resolve ``auto``: numba where it is installed, else numpy; errors as ``grow``."""
    return lazily.select_backend(backend, get_args(Backend), kind="growth", task="growing fingerprints")


def _active(points: BoolArray, border: int) -> list[BoolArray]:
    """Masks of the pixels that each pass filters: growing surroundings of the points, then everything within the borders."""
    height, width = points.shape
    inside = np.zeros((height, width), np.bool_)
    inside[border : height - border, border : width - border] = True
    box = np.ones((2 * border + 1, 2 * border + 1), np.uint8)
    near, passes = points, []
    for _ in range(_SPREADING_PASSES):
        wider = cv2.dilate(near.view(np.uint8), box, borderType=cv2.BORDER_CONSTANT, borderValue=(0.0,))
        near = np.asarray(wider, np.bool_)
        passes.append(near & inside)
    return passes + [inside] * (PASSES - _SPREADING_PASSES)


def _responses(ridges: BoolArray, kernel_numbers: IntArray, active: BoolArray, bank: Bank) -> IntArray:
    """Sum of each active pixel's kernel over the ridges in its window, ``int32[H, W]``; 0 elsewhere."""
    responses = np.zeros(ridges.shape, np.int32)
    kernels, border = bank.kernels[:, :, : bank.size], bank.border
    windows = np.lib.stride_tricks.sliding_window_view(ridges, (bank.size, bank.size))
    for row in np.flatnonzero(active.any(axis=1)):
        columns = np.flatnonzero(active[row])
        selected = kernels[kernel_numbers[row, columns]].astype(np.int32)
        responses[row, columns] = np.einsum("pyx,pyx->p", selected, windows[row - border, columns - border])
    return responses


@lru_cache
def _compiled_responses() -> Callable[[BoolArray, IntArray, BoolArray, Bank], IntArray]:
    """Compile ``_responses`` by numba."""
    njit = importlib.import_module("numba").njit
    try:
        columns = njit(cache=True)(_columns)
    except RuntimeError:  # numba has no folder to cache compiled code in
        columns = njit(_columns)

    def respond(ridges: BoolArray, kernel_numbers: IntArray, active: BoolArray, bank: Bank) -> IntArray:
        padded = bank.kernels.shape[2]
        wide = np.pad(ridges, ((0, 0), (0, padded))).astype(np.int16)
        responses = np.zeros(ridges.shape, np.int32)
        columns(wide, kernel_numbers, active, bank.kernels.reshape(len(bank.kernels), -1), bank.border, padded, responses)
        return responses

    return respond


def _columns(
    wide: npt.NDArray[np.int16],
    kernel_numbers: IntArray,
    active: BoolArray,
    kernels: npt.NDArray[np.int8],
    border: int,
    padded: int,
    responses: IntArray,
) -> None:
    """Fill ``responses`` column by column.

    The strip of rows under the windows of one column is copied, so that each window is contiguous like its kernel and their
    product is a single loop, which compilers vectorise.
    """
    height, width = responses.shape
    strip = np.zeros(height * padded, np.int16)
    length = kernels.shape[1]
    for x in range(border, width - border):
        for y in range(height):
            for i in range(padded):
                strip[y * padded + i] = wide[y, x - border + i]
        for y in range(border, height - border):
            if active[y, x]:
                kernel = kernels[kernel_numbers[y, x]]
                window = strip[(y - border) * padded : (y - border) * padded + length]
                total = np.int32(0)
                for i in range(length):
                    total = np.int32(total + np.int32(kernel[i]) * np.int32(window[i]))
                responses[y, x] = total


Picture = npt.NDArray[np.uint8]

# Range of the number of points that ridges grow from, on 275x400 pixels at 500 per inch; the upper end is excluded.
_POINTS = (750, 850)
_REFERENCE_AREA = 275 * 400
# Side of a point, and its least distance from the edge; pixels at 500 per inch.
_POINT_SIZE, _POINT_MARGIN = 4, 5
# Bends of the eight directions around a core, in shares of its u (on its left) and v (on its right); none above and below.
_SHARES_OF_U = np.array([1, 2 / 3, 0, 0, 0, 0, 0, 2 / 3, 1])
_SHARES_OF_V = np.array([0, 0, 0, 2 / 3, 1, 2 / 3, 0, 0, 0])
# Rounding to float32 must not reach pi.
LARGEST_ANGLE = np.nextafter(np.float32(math.pi), np.float32(0))
# Rows and columns of a map of ridge width; stamps are painted on a grid that is finer by a factor.
_CELLS, _FINE = (26, 18), 4
# Side of a stamp on the fine grid: about a twelfth of the height.
_STAMP = 8


def master(finger: Finger, *, backend: Backend = "auto") -> Picture:
    """Render the master print, ``uint8[H, W]``: 0 = ridge, 255 = paper, no other values; white borders of half a kernel.

    All backends give the same bytes. Errors: those of ``grow``.
    """
    # Kernel of every pixel, and the squares that ridges grow from, drawn uniformly over the canvas; `[H, W]` both.
    numbers = kernel_numbers(orientation(finger), ridge_period(finger), pixels_per_inch=finger.pixels_per_inch)
    rng = item_rng(finger.seed, "ridge points", "")
    scale = finger.pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    side, margin = max(1, round(_POINT_SIZE * scale)), round(_POINT_MARGIN * scale)
    share = finger.width * finger.height / (_REFERENCE_AREA * scale**2)
    count = max(1, round(float(rng.integers(*_POINTS)) * share))
    points = np.zeros((finger.height, finger.width), np.bool_)
    rows = rng.integers(margin, finger.height - margin - side, count, endpoint=True)
    columns = rng.integers(margin, finger.width - margin - side, count, endpoint=True)
    offsets = np.arange(side)
    points[rows[:, None, None] + offsets[:, None], columns[:, None, None] + offsets] = True
    grown = grow(numbers, points, bank(finger.pixels_per_inch), backend=backend)
    return np.where(grown, np.uint8(0), np.uint8(255))


def orientation(finger: Finger) -> FloatArray:
    """Ridge angle of every pixel, ``float32[H, W]``: radians in [0, pi), counter-clockwise as seen, 0 = horizontal ridges."""
    x = np.arange(finger.width, dtype=np.float64)[None, :]
    y = np.arange(finger.height, dtype=np.float64)[:, None]
    return np.minimum(orientation_at(finger, x, y).astype(np.float32), LARGEST_ANGLE)


def orientation_at(finger: Finger, x: npt.ArrayLike, y: npt.ArrayLike) -> DoubleArray:
    """Ridge angle at points of the canvas in pixels (broadcast against each other), radians in [0, pi).

    Cores and deltas turn the ridges by half the angle around them; a core's turn is corrected by a function that is piecewise
    linear between eight directions and scaled by its bends. Sources: Sherlock and Monro, Pattern Recognition 26 (1993); Vizcaya
    and Gerhardt, Pattern Recognition 29 (1996). A plain arch is a wave that flattens towards the tip.
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    angle = np.zeros(np.broadcast_shapes(x.shape, y.shape))
    if finger.arch is not None:
        steepness, width, height = finger.arch
        border = border_pixels(finger.pixels_per_inch)
        from_side = finger.width - 1 - x if width < 0 else x  # a negative width mirrors the wave
        across = (from_side - border) / ((finger.width - 2 * border) * abs(width))
        down = (y - border) / ((finger.height - 2 * border) * height)
        slope = np.maximum(0.0, steepness * (1 - down)) * np.cos(math.pi * across)
        angle = np.arctan(math.copysign(1.0, width) * slope)
    for delta_x, delta_y in finger.deltas:
        angle += np.arctan2(y - delta_y, x - delta_x) / 2
    for (core_x, core_y), bends in zip(finger.cores, finger.bends_degrees, strict=True):
        around = np.arctan2(y - core_y, x - core_x)
        u, v = np.radians(bends)
        bent = _SHARES_OF_U * u + _SHARES_OF_V * v
        slopes = np.diff(bent)
        place = (around + math.pi) * (4 / math.pi)
        before = np.minimum(place.astype(np.int8), 7)
        angle -= (around + ((bent[:-1] - slopes * np.arange(8))[before] + slopes[before] * place)) / 2
    inside = angle - math.pi * np.floor(angle / math.pi)
    return np.where(inside >= math.pi, 0.0, np.maximum(inside, 0.0))


def ridge_period(finger: Finger) -> FloatArray:
    """Ridge period of every pixel in pixels, ``float32[H, W]``: 6.5 to 13.2 at 500 pixels per inch, mostly 7 to 10.

    Ridges are wider at the tip and below the deltas. It depends on the finger's seed, size and resolution alone; its values are
    those of the 100 frequency bins.
    """
    rng = item_rng(finger.seed, "ridge density", "")
    count = int(rng.integers(2, 4))
    width_map = np.stack([_ridge_width(rng) for _ in range(count)]).mean(axis=0)
    wide = cv2.resize(width_map, (finger.width, finger.height), interpolation=cv2.INTER_LINEAR)
    bins = np.clip(FREQUENCIES + 1 - np.floor(FREQUENCIES * wide), 1, FREQUENCIES).astype(np.intp)
    periods = period_of_bin(np.arange(FREQUENCIES + 1), pixels_per_inch=finger.pixels_per_inch).astype(np.float32)
    return np.asarray(periods[bins])


def _ridge_width(rng: np.random.Generator) -> FloatArray:
    """Draw one map of ridge width, ``float32[26, 18]`` in 0..1: patches, one or two narrow blobs, and the wide tip and base."""
    height, width = _CELLS[0] * _FINE, _CELLS[1] * _FINE
    tiles = rng.uniform(0.20, 0.25, (-(-height // _STAMP), -(-width // _STAMP))).astype(np.float32)
    fine = np.ascontiguousarray(tiles.repeat(_STAMP, axis=0).repeat(_STAMP, axis=1)[:height, :width])

    def stamp(count: int, centre: DoubleArray, axes: tuple[float, float], least: float, most: float) -> None:
        # Squares of random values with centres uniform in an ellipse, later ones over earlier ones.
        radius, turn = np.sqrt(rng.random(count)), rng.uniform(0, 2 * np.pi, count)
        rows = np.rint(centre[0] + axes[0] * radius * np.cos(turn)).astype(int) - _STAMP // 2
        columns = np.rint(centre[1] + axes[1] * radius * np.sin(turn)).astype(int) - _STAMP // 2
        for row, column, value in zip(rows.tolist(), columns.tolist(), rng.uniform(least, most, count).tolist(), strict=True):
            fine[max(0, row) : max(0, row + _STAMP), max(0, column) : max(0, column + _STAMP)] = value

    for _ in range(int(rng.integers(1, 3))):
        centre = rng.uniform((0.3 * height, 0.2 * width), (0.7 * height, 0.8 * width))
        axes = (rng.uniform(1, 3) * height / 16, rng.uniform(1, 3) * width / 16)
        stamp(int(rng.integers(100, 201)), centre, axes, 0.10, 0.17)
    for centre_row in (rng.uniform(0.16, 0.20), rng.uniform(0.81, 0.85)):
        centre = np.array([centre_row * height, rng.uniform(0.4, 0.6) * width])
        axes = (rng.uniform(0.07, 0.11) * height, rng.uniform(0.45, 0.65) * width)
        stamp(int(rng.integers(200, 301)), centre, axes, 0.75, 0.80)
    coarse = cv2.resize(fine, (_CELLS[1], _CELLS[0]), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.GaussianBlur(coarse, (9, 9), 0), np.float32)
