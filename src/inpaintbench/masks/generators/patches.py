"""Generator of patch masks: square cells, each hidden or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from inpaintbench.deviations import Deviation
from inpaintbench.errors import Rejected
from inpaintbench.masks.generators.arguments import choice, share_interval, whole
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.masks.generators.motion import FrameHole, Motion
from inpaintbench.ranges import AtLeastOne, Pixels, Share, Side
from inpaintbench.view import ItemView

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
        self.count = choice("patch count", count, get_args(Count))
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
        cells = chances < ratio if self.count == "bernoulli" else _lowest(chances, round(ratio * rows * columns))
        # Rows last: repeating whole rows is a plain copy of memory.
        hole = np.repeat(np.repeat(cells, size, axis=1), size, axis=0)[:height, :width]
        hidden = int(np.count_nonzero(cells))
        covered = int(np.count_nonzero(hole)) if height % size or width % size else hidden * size**2
        facts = {"ratio": ratio, "cells_hidden": hidden, "cells": rows * columns, "area_fraction": covered / (height * width)}
        return np.ascontiguousarray(hole), facts


def _lowest(chances: np.ndarray[Any, np.dtype[np.float64]], count: int) -> FrameHole:
    """Mask of the ``count`` lowest ``chances``: a uniformly random choice of that many cells."""
    cells = np.zeros(chances.size, dtype=np.bool_)
    cells[np.argsort(chances, axis=None, kind="stable")[:count]] = True
    return cells.reshape(chances.shape)
