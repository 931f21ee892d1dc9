"""Distances of sets of frames by the vectors of the FID Inception network, 2048 numbers a frame, which all share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import Deviation, known_name
from inpaintbench.compute import Compute, Shared
from inpaintbench.eval.metrics.base import (
    Comparison,
    Features,
    Measurement,
    SetMetric,
    SingleRegionTogether,
    Where,
)
from inpaintbench.eval.metrics.lpips import Lpips
from inpaintbench.eval.passes.changed_windows import changed_windows
from inpaintbench.eval.set_distances import frechet, samples
from inpaintbench.models import torch_networks, weights
from inpaintbench.ranges import Amount, AtLeastOne, Positive, Seed, Side, Whole
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

if TYPE_CHECKING:
    from inpaintbench.models.inception_layers import Inception

# Entry of `weights.toml`.
WEIGHTS = "inception-fid"
# Side of the square input pictures, pixels.
SIDE = 299
# Dimension of a feature vector.
FEATURES = 2048


def inception(compute: Compute) -> Inception:
    """Load the network of FID: ``float32[N, 3, 299, 299]`` RGB in -1..1 -> ``float32[N, 2048]``.

    Inception v3 (Szegedy et al., CVPR 2016) as trained in TensorFlow in December 2015; the port to PyTorch and its parameters are
    those of pytorch-fid, which published scores rest on. It differs from torchvision's in its parameters and in its poolings.

    Raises:
        NotMeasurable: the weights are missing, damaged or of another network.
        MissingExtraError: PyTorch is not installed.
    """
    address = "inpaintbench.models.inception_layers:Inception"
    module: Inception = torch_networks.network(address, compute, weights_name=WEIGHTS, translate=_without_classes)
    return module


def _without_classes(state: torch_networks.State) -> torch_networks.State:
    """Parameters without those of the classifier (1008 classes), which FID does not use."""
    return {name: value for name, value in state.items() if not name.startswith("fc.")}


# `bilinear`: half-pixel centres, no filter before shrinking, in float32; DEVIL, CVPR 2022, and pytorch-fid's network.
RESIZES = ("bilinear",)
_VERSION = "1"
# Of activations, for each pixel of the resized picture.
_BYTES_PER_PIXEL = 150

Vectors = npt.NDArray[np.float32]
Places = Sequence[tuple[Frames, int]]


def inception_vectors(views: Sequence[ItemView], *, resize: str, side_pixels: int) -> list[Features]:
    """The vectors of the composite's frames and of the truth's, each ``float32[frames, 2048]``, for each view.

    A frame that equals the truth's in every pixel has the truth's vector. The result is remembered, so that metrics share it.

    Args:
        views: of one item; the truth is that of the first.
        resize: one of ``RESIZES``, how frames come to the size that the network takes.
        side_pixels: that size, of a square; published 299.

    Raises:
        NotMeasurable: the weights are missing, damaged or others.
        MissingExtraError: PyTorch is not installed.
    """
    composites = [view.composite for view in views]
    truth, shared = views[0].truth, views[0].shared

    def made() -> list[Features]:
        key = f"inception/{weights.named(WEIGHTS).sha256}/bilinear/{side_pixels}/{_VERSION}"
        known = shared.stored(truth, key, lambda: _vectors([(truth, index) for index in range(len(truth))], shared, side_pixels))
        places = [
            (view, index)
            for view, composite in enumerate(composites)
            for index, window in enumerate(changed_windows(truth, composite, shared))
            if window is not None
        ]
        new = _vectors([(composites[view], index) for view, index in places], shared, side_pixels)
        predicted = [known.copy() for _ in composites]
        for (view, index), vector in zip(places, new, strict=True):
            predicted[view][index] = vector
        return [Features(rows, known) for rows in predicted]

    features: list[Features] = shared.once_of(composites, ("inception", resize, side_pixels), made)
    return features


def _vectors(places: Places, shared: Shared, side_pixels: int) -> Vectors:
    """One vector for each of some frames."""
    if not places:
        return np.zeros((0, FEATURES), np.float32)
    compute = shared.compute
    network = inception(compute)
    height, width = places[0][0].shape[1:3]
    together = max(1, torch_networks.batch_bytes(compute) // (_BYTES_PER_PIXEL * side_pixels**2 + 16 * height * width))
    batches = []
    with torch_networks.running(compute) as device:
        for begin in range(0, len(places), together):
            some = places[begin : begin + together]
            frames = torch_networks.torch().stack([torch_networks.resident(clip, shared, device)[index] for clip, index in some])
            small = torch_networks.torch().nn.functional.interpolate(
                torch_networks.as_pictures(frames), size=(side_pixels, side_pixels), mode="bilinear", align_corners=False
            )
            batches.append(network(2 * small - 1).float())  # -1..1
        # One copy at the end: the processor reads the next frames while the device computes.
        vectors: Vectors = torch_networks.torch().cat(batches).cpu().numpy()
    return vectors


class Pictures(Where):
    """Constants of all metrics of Inception's vectors; see ``InceptionSets``."""

    resize: str
    side_pixels: Side


