"""Procedural textures and soft regions for materials and effects: noise, streaks, cells, relief, ramps, ellipses, compositing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.lazily import lazily

cv2 = lazily("cv2")

# `float32[H, W]`.
Plane = npt.NDArray[np.float32]
# `uint8[H, W]`, 255 = paper, 0 = ink.
Grey = npt.NDArray[np.uint8]
# `uint8[H, W, 3]`.
Rgb = npt.NDArray[np.uint8]
# RGB, 0..255.
Colour = tuple[float, float, float]

# Random values along one period: enough for smoothed noise to look isotropic.
_CELLS_A_PERIOD = 3.0
# Spacing of cells, pixels, below which their borders need no fine detail.
_DETAILED_CELL = 20.0
# Standard deviation of white noise after a Gaussian with a standard deviation of one cell.
_SMOOTHED = 1.0 / (2.0 * math.sqrt(math.pi))
# Largest extent of an ellipse beyond the picture, its least half width, and the blur of its rim; pixels at 500 per inch.
MARGIN_PIXELS = 25.0
# The mask of an ellipse is computed at an eighth of the resolution, which is enough for so soft a rim.
_STEP = 8
# (left, top, right, bottom) of an ellipse.
Box = tuple[float, float, float, float]


def bumps(height: int, width: int, *, period_pixels: float, rng: np.random.Generator, stretch: float = 1.0) -> Plane:
    """Draw smooth noise ``float32[H, W]``, mean 0 and standard deviation about 1, ``stretch`` times longer along rows."""
    cell = max(period_pixels / _CELLS_A_PERIOD, 1.0)
    rows, columns = math.ceil(height / cell) + 4, math.ceil(width / (cell * stretch)) + 4
    grid = grain(rows, columns, rng=rng)
    if period_pixels > 1:
        grid = np.asarray(cv2.GaussianBlur(grid, (5, 5), 1.0), np.float32) / np.float32(_SMOOTHED)
    inside = grid[2 : rows - 2, 2 : columns - 2]
    if inside.shape == (height, width):
        return np.ascontiguousarray(inside)
    return np.asarray(cv2.resize(inside, (width, height), interpolation=cv2.INTER_CUBIC), np.float32)


def clouds(height: int, width: int, *, period_pixels: float, octaves: int, rng: np.random.Generator, gain: float = 0.5) -> Plane:
    """Draw fractal noise: ``octaves`` from ``period_pixels`` down, each ``gain`` as strong; standard deviation about 1."""
    # Octaves are summed at the resolution of the finest and upsampled once.
    cell = max(period_pixels / 2 ** (octaves - 1) / _CELLS_A_PERIOD, 1.0)
    rows, columns = math.ceil(height / cell), math.ceil(width / cell)
    total, power = np.zeros((rows, columns), np.float32), 0.0
    for octave in range(octaves):
        weight = gain**octave
        total += np.float32(weight) * bumps(rows, columns, period_pixels=period_pixels / cell / 2**octave, rng=rng)
        power += weight**2
    total /= np.float32(math.sqrt(power))
    if cell == 1:
        return total
    return np.asarray(cv2.resize(total, (width, height), interpolation=cv2.INTER_CUBIC), np.float32)


def grain(height: int, width: int, *, rng: np.random.Generator) -> Plane:
    """Draw white noise ``float32[H, W]``, uniform on 256 levels, mean 0 and standard deviation 1."""
    values = np.frombuffer(rng.bytes(height * width), np.uint8).reshape(height, width)
    return (values - np.float32(127.5)) * np.float32(math.sqrt(12 / (256**2 - 1)))


def coordinates(height: int, width: int, *, degrees: float) -> tuple[Plane, Plane]:
    """Coordinates of every pixel from the centre, along a direction ``degrees`` clockwise from the right, and across it."""
    y = (np.arange(height, dtype=np.float32) - np.float32((height - 1) / 2))[:, None]
    x = (np.arange(width, dtype=np.float32) - np.float32((width - 1) / 2))[None]
    cosine, sine = np.float32(math.cos(math.radians(degrees))), np.float32(math.sin(math.radians(degrees)))
    return x * cosine + y * sine, y * cosine - x * sine


def along(plane: Plane, at_x: Plane, at_y: Plane) -> Plane:
    """Sample ``plane`` at (at_x, at_y), bilinear, mirrored beyond its borders."""
    return np.asarray(cv2.remap(plane, at_x, at_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101), np.float32)


def streaks(height: int, width: int, *, length_pixels: float, degrees: float, rng: np.random.Generator) -> Plane:
    """Draw white noise smeared over ``length_pixels`` in a direction, one pixel wide; standard deviation about 1."""
    if degrees % 90 == 0:
        flat = degrees % 180 == 0
        lying = _lying_streaks(*((height, width) if flat else (width, height)), length_pixels=length_pixels, rng=rng)
        return lying if flat else np.ascontiguousarray(lying.T)
    along_it, across_it = coordinates(height, width, degrees=degrees)
    far_along, far_across = float(along_it.max()) + 2, float(across_it.max()) + 2
    wide = _lying_streaks(math.ceil(2 * far_across), math.ceil(2 * far_along), length_pixels=length_pixels, rng=rng)
    return along(wide, along_it + np.float32(far_along), across_it + np.float32(far_across))


def _lying_streaks(height: int, width: int, *, length_pixels: float, rng: np.random.Generator) -> Plane:
    cell = max(length_pixels / _CELLS_A_PERIOD, 1.0)
    columns = math.ceil(width / cell) + 4
    grid = np.asarray(cv2.GaussianBlur(grain(height, columns, rng=rng), (5, 1), 1.0), np.float32)
    smooth = grid[:, 2 : columns - 2] * np.float32(math.sqrt(2.0 * math.sqrt(math.pi)))
    return np.asarray(cv2.resize(smooth, (width, height), interpolation=cv2.INTER_CUBIC), np.float32)


def cells(height: int, width: int, *, spacing_pixels: float, bend_pixels: float, rng: np.random.Generator) -> tuple[Any, Plane]:
    """Draw a random mosaic: cell numbers ``int32[H, W]``, and the distance of each pixel from its cell's border, pixels.

    Cells are those of the nearest of jittered grid points, with borders bent by noise of up to about ``bend_pixels``. Source:
    Worley, "A cellular texture basis function", SIGGRAPH 1996.
    """
    margin = math.ceil(0.25 * spacing_pixels + bend_pixels)
    rows, columns = height + 2 * margin, width + 2 * margin
    counts = math.ceil(rows / spacing_pixels), math.ceil(columns / spacing_pixels)
    spots = (np.moveaxis(np.indices(counts), 0, -1) + rng.random((*counts, 2))) * spacing_pixels
    at = np.minimum(spots.reshape(-1, 2).astype(np.int64), (rows - 1, columns - 1))
    room = np.full((rows, columns), 255, np.uint8)
    room[at[:, 0], at[:, 1]] = 0
    _, numbers = cv2.distanceTransformWithLabels(room, cv2.DIST_L2, cv2.DIST_MASK_5, labelType=cv2.DIST_LABEL_PIXEL)
    octaves = 3 if spacing_pixels >= _DETAILED_CELL else 2
    bend_x, bend_y = (
        clouds(height, width, period_pixels=1.5 * spacing_pixels, octaves=octaves, rng=rng) * np.float32(bend_pixels / 2)
        for _ in range(2)
    )
    at_x = np.arange(width, dtype=np.float32)[None] + np.float32(margin) + bend_x
    at_y = np.arange(height, dtype=np.float32)[:, None] + np.float32(margin) + bend_y
    bent = cv2.remap(numbers.astype(np.float32), at_x, at_y, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE).astype(np.int32)
    return bent, border_distance(bent)


def border_distance(numbers: Any) -> Plane:
    """Distance of each pixel from the nearest border between numbers, ``float32[H, W]``, pixels."""
    inside = np.ones(numbers.shape, np.uint8)
    inside[:, 1:] = numbers[:, 1:] == numbers[:, :-1]
    inside[1:] &= (numbers[1:] == numbers[:-1]).view(np.uint8)
    if inside.all():
        return np.full(numbers.shape, float(sum(numbers.shape)), np.float32)
    return np.asarray(cv2.distanceTransform(inside, cv2.DIST_L2, cv2.DIST_MASK_5), np.float32)


def relief(surface: Plane, *, light_degrees: float) -> Plane:
    """Shading of a height field by light from a direction: its slope towards the light, per pixel."""
    slope_x = np.asarray(cv2.Sobel(surface, cv2.CV_32F, 1, 0, ksize=3, scale=1 / 8), np.float32)
    slope_y = np.asarray(cv2.Sobel(surface, cv2.CV_32F, 0, 1, ksize=3, scale=1 / 8), np.float32)
    cosine, sine = math.cos(math.radians(light_degrees)), math.sin(math.radians(light_degrees))
    return -slope_x * np.float32(cosine) - slope_y * np.float32(sine)


def soft_ellipse(height: int, width: int, *, scale: float, rng: np.random.Generator) -> Grey:
    """Draw an ellipse with its top anywhere in the height, ``uint8[height, width]``, 255 = full effect."""
    left, top, right, bottom = ellipse_box(height, width, top_below=height, scale=scale, rng=rng)
    step = max(1.0, _STEP * min(scale, 1.0))
    rows, columns = math.ceil(height / step), math.ceil(width / step)
    y = (np.arange(rows, dtype=np.float32) + 0.5) * (height / rows)
    x = (np.arange(columns, dtype=np.float32) + 0.5) * (width / columns)
    down = ((2 * y - (top + bottom)) / (bottom - top))[:, None]
    across = ((2 * x - (left + right)) / (right - left))[None]
    # Coverage of each coarse pixel, by its distance from the ellipse: the implicit equation over its gradient.
    slope = 4 * np.sqrt((down / (bottom - top)) ** 2 + (across / (right - left)) ** 2)
    inside = np.clip(0.5 + (1 - down**2 - across**2) / np.maximum(slope * step, 1e-6), 0, 1).astype(np.float32)
    sigma = MARGIN_PIXELS * scale / step
    soft = cv2.GaussianBlur(inside, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)
    coarse = cv2.convertScaleAbs(soft, alpha=255)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR), np.uint8)


def ellipse_box(height: int, width: int, *, top_below: int, scale: float, rng: np.random.Generator) -> Box:
    """Draw the bounds of an ellipse whose top lies above ``top_below``; each side is drawn between the former one and the end."""
    margin = MARGIN_PIXELS * scale
    left, top = rng.uniform(0, width) - margin, rng.uniform(0, top_below) - margin
    right, bottom = (
        start + margin + (end - (start + margin)) * float(rng.random()) + margin for start, end in ((left, width), (top, height))
    )
    return left, top, right, bottom


def softened(plane: Plane, *, sigma_pixels: float) -> Plane:
    """Blur the plane by a Gaussian; unchanged below a tenth of a pixel."""
    if sigma_pixels < 0.1:
        return plane
    return np.asarray(cv2.GaussianBlur(plane, (0, 0), sigma_pixels), np.float32)


def coloured(level: Plane, colours: Sequence[Colour], *, lighter: Plane | None = None) -> Rgb:
    """Map ``level`` 0..1 to a ramp of colours, clipped at its ends, and add ``lighter`` grey levels."""
    steps = np.linspace(0, 1, len(colours))
    tables = [np.interp(np.linspace(0, 1, 256), steps, [colour[i] for colour in colours]) for i in range(3)]
    index = levels(level * np.float32(255))
    if lighter is None:
        channels = [cv2.LUT(index, np.rint(table).astype(np.uint8)) for table in tables]
    else:
        channels = [levels(cv2.LUT(index, table.astype(np.float32)) + lighter) for table in tables]
    return np.asarray(cv2.merge(channels), np.uint8)


def blended(parts: Sequence[tuple[Colour, Plane]]) -> Rgb:
    """Sum of colours weighted by their share of every pixel, rounded and clipped to 0..255."""
    channels = []
    for channel in range(3):
        total = parts[0][1] * np.float32(parts[0][0][channel])
        for colour, share in parts[1:]:
            total += share * np.float32(colour[channel])
        channels.append(levels(total))
    return np.asarray(cv2.merge(channels), np.uint8)


def multiplied(picture: Rgb, grey: Grey) -> Rgb:
    """Product of ``picture`` and ``grey``, 255 = 1, rounded: white is the neutral element of both."""
    return np.asarray(cv2.multiply(picture, cv2.merge([grey, grey, grey]), scale=1 / 255), np.uint8)


def mixed(upper: Rgb | Grey, lower: Rgb | Grey, opacity: Grey) -> Rgb:
    """Composite ``upper`` over ``lower``, grey or RGB; pixels where both are equal stay unchanged, to the last bit."""
    share = cv2.merge([opacity, opacity, opacity]) if upper.ndim == 3 else opacity
    total = np.multiply(upper, share, dtype=np.uint16)
    total += np.multiply(lower, np.bitwise_not(share), dtype=np.uint16)
    total += np.uint16(127)
    total //= np.uint16(255)
    return total.astype(np.uint8)


def levels(plane: Plane | Any) -> Grey:
    """Round and clip to ``uint8``."""
    return np.asarray(cv2.convertScaleAbs(cv2.threshold(plane, 0, 0, cv2.THRESH_TOZERO)[1]), np.uint8)
