"""Metrics of CLIP's vectors of frames: of edits, by VBench and EditBoard, and of sets of frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, Unpack, get_args

import numpy as np

from inpaintbench.catalogue import known_name
from inpaintbench.compute import Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import (
    Comparison,
    Features,
    Measurement,
    Metric,
    SetMetric,
    SingleRegionMetric,
    Where,
    check_next_frame,
    mean_over_clip,
)
from inpaintbench.eval.metrics.edits import WITHOUT_GIF, through_gif
from inpaintbench.eval.metrics.removal_coherence import discrepancy
from inpaintbench.eval.passes.frame_vectors import (
    SINGLE_PRECISION,
    Vectors,
    check_way,
    clip_vectors,
    consistency,
    frame_clip_vectors,
    frame_vectors,
    picture_bytes,
    prompt_vector,
    unit_length,
)
from inpaintbench.eval.set_distances import feature_sets
from inpaintbench.models import torch_networks
from inpaintbench.models.clip import AESTHETIC_LENGTH, AESTHETIC_WEIGHTS, aesthetic_head, image_network, shape_of
from inpaintbench.ranges import Amount, AtLeastOne, Cosine, Positive
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

RegionRule = Literal["videopainter", "five"]


class ClipConstants(Where):
    """Constants that every metric of CLIP is built with."""

    network: str
    """One of ``inpaintbench.models.clip.NETWORKS``."""
    preprocess: str
    """One of ``inpaintbench.eval.passes.frame_vectors.PREPROCESSES``."""
    portrait: str
    """One of ``inpaintbench.eval.passes.frame_vectors.PORTRAITS``."""


class ClipMetric(SingleRegionMetric):
    """Base of metrics of CLIP's vectors of whole frames.

    Args:
        network: one of ``inpaintbench.models.clip.NETWORKS``.
        preprocess: one of ``inpaintbench.eval.passes.frame_vectors.PREPROCESSES``.
        portrait: one of ``inpaintbench.eval.passes.frame_vectors.PORTRAITS``.
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
        preprocess: one of ``inpaintbench.eval.passes.frame_vectors.PREPROCESSES``; published "pillow".
        portrait: one of ``inpaintbench.eval.passes.frame_vectors.PORTRAITS``; published "bottom".
    """

    name = "clip_similarity"
    version = "1"
    label = "CLIP similarity"
    deviations = (SINGLE_PRECISION,)
    needs = ("prediction", "prompts")

    def measurement(self, view: ItemView) -> Measurement:
        """The mean over frames.

        Raises:
            NotMeasurable: the target prompt is missing or too long, or the weights are not there.
        """
        target = prompt_vector(view, "target", network=self.network)
        vectors = self.vectors(view)
        return mean_over_clip((vectors @ target).tolist(), parts="frames", missing="there is no frame")


class ClipScore(ClipMetric):
    """A hundred times the cosine of CLIP's vectors of a frame and the target prompt, at least 0, averaged over frames.

    As torchmetrics has it (Apache-2.0), with which VideoPainter (SIGGRAPH 2025) and FiVE (2025) measure. In ``hole`` and
    ``object`` all but the hole or the object is black.

    Args:
        rule: of ``hole`` and ``object``: ``"videopainter"``: frames without one count too, all black, and the text is of what
            fills the hole; ``"five"``: frames without one are left out, and the text is the target prompt.
        network: one of ``inpaintbench.models.clip.NETWORKS``; published "ViT-L/14".
        preprocess: one of ``inpaintbench.eval.passes.frame_vectors.PREPROCESSES``; published "transformers".
        portrait: one of ``inpaintbench.eval.passes.frame_vectors.PORTRAITS``; published "centre".
        stride: of frames that are looked at; FiVE takes every eighth.
        cut: whether a prompt of more than 77 tokens is cut, as published, see ``prompt_vector``; else the item has no value.
    """

    name = "clip_score"
    version = "2"
    label = "CLIP score"
    follows = "torchmetrics (Apache-2.0)"
    diagnostic = "it knows no truth, and a flat or blurred picture may be nearer to a text"
    deviations = (SINGLE_PRECISION,)
    bounds = (0.0, 100.0)
    needs = ("composite", "prompts")
    answers = ("frame", "hole", "object")

    def __init__(self, *, rule: RegionRule, stride: AtLeastOne, cut: bool, **clip: Unpack[ClipConstants]) -> None:
        super().__init__(**clip)
        self.rule = known_name("rule", rule, get_args(RegionRule))
        self.stride, self.cut = stride, cut

    @property
    def parts(self) -> tuple[str, ...]:
        """Composite and prompts, and the masks of its regions."""
        return (*super().parts, *(("hole",) if "hole" in self.regions else ()))

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """The mean over frames for each region.

        Raises:
            NotMeasurable: the target prompt is missing or too long, or the weights are not there.
        """
        return {region: self._within(view, region) for region in self.regions}

    def measurement(self, view: ItemView) -> Measurement:
        """That of whole frames; raises as ``measure``."""
        return self._within(view, "frame")

    def _within(self, view: ItemView, region: str) -> Measurement:
        which: Literal["target", "hole"] = "target" if region == "frame" or self.rule == "five" else "hole"
        if which == "hole" and view.has("prompts") and not view.prompts.hole:
            return Measurement(None, "nobody says what fills the hole")
        target = prompt_vector(view, which, network=self.network, cut=self.cut)
        frames = shown(view, region)[:: self.stride]
        if region != "frame" and self.rule == "five":
            mask = (view.hole if region == "hole" else view.object_mask)[:: self.stride]
            frames = frames[mask.any(axis=(1, 2))]
            if not len(frames):
                return Measurement(None, f"no frame shows the {region}")
        vectors = frame_clip_vectors(
            frames,
            Shared(compute=view.shared.compute),
            network=self.network,
            preprocess=self.preprocess,
            portrait=self.portrait,
        )
        values = np.maximum(100 * (vectors @ target), 0).tolist()
        return mean_over_clip(values, parts="frames", missing="there is no frame")


def shown(view: ItemView, region: str) -> Frames:
    """The composite, black outside the hole or the object where these are asked for."""
    if region == "frame":
        whole: Frames = view.composite
        return whole
    mask = view.hole if region == "hole" else view.object_mask
    return np.where(mask[..., None], view.composite, np.uint8(0))


class ClipNeighbours(Metric):
    """Mean cosine of CLIP's vectors of a frame and the next, in -1..1; 1 for a still clip.

    VideoPainter's temporal consistency (SIGGRAPH 2025): frames are squashed to 224x224 bilinearly, with antialiasing, and go into
    ViT-B/32 as intensities in 0..1, without the normalisation that CLIP was trained with. In ``hole`` all but the hole is black.
    """

    name = "clip_neighbours"
    version = "1"
    label = "CLIP temporal consistency"
    follows = "VideoPainter (research only)"
    deviations = (SINGLE_PRECISION,)
    diagnostic = "a frozen or flat clip is as consistent as can be"
    higher_is_better = True
    decimals = 4
    fewest_frames = 2
    needs = ("composite",)
    answers = ("frame", "hole", "object")

    def __init__(self, *, network: str, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        shape_of(network)
        self.network = network

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The network's."""
        return (shape_of(constants["network"]).weights,)

    @property
    def parts(self) -> tuple[str, ...]:
        """The composite, and the masks of its regions."""
        return (*super().parts, *(("hole",) if "hole" in self.regions else ()))

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """The mean over pairs of frames for each region.

        Raises:
            NotMeasurable: there is one frame only, or the weights are not there.
        """
        check_next_frame(view.frames)
        module, side = image_network(self.network, view.shared.compute), shape_of(self.network).side_pixels

        def answer(pictures: Any) -> Any:
            from torch.nn.functional import interpolate

            return module(interpolate(pictures, size=(side, side), mode="bilinear", align_corners=False, antialias=True))

        found = {}
        for region in self.regions:
            frames = shown(view, region)
            size = picture_bytes(self.network)
            vectors = unit_length(frame_vectors(frames, Shared(compute=view.shared.compute), answer, picture_bytes=size))
            cosines = np.einsum("td,td->t", vectors[1:], vectors[:-1]).tolist()
            found[region] = mean_over_clip(cosines, parts="pairs", missing="there is no pair of frames")
        return found


