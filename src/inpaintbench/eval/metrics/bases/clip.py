"""What metrics of CLIP's vectors have in common: the network, and how pictures come to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from inpaintbench.eval.metrics.base import SingleRegionMetric, Where
from inpaintbench.eval.passes.clip_frames import clip_vectors
from inpaintbench.eval.passes.clip_pictures import check_way
from inpaintbench.eval.passes.frame_vectors import Vectors
from inpaintbench.models.clip import shape_of
from inpaintbench.view import ItemView


class ClipConstants(Where):
    """What every metric of CLIP is built with."""

    network: str
    """One of ``inpaintbench.models.clip.NETWORKS``."""
    preprocess: str
    """One of ``inpaintbench.eval.passes.clip_pictures.PREPROCESSES``."""
    portrait: str
    """One of ``inpaintbench.eval.passes.clip_pictures.PORTRAITS``."""


class ClipMetric(SingleRegionMetric):
    """Base of metrics of CLIP's vectors of whole frames.

    Args:
        network: one of ``inpaintbench.models.clip.NETWORKS``.
        preprocess: one of ``inpaintbench.eval.passes.clip_pictures.PREPROCESSES``.
        portrait: one of ``inpaintbench.eval.passes.clip_pictures.PORTRAITS``.
    """

    unit = ""
    higher_is_better = True
    decimals = 4

    def __init__(self, *, network: str, preprocess: str, portrait: str, **where: Unpack[Where]) -> None:
        check_way(preprocess, portrait)
        shape_of(network)
        super().__init__(**where)
        self.network, self.preprocess, self.portrait = network, preprocess, portrait

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The network's and what else the metric needs."""
        return (shape_of(constants["network"]).weights, *cls.weights)

    def vectors(self, view: ItemView) -> Vectors:
        """The vectors of the prediction's frames, of length one, ``float64[T, d]``; raises what ``clip_vectors`` raises."""
        return clip_vectors(view, network=self.network, preprocess=self.preprocess, portrait=self.portrait)
