"""Masks of brush strokes or of boxes by LaMa's constants, as its released code draws them, in bins of area."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import Deviation, known_name
from inpaintbench.errors import InputError, Rejected
from inpaintbench.lazily import lazily
from inpaintbench.masks.generators.base import Drawn, Generator, Interval, share, share_interval
from inpaintbench.masks.generators.shapes import FrameHole, Motion
from inpaintbench.ranges import AtLeastOne, Pixels, Share
from inpaintbench.view import ItemView

cv2 = lazily("cv2")

Reach = Literal["grow", "rejection"]
# Masks that `rejection` draws before it gives up.
MOST_DRAWS = 1000
# Strokes or boxes that `grow` adds before it gives up.
MOST_SHAPES = 20_000
# Attempts at a smaller shape before a single pixel is painted instead.
_MOST_SHRINKS = 6
Frame = tuple[FrameHole, dict[str, Any]]
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
            for corner, following, across in zip(self.path, self.path[1 : self.segments + 1], self.widths, strict=False):
                cv2.line(canvas, corner, following, 1, across - 1 or 1)
            return
        x, y, (height, width) = self.x, self.y, canvas.shape
        start, line = (x, y), cv2.line
        for step_x, step_y, full in zip(self.steps_x[: self.segments], self.steps_y, self.widths, strict=False):
            # End points are truncated to whole pixels and clipped to 0 ... width, 0 ... height, as in LaMa.
            x, y = int(x + float(step_x) * size), int(y + float(step_y) * size)
            end = (0 if x < 0 else width if x > width else x, 0 if y < 0 else height if y > height else y)
            # OpenCV paints a line of thickness t about t + 1 pixels wide; masks should have the area that the widths state.
            line(canvas, start, end, 1, max(1, int(full * size)) - 1 or 1)
            x, y = start = end


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


def strokes(preset: BrushPreset, *, height: int, width: int, scale: float, rng: np.random.Generator) -> Iterator[Stroke]:
    """Draw strokes endlessly; lengths and widths are those of the preset times ``scale``."""
    # Factors of uniform random numbers: start x, y, segments; five angles, five lengths, five widths.
    each = [len(ANGLES_RADIANS), preset.max_length, preset.max_width]
    limits = np.array([width, height, LONGEST_STROKE_SEGMENTS, *np.repeat(each, LONGEST_STROKE_SEGMENTS)], dtype=np.float64)
    edges = np.array((width, height))
    for count in chain(_PER_CALL, repeat(_PER_CALL[-1])):
        # One call for many strokes: a call for each number would cost more than the painting.
        numbers = (rng.random((count, len(limits))) * limits).astype(np.int32)
        angles, lengths, widths = (numbers[:, start : start + LONGEST_STROKE_SEGMENTS] for start in (3, 8, 13))
        pixels = (lengths + SHORTEST_SEGMENT_PIXELS) * scale
        thick = np.maximum((widths + NARROWEST_SEGMENT_PIXELS) * scale + 0.5, 1).astype(np.int32)
        steps_x = pixels * _SIN[angles]
        steps_x[::2] *= -1  # the sine of 2 pi minus the angle; the cosine is the same
        steps_y = pixels * _COS[angles]
        # The most pixels of lines with round ends, to which OpenCV adds up to two across.
        across = thick + 2.0
        most = across * (pixels + 1 + math.pi / 4 * across) * (numbers[:, 2:3] >= _SEGMENT)
        # Corners in full size, clipped as ``Stroke.paint`` clips them; the conversion to integers truncates, like `int`.
        corners = np.empty((count, LONGEST_STROKE_SEGMENTS + 1, 2), np.int32)
        corners[:, 0] = numbers[:, :2]
        steps = np.stack([steps_x, steps_y], axis=2)
        for segment in range(LONGEST_STROKE_SEGMENTS):
            corners[:, segment + 1] = np.clip((corners[:, segment] + steps[:, segment]).astype(np.int32), 0, edges)
        yield from map(
            Stroke,
            numbers[:, 0].tolist(),
            numbers[:, 1].tolist(),
            list(steps_x),  # rows of arrays, converted only when a stroke has to be painted smaller
            list(steps_y),
            thick.tolist(),
            (numbers[:, 2] + 1).tolist(),
            most.sum(axis=1).tolist(),
            corners.tolist(),
        )


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


class BrushBox(Generator):
    """With probability ``brush_probability`` n brush strokes, else n boxes, of random size and place.

    Sources: Algorithm 1 of "Assessing Image Inpainting via Re-Inpainting Self-Consistency Evaluation"; ranges by the
    ``preset`` from LaMa (WACV 2022). ``area=None`` is one draw of LaMa as it falls. Else every mask (and every tube) is in the
    half-open bin ``low < area <= high``, so the bins [0, 0.2], [0.2, 0.4] share no mask and none is empty. ``rejection`` draws
    whole masks until one is in the bin, which is LaMa's own law cut to the bin. ``grow`` draws a target area uniformly in
    the bin and adds strokes (or boxes) until it is reached; one that would overshoot the bin is undone and painted smaller.
    It keeps ``brush_probability`` and spreads areas over the whole bin, thick presets more over its upper part (a stroke beyond
    the target but inside the bin stays); ``rejection`` favours the kind and the end of the bin that the preset prefers.

    ``paired`` masks of other bins have the same random numbers: one kind, the same strokes or boxes one after the other, and a
    target at the same place of its bin. The larger hole has more of them; the last one of each is painted smaller.

    Strokes are as wide as stated. LaMa hands its widths to OpenCV, which paints about a pixel more (thin-256: 10 % more area).

    Facts: ``kind`` (``brush`` or ``box``), ``strokes`` (of either kind), ``area_fraction``, ``draws`` (whole masks drawn).
    """

    name = "brush_box"
    deviations = (
        Deviation(
            "numbers and sizes of strokes and boxes",
            "not stated in the paper of re-inpainting",
            "those of LaMa's presets, `medium-512` by default",
            "holes of the same area are finer or coarser",
        ),
        Deviation(
            "reaching a bin of area",
            "not stated; LaMa throws away what falls outside",
            "strokes are added up to an area drawn in the bin; `--reach rejection` throws away",
            "areas spread over the whole bin",
        ),
        Deviation(
            "width of strokes",
            "OpenCV paints about a pixel more than asked for",
            "as wide as asked for",
            "LaMa's thin-256 has 10 % more area",
        ),
    )
    version = "1"
    needs = ()

    def __init__(
        self,
        *,
        preset: str = "medium-512",
        area: Sequence[Share] | None = None,
        reach: Reach = "grow",
        brush_probability: Share | None = None,
        scale_to_clip: bool = True,
        motion: str = "static",
        speed_pixels_per_frame: Pixels = 2.0,
        tube_frames: AtLeastOne = 8,
        paired: bool = False,
    ) -> None:
        """``area``: ``[low, high]`` in shares of the frame; ``brush_probability``: None for LaMa's.

        ``scale_to_clip`` multiplies lengths by min(height, width) / 256 or / 512, the size that the preset is made for.

        ``paired``: with random numbers that all bins share.
        """
        if paired and reach == "rejection":
            raise InputError("paired: rejection draws other shapes for each bin; give reach 'grow'")
        if paired and area is None:
            raise InputError("paired: masks differ in their bin, so give an area")
        self.paired = paired
        if paired:
            self.same_draw = ("area",)
        self.preset_name = known_name("brush preset", preset, PRESETS)
        self.preset = PRESETS[preset]
        self.area = None if area is None else share_interval("area", area)
        if self.area and self.area[0] == self.area[1]:
            raise InputError(f"area bin {self.area[0]:.0%}-{self.area[1]:.0%} is empty: a mask is in it when low < area <= high")
        self.reach = known_name("way to reach an area bin", reach, get_args(Reach))
        given = self.preset.brush_probability if brush_probability is None else brush_probability
        self.brush_probability = share("brush_probability", given)
        if self.brush_probability < 1 and self.preset.boxes is None:
            raise InputError(
                f"brush_probability is {brush_probability}, but preset {preset!r} has no boxes: give 1, or a medium or thick one"
            )
        self.scale_to_clip = scale_to_clip
        self._spare: Canvas | None = None  # for undoing a shape; allocating it for every mask would cost more than painting
        self.motion = Motion(motion, speed_pixels_per_frame, tube_frames)

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:
        """Draw a hole, never empty, ``bool[view.frames, view.height, view.width]``.

        Raises:
            Rejected: the bin cannot be reached on a frame of this size, or was not within ``MOST_DRAWS`` or ``MOST_SHAPES``.
        """
        height, width = view.height, view.width
        scale = min(height, width) / self.preset.image_size if self.scale_to_clip else 1.0
        window = self._window(height, width, scale)
        if not self.paired:
            return self.motion.track(lambda: self._frame(height, width, scale, window, rng), frames=view.frames, rng=rng)
        # A stream for each mask: a larger hole, which draws more shapes, leaves the next mask as it is.
        streams = np.random.default_rng(rng.integers(2**63))
        return self.motion.track(
            lambda: self._frame(height, width, scale, window, np.random.default_rng(streams.integers(2**63))),
            frames=view.frames, rng=rng,
        )  # fmt: skip

    def _window(self, height: int, width: int, scale: float) -> tuple[int, int, int]:
        """Least and largest number of hole pixels of a mask, and the largest that boxes can cover."""
        pixels = room = height * width
        if self.brush_probability < 1 and self.preset.boxes is not None:
            margin, down, across = box_room(self.preset.boxes, height=height, width=width, scale=scale)
            if min(down, across) < 1:
                raise Rejected(f"a frame of {width}x{height} has no room for boxes inside a margin of {margin} pixels")
            room = down * across
        if self.area is None:
            return 1, pixels, room
        least, most = _within(self.area[0], pixels) + 1, _within(self.area[1], pixels)
        if least > most:
            raise Rejected(f"no whole number of pixels of a {width}x{height} frame lies in the {_words(self.area)}")
        if least > room:
            raise Rejected(
                f"boxes of preset {self.preset_name!r} cover at most {room / pixels:.1%} of a {width}x{height} frame, "
                f"which is below the {_words(self.area)}: give a lower bin, or brush_probability 1"
            )
        return least, most, room

    def _frame(self, height: int, width: int, scale: float, window: tuple[int, int, int], rng: np.random.Generator) -> Frame:
        if self.area is None or self.reach == "rejection":
            for draws in range(1, MOST_DRAWS + 1):
                canvas = np.zeros((height, width), dtype=np.uint8)
                kind, shapes, times = self._shapes(height, width, scale, rng)
                count = int(rng.integers(*times, endpoint=True))
                for shape in islice(shapes, count):
                    shape.paint(canvas)
                area = cv2.countNonZero(canvas)
                if window[0] <= area <= window[1]:
                    facts = {"kind": kind, "strokes": count, "area_fraction": area / canvas.size, "draws": draws}
                    return canvas.view(np.bool_), facts
            raise Rejected(
                f"none of {MOST_DRAWS} masks of preset {self.preset_name!r} on a {width}x{height} frame lies in the "
                f"{_words(self.area or (0, 1))}: use reach 'grow', or another preset"
            )
        canvas = np.zeros((height, width), dtype=np.uint8)
        kind, shapes, _ = self._shapes(height, width, scale, rng)
        least, most, room = window
        largest = min(most, room) if kind == "box" else most
        # A whole number of another range may take another number of draws.
        if self.paired:
            target = least + math.floor(rng.random() * (largest - least + 1))
        else:
            target = int(rng.integers(least, largest, endpoint=True))
        if self._spare is None or self._spare.shape != canvas.shape:
            self._spare = np.empty_like(canvas)
        grown = _grow(canvas, self._spare, shapes, target=target, most=most)
        if grown is None:
            raise Rejected(
                f"{MOST_SHAPES} shapes of preset {self.preset_name!r} did not reach the {_words(self.area)} "
                f"on a {width}x{height} frame"
            )
        canvas, count, area = grown
        return canvas.view(np.bool_), {"kind": kind, "strokes": count, "area_fraction": area / canvas.size, "draws": 1}

    def _shapes(
        self, height: int, width: int, scale: float, rng: np.random.Generator
    ) -> tuple[str, Iterator[Shape], tuple[int, int]]:
        """Kind of a mask, an endless iterator of its shapes, and the range of their number in LaMa."""
        size = {"height": height, "width": width}
        if self.preset.boxes is None or rng.random() < self.brush_probability:
            return "brush", strokes(self.preset, **size, scale=scale, rng=rng), self.preset.times
        return "box", boxes(self.preset.boxes, **size, scale=scale, rng=rng), self.preset.boxes.times


def _grow(canvas: Canvas, spare: Canvas, shapes: Iterator[Shape], *, target: int, most: int) -> tuple[Canvas, int, int] | None:
    """Paint until ``target`` <= area <= ``most``; None after ``MOST_SHAPES``.

    ``spare`` is overwritten.

    Returns:
        The canvas, the number of shapes on it, and its area in pixels.
    """
    ceiling = 0.0
    for count, shape in enumerate(islice(shapes, MOST_SHAPES), start=1):
        # Counting pixels costs more than painting, so it waits until the shapes could be enough if none overlapped.
        ceiling += shape.most_pixels
        if ceiling < target:
            shape.paint(canvas)
            continue
        if ceiling > most:  # the shape may have to be undone
            np.copyto(spare, canvas)
        shape.paint(canvas)
        area = cv2.countNonZero(canvas)
        if area > most:
            area = _repaint_smaller(canvas, spare, shape, area, target=target, most=most)
        if area >= target:
            return canvas, count, area
        ceiling = area
    return None


def _repaint_smaller(canvas: Canvas, before: Canvas, shape: Shape, area: int, *, target: int, most: int) -> int:
    """Repaint ``canvas`` as ``before`` with ``shape`` so small that the area is at most ``most``, ideally ``target``.

    ``area`` is that of the canvas with the shape in full size; the new area is returned.
    """
    start, size = cv2.countNonZero(before), 1.0
    for _ in range(_MOST_SHRINKS):
        size *= math.sqrt((target - start) / (area - start))  # assumes that the added area grows with the square of the size
        np.copyto(canvas, before)
        shape.paint(canvas, size=size)
        area = cv2.countNonZero(canvas)
        if area <= most:
            return area
    # One pixel always fits: ``start`` is below ``target``.
    np.copyto(canvas, before)
    shape.paint(canvas, size=0.0)
    return int(cv2.countNonZero(canvas))


def _within(fraction: float, pixels: int) -> int:
    """Largest count with ``count / pixels <= fraction``, exact in floating point."""
    count = math.floor(fraction * pixels) + 1
    while count / pixels > fraction:
        count -= 1
    return count


def _words(area: Interval) -> str:
    return f"area bin {100 * area[0]:g}-{100 * area[1]:g} %"
