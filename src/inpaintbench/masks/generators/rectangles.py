"""Generator of holes that are static rectangles."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from inpaintbench.errors import InputError, Rejected
from inpaintbench.masks.generators.arguments import interval, share_interval, whole
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.ranges import Positive, Share, Side, Whole
from inpaintbench.view import ItemView


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
        self._require_room(view, room)
        frame = np.zeros((view.height, view.width), dtype=np.bool_)
        for _ in range(self.count):
            width, height = self._size(view, room, rng)
            x, y = (self.margin_pixels + int(rng.integers(slack + 1)) for slack in (room[0] - width, room[1] - height))
            frame[y : y + height, x : x + width] = True
        facts = {"rectangles": self.count, "area_fraction": float(frame.mean())}
        return Drawn(np.repeat(frame[None], view.frames, axis=0), facts)

    def _require_room(self, view: ItemView, room: tuple[int, int]) -> None:
        size = f"a frame of {view.width}x{view.height} with a margin of {self.margin_pixels} pixels"
        if min(room) < 1:
            raise Rejected(f"{size} has no room for a rectangle")
        if self.side_pixels is not None:
            if min(room) < self.side_pixels[0]:
                raise Rejected(f"{size} has no room for sides of {self.side_pixels[0]:g} pixels")
        elif room[0] * room[1] < self.area[0] * view.width * view.height:
            raise Rejected(f"{size} has no room for a rectangle of {self.area[0]:.0%} of its area")

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
