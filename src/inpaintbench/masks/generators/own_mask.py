"""The mask that came with a clip as its hole, grown as the codes of video inpainting grow it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from inpaintbench import regions
from inpaintbench.errors import InputError, Rejected
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.ranges import Whole
from inpaintbench.types import Hole
from inpaintbench.view import ItemView


class OwnMask(Generator):
    """The hole is ``object_mask``, grown ``dilations`` times by a 3x3 cross; ``rng`` is not used.

    Facts: ``neighbour_iou``, the mean intersection over union of the holes of neighbouring frames, over pairs of which one has a
    hole (1 = it stands still); it is missing where no pair has.
    """

    name = "own_mask"
    version = "1"
    needs = ("object_mask",)

    def __init__(self, *, dilations: Whole = 0) -> None:
        """Number of dilations.

        Raises:
            InputError: a negative number.
        """
        if dilations < 0:
            raise InputError(f"dilations is {dilations}, it must be 0 or more")
        self.dilations = dilations

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:  # noqa: ARG002 - leaf signature
        """Grow the mask, ``bool[T, H, W]``.

        Raises:
            Rejected: it fills the clip.
        """
        hole = regions.dilate_by_cross(view.object_mask, times=self.dilations)
        if hole.all():
            raise Rejected(f"its mask, grown {self.dilations} times, covers every pixel of the clip")
        iou = neighbour_iou(hole)
        return Drawn(hole, {} if iou is None else {"neighbour_iou": iou})


def neighbour_iou(hole: Hole) -> float | None:
    """Mean intersection over union of the holes of neighbouring frames, 0..1; None where no pair has a hole.

    Args:
        hole: ``bool[T, H, W]``.
    """
    shares = [
        float(np.count_nonzero(one & other) / union) for one, other in pairwise(hole) if (union := np.count_nonzero(one | other))
    ]
    return float(np.mean(shares)) if shares else None
