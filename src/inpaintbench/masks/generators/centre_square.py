"""Generator of a square hole in the middle of the frame."""

from __future__ import annotations

import math

import numpy as np

from inpaintbench.errors import Rejected
from inpaintbench.masks.generators.arguments import share
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.ranges import Share
from inpaintbench.view import ItemView


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
