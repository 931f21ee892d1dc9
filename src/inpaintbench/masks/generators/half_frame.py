"""Generator of holes that are one half of the frame."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from inpaintbench.errors import Rejected
from inpaintbench.masks.generators.arguments import choice
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.view import ItemView

Side = Literal["left", "right", "top", "bottom"]
SIDES: tuple[Side, ...] = get_args(Side)


class HalfFrame(Generator):
    """The half at ``side`` of every frame; of an odd number of pixels the hole is the smaller half.

    Facts: ``side``, ``area_fraction``.
    """

    name = "half_frame"
    version = "1"
    needs = ()

    def __init__(self, *, side: Side | Literal["random"] = "random") -> None:
        """``random``: a side drawn uniformly for each clip."""
        self.side = choice("side", side, [*SIDES, "random"])

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
