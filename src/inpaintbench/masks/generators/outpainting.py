"""Generator of holes that are margins of the frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from inpaintbench.errors import InputError, Rejected
from inpaintbench.masks.generators.arguments import choice, share, share_interval
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.ranges import Share
from inpaintbench.view import ItemView

SIDES = ("left", "right", "top", "bottom")


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
        self.margins = None if margins is None else _fixed(margins)

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:
        """Draw a hole, never empty and never the whole frame, ``bool[view.frames, view.height, view.width]``.

        Raises:
            Rejected: the margins leave no known pixel.
        """
        shares = self.margins or self._draw(rng)
        lengths = {"left": view.width, "right": view.width, "top": view.height, "bottom": view.height}
        pixels = {side: max(1, round(shares[side] * lengths[side])) if side in shares else 0 for side in SIDES}
        known_width, known_height = view.width - pixels["left"] - pixels["right"], view.height - pixels["top"] - pixels["bottom"]
        if min(known_width, known_height) < 1:
            raise Rejected(f"margins of {pixels} pixels leave nothing known of a frame of {view.width}x{view.height}")
        hole = np.ones((view.frames, view.height, view.width), dtype=np.bool_)
        hole[:, pixels["top"] : view.height - pixels["bottom"], pixels["left"] : view.width - pixels["right"]] = False
        area = 1 - known_width * known_height / (view.width * view.height)
        return Drawn(hole, {**{f"{side}_pixels": count for side, count in pixels.items()}, "area_fraction": area})

    def _draw(self, rng: np.random.Generator) -> dict[str, float]:
        while True:
            drawn = {side: float(rng.uniform(*self.share_range)) for side in SIDES if rng.random() < self.side_probability}
            if drawn:
                return drawn


def _fixed(margins: Mapping[str, float]) -> dict[str, float]:
    fixed = {choice("side", side, SIDES): share(f"margin {side}", value) for side, value in margins.items()}
    fixed = {side: value for side, value in fixed.items() if value}
    if not fixed:
        raise InputError("margins names no side with a margin: give at least one, e.g. {'left': 0.1}")
    if max(fixed.get("left", 0) + fixed.get("right", 0), fixed.get("top", 0) + fixed.get("bottom", 0)) >= 1:
        raise InputError(f"margins {dict(margins)} leave nothing of the frame: opposite shares must sum to less than 1")
    return fixed
