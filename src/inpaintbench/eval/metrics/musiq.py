"""MUSIQ of every frame: quality without a truth, at its own size or brought to size in the ways of VBench."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

from inpaintbench.catalogue import known_name
from inpaintbench.compute import Compute, Shared
from inpaintbench.eval.metrics.base import (
    Measurement,
    SingleRegionMetric,
    Where,
    mean_over_clip,
)
from inpaintbench.eval.metrics.edits import WITHOUT_GIF, through_gif
from inpaintbench.eval.passes.frame_vectors import Vectors, frame_vectors
from inpaintbench.models import torch_networks
from inpaintbench.ranges import Positive
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

if TYPE_CHECKING:
    from inpaintbench.models.musiq_layers import Musiq

# Data set of ratings that the network was trained on (KonIQ-10k, SPAQ) -> entry of `weights.toml`. Scores go from 0 to about 100.
HEADS: Mapping[str, str] = {"koniq": "musiq-koniq", "spaq": "musiq-spaq"}


def check_head(name: str) -> str:
    """Return ``name`` if it is one of ``HEADS``, else raise ``UnknownNameError``."""
    return known_name("head of MUSIQ", name, HEADS)


def musiq(head: str, compute: Compute) -> Musiq:
    """Load the network: ``float32[N, 3, H, W]`` RGB in 0..1 -> ``float32[N]``, higher is better.

    A transformer on patches of a picture at three sizes (Ke et al., ICCV 2021). The parameters are Google's in their public
    conversion to PyTorch, which published scores agree with; that port downscales pictures by a bicubic filter without
    anti-aliasing where Google's code has a Gaussian one, which changes scores by up to 3 %.

    Raises:
        UnknownNameError: no such head.
        NotMeasurable: the weights are missing, damaged or of another network.
        MissingExtraError: PyTorch is not installed.
    """
    address = "inpaintbench.models.musiq_layers:Musiq"
    module: Musiq = torch_networks.network(address, compute, weights_name=HEADS[check_head(head)])
    return module


# VBench's names: the longer or the shorter side comes to 512 pixels where it is more, `shorter_centercrop` keeps the middle
# 512x512 of a frame that was made smaller.
PREPROCESSES = ("longer", "shorter", "shorter_centercrop", "none")
SIDE = 512
# Of activations: 64 channels at half, then 256 and more at a quarter of the side.
_BYTES_PER_PIXEL = 600


def musiq_scores(frames: Frames, shared: Shared, *, head: str, preprocess: str, antialias: bool) -> list[float]:
    """The score of every frame, about 0..100; remembered.

    Args:
        frames: ``uint8[T, H, W, 3]`` RGB.
        shared: of the item.
        head: one of ``inpaintbench.eval.metrics.musiq.HEADS``.
        preprocess: one of ``PREPROCESSES``.
        antialias: whether frames are smoothed before they are made smaller.

    Raises:
        NotMeasurable: the weights are missing, damaged or others.
        MissingExtraError: PyTorch is not installed.
    """

    def measured() -> Vectors:
        module = musiq(head, shared.compute)

        def answer(pictures: Any) -> Any:
            return module(brought_to_size(pictures, preprocess=preprocess, antialias=antialias))

        height, width = target_size(*frames.shape[1:3], preprocess=preprocess)
        pixels = height * width + 224**2 + 384**2
        return frame_vectors(frames, shared, answer, picture_bytes=_BYTES_PER_PIXEL * pixels)

    scores: Vectors = shared.once_of([frames], ("musiq", head, preprocess, antialias), measured)
    return [float(score) for score in scores]


def target_size(height: int, width: int, *, preprocess: str) -> tuple[int, int]:
    """Height and width that frames are scaled to, before a crop; cut to whole numbers, so 511 for some sides (561, 644 ...)."""
    if preprocess == "none":
        return height, width
    side = max(height, width) if preprocess == "longer" else min(height, width)
    if side <= SIDE:
        return height, width
    scale = SIDE / side
    return max(1, int(scale * height)), max(1, int(scale * width))


def brought_to_size(pictures: Any, *, preprocess: str, antialias: bool) -> Any:
    """``float32[N, 3, H, W]`` in 0..1 -> the same values in the size that MUSIQ is given; never larger than before."""
    given = tuple(pictures.shape[-2:])
    size = target_size(*given, preprocess=preprocess)
    if size == given:
        return pictures
    functional = torch_networks.torch().nn.functional
    scaled = functional.interpolate(pictures, size=size, mode="bilinear", align_corners=False, antialias=antialias)
    if preprocess != "shorter_centercrop":
        return scaled
    # The middle 512x512; a side of 511, which cutting to whole numbers gives, gets a row of zeros behind it.
    height, width = (max(length, SIDE) for length in scaled.shape[-2:])
    padded = functional.pad(scaled, (0, width - scaled.shape[-1], 0, height - scaled.shape[-2]))
    top, left = round((height - SIDE) / 2), round((width - SIDE) / 2)
    return padded[..., top : top + SIDE, left : left + SIDE]


Picture = Literal["composite", "prediction"]


class MusiqMetric(SingleRegionMetric):
    """Base of metrics that rate whole frames by MUSIQ.

    Args:
        head: one of ``inpaintbench.eval.metrics.musiq.HEADS``.
    """

    higher_is_better = True

    def __init__(self, *, head: str, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.head = check_head(head)

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The head's."""
        return (HEADS[check_head(constants["head"])],)