class SuccessRate(ClipMetric):
    """Share of frames that are nearer to the target prompt than to the source prompt, by the cosines of CLIP; 0..1.

    EditBoard, AAAI 2025, after FateZero's frame accuracy. A frame as near to the one as to the other counts ``tie``, as every
    frame does where both prompts have the same words.

    Args:
        network: one of ``inpaintbench.models.clip.NETWORKS``; published "ViT-B/32".
        preprocess: one of ``inpaintbench.eval.passes.frame_vectors.PREPROCESSES``; published "pillow".
        portrait: one of ``inpaintbench.eval.passes.frame_vectors.PORTRAITS``; published "bottom".
        tie: what a frame counts that is as near to the one as to the other; 1 in the released code, 0 in the paper.
    """

    name = "success_rate"
    version = "1"
    deviations = (SINGLE_PRECISION,)
    decimals = 3
    bounds = (0.0, 1.0)
    needs = ("prediction", "prompts")

    def __init__(self, *, tie: Amount, **clip: Unpack[ClipConstants]) -> None:
        if not 0 <= tie <= 1:
            raise ValueError(f"tie is {tie}, it must be from 0 to 1")
        super().__init__(**clip)
        self.tie = tie

    def measurement(self, view: ItemView) -> Measurement:
        """The share; ``successes`` and ``ties`` are in the details.

        Raises:
            NotMeasurable: a prompt is missing or too long, or the weights are not there.
        """
        source, target = (prompt_vector(view, which, network=self.network) for which in ("source", "target"))
        vectors = self.vectors(view)
        nearer = np.sign(vectors @ target - vectors @ source)
        wins, ties = int(np.count_nonzero(nearer > 0)), int(np.count_nonzero(nearer == 0))
        share = (wins + self.tie * ties) / len(vectors)
        return Measurement(share, details={"frames": len(vectors), "successes": wins, "ties": ties})


