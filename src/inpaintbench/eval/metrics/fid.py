"""Frechet Inception distance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Unpack

from inpaintbench.eval.metrics.base import Comparison, Features, Where
from inpaintbench.eval.metrics.families import InceptionSets
from inpaintbench.eval.set_distances import frechet
from inpaintbench.ranges import Side, Whole


class Fid(InceptionSets):
    """Frechet distance between the Inception vectors of all composited frames and of all true ones; 0 for perfect copies.

    Heusel et al., NeurIPS 2017; over the frames of a slice as in DEVIL, CVPR 2022. It falls with the number of frames: values of
    sets of different sizes cannot be compared.

    Args:
        resize: see ``InceptionSets``.
        side_pixels: see ``InceptionSets``.
        ddof: of the covariance; published 1.
    """

    name = "fid"
    deviations = (frechet.ROOT_OF_COVARIANCES,)
    version = "1"
    higher_is_better = False
    decimals = 2
    bounds = (0.0, math.inf)

    def __init__(self, *, resize: str, side_pixels: Side, ddof: Whole, **where: Unpack[Where]) -> None:
        super().__init__(resize=resize, side_pixels=side_pixels, **where)
        self.ddof = frechet.check_ddof(ddof)

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The distance; see ``frechet.compare``."""
        return frechet.compare(sets, clusters, ddof=self.ddof)