class MusiqScore(MusiqMetric):
    """MUSIQ of whole frames at their own size, averaged over frames; about 0 to 100.

    Ke et al., ICCV 2021; with the head "koniq" the measure beside re-inpainting self-consistency in its paper's Table 5. It
    judges the picture and not the fill: known pixels count as much, and a wrong but sharp fill loses little.

    Args:
        head: one of ``inpaintbench.eval.metrics.musiq.HEADS``.
        picture: "composite", or "prediction" with what a method made of the known pixels.
    """

    name = "musiq"
    version = "1"
    diagnostic = "it knows no truth, and a frozen fill repeats a frame that may be one of the better ones"
    decimals = 2
    needs = ("composite",)

    def __init__(self, *, head: str, picture: Picture, **where: Unpack[Where]) -> None:
        if picture not in get_args(Picture):
            raise ValueError(f"picture is {picture!r}, choose 'composite' or 'prediction'")
        super().__init__(head=head, **where)
        self.picture = picture
        self.needs = (picture,)

    def measurement(self, view: ItemView) -> Measurement:
        """The mean over frames.

        Raises:
            NotMeasurable: the weights are not there.
        """
        frames = view.composite if self.picture == "composite" else view.prediction
        values = musiq_scores(frames, view.shared, head=self.head, preprocess="none", antialias=False)
        return mean_over_clip(values, parts="frames", missing="there is no frame")


class ImagingQuality(MusiqMetric):
    """Mean of MUSIQ over the frames, divided; 0..1 with the divisor 100.

    VBench, CVPR 2024, and EditBoard, AAAI 2025. VBench gives 0..100 for a video (divisor 1) and divides the mean over videos
    alone, EditBoard divides for each.

    Args:
        head: one of ``inpaintbench.eval.metrics.musiq.HEADS``; published "spaq".
        preprocess: one of ``inpaintbench.eval.metrics.musiq.PREPROCESSES``; published "longer".
        antialias: whether frames are smoothed before they are made smaller; EditBoard True, VBench since November 2024 False.
        divisor: of the scores; EditBoard 100.
        gif: look at what is left after a GIF, as EditBoard's code does.
    """

    name = "imaging_quality"
    version = "1"
    deviations = (WITHOUT_GIF,)
    diagnostic = "it knows no truth, and a frozen clip repeats a frame that may be one of the better ones"
    decimals = 4
    needs = ("prediction",)

    def __init__(
        self, *, head: str, preprocess: str, antialias: bool, divisor: Positive, gif: bool, **where: Unpack[Where]
    ) -> None:
        if divisor <= 0:
            raise ValueError(f"divisor is {divisor}, it must be above 0")
        super().__init__(head=head, **where)
        self.gif = gif
        self.preprocess = known_name("preprocessing for MUSIQ", preprocess, PREPROCESSES)
        self.antialias, self.divisor = antialias, divisor

    def measurement(self, view: ItemView) -> Measurement:
        """The mean over frames.

        Raises:
            NotMeasurable: the weights are not there.
        """
        view = through_gif(view) if self.gif else view
        scores = musiq_scores(
            view.prediction, view.shared, head=self.head, preprocess=self.preprocess, antialias=self.antialias
        )  # fmt: skip
        values = [score / self.divisor for score in scores]
        return mean_over_clip(values, parts="frames", missing="there is no frame")