class BackgroundConsistency(ClipMetric):
    """How alike CLIP finds every frame and the first one, and every frame and the one before; 0..1, 1 for a still clip.

    VBench, CVPR 2024, and EditBoard, AAAI 2025; see ``inpaintbench.eval.passes.frame_vectors.consistency``. Whole frames are
    looked at, there is no mask of a background. Nearly every clip is above 0.9, and one that never moves wins.

    Args:
        network: one of ``inpaintbench.models.clip.NETWORKS``; published "ViT-B/32".
        preprocess: one of ``inpaintbench.eval.passes.frame_vectors.PREPROCESSES``; published "tensor".
        portrait: one of ``inpaintbench.eval.passes.frame_vectors.PORTRAITS``; published "centre".
        gif: look at what is left after a GIF, as EditBoard's code does.
        least_cosine: what smaller cosines count as; published 0, EditBoard's paper takes them as they are: -1.
    """

    name = "background_consistency"
    version = "1"
    deviations = (SINGLE_PRECISION, WITHOUT_GIF)
    fewest_frames = 2
    diagnostic = "a frozen or flat clip is as consistent as can be"
    needs = ("prediction",)

    def __init__(self, *, gif: bool, least_cosine: Cosine, **clip: Unpack[ClipConstants]) -> None:
        super().__init__(**clip)
        self.gif, self.least_cosine = gif, least_cosine

    def measurement(self, view: ItemView) -> Measurement:
        """The mean over all frames but the first.

        Raises:
            NotMeasurable: there is one frame only, or the weights are not there.
        """
        view = through_gif(view) if self.gif else view
        if view.frames < 2:
            raise NotMeasurable("one frame has no other frame to be like")
        values = consistency(self.vectors(view), least_cosine=self.least_cosine)
        return mean_over_clip(values, parts="pairs", missing="there is no pair of frames")


