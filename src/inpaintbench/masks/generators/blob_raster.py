"""From control points to pixels: strokes drawn without anti-aliasing on a canvas, seen by nearest neighbour.

Only the bounding box of a stroke is read, scaled and wiped; the pixels are those of drawing on an empty canvas and resizing
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
    """The part of a canvas that holds a stroke; everything outside it is 0."""

    pixels: npt.NDArray[np.uint8]
    """``uint8[h, w]``, 1 inside the stroke."""
    left: int
    top: int


class Sight(NamedTuple):
    """Which canvas pixel every pixel of a view shows."""

    rows: Indices
    """``int64[H]``, ascending."""
    columns: Indices
    """``int64[W]``, ascending."""


class Canvas:
    """A surface of (width, height) pixels that draws one stroke after another, each alone.

    Strokes are drawn in place: moving them to the corner of a smaller surface changes a pixel now and then, because Pillow
    computes the sides of a thick line in single precision.
    """

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        # Mode "L" draws the pixels of mode "1", whose arrays store True as 255 and so break arithmetic on their bytes.
        self._image = Image.new("L", size)
        self._draw = ImageDraw.Draw(self._image)

    def stroke(self, points: Points, *, brush_width: int) -> Patch:
        """Join ``float64[n, 2]`` (x, y) control points by lines of ``brush_width`` and put a disc on each."""
        radius = brush_width // 2 - 1
        # Without `joint` this is one line for each pair of neighbours.
        self._draw.line(points.ravel().tolist(), fill=1, width=brush_width)
        for disc in np.hstack([points - radius, points + radius]).tolist():
            self._draw.ellipse(disc, fill=1)
        box = self._box(points, margin=brush_width // 2 + 2)
        pixels = np.asarray(self._image.crop(box))
        self._image.paste(0, box)
        return Patch(pixels, left=box[0], top=box[1])

    def _box(self, points: Points, *, margin: int) -> tuple[int, int, int, int]:
        """Left, top, right, bottom around everything a stroke can touch."""
        left, top = np.maximum(points.min(axis=0).astype(int) - margin, 0).tolist()
        right, bottom = np.minimum(points.max(axis=0).astype(int) + margin + 1, self.size).tolist()
        return left, top, right, bottom


def render(points: Points, *, brush_width: int, canvas: tuple[int, int], order: Sequence[int], width: int, height: int) -> Hole:
    """The hole ``bool[len(order), height, width]`` whose frame t shows the control points ``points[order[t]]``."""
    hole = np.zeros((len(order), height, width), np.bool_)
    surface, seen = Canvas(canvas), sight(canvas=canvas, width=width, height=height)
    first_shown: dict[int, int] = {}
    for frame, moment in enumerate(order):
        if moment in first_shown:
            hole[frame] = hole[first_shown[moment]]
        else:
            look(surface.stroke(points[moment], brush_width=brush_width), seen=seen, frame=hole[frame])
            first_shown[moment] = frame
    return hole


def look(patch: Patch, *, seen: Sight, frame: npt.NDArray[np.bool_]) -> None:
    """Write what a view sees of the patch into ``frame``, ``bool[H, W]``, which is False everywhere."""
    height, width = patch.pixels.shape
    first_row, end_row = np.searchsorted(seen.rows, (patch.top, patch.top + height))
    first_column, end_column = np.searchsorted(seen.columns, (patch.left, patch.left + width))
    rows = seen.rows[first_row:end_row] - patch.top
    columns = seen.columns[first_column:end_column] - patch.left
    frame.view(np.uint8)[first_row:end_row, first_column:end_column] = patch.pixels[rows][:, columns]


@lru_cache(maxsize=16)
def sight(*, canvas: tuple[int, int], width: int, height: int) -> Sight:
    """How a view of ``width`` x ``height`` sees the canvas: scaled until it covers the view, nearest neighbour, centre crop."""
    across, down = cover_size(canvas, width=width, height=height)
    left, top = (across - width) // 2, (down - height) // 2
    columns = _nearest(canvas[0], across)[left : left + width]
    rows = _nearest(canvas[1], down)[top : top + height]
    return Sight(rows, columns)


def cover_size(canvas: tuple[int, int], *, width: int, height: int) -> tuple[int, int]:
    """The smallest (width, height) in the proportions of the canvas, rounded up, that covers the view; in exact integers."""
    if width * canvas[1] >= height * canvas[0]:
        return width, -(-canvas[1] * width // canvas[0])
    return -(-canvas[0] * height // canvas[1]), height


def _nearest(length: int, size: int) -> Indices:
    """The source index of each of ``size`` positions when Pillow resizes ``length`` pixels by nearest neighbour."""
    # Pillow itself is asked, with a row of counting numbers: it adds up steps, so no formula rounds as it does.
    row = Image.fromarray(np.arange(length, dtype=np.int32)[None])
    indices: Indices = np.asarray(row.resize((size, 1), Image.Resampling.NEAREST))[0].astype(np.int64)
    return indices
