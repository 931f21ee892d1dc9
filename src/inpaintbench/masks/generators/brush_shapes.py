"""Random strokes and boxes by LaMa's constants, as its released code draws them, and their painting."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat
from types import MappingProxyType
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

# A stroke has 1 to 5 segments.
LONGEST_STROKE_SEGMENTS = 5
SHORTEST_SEGMENT_PIXELS = 10
NARROWEST_SEGMENT_PIXELS = 5
# The only directions of segments: LaMa draws whole radians below 4 and adds 0.01; segments 0, 2, 4 ... use 2 pi minus that.
ANGLES_RADIANS = (0.01, 1.01, 2.01, 3.01)


@dataclass(frozen=True)
class BoxRange:
    """Ranges of boxes: number, sides in pixels (all inclusive), and the least distance from the frame's edge in pixels."""

    times: tuple[int, int]
    side_pixels: tuple[int, int]
    margin_pixels: int


@dataclass(frozen=True)
class BrushPreset:
    """Parameter set of LaMa, for square images of ``image_size`` pixels."""

    image_size: int
    times: tuple[int, int]
    """Least and largest number of strokes, inclusive: LaMa's code draws one more than its configuration says."""
    max_length: int
    """Segments are 10 ... 9 + max_length pixels long."""
    max_width: int
    """Segments are 5 ... 4 + max_width pixels wide."""
    boxes: BoxRange | None

    @property
    def brush_probability(self) -> float:
        """Probability of a mask of strokes: LaMa's weights are 1 for strokes and 0.3 for boxes."""
        return 1.0 if self.boxes is None else 1 / 1.3


# Name -> constants. Source: the configuration files and the mask generator of LaMa (WACV 2022), repository advimman/lama.
PRESETS: Mapping[str, BrushPreset] = MappingProxyType(
    {
        "thin-256": BrushPreset(256, (4, 51), 40, 10, None),
        "medium-256": BrushPreset(256, (4, 6), 100, 50, BoxRange((1, 5), (10, 50), 0)),
        "thick-256": BrushPreset(256, (1, 6), 200, 100, BoxRange((1, 3), (30, 150), 10)),
        "thin-512": BrushPreset(512, (4, 71), 100, 20, None),
        "medium-512": BrushPreset(512, (4, 11), 200, 100, BoxRange((1, 5), (30, 150), 0)),
        "thick-512": BrushPreset(512, (1, 6), 450, 250, BoxRange((1, 4), (30, 300), 10)),
    }
)


# `uint8[H, W]`, 1 = hole.
Canvas = npt.NDArray[np.uint8]
_SIN, _COS = (np.array([function(angle) for angle in ANGLES_RADIANS]) for function in (math.sin, math.cos))
# Shapes drawn per call of the random generator: few at first, since most masks need few.
_PER_CALL = (8, 16, 32, 64)
_SEGMENT = np.arange(LONGEST_STROKE_SEGMENTS)


@dataclass(slots=True)  # not frozen: that takes three times as long to construct, and a thin mask has a hundred strokes
class Stroke:
    """Polyline from (x, y); each segment has its own step and width. Lengths in pixels."""

    x: int
    y: int
    steps_x: Sequence[float] | npt.NDArray[np.float64]
    steps_y: Sequence[float] | npt.NDArray[np.float64]
    widths: list[int]
    segments: int
    most_pixels: float
    """Upper bound of the area of the stroke in full size."""
    path: list[list[int]] | None = None
    """Corners in full size, [x, y], where they are precomputed."""

    def paint(self, canvas: Canvas, *, size: float = 1.0) -> None:
        """Paint the stroke with lengths and widths multiplied by ``size``; at 0 it is one pixel."""
        if size == 1.0 and self.path is not None:
            start, line = self.path[0], cv2.line
            for end, across in zip(self.path[1 : self.segments + 1], self.widths, strict=False):
                line(canvas, start, end, 1, across - 1 or 1)
                start = end
            return
        steps_x, steps_y = ([float(step) * size for step in steps] for steps in (self.steps_x, self.steps_y))
        widths = [max(1, int(width * size)) for width in self.widths]
        _paint(canvas, self.x, self.y, steps_x, steps_y, widths, self.segments)


@dataclass(frozen=True, slots=True)
class Box:
    """Box of given sides, positioned at a share of the range from the first to the last position inside the margin."""

    share_x: float
    share_y: float
    width: int
    height: int
    margin: int
    most_pixels: float

    def paint(self, canvas: Canvas, *, size: float = 1.0) -> None:
        """Paint the box with sides multiplied by ``size``; at 0 it is one pixel.

        A smaller box keeps its relative position, not its corner: where boxes are hardly smaller than the frame, all corners are
        the same few pixels, and boxes painted from there could not grow a mask further.
        """
        width, height = max(1, int(self.width * size)), max(1, int(self.height * size))
        left = self.margin + int(self.share_x * (canvas.shape[1] - 2 * self.margin - width + 1))
        top = self.margin + int(self.share_y * (canvas.shape[0] - 2 * self.margin - height + 1))
        canvas[top : top + height, left : left + width] = 1


Shape = Stroke | Box


