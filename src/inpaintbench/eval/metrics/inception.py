"""Frechet Inception distance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Unpack

from inpaintbench.catalogue import known_name
from inpaintbench.eval.metrics.base import (
    Comparison,
    Features,
    Measurement,
    SetMetric,
    TogetherMetric,
    Where,
)
from inpaintbench.eval.passes.inception_frames import RESIZES, inception_vectors
from inpaintbench.eval.set_distances import frechet
from inpaintbench.models.inception import WEIGHTS as INCEPTION_WEIGHTS
from inpaintbench.ranges import Side, Whole
from inpaintbench.view import ItemView


class InceptionSets(TogetherMetric, SetMetric):
    """Base of metrics of the vectors that the FID Inception network gives for whole frames; several share one pass.

    Args:
        resize: how frames come to the network's size, one of ``inpaintbench.eval.passes.inception_frames.RESIZES``.
        side_pixels: that size; published 299.
    """

    needs = ("truth", "composite")
    answers = ("frame",)
    weights = (INCEPTION_WEIGHTS,)

    def __init__(self, *, resize: str, side_pixels: int, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.resize = known_name("way to resize", resize, RESIZES)
        self.side_pixels = side_pixels

    def measure_together(self, views: Sequence[ItemView]) -> list[dict[str, Measurement]]:
        """The vectors of the composites' frames and of the truth's, ``float32[frames, 2048]`` each."""
        if not self.regions:
            return [{} for _ in views]
        sets = inception_vectors(views, resize=self.resize, side_pixels=self.side_pixels)
        return [{"frame": Measurement(None, details={"frames": len(vectors.truth)}, features=vectors)} for vectors in sets]


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
