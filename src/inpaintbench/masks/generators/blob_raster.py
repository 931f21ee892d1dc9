"""Rasterisation of blobs: strokes drawn without anti-aliasing on a canvas, resampled by nearest neighbour.

Only the bounding box of a stroke is read, resampled and erased; the pixels equal those of drawing on an empty canvas and resizing
all of it with Pillow.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from inpaintbench.types import Hole

Points = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


class Patch(NamedTuple):
    """Bounding box of a stroke on a canvas; all other pixels are 0."""

    pixels: npt.NDArray[np.uint8]
    """``uint8[h, w]``, 1 inside the stroke."""
    left: int
    top: int


class Sampling(NamedTuple):
    """Row and column of the canvas for every row and column of a frame."""

    rows: Indices
    """``int64[H]``, ascending."""
    columns: Indices
    """``int64[W]``, ascending."""


class Canvas:
    """Canvas of (width, height) pixels that draws strokes one at a time, each on an empty canvas.

    Strokes are drawn at their position: moved to the corner of a smaller canvas, single pixels would change, because Pillow
    computes the sides of a thick line in single precision.
    """

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        # Mode "L" draws the same pixels as mode "1", whose arrays store True as 255, which breaks arithmetic on their bytes.
        self._image = Image.new("L", size)
        self._draw = ImageDraw.Draw(self._image)

    def stroke(self, points: Points, *, brush_width: int) -> Patch:
        """Draw lines of ``brush_width`` through ``float64[n, 2]`` (x, y) control points, and a disc on each."""
        radius = brush_width // 2 - 1
        # Without `joint` each pair of neighbours is an independent line, as in DEVIL.
        self._draw.line(points.ravel().tolist(), fill=1, width=brush_width)
        for disc in np.hstack([points - radius, points + radius]).tolist():
            self._draw.ellipse(disc, fill=1)
        box = self._box(points, margin=brush_width // 2 + 2)
        pixels = np.asarray(self._image.crop(box))
        self._image.paste(0, box)
        return Patch(pixels, left=box[0], top=box[1])

    def _box(self, points: Points, *, margin: int) -> tuple[int, int, int, int]:
        """Left, top, right and bottom of the pixels that a stroke can touch."""
        left, top = np.maximum(points.min(axis=0).astype(int) - margin, 0).tolist()
        right, bottom = np.minimum(points.max(axis=0).astype(int) + margin + 1, self.size).tolist()
        return left, top, right, bottom


def render(points: Points, *, brush_width: int, canvas: tuple[int, int], order: Sequence[int], width: int, height: int) -> Hole:
    """Render the hole ``bool[len(order), height, width]`` whose frame t has the control points ``points[order[t]]``."""
    hole = np.zeros((len(order), height, width), np.bool_)
    surface, grid = Canvas(canvas), sampling(canvas=canvas, width=width, height=height)
    first_shown: dict[int, int] = {}
    for frame, moment in enumerate(order):
        if moment in first_shown:
            hole[frame] = hole[first_shown[moment]]
        else:
            resample(surface.stroke(points[moment], brush_width=brush_width), grid=grid, frame=hole[frame])
            first_shown[moment] = frame
    return hole


def resample(patch: Patch, *, grid: Sampling, frame: npt.NDArray[np.bool_]) -> None:
    """Resample the patch into ``frame``, ``bool[H, W]``, which is False everywhere."""
    height, width = patch.pixels.shape
    first_row, end_row = np.searchsorted(grid.rows, (patch.top, patch.top + height))
    first_column, end_column = np.searchsorted(grid.columns, (patch.left, patch.left + width))
    rows = grid.rows[first_row:end_row] - patch.top
    columns = grid.columns[first_column:end_column] - patch.left
    frame.view(np.uint8)[first_row:end_row, first_column:end_column] = patch.pixels[rows][:, columns]


@lru_cache(maxsize=16)
def sampling(*, canvas: tuple[int, int], width: int, height: int) -> Sampling:
    """Sampling of the canvas by a frame of ``width`` x ``height``: scaled to cover it, nearest neighbour, centre crop."""
    across, down = cover_size(canvas, width=width, height=height)
    left, top = (across - width) // 2, (down - height) // 2
    columns = _nearest(canvas[0], across)[left : left + width]
    rows = _nearest(canvas[1], down)[top : top + height]
    return Sampling(rows, columns)


def cover_size(canvas: tuple[int, int], *, width: int, height: int) -> tuple[int, int]:
    """Smallest (width, height) with the aspect ratio of the canvas, rounded up, that covers the frame; in exact integers."""
    if width * canvas[1] >= height * canvas[0]:
        return width, -(-canvas[1] * width // canvas[0])
    return -(-canvas[0] * height // canvas[1]), height


def _nearest(length: int, size: int) -> Indices:
    """Source index of each of ``size`` positions when Pillow resizes ``length`` pixels by nearest neighbour."""
    # By resizing a row of indices: Pillow accumulates steps, so that no closed formula rounds as it does.
    row = Image.fromarray(np.arange(length, dtype=np.int32)[None])
    indices: Indices = np.asarray(row.resize((size, 1), Image.Resampling.NEAREST))[0].astype(np.int64)
    return indices
