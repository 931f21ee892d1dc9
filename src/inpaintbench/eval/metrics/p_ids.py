"""Paired inception discriminative score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Unpack, get_args

from inpaintbench.catalogue import known_name
from inpaintbench.eval.metrics.base import Comparison, Features, Where
from inpaintbench.eval.metrics.inception import InceptionSets
from inpaintbench.eval.set_distances import separability
from inpaintbench.ranges import Positive, Side

Ties = Literal["half", "loss"]


class PIds(InceptionSets):
    """Share of frames whose composite looks more like a true frame than the true one does, to a linear machine, 0..1.

    Zhao et al., ICLR 2021. The machine learns to tell the Inception vectors of all composites from those of all truths; published
    with tens of thousands of pictures. Perfect copies score 0.5 when a tie counts as half, and 0 by the published rule.

    Args:
        resize: see ``InceptionSets``.
        side_pixels: see ``InceptionSets``.
        cost: C of the support vector machine; published 1.
        ties: ``"half"`` or ``"loss"``, what a pair counts that looks exactly alike; published ``"loss"``.
    """

    name = "p_ids"
    label = "P-IDS"
    deviations = (separability.MACHINE,)
    version = "1"
    diagnostic = "a tie with the truth is a loss, so that a perfect copy scores 0"
    higher_is_better = True
    decimals = 4
    bounds = (0.0, 1.0)

    def __init__(self, *, resize: str, side_pixels: Side, cost: Positive, ties: Ties, **where: Unpack[Where]) -> None:
        super().__init__(resize=resize, side_pixels=side_pixels, **where)
        known_name("rule for ties", ties, get_args(Ties))
        self.cost, self.ties = cost, ties

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The share; see ``separability.paired``."""
        return separability.paired(sets, clusters, cost=self.cost, ties=self.ties)