class InceptionSets(SingleRegionTogether, SetMetric):
    """Base of metrics of the vectors that the FID Inception network gives for whole frames; several share one pass.

    Args:
        resize: how frames come to the network's size, one of ``inpaintbench.eval.metrics.inception.RESIZES``.
        side_pixels: that size; published 299.
    """

    needs = ("truth", "composite")
    weights = (WEIGHTS,)

    def __init__(self, *, resize: str, side_pixels: Side, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.resize = known_name("way to resize", resize, RESIZES)
        self.side_pixels = side_pixels

    def measurements(self, views: Sequence[ItemView]) -> list[Measurement]:
        """The vectors of the composites' frames and of the truth's, ``float32[frames, 2048]`` each."""
        sets = inception_vectors(views, resize=self.resize, side_pixels=self.side_pixels)
        return [Measurement(None, details={"frames": len(vectors.truth)}, features=vectors) for vectors in sets]


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
    version = "1"
    deviations = (frechet.ROOT_OF_COVARIANCES,)
    higher_is_better = False
    decimals = 2
    bounds = (0.0, math.inf)

    def __init__(self, *, ddof: Whole, **pictures: Unpack[Pictures]) -> None:
        super().__init__(**pictures)
        self.ddof = frechet.check_ddof(ddof)

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The distance; see ``frechet.compare``."""
        return frechet.compare(sets, clusters, ddof=self.ddof)


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

    def __init__(self, *, subsets: Whole, subset_size: AtLeastOne, subset_seed: Seed, **pictures: Unpack[Pictures]) -> None:
        if subsets < 0 or subset_size < 2:
            raise ValueError(f"{subsets} subsets of {subset_size} vectors: at least 0 of at least 2 are possible")
        super().__init__(**pictures)
        self.subsets, self.subset_size, self.subset_seed = subsets, subset_size, subset_seed

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The distance; see ``samples.compare``."""
        return samples.compare(sets, clusters, subsets=self.subsets, subset_size=self.subset_size, subset_seed=self.subset_seed)


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
    version = "1"
    label = "P-IDS"
    deviations = (samples.MACHINE,)
    diagnostic = "a tie with the truth is a loss, so that a perfect copy scores 0"
    higher_is_better = True
    decimals = 4
    bounds = (0.0, 1.0)

    def __init__(self, *, cost: Positive, ties: Ties, **pictures: Unpack[Pictures]) -> None:
        super().__init__(**pictures)
        known_name("rule for ties", ties, get_args(Ties))
        self.cost, self.ties = cost, ties

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The share; see ``samples.paired``."""
        return samples.paired(sets, clusters, cost=self.cost, ties=self.ties)


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
    version = "1"
    label = "U-IDS"
    deviations = (samples.MACHINE,)
    diagnostic = (
        "it is the share of errors of a machine that is fitted to the very sets, which nothing bounds by the 0.5 of equal ones"
    )
    higher_is_better = True
    decimals = 4
    bounds = (0.0, 1.0)

    def __init__(self, *, cost: Positive, **pictures: Unpack[Pictures]) -> None:
        super().__init__(**pictures)
        self.cost = cost

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The share; see ``samples.unpaired``."""
        return samples.unpaired(sets, clusters, cost=self.cost)


class LamaF1(SingleRegionTogether, SetMetric):
    """Harmonic mean of 1 - LPIPS and 1 - FID / scale over the frames of a slice, from 0 to 1.

    ``2 a b / (a + b + epsilon)`` with ``a`` = 1 less the mean LPIPS of all frames and ``b`` = 1 - FID / ``fid_scale``, neither
    below 0 (LaMa, WACV 2022, released evaluator, where ``a`` has no such limit). The features of an item are those of ``Fid``
    with its mean LPIPS as one more number in every row (0 in the truth's). As FID it cannot be compared between sets of different
    sizes, and it has no standard error.

    Args:
        net: see ``Lpips``; published "vgg".
        version: see ``Lpips``.
        resize: see ``Fid``.
        side_pixels: see ``Fid``.
        ddof: see ``Fid``.
        fid_scale: the FID that counts as 0; published 100.
        epsilon: keeps the mean of two zeros a number; published 0.001, which costs a perfect copy half a thousandth.
    """

    name = "lama_f1"
    version = "1"
    label = "LaMa F1"
    deviations = (
        Deviation(
            "1 - LPIPS, where LPIPS is above 1",
            "below 0, so that the harmonic mean can be anything",
            "0",
            "none where the mean LPIPS is at most 1",
        ),
    )
    higher_is_better = True
    decimals = 4
    needs = ("truth", "composite", "hole")

    def __init__(
        self,
        *,
        net: str,
        version: str,
        resize: str,
        side_pixels: Side,
        ddof: Whole,
        fid_scale: Positive,
        epsilon: Amount,
        **where: Unpack[Where],
    ) -> None:
        super().__init__(**where)
        self.lpips = Lpips(net=net, version=version, **where)
        self.fid = Fid(resize=resize, side_pixels=side_pixels, ddof=ddof, **where)
        self.fid_scale, self.epsilon = fid_scale, epsilon

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """Those of both."""
        return (*Lpips.weights_of(constants), *Fid.weights_of(constants))

    def measurements(self, views: Sequence[ItemView]) -> list[Measurement]:
        """No values, but the features, ``float32[frames, 2049]`` each; networks are asked once, for the other metrics too."""
        measured = []
        for both in zip(self.lpips.measure_together(views), self.fid.measurements(views), strict=True):
            lpips, fid = both[0]["frame"], both[1]
            if lpips.value is None or fid.features is None:
                measured.append(Measurement(None, lpips.reason or fid.reason))
                continue
            joined = [
                np.hstack([array, np.full((len(array), 1), value, np.float32)])
                for array, value in zip(fid.features, (lpips.value, 0.0), strict=True)
            ]
            measured.append(Measurement(None, details=fid.details, features=Features(*joined)))
        return measured

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The mean of both, with ``lpips`` and ``fid`` in its details; without a FID no value, and the reason of that."""
        rows = [np.asarray(features.prediction[:, -1], np.float64) for features in sets]
        lpips = math.fsum(value for row in rows for value in row) / sum(map(len, rows))
        distance = self.fid.compare([Features(*(array[:, :-1] for array in features)) for features in sets], clusters)
        details = {**distance.details, "lpips": lpips, "fid": distance.value}
        if distance.value is None:
            return replace(distance, details=details)
        closeness, realism = max(0.0, 1 - lpips), max(0.0, 1 - distance.value / self.fid_scale)
        return Comparison(2 * closeness * realism / (closeness + realism + self.epsilon), details=details)
