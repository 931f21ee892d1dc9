"""Generators of plain shapes: rectangles, a square, a half, margins, and patches of a grid; and how masks of one frame move."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import Deviation, known_name
from inpaintbench.errors import InputError, Rejected
from inpaintbench.masks.generators.base import Drawn, Generator, interval, share, share_interval, whole
from inpaintbench.ranges import AtLeastOne, Pixels, Positive, Share, Side, Whole
from inpaintbench.view import ItemView

MotionKind = Literal["static", "drifting", "tube"]
# `bool[H, W]`, True = hole.
FrameHole = npt.NDArray[np.bool_]
# Draws an independent mask of one frame, with its facts.
DrawFrame = Callable[[], tuple[FrameHole, dict[str, Any]]]


@dataclass(frozen=True)
class Motion:
    """Motion of a mask after its first frame.

    ``static``: it stays. ``drifting``: it moves by ``speed_pixels_per_frame`` in one random direction, rounded to whole pixels;
    what leaves at one side comes back at the other, so each frame has the same number of hole pixels. ``tube``: an
    independent mask every ``tube_frames`` frames.

    Raises:
        InputError: a speed or length that cannot be.
    """

    kind: str = "static"
    speed_pixels_per_frame: float = 2.0
    tube_frames: int = 8

    def __post_init__(self) -> None:
        known_name("mask motion", self.kind, get_args(MotionKind))
        speed = self.speed_pixels_per_frame
        if not (math.isfinite(speed) and speed > 0):
            raise InputError(f"speed_pixels_per_frame is {speed}, give pixels above 0 (for a mask at rest: motion 'static')")
        whole("tube_frames", self.tube_frames, least=1)

    def track(self, draw: DrawFrame, *, frames: int, rng: np.random.Generator) -> Drawn:
        """Hole ``bool[frames, H, W]`` from masks of ``draw``; a clip of one frame is static.

        Facts of several tubes become one: whole numbers are summed, other numbers averaged over the frames, different texts
        joined by ``+``; ``tubes`` counts them. A drifting mask states its direction as ``drift_degrees`` (0 = to the right,
        90 = down).
        """
        if self.kind == "tube" and frames > 1:
            lengths = [min(self.tube_frames, frames - start) for start in range(0, frames, self.tube_frames)]
            drawn = [draw() for _ in lengths]
            hole = np.repeat(np.stack([hole for hole, _ in drawn]), lengths, axis=0)
            merged = {name: _merge([facts[name] for _, facts in drawn], lengths) for name in drawn[0][1]}
            return Drawn(hole, {**merged, "tubes": len(drawn)})
        hole, facts = draw()
        if self.kind == "drifting" and frames > 1:
            angle = float(rng.uniform(0.0, 2 * math.pi))
            facts["drift_degrees"] = math.degrees(angle)
            across, down = self.speed_pixels_per_frame * math.cos(angle), self.speed_pixels_per_frame * math.sin(angle)
            shifts = [(round(frame * down), round(frame * across)) for frame in range(frames)]
            return Drawn(np.stack([np.roll(hole, shift, axis=(0, 1)) for shift in shifts]), facts)
        return Drawn(hole[None] if frames == 1 else np.repeat(hole[None], frames, axis=0), facts)


def _merge(values: list[Any], lengths: list[int]) -> Any:
    if isinstance(values[0], str):
        return "+".join(sorted(set(values)))
    if isinstance(values[0], int):
        return sum(values)
    return math.fsum(value * length for value, length in zip(values, lengths, strict=True)) / sum(lengths)


class Rectangles(Generator):
    """``count`` rectangles of random size and place, in the same place in all frames; they may overlap.

    Sizes come from ``area`` (a share of the frame, uniform) and ``aspect`` (width / height, uniform in its logarithm), or, where
    ``side_pixels`` is given, from that alone (both sides uniform, both ends inclusive). The default area is LaMa's random
    rectangle. A side that has no room inside the margin is cut to it; the other one then makes up for the area.

    Facts: ``rectangles``, ``area_fraction``.
    """

    name = "rectangles"
    version = "1"
    needs = ()

    def __init__(
        self,
        *,
        count: Whole = 1,
        area: Share | Sequence[Share] = (0.1, 0.35),
        aspect: Sequence[Positive] = (0.5, 2.0),
        side_pixels: Sequence[Side] | None = None,
        margin_pixels: Whole = 0,
    ) -> None:
        """``area``: a share, or ``[low, high]``; ``margin_pixels``: known pixels that stay at every edge of the frame."""
        self.count = whole("count", count, least=1)
        self.area = share_interval("area", area, zero=False)
        self.aspect = interval("aspect", aspect, least=0.01)
        self.side_pixels = None if side_pixels is None else interval("side_pixels", side_pixels, least=1)
        if self.side_pixels is not None and not all(side.is_integer() for side in self.side_pixels):
            raise InputError(f"side_pixels is {side_pixels!r}, give whole numbers")
        self.margin_pixels = whole("margin_pixels", margin_pixels, least=0)

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:
        """Draw a hole, never empty, ``bool[view.frames, view.height, view.width]``.

        Raises:
            Rejected: the frame has no room for the smallest rectangle that may be drawn.
        """
        room = view.width - 2 * self.margin_pixels, view.height - 2 * self.margin_pixels
        size = f"a frame of {view.width}x{view.height} with a margin of {self.margin_pixels} pixels"
        if min(room) < 1:
            raise Rejected(f"{size} has no room for a rectangle")
        if self.side_pixels is not None:
            if min(room) < self.side_pixels[0]:
                raise Rejected(f"{size} has no room for sides of {self.side_pixels[0]:g} pixels")
        elif room[0] * room[1] < self.area[0] * view.width * view.height:
            raise Rejected(f"{size} has no room for a rectangle of {self.area[0]:.0%} of its area")
        frame = np.zeros((view.height, view.width), dtype=np.bool_)
        for _ in range(self.count):
            width, height = self._size(view, room, rng)
            x, y = (self.margin_pixels + int(rng.integers(slack + 1)) for slack in (room[0] - width, room[1] - height))
            frame[y : y + height, x : x + width] = True
        facts = {"rectangles": self.count, "area_fraction": float(frame.mean())}
        return Drawn(np.repeat(frame[None], view.frames, axis=0), facts)

    def _size(self, view: ItemView, room: tuple[int, int], rng: np.random.Generator) -> tuple[int, int]:
        """Width and height in pixels."""
        if self.side_pixels is not None:
            low, high = (int(side) for side in self.side_pixels)
            across, down = (int(rng.integers(low, min(high, most), endpoint=True)) for most in room)
            return across, down
        most = min(self.area[1], room[0] * room[1] / (view.width * view.height))
        pixels = view.width * view.height * float(rng.uniform(self.area[0], most))
        narrowest, widest = (math.log(ratio) for ratio in self.aspect)
        aspect = math.exp(float(rng.uniform(narrowest, widest)))
        width = _cut(math.sqrt(pixels * aspect), room[0])
        height = _cut(pixels / width, room[1])
        return _cut(pixels / height, room[0]), height


def _cut(side: float, most: int) -> int:
    return max(1, min(round(side), most))


class CentreSquare(Generator):
    """One square in the middle of every frame, of ``area`` (a share of the frame). Source: LaMa, where it is 22.5 %.

    Where the frame leaves an odd number of pixels, the square lies one pixel nearer to the upper left. Facts: ``side_pixels``,
    ``area_fraction``.
    """

    name = "centre_square"
    version = "1"
    needs = ()

    def __init__(self, *, area: Share = 0.225) -> None:
        self.area = share("area", area, zero=False)

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:  # noqa: ARG002 - nothing is random here
        """Hole ``bool[view.frames, view.height, view.width]``; ``rng`` is not used.

        Raises:
            Rejected: a square of this area is higher or wider than the frame.
        """
        side = max(1, round(math.sqrt(self.area * view.height * view.width)))
        if side > min(view.height, view.width):
            raise Rejected(f"a square of {self.area:.1%} of the area does not fit into a frame of {view.width}x{view.height}")
        top, left = (view.height - side) // 2, (view.width - side) // 2
        hole = np.zeros((view.frames, view.height, view.width), dtype=np.bool_)
        hole[:, top : top + side, left : left + side] = True
        return Drawn(hole, {"side_pixels": side, "area_fraction": side**2 / (view.height * view.width)})


HalfSide = Literal["left", "right", "top", "bottom"]
SIDES: tuple[HalfSide, ...] = get_args(HalfSide)


class HalfFrame(Generator):
    """The half at ``side`` of every frame; of an odd number of pixels the hole is the smaller half.

    Facts: ``side``, ``area_fraction``.
    """

    name = "half_frame"
    version = "1"
    needs = ()

    def __init__(self, *, side: HalfSide | Literal["random"] = "random") -> None:
        """``random``: a side drawn uniformly for each clip."""
        self.side = known_name("side", side, [*SIDES, "random"])

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:
        """Draw a hole, never empty, ``bool[view.frames, view.height, view.width]``.

        Raises:
            Rejected: the frame is one pixel wide or high, so it has no two halves.
        """
        side = SIDES[int(rng.integers(len(SIDES)))] if self.side == "random" else self.side
        length = view.width if side in ("left", "right") else view.height
        if length < 2:
            raise Rejected(f"a frame of {view.width}x{view.height} has no {side} half")
        half = slice(0, length // 2) if side in ("left", "top") else slice(length - length // 2, length)
        hole = np.zeros((view.frames, view.height, view.width), dtype=np.bool_)
        hole[(slice(None), slice(None), half) if side in ("left", "right") else (slice(None), half)] = True
        return Drawn(hole, {"side": side, "area_fraction": length // 2 / length})


Count = Literal["bernoulli", "exact"]


class Patches(Generator):
    """Cells of ``size`` x ``size`` pixels, a share ``ratio`` of them hidden.

    Source: Algorithm 2 of "Assessing Image Inpainting via Re-Inpainting Self-Consistency Evaluation", which hides each cell
    with probability ``ratio`` (``bernoulli``); ``exact`` hides round(ratio x cells) of them. The grid starts at the upper left
    corner, and the last cells are cut where ``size`` does not divide the frame. With motion ``tube`` the cells are
    ``size`` x ``size`` pixels x ``tube_frames`` frames.

    Facts: ``ratio``, ``cells_hidden``, ``cells``, ``area_fraction``.
    """

    name = "patches"
    deviations = (
        Deviation("side of a patch", "not stated", "32 pixels; `--patch`", "smaller patches are easier to predict again"),
        Deviation(
            "exact share or independent patches",
            "independent, by Algorithm 2",
            "the same; `--count exact` has the share exactly",
            "none by default",
        ),
    )
    version = "1"
    needs = ()

    def __init__(
        self,
        *,
        size: Side = 32,
        ratio: Share | Sequence[Share] = 0.4,
        count: Count = "bernoulli",
        motion: str = "static",
        speed_pixels_per_frame: Pixels = 2.0,
        tube_frames: AtLeastOne = 8,
    ) -> None:
        """``size`` in pixels; ``ratio``: a share 0..1, or ``[low, high]``, then drawn uniformly for each clip."""
        self.size = whole("size", size, least=1)
        self.ratio = share_interval("ratio", ratio)
        self.count = known_name("patch count", count, get_args(Count))
        self.motion = Motion(motion, speed_pixels_per_frame, tube_frames)

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:
        """Draw a hole ``bool[view.frames, view.height, view.width]``; by chance, or at a ratio of 0, it is empty.

        Raises:
            Rejected: the frame is smaller than one cell.
        """
        height, width = view.height, view.width
        if min(height, width) < self.size:
            raise Rejected(f"a frame of {width}x{height} is smaller than one patch of {self.size}x{self.size} pixels")
        low, high = self.ratio
        ratio = low if low == high else float(rng.uniform(low, high))
        return self.motion.track(lambda: self._frame(height, width, ratio, rng), frames=view.frames, rng=rng)

    def _frame(self, height: int, width: int, ratio: float, rng: np.random.Generator) -> tuple[FrameHole, dict[str, Any]]:
        size = self.size
        rows, columns = -(-height // size), -(-width // size)
        # Numbers are in [0, 1), so that `<` hides all cells at a ratio of 1 and none at 0.
        chances = rng.random((rows, columns))
        cells = chances < ratio
        if self.count == "exact":  # the lowest: a uniformly random choice of that many cells
            cells = np.zeros(chances.size, dtype=np.bool_)
            cells[np.argsort(chances, axis=None, kind="stable")[: round(ratio * rows * columns)]] = True
            cells = cells.reshape(chances.shape)
        # Rows last: repeating whole rows is a plain copy of memory.
        hole = np.repeat(np.repeat(cells, size, axis=1), size, axis=0)[:height, :width]
        hidden = int(np.count_nonzero(cells))
        covered = int(np.count_nonzero(hole)) if height % size or width % size else hidden * size**2
        facts = {"ratio": ratio, "cells_hidden": hidden, "cells": rows * columns, "area_fraction": covered / (height * width)}
        return np.ascontiguousarray(hole), facts


class Outpainting(Generator):
    """Margins at the sides of every frame, each a share of the frame's width or height.

    Each side has a margin with probability ``side_probability``, drawn again until at least one has; its share is uniform in
    ``share_range``. ``margins`` fixes the shares instead, e.g. ``{"left": 0.1, "right": 0.1}``. A margin is at least one pixel.
    Source: LaMa's outpainting masks (4-25 %, each side with probability 0.5, at least one).

    Facts: ``left_pixels``, ``right_pixels``, ``top_pixels``, ``bottom_pixels``, ``area_fraction``.
    """

    name = "outpainting"
    version = "1"
    needs = ()

    def __init__(
        self,
        *,
        share_range: Share | Sequence[Share] = (0.04, 0.25),
        side_probability: Share = 0.5,
        margins: Mapping[str, Share] | None = None,
    ) -> None:
        """``share_range``: a share, or ``[low, high]``; ``margins``: side -> share, which leaves out the other sides."""
        self.share_range = share_interval("share_range", share_range, zero=False)
        self.side_probability = share("side_probability", side_probability, zero=False)
        given = {known_name("side", side, SIDES): share(f"margin {side}", value) for side, value in (margins or {}).items()}
        self.margins: dict[str, float] = {side: value for side, value in given.items() if value}
        if margins is not None and not self.margins:
            raise InputError("margins names no side with a margin: give at least one, e.g. {'left': 0.1}")
        left, right, top, bottom = (self.margins.get(side, 0) for side in SIDES)
        if max(left + right, top + bottom) >= 1:
            raise InputError(f"margins {dict(margins or {})} leave nothing of the frame: opposite shares must sum to less than 1")

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:
        """Draw a hole, never empty and never the whole frame, ``bool[view.frames, view.height, view.width]``.

        Raises:
            Rejected: the margins leave no known pixel.
        """
        shares = dict(self.margins)
        while not shares:
            shares = {side: float(rng.uniform(*self.share_range)) for side in SIDES if rng.random() < self.side_probability}
        lengths = {"left": view.width, "right": view.width, "top": view.height, "bottom": view.height}
        pixels = {side: max(1, round(shares[side] * lengths[side])) if side in shares else 0 for side in SIDES}
        known_width, known_height = view.width - pixels["left"] - pixels["right"], view.height - pixels["top"] - pixels["bottom"]
        if min(known_width, known_height) < 1:
            raise Rejected(f"margins of {pixels} pixels leave nothing known of a frame of {view.width}x{view.height}")
        hole = np.ones((view.frames, view.height, view.width), dtype=np.bool_)
        hole[:, pixels["top"] : view.height - pixels["bottom"], pixels["left"] : view.width - pixels["right"]] = False
        area = 1 - known_width * known_height / (view.width * view.height)
        return Drawn(hole, {**{f"{side}_pixels": count for side, count in pixels.items()}, "area_fraction": area})
