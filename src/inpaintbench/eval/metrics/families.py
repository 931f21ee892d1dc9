"""Families of metrics: base classes, with what the metrics of one network or of one kind of comparison have in common."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import known_name
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.flows import FLOWS
from inpaintbench.eval.metrics.base import (
    Comparison,
    Features,
    Measurement,
    Metric,
    SetMetric,
    SingleRegionMetric,
    TogetherMetric,
    Where,
    region_pixels,
)
from inpaintbench.eval.passes.clip_frames import check_way, clip_vectors
from inpaintbench.eval.passes.frame_vectors import Vectors
from inpaintbench.eval.passes.inception_frames import RESIZES, inception_vectors
from inpaintbench.eval.set_distances import frechet
from inpaintbench.models import weights
from inpaintbench.models.clip import shape_of
from inpaintbench.models.i3d import WEIGHTS as I3D_WEIGHTS
from inpaintbench.models.inception import WEIGHTS as INCEPTION_WEIGHTS
from inpaintbench.models.musiq import HEADS, check_head
from inpaintbench.view import ItemView


class FlowMetric(TogetherMetric):
    """Base of metrics that compare frames along an optical flow, which is estimated once for all predictions of an item."""

    fewest_frames = 2

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The parameters of the flow ``constants["flow"]``; none for one without a network."""
        weights = FLOWS.get(constants["flow"]).weights
        return () if weights is None else (weights,)


LEVELS = 255
Pixels = npt.NDArray[np.bool_]


class FramePairs(Metric):
    """Base of metrics that look at each frame and the next one, pixel by pixel."""

    higher_is_better = False
    decimals = 5
    bounds = (0.0, math.inf)
    needs = ("truth", "composite", "hole")
    fewest_frames = 2


def mean_level(levels: npt.NDArray[Any], pixels: Pixels) -> float:
    """The mean of grey levels, ``[H, W, 3]``, over ``pixels``, ``bool[H, W]``, and channels, in intensities of 0..1."""
    channels = cv2.mean(levels, pixels.view(np.uint8))[:3]
    return sum(channels) / (3 * LEVELS)


def shared_pixels(view: ItemView, *, regions: tuple[str, ...], band_radius_pixels: int) -> Iterator[dict[str, Pixels]]:
    """For each pair of consecutive frames the pixels of each region in both, without the regions that have none.

    Raises:
        NotMeasurable: there is one frame only.
    """
    if view.frames < 2:
        raise NotMeasurable("one frame has no next frame")
    masks = {region: region_pixels(view, region, band_radius_pixels=band_radius_pixels) for region in regions}
    for index in range(view.frames - 1):
        both = {region: pixels[index] & pixels[index + 1] for region, pixels in masks.items()}
        yield {region: pixels for region, pixels in both.items() if pixels.any()}


def missing_pair(region: str) -> str:
    """Return why there is no value when ``shared_pixels`` gave none."""
    return f"no two consecutive frames share a pixel of the region {region!r}"


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


class MusiqMetric(SingleRegionMetric):
    """Base of metrics that rate whole frames by MUSIQ.

    Args:
        head: one of ``inpaintbench.models.musiq.HEADS``.
    """

    higher_is_better = True

    def __init__(self, *, head: str, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.head = check_head(head)

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The head's."""
        return (HEADS[check_head(constants["head"])],)


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


class I3dMetric(TogetherMetric):
    """Base of metrics of the features that I3D gives for clips; for the frame alone, since features see far beyond any region."""

    higher_is_better = False
    decimals = 4
    needs = ("truth", "composite")
    answers = ("frame",)
    fewest_frames = 2
    weights = (I3D_WEIGHTS,)

    def measure_together(self, views: Sequence[ItemView]) -> list[dict[str, Measurement]]:
        """The answers for the frame.

        Raises:
            NotMeasurable: there is a single frame, or as ``models.i3d.i3d``.
            MissingExtraError: PyTorch is not installed.
        """
        if not self.regions:
            return [{} for _ in views]
        if views[0].frames < self.fewest_frames:
            raise NotMeasurable("one frame has no next frame")
        return [{"frame": measurement} for measurement in self._measured(views)]

    @abstractmethod
    def _measured(self, views: Sequence[ItemView]) -> Sequence[Measurement]:
        """One for each of ``views``."""


class I3dSets(I3dMetric, SetMetric):
    """Base of metrics that compare sets of I3D's vectors by their Frechet distance.

    Args:
        ddof: covariances are divided by n - ``ddof``.
    """

    def __init__(self, *, ddof: int, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.ddof = ddof

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The distance between the vectors of all composites and those of all true clips."""
        return frechet.compare(sets, clusters, ddof=self.ddof)


def stored_key(kind: str, version: str, constants: Any) -> str:
    """Under which vectors of the truth are kept: everything that decides their numbers."""
    return f"{kind} {version} {weights.named(I3D_WEIGHTS).sha256} {constants}"
