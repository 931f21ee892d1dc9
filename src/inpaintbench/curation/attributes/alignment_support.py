"""Whether the pixels bear an alignment out: how many parts of the view look alike under it, beside a camera that stands still.

Features hold an alignment by the few points that they agree on. Where most of a view has none (asphalt, sky, mist) these may all
lie on something that moves, a bus on a road, and then its motion is taken for the camera's. So both views are cut into cells, and
each cell with texture says whether it looks alike under the alignment, and whether it does so under none at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.types import Luma

Matrix = npt.NDArray[np.float64]
Cells = npt.NDArray[np.float32]
Verdict = Literal["moved", "still", "wrong", "open", "unseen"]
# Verdicts with which an alignment cannot stand.
CONTRADICTED: tuple[Verdict, ...] = ("still", "wrong")
# Rows and columns: of a view of 342x192, 24 by 28 pixels each.
CELLS = (8, 12)
# Grey levels, the standard deviation of a cell with texture; sensor noise has less once the view is shrunk.
LEAST_DEVIATION = 1.5
# Correlation from which a cell looks alike.
ALIKE = 0.7
# Difference of correlations from which a cell prefers one of both.
CLEARLY = 0.1
# Share of the cells by which those against an alignment must outnumber those for it: one or two are chance.
MAJORITY = 0.05
# With texture, seen in both views; fewer say nothing.
FEWEST_CELLS = 6
# Of the cells with texture: so many must look alike for a camera to stand still without any alignment.
LEAST_SHARE = 0.4


@dataclass(frozen=True)
class Views:
    """Frames and their cells."""

    frames: Luma
    cells: Cells
    """``float32[N, rows, columns, n]``, each cell's mean taken off and divided by its length; 0 in cells without texture."""

    @classmethod
    def of(cls, frames: Luma) -> Views:
        """``frames``: ``uint8[N, H, W]``; those with fewer rows or columns than cells have no cell with texture."""
        if frames.shape[1] < CELLS[0] or frames.shape[2] < CELLS[1]:
            return cls(frames, np.zeros((len(frames), *CELLS, 1), np.float32))
        return cls(frames, np.stack([_cells(frame)[0] for frame in frames]))

    def verdict(self, one: int, other: int, matrix: Matrix) -> Verdict:
        """What the cells say of the way from frame ``one`` to frame ``other``.

        ``still`` or ``wrong``: more of them look clearly more alike without ``matrix`` than with it; still, where enough look
        alike without it for a camera that does not move. ``moved``: more look clearly more alike with it, or enough look alike
        with it. ``open``: none of these. ``unseen``: too few cells are in both views to say.
        """
        if not self.cells[other].any():
            return "unseen"
        height, width = self.frames.shape[1:]
        everywhere = np.ones((height, width), np.uint8)
        warped, covered = (
            np.asarray(cv2.warpAffine(plane, matrix[:2], (width, height)), np.uint8) for plane in (self.frames[one], everywhere)
        )
        seen = _blocks(covered).min(axis=2) > 0
        moved, textured = _cells(warped)
        aim = self.cells[other]
        usable = seen & textured & aim.any(axis=2)
        if usable.sum() < FEWEST_CELLS:
            return "unseen"
        with_it, without = (moved * aim).sum(axis=2)[usable], (self.cells[one] * aim).sum(axis=2)[usable]
        for_it = int(((with_it >= ALIKE) & (with_it > without + CLEARLY)).sum())
        against = int(((without >= ALIKE) & (without > with_it + CLEARLY)).sum())
        if against > for_it + MAJORITY * usable.sum():
            return "still" if self.stands_still(one, other) else "wrong"
        return "moved" if for_it > against or np.mean(with_it >= ALIKE) >= LEAST_SHARE else "open"

    def stands_still(self, one: int, other: int) -> bool:
        """Whether enough cells look alike where they are."""
        pair = self.cells[one], self.cells[other]
        usable = pair[0].any(axis=2) & pair[1].any(axis=2)
        alike = (pair[0] * pair[1]).sum(axis=2)[usable] >= ALIKE
        return len(alike) >= FEWEST_CELLS and bool(alike.mean() >= LEAST_SHARE)


def _cells(frame: npt.NDArray[np.uint8]) -> tuple[Cells, npt.NDArray[np.bool_]]:
    """The cells of ``Views.cells`` of one frame, and which of them have texture, ``bool[rows, columns]``."""
    blocks = _blocks(frame).astype(np.float32)
    blocks -= blocks.mean(axis=2, keepdims=True)
    lengths = np.sqrt(np.square(blocks).sum(axis=2, keepdims=True))
    textured = lengths >= LEAST_DEVIATION * np.sqrt(blocks.shape[2])
    return np.where(textured, blocks / np.maximum(lengths, 1e-6), 0).astype(np.float32), textured[..., 0]


def _blocks(frame: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """``[rows, columns, n]``: the pixels of each cell; what is over at the right and the bottom is left out."""
    height, width = frame.shape[0] // CELLS[0], frame.shape[1] // CELLS[1]
    cut = frame[: height * CELLS[0], : width * CELLS[1]].reshape(CELLS[0], height, CELLS[1], width)
    return cut.transpose(0, 2, 1, 3).reshape(*CELLS, height * width)
