"""Similarity of an edit to the text that it was to follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from inpaintbench.eval.metrics.base import (
    Measurement,
    SingleRegionMetric,
    Where,
    mean_over_clip,
)
from inpaintbench.eval.passes.clip_frames import SINGLE_PRECISION, check_way, clip_vectors, prompt_vector
from inpaintbench.eval.passes.frame_vectors import Vectors
from inpaintbench.models.clip import shape_of
from inpaintbench.view import ItemView


class ClipConstants(Where):
    """Constants that every metric of CLIP is built with."""

    network: str
    """One of ``inpaintbench.models.clip.NETWORKS``."""
    preprocess: str
    """One of ``inpaintbench.eval.passes.clip_frames.PREPROCESSES``."""
    portrait: str
    """One of ``inpaintbench.eval.passes.clip_frames.PORTRAITS``."""


class ClipMetric(SingleRegionMetric):
    """Base of metrics of CLIP's vectors of whole frames.

    Args:
        network: one of ``inpaintbench.models.clip.NETWORKS``.
        preprocess: one of ``inpaintbench.eval.passes.clip_frames.PREPROCESSES``.
        portrait: one of ``inpaintbench.eval.passes.clip_frames.PORTRAITS``.
    """

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


class ClipSimilarity(ClipMetric):
    """Mean cosine of CLIP's vectors of the frames with that of the target prompt, as it is: about 0.2 to 0.35, in -1..1.

    EditBoard, AAAI 2025; not times 100 or 2.5 as elsewhere, and not cut off at 0.

    Args:
        network: one of ``inpaintbench.models.clip.NETWORKS``; published "ViT-B/32".
        preprocess: one of ``inpaintbench.eval.passes.clip_frames.PREPROCESSES``; published "pillow".
        portrait: one of ``inpaintbench.eval.passes.clip_frames.PORTRAITS``; published "bottom".
    """

    name = "clip_similarity"
    label = "CLIP similarity"
    deviations = (SINGLE_PRECISION,)
    version = "1"
    needs = ("prediction", "prompts")

    def measurement(self, view: ItemView) -> Measurement:
        """The mean over frames.

        Raises:
            NotMeasurable: the target prompt is missing or too long, or the weights are not there.
        """
        target = prompt_vector(view, "target", network=self.network)
        vectors = self.vectors(view)
        return mean_over_clip((vectors @ target).tolist(), parts="frames", missing="there is no frame")