def _paint(canvas: Canvas, x: int, y: int, steps_x: list[float], steps_y: list[float], widths: list[int], segments: int) -> None:
    height, width = canvas.shape
    start, line = (x, y), cv2.line
    for step_x, step_y, across in zip(steps_x[:segments], steps_y, widths, strict=False):
        # End points are truncated to whole pixels and clipped to 0 ... width, 0 ... height, as in LaMa.
        x, y = int(x + step_x), int(y + step_y)
        end = (0 if x < 0 else width if x > width else x, 0 if y < 0 else height if y > height else y)
        # OpenCV paints a line of thickness t about t + 1 pixels wide; masks should have the area that the widths state.
        line(canvas, start, end, 1, across - 1 or 1)
        x, y = start = end


def strokes(preset: BrushPreset, *, height: int, width: int, scale: float, rng: np.random.Generator) -> Iterator[Stroke]:
    """Draw strokes endlessly; lengths and widths are those of the preset times ``scale``."""
    limits = _limits(preset.max_length, preset.max_width, height, width)
    for count in chain(_PER_CALL, repeat(_PER_CALL[-1])):
        # One call for many strokes: a call for each number would cost more than the painting.
        numbers = (rng.random((count, len(limits))) * limits).astype(np.int32)
        angles, lengths, widths = (numbers[:, start : start + LONGEST_STROKE_SEGMENTS] for start in (3, 8, 13))
        pixels = (lengths + SHORTEST_SEGMENT_PIXELS) * scale
        thick = np.maximum((widths + NARROWEST_SEGMENT_PIXELS) * scale + 0.5, 1).astype(np.int32)
        steps_x = pixels * _SIN[angles]
        steps_x[::2] *= -1  # the sine of 2 pi minus the angle; the cosine is the same
        steps_y = pixels * _COS[angles]
        most = _capsule(pixels, thick) * (numbers[:, 2:3] >= _SEGMENT)
        yield from map(
            Stroke,
            numbers[:, 0].tolist(),
            numbers[:, 1].tolist(),
            list(steps_x),  # rows of arrays, converted only when a stroke has to be painted smaller
            list(steps_y),
            thick.tolist(),
            (numbers[:, 2] + 1).tolist(),
            most.sum(axis=1).tolist(),
            _corners(numbers[:, :2], steps_x, steps_y, height=height, width=width).tolist(),
        )


def _corners(
    starts: npt.NDArray[np.int32],
    steps_x: npt.NDArray[np.float64],
    steps_y: npt.NDArray[np.float64],
    *,
    height: int,
    width: int,
) -> npt.NDArray[np.int32]:
    """Corners of n strokes, ``int32[n, segments + 1, 2]``, clipped to 0 ... width and 0 ... height like those of ``_paint``."""
    corners = np.empty((len(starts), steps_x.shape[1] + 1, 2), np.int32)
    corners[:, 0] = starts
    steps, most = np.stack([steps_x, steps_y], axis=2), np.array((width, height))
    for segment in range(steps_x.shape[1]):
        # The conversion to integers truncates towards 0, like `int`.
        corners[:, segment + 1] = np.clip((corners[:, segment] + steps[:, segment]).astype(np.int32), 0, most)
    return corners


def boxes(limits: BoxRange, *, height: int, width: int, scale: float, rng: np.random.Generator) -> Iterator[Box]:
    """Draw boxes inside the margin endlessly; sides are those of the preset times ``scale``, cut to the available room."""
    margin, room_y, room_x = box_room(limits, height=height, width=width, scale=scale)
    least, most = limits.side_pixels
    for count in chain(_PER_CALL, repeat(_PER_CALL[-1])):
        numbers = rng.random((count, 4))
        sides = ((numbers[:, :2] * (most - least + 1)).astype(np.int32) + least) * scale
        sides = np.minimum(np.maximum(sides + 0.5, 1).astype(np.int32), (room_x, room_y))
        for (x, y), (across, down) in zip(numbers[:, 2:].tolist(), sides.tolist(), strict=True):
            yield Box(x, y, across, down, margin, across * down)


def box_room(limits: BoxRange, *, height: int, width: int, scale: float) -> tuple[int, int, int]:
    """Margin, and height and width of the area inside it, pixels; not above 0 where there is none."""
    margin = round(limits.margin_pixels * scale)
    return margin, height - 2 * margin, width - 2 * margin


@lru_cache(maxsize=64)
def _limits(max_length: int, max_width: int, height: int, width: int) -> npt.NDArray[np.float64]:
    """Factors of uniform random numbers, ``float64[18]``: start x, y, segments; five angles, five lengths, five widths."""
    each = [len(ANGLES_RADIANS), max_length, max_width]
    return np.array([width, height, LONGEST_STROKE_SEGMENTS, *np.repeat(each, LONGEST_STROKE_SEGMENTS)], dtype=np.float64)


def _capsule(length: npt.NDArray[Any], width: npt.NDArray[np.int32]) -> npt.NDArray[Any]:
    """Upper bound of the pixels of a line with round ends, to which OpenCV adds up to two across."""
    across = width + 2.0
    bound: npt.NDArray[Any] = across * (length + 1 + math.pi / 4 * across)
    return bound