class AestheticQuality(ClipMetric):
    """Mean rating of the frames by LAION's linear head on CLIP's vectors, divided by ten: about 0.4 to 0.7, without fixed ends.

    VBench, CVPR 2024, and EditBoard, AAAI 2025. A fair picture is rated 5 of 10. Sharpness and faults of small parts hardly
    count.

    Args:
        network: one of ``inpaintbench.models.clip.NETWORKS`` with vectors of 768 numbers; published "ViT-L/14".
        preprocess: one of ``inpaintbench.eval.passes.frame_vectors.PREPROCESSES``; published "tensor".
        portrait: one of ``inpaintbench.eval.passes.frame_vectors.PORTRAITS``; published "centre".
        divisor: of the ratings; published 10.
        gif: look at what is left after a GIF, as EditBoard's code does.
    """

    name = "aesthetic_quality"
    version = "1"
    deviations = (SINGLE_PRECISION, WITHOUT_GIF)
    diagnostic = "it knows no truth, and a frozen clip repeats a frame that may be one of the better ones"
    weights = (AESTHETIC_WEIGHTS,)
    needs = ("prediction",)

    def __init__(self, *, divisor: Positive, gif: bool, **clip: Unpack[ClipConstants]) -> None:
        super().__init__(**clip)
        if shape_of(self.network).length != AESTHETIC_LENGTH:
            raise ValueError(
                f"network is {self.network!r}, whose vectors do not have the {AESTHETIC_LENGTH} numbers that "
                "the head was made for"
            )
        if divisor <= 0:
            raise ValueError(f"divisor is {divisor}, it must be above 0")
        self.gif = gif
        self.divisor = divisor

    def measurement(self, view: ItemView) -> Measurement:
        """The mean over frames.

        Raises:
            NotMeasurable: the weights of the network or of the head are not there.
        """
        view = through_gif(view) if self.gif else view
        compute = view.shared.compute
        head = aesthetic_head(compute)
        vectors = self.vectors(view)
        with torch_networks.running(compute) as device:
            ratings = head(torch_networks.torch().from_numpy(vectors.astype(np.float32)).to(device)).float().cpu()
        values = (ratings[:, 0].double() / self.divisor).tolist()
        return mean_over_clip(values, parts="frames", missing="there is no frame")


class Cmmd(SingleRegionMetric, SetMetric):
    """Squared maximum mean discrepancy, times 1000, of CLIP's vectors of all predicted and of all true frames; lower is better.

    Jayasumana et al., CVPR 2024, by its PyTorch code: vectors of length one, Gaussian kernel of width 10, biased, at least 0. At
    that width the kernel is linear: to 3e-4 the value is ten times the squared distance of the two mean vectors. Unlike a Frechet
    distance it needs few frames, but like any biased estimate it grows as they become fewer, so ``n`` stands beside it. Frames
    are cut to the middle square and brought to the network's size by Pillow's bicubic filter.

    Args:
        network: one of ``inpaintbench.models.clip.NETWORKS``; published ViT-L/14@336px.
    """

    name = "cmmd"
    version = "1"
    follows = "cmmd-pytorch (Apache-2.0)"
    higher_is_better = False
    decimals = 4
    bounds = (0.0, np.inf)
    needs = ("truth", "composite")

    def __init__(self, *, network: str, **where: Unpack[Where]) -> None:
        shape_of(network)
        check_way("pillow", "centre")
        super().__init__(**where)
        self.network = network

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The network's."""
        return (shape_of(constants["network"]).weights,)

    def measurement(self, view: ItemView) -> Measurement:
        """The vectors of the frames of both.

        Raises:
            NotMeasurable: the weights are missing, damaged or others.
            MissingExtraError: PyTorch or ``open_clip_torch`` is not installed.
        """
        side = min(view.height, view.width)
        top, left = (view.height - side) // 2, (view.width - side) // 2

        def vectors(frames: Frames) -> Any:
            middle = frames[:, top : top + side, left : left + side]
            found = frame_clip_vectors(middle, view.shared, network=self.network, preprocess="pillow", portrait="centre")
            return found.astype(np.float32)

        ours, truth = (
            view.shared.once_of([frames], ("cmmd", self.network), partial(vectors, frames))
            for frames in (view.composite, view.truth)
        )
        return Measurement(None, details={"frames": view.frames}, features=Features(ours, truth))

    @feature_sets.or_reason
    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The value, with the numbers of frames in the details."""
        size = feature_sets.extent(sets, clusters)
        ours, truth = (np.concatenate([one[side] for one in sets]).astype(np.float64) for side in (0, 1))
        return Comparison(max(0.0, discrepancy(ours, truth)), details=size.details)
