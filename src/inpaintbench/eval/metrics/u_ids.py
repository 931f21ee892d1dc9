"""Unpaired inception discriminative score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from inpaintbench.eval.metrics.base import Comparison, Features, Where
from inpaintbench.eval.metrics.inception import InceptionSets
from inpaintbench.eval.set_distances import separability
from inpaintbench.ranges import Positive, Side


class UIds(InceptionSets):
    """Share of frames, composites and truths together, that a linear machine takes for the other kind, 0..1.

    Zhao et al., ICLR 2021. The machine learns to tell the Inception vectors of all composites from those of all truths and is
    asked about the same vectors; published with tens of thousands of pictures. Perfect copies score 0.5.

    Args:
        resize: see ``InceptionSets``.
        side_pixels: see ``InceptionSets``.
        cost: C of the support vector machine; published 1.
    """

    name = "u_ids"
    label = "U-IDS"
    deviations = (separability.MACHINE,)
    version = "1"
    diagnostic = (
        "it is the share of errors of a machine that is fitted to the very sets, which nothing bounds by the 0.5 of equal ones"
    )
    higher_is_better = True
    decimals = 4
    bounds = (0.0, 1.0)

    def __init__(self, *, resize: str, side_pixels: Side, cost: Positive, **where: Unpack[Where]) -> None:
        super().__init__(resize=resize, side_pixels=side_pixels, **where)
        self.cost = cost

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The share; see ``separability.unpaired``."""
        return separability.unpaired(sets, clusters, cost=self.cost)
