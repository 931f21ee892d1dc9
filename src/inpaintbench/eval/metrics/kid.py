"""Kernel Inception distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from inpaintbench.eval.metrics.base import Comparison, Features, Where
from inpaintbench.eval.metrics.inception import InceptionSets
from inpaintbench.eval.set_distances import kernel_distance
from inpaintbench.ranges import AtLeastOne, Seed, Side, Whole


class Kid(InceptionSets):
    """Squared maximum mean discrepancy between the Inception vectors of composited and of true frames, under a cubic kernel.

    Binkowski et al., ICLR 2018. Its expectation does not depend on the number of frames for sets drawn independently. Composites
    and truths are pairs, and a pair resembles itself, so sets that are alike come out below 0, the more the fewer frames.

    Args:
        resize: see ``InceptionSets``.
        side_pixels: see ``InceptionSets``.
        subsets: 0 for all pairs of frames, which grow with the square of their number: beyond 20,000 frames the mean over 100
            random subsets is taken instead, and the details say so; published 100 (the mean over so many random subsets).
        subset_size: frames in a subset; published 1000.
        subset_seed: of the subsets.
    """

    name = "kid"
    version = "1"
    higher_is_better = False
    decimals = 6

    def __init__(
        self,
        *,
        resize: str,
        side_pixels: Side,
        subsets: Whole,
        subset_size: AtLeastOne,
        subset_seed: Seed,
        **where: Unpack[Where],
    ) -> None:
        if subsets < 0 or subset_size < 2:
            raise ValueError(f"{subsets} subsets of {subset_size} vectors: at least 0 of at least 2 are possible")
        super().__init__(resize=resize, side_pixels=side_pixels, **where)
        self.subsets, self.subset_size, self.subset_seed = subsets, subset_size, subset_seed

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The distance; see ``kernel_distance.compare``."""
        return kernel_distance.compare(
            sets, clusters, subsets=self.subsets, subset_size=self.subset_size, subset_seed=self.subset_seed
        )
