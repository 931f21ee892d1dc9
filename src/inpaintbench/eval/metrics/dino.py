"""Metrics of DINO's vectors: the layout that an edit kept of its source, likeness of frames, and difference as people see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Unpack, get_args

import numpy as np
from PIL import Image

from inpaintbench.catalogue import Deviation, known_name
from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import (
    Measurement,
    Metric,
    SingleRegionMetric,
    SingleRegionTogether,
    Where,
    mean_over_clip,
    region_pixels,
)
from inpaintbench.eval.metrics.edits import WITHOUT_GIF, through_gif
from inpaintbench.eval.passes.frame_vectors import (
    Vectors,
    consistency,
    frame_vectors,
    normalised,
    scaled_size,
    short_side_scaled,
    unit_length,
)
from inpaintbench.models.dino import (
    ADAPTERS,
    DEVIATION,
    FINE,
    LENGTH,
    MEAN,
    PATCH_PIXELS,
    SMALL,
    WEIGHTS,
    dino,
    dreamsim,
    fine_dino,
    small_dino,
)
from inpaintbench.ranges import AtLeastOne, Cosine, Side
from inpaintbench.regions import box_of
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

Rule = Literal["as-published", "antialiased", "corrected"]
Backbone = Literal["dino-vit-b-8", "dino-vit-b-16"]
SHORT_SIDE_PIXELS, LONG_SIDE_PIXELS = 224, 480
# Of activations, for each number of a token.
_BYTES_PER_NUMBER = 80
# A frame of 432x240 has 1400 patches of 8 pixels, and two million cosines.
_FRAMES_AT_ONCE = 4
_LEAST_NORMS = 1e-8


class StructureDistance(SingleRegionTogether):
    """Mean squared difference of the self-similarities of DINO's keys in prediction and truth (of an edit: its source); 0..4.

    Splice (Tumanyan et al., CVPR 2022) as PIE-Bench (ICLR 2024) measures edits: the keys of the last block, heads side by side,
    the class token's among them; cosines of every two keys of a frame; the mean squared difference of both frames' cosines; the
    mean over frames. Lower is better; papers print it times 1000. A structure that stays has about 0 whatever its colours.

    Args:
        rule: ``"as-published"``: levels 0..255 go through a normalisation that is made for 0..1, and frames are shrunk without
            antialiasing, as the released code does. ``"antialiased"``: the same with antialiasing, as the same code does with
            torchvision 0.17 and later, among it that of FiVE (2025). ``"corrected"``: intensities in 0..1, with antialiasing.
        backbone: ``"dino-vit-b-8"``, as published, or ``"dino-vit-b-16"``.
        stride: of frames that are looked at; FiVE takes every eighth.
    """

    name = "structure_distance"
    version = "1"
    follows = "PIE-Bench, FiVE (no licence files)"
    brings = "DINO ViT-B/8 (Apache-2.0) where a protocol names it, `INPAINTBENCH_DINO_VIT_B_8`"
    brought = FINE
    higher_is_better = False
    decimals = 5
    bounds = (0.0, 4.0)
    needs = ("truth", "composite")
    deviations = (
        Deviation(
            "shrinking",
            "torchvision's `Resize` of a tensor, with antialiasing or without as its version has it",
            "without, as in versions before 0.17, which the code is older than",
            "numbers of a later torchvision compare with none of these",
            {"rule": "as-published"},
        ),
    )

    def __init__(self, *, rule: Rule, backbone: Backbone, stride: AtLeastOne, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.rule = known_name("rule", rule, get_args(Rule))
        self.stride = stride
        self.backbone = known_name("network of keys", backbone, PATCH_PIXELS)

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """DINO's, unless the user brings them."""
        return (WEIGHTS,) if constants["backbone"] == WEIGHTS else ()

    def measurements(self, views: Sequence[ItemView]) -> list[Measurement]:
        """The means over frames of several predictions; the truth goes through the network once.

        Raises:
            NotMeasurable: the weights are not there, or a frame is smaller than two patches when it is shrunk.
            MissingExtraError: PyTorch is not installed.
        """
        truth, compute = views[0].truth[:: self.stride], views[0].shared.compute
        keys = self._network(compute, *truth.shape[1:3])
        values: list[list[float]] = [[] for _ in views]
        for some in (slice(begin, begin + _FRAMES_AT_ONCE) for begin in range(0, len(truth), _FRAMES_AT_ONCE)):
            expected = list(map(self_similarity, keys(truth[some])))
            for of_view, view in zip(values, views, strict=True):
                ours = map(self_similarity, keys(view.composite[:: self.stride][some]))
                of_view += [float(np.square(one - other).mean()) for one, other in zip(ours, expected, strict=True)]
        return [mean_over_clip(of_view, parts="frames", missing="there is no frame") for of_view in values]

    def _network(self, compute: Compute, height: int, width: int) -> Callable[[Frames], Vectors]:
        """What gives the keys of some frames of a size, ``float64[T, tokens, 768]``."""
        size, patch = shrunk_size(height, width), PATCH_PIXELS[self.backbone]
        levels, antialias = self.rule != "corrected", self.rule != "as-published"
        if min(size) < 2 * patch:
            raise NotMeasurable(f"frames of {width}x{height} are too long for their width for DINO")
        module = (fine_dino if self.backbone == "dino-vit-b-8" else dino)(compute)

        def keys(pictures: Any) -> Any:
            from torch.nn.functional import interpolate

            shrunk = interpolate(pictures, size=size, mode="bilinear", align_corners=False, antialias=antialias)
            return module.keys(normalised(shrunk * 255 if levels else shrunk, MEAN, DEVIATION))

        picture_bytes = _BYTES_PER_NUMBER * LENGTH * (1 + size[0] * size[1] // patch**2)
        return lambda frames: frame_vectors(frames, Shared(compute=compute), keys, picture_bytes=picture_bytes)


def shrunk_size(height: int, width: int) -> tuple[int, int]:
    """Height and width of a frame whose shorter side becomes 224 pixels, or whose longer one 480 where it would be more."""
    short, long = min(height, width), max(height, width)
    to_short, to_long = SHORT_SIDE_PIXELS, int(SHORT_SIDE_PIXELS * long / short)
    if to_long > LONG_SIDE_PIXELS:
        to_short, to_long = int(LONG_SIDE_PIXELS * to_short / to_long), LONG_SIDE_PIXELS
    return (to_short, to_long) if height <= width else (to_long, to_short)


def self_similarity(keys: Vectors) -> Vectors:
    """Cosines of every two rows of ``float64[n, d]``, ``float64[n, n]``."""
    norms = np.linalg.norm(keys, axis=1)
    return np.asarray(keys @ keys.T / np.maximum(np.outer(norms, norms), _LEAST_NORMS))


Branch = Literal["dino-vit-b-16"]
SIDE_PIXELS = 224
# Of activations of a picture: 197 tokens.
_PICTURE_BYTES = 80 * LENGTH * (1 + (SIDE_PIXELS // 16) ** 2)


class DreamSim(Metric):
    """Mean distance of prediction and truth, frame by frame, by DreamSim's network of one branch; 0 for equal frames.

    Fu et al., NeurIPS 2023: pictures are squashed to 224x224 by Pillow's bicubic filter; the class token after the last block of
    the adapted DINO ViT-B/16, less the mean of its numbers, is the vector; the distance is 1 less the cosine of both, 0..2; lower
    is better. In ``hole`` and ``object`` the box around the hole or the object of each frame is what is looked at, and frames
    without one are left out. Code and adapters are MIT, DINO's parameters Apache-2.0.

    Args:
        branch: ``"dino-vit-b-16"``. The published default, of three networks, is not built.
    """

    name = "dreamsim"
    version = "1"
    label = "DreamSim"
    follows = "DreamSim (MIT)"
    brings = "its adapters (MIT), `INPAINTBENCH_DREAMSIM`"
    brought = ADAPTERS
    higher_is_better = False
    decimals = 4
    bounds = (0.0, 2.0)
    needs = ("truth", "composite", "hole")
    answers = ("frame", "hole", "object")
    weights = (WEIGHTS,)
    deviations = (
        Deviation(
            "networks",
            'by default an ensemble of DINO, CLIP and OpenCLIP (`dreamsim_type="ensemble"`)',
            'the single branch DINO ViT-B/16, which the same release has (`dreamsim_type="dino_vitb16"`)',
            "values compare with those of that branch alone",
        ),
    )

    def __init__(self, *, branch: Branch, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.branch = known_name("branch of DreamSim", branch, get_args(Branch))

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """The mean over frames for each region.

        Raises:
            NotMeasurable: DINO's weights or the adapters are not there.
            MissingExtraError: PyTorch is not installed.
        """
        found = {}
        for region in self.regions:
            parts: list[tuple[int, slice, slice]] = [(at, slice(None), slice(None)) for at in range(view.frames)]
            if region != "frame":
                pixels = region_pixels(view, region, band_radius_pixels=self.band_radius_pixels)
                parts = [(at, *box) for at, mask in enumerate(pixels) if (box := box_of(mask))]
            if not parts:
                found[region] = Measurement(None, f"no frame has a pixel of the region {region!r}")
                continue
            ours, truth = (self._vectors(view, frames, parts, region) for frames in (view.composite, view.truth))
            # Half the squared distance of unit vectors is 1 less their cosine, and exactly 0 for equal ones.
            values = (np.square(ours - truth).sum(axis=1) / 2).tolist()
            found[region] = mean_over_clip(values, parts="frames", missing="there is no frame")
        return found

    def _vectors(self, view: ItemView, frames: Frames, parts: Sequence[tuple[int, slice, slice]], region: str) -> Vectors:
        """Vectors of length one of the parts of frames, ``float64[n, 768]``; those of the truth serve all predictions."""

        def made() -> Vectors:
            module, size = dreamsim(view.shared.compute), (SIDE_PIXELS, SIDE_PIXELS)
            cut = (Image.fromarray(np.ascontiguousarray(frames[part])) for part in parts)
            pictures = np.stack([np.asarray(picture.resize(size, Image.Resampling.BICUBIC)) for picture in cut])
            found = frame_vectors(
                pictures, view.shared, lambda some: module.raw_class_token(normalised(some, MEAN, DEVIATION)),
                picture_bytes=_PICTURE_BYTES,
            )  # fmt: skip
            return unit_length(found - found.mean(axis=1, keepdims=True))

        vectors: Vectors = view.shared.once_of([frames], ("dreamsim", region), made)
        return vectors


# DINO's vectors of every frame of a prediction, prepared as VBench does.

_PATCH_PIXELS = 16
# Of one picture; a strip longer than three hundred times its width is no picture.
_MOST_TOKENS = 16384


def dino_vectors(view: ItemView, *, side_pixels: int) -> Vectors:
    """The vectors of the prediction's frames, of length one, ``float64[T, 768]``.

    The shorter side comes to ``side_pixels``, bilinearly and without anti-aliasing; nothing is cropped.

    Raises:
        NotMeasurable: the frames are too long for their width, or the weights are missing, damaged or others.
        MissingExtraError: PyTorch is not installed.
    """
    frames, shared = view.prediction, view.shared

    def made() -> Vectors:
        rows, columns = (length // _PATCH_PIXELS for length in scaled_size(*frames.shape[1:3], side=side_pixels))
        if rows * columns > _MOST_TOKENS:
            raise NotMeasurable(f"frames of {frames.shape[2]}x{frames.shape[1]} are too long for their width for DINO")
        module = dino(shared.compute)

        def answer(pictures: Any) -> Any:
            return module(normalised(short_side_scaled(pictures, side=side_pixels, mode="bilinear"), MEAN, DEVIATION))

        picture_bytes = _BYTES_PER_NUMBER * LENGTH * (1 + rows * columns)
        return unit_length(frame_vectors(frames, shared, answer, picture_bytes=picture_bytes))

    vectors: Vectors = shared.once_of([frames], ("dino", side_pixels), made)
    return vectors


def small_dino_vectors(view: ItemView, *, side_pixels: int) -> Vectors:
    """The same of DINO ViT-S/16, ``float64[T, 384]``, of frames that Pillow squashes to a square; raises the same."""
    size, frames = (side_pixels, side_pixels), view.prediction
    squares = np.stack([np.asarray(Image.fromarray(frame).resize(size, Image.Resampling.BILINEAR)) for frame in frames])
    module = small_dino(view.shared.compute)
    answer = lambda pictures: module(normalised(pictures, MEAN, DEVIATION))  # noqa: E731
    return unit_length(frame_vectors(squares, Shared(compute=view.shared.compute), answer, picture_bytes=_PICTURE_BYTES))


Subject = Literal["dino-vit-b-16", "dino-vit-s-16"]


class SubjectConsistency(SingleRegionMetric):
    """How alike DINO finds every frame and the first one, and every frame and the one before; 0..1, 1 for a still clip.

    VBench, CVPR 2024, and EditBoard, AAAI 2025; see ``inpaintbench.eval.passes.frame_vectors.consistency``. Whole frames are
    looked at, there is no mask of a subject. One that never moves wins.

    Args:
        network: ``"dino-vit-b-16"``, or ``"dino-vit-s-16"``, IVEBench's (2025), which squashes frames to a square by Pillow's
            bilinear filter.
        side_pixels: what the shorter side comes to, or that of the square; published 224.
        gif: look at what is left after a GIF, as EditBoard's code does.
        least_cosine: what smaller cosines count as; published 0, EditBoard's paper takes them as they are: -1.
    """

    name = "subject_consistency"
    version = "1"
    deviations = (WITHOUT_GIF,)
    fewest_frames = 2
    diagnostic = "a frozen or flat clip is as consistent as can be"
    higher_is_better = True
    decimals = 4
    brings = "DINO ViT-S/16 (Apache-2.0) where a protocol names it, `INPAINTBENCH_DINO_VIT_S_16`"
    brought = SMALL
    needs = ("prediction",)

    def __init__(self, *, side_pixels: Side, gif: bool, least_cosine: Cosine, network: Subject, **where: Unpack[Where]) -> None:
        if side_pixels < 16:
            raise ValueError(f"side_pixels is {side_pixels}, it must be at least 16, the side of a patch")
        super().__init__(**where)
        self.gif, self.least_cosine = gif, least_cosine
        self.side_pixels, self.network = side_pixels, known_name("network of subjects", network, get_args(Subject))

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """DINO's, unless the user brings them."""
        return (WEIGHTS,) if constants["network"] == WEIGHTS else ()

    def measurement(self, view: ItemView) -> Measurement:
        """The mean over all frames but the first.

        Raises:
            NotMeasurable: there is one frame only, it is too long for its width, or the weights are not there.
        """
        view = through_gif(view) if self.gif else view
        if view.frames < 2:
            raise NotMeasurable("one frame has no other frame to be like")
        vectors = (dino_vectors if self.network == WEIGHTS else small_dino_vectors)(view, side_pixels=self.side_pixels)
        values = consistency(vectors, least_cosine=self.least_cosine)
        return mean_over_clip(values, parts="pairs", missing="there is no pair of frames")
