"""MUSIQ of every frame, brought to size in the ways of VBench."""

from __future__ import annotations

from typing import Any

from inpaintbench.compute import Shared
from inpaintbench.eval.passes.frame_vectors import Vectors, frame_vectors
from inpaintbench.models import torch_networks
from inpaintbench.models.musiq import musiq
from inpaintbench.types import Frames

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
        head: one of ``inpaintbench.models.musiq.HEADS``.
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
    return _middle(scaled) if preprocess == "shorter_centercrop" else scaled


def _middle(pictures: Any) -> Any:
    """The middle 512x512; a side of 511, which cutting to whole numbers gives, gets a row of zeros behind it."""
    height, width = (max(length, SIDE) for length in pictures.shape[-2:])
    bottom, right = height - pictures.shape[-2], width - pictures.shape[-1]
    padded = torch_networks.torch().nn.functional.pad(pictures, (0, right, 0, bottom))
    top, left = round((height - SIDE) / 2), round((width - SIDE) / 2)
    return padded[..., top : top + SIDE, left : left + SIDE]
