"""How frames come to the square pictures that CLIP takes, in the two ways of publications.

``"pillow"``: CLIP's own, by Pillow's bicubic filter, which smooths before it shrinks and gives whole levels. ``"tensor"``: that
of VBench, bicubic without anti-aliasing on real numbers, whose overshoot stays. In both the shorter side comes to the side of the
square, the longer one to the whole number below its share, and the middle is kept, an odd pixel rounded half to even.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import UnknownNameError
from inpaintbench.models import torch_networks
from inpaintbench.types import Frames

PREPROCESSES = ("pillow", "tensor")
# What is kept of frames that are taller than wide: the bottom square, as in FateZero's and EditBoard's code, or the middle.
PORTRAITS = ("bottom", "centre")


def check_way(preprocess: str, portrait: str) -> None:
    """Raise ``UnknownNameError`` unless both are known."""
    if preprocess not in PREPROCESSES:
        raise UnknownNameError(unknown_name("preprocessing for CLIP", preprocess, list(PREPROCESSES)))
    if portrait not in PORTRAITS:
        raise UnknownNameError(unknown_name("part of portrait frames", portrait, list(PORTRAITS)))


def kept_rows(frames: Frames, *, portrait: str) -> Frames:
    """``uint8[T, H, W, 3]`` -> the bottom square of frames that are taller than wide, if that is what is kept."""
    height, width = frames.shape[1:3]
    return frames[:, height - width :] if portrait == "bottom" and height > width else frames


def squares_by_pillow(frames: Frames, *, side: int) -> Frames:
    """``uint8[T, H, W, 3]`` -> ``uint8[T, side, side, 3]``."""
    height, width = scaled_size(*frames.shape[1:3], side=side)
    top, left = middle(height, side), middle(width, side)
    box = (left, top, left + side, top + side)
    scaled = (Image.fromarray(frame).resize((width, height), Image.Resampling.BICUBIC) for frame in frames)
    return np.stack([np.asarray(picture.crop(box)) for picture in scaled])


def squares_of_tensor(pictures: Any, *, side: int) -> Any:
    """``float32[N, 3, H, W]`` -> ``float32[N, 3, side, side]``."""
    height, width = scaled_size(*pictures.shape[-2:], side=side)
    scaled = short_side_scaled(pictures, side=side, mode="bicubic")
    top, left = middle(height, side), middle(width, side)
    return scaled[..., top : top + side, left : left + side]


def short_side_scaled(pictures: Any, *, side: int, mode: str) -> Any:
    """``float32[N, 3, H, W]`` with ``side`` pixels along the shorter side, without anti-aliasing.

    Args:
        pictures: of any size.
        side: pixels.
        mode: "bilinear" or "bicubic".
    """
    size = scaled_size(*pictures.shape[-2:], side=side)
    if size == tuple(pictures.shape[-2:]):
        return pictures
    return torch_networks.torch().nn.functional.interpolate(pictures, size=size, mode=mode, align_corners=False)


def scaled_size(height: int, width: int, *, side: int) -> tuple[int, int]:
    """Height and width with ``side`` pixels along the shorter one; the longer one is cut to a whole number, not rounded."""
    if height <= width:
        return side, int(side * width / height)
    return int(side * height / width), side


def middle(length: int, side: int) -> int:
    """Where the middle ``side`` of ``length`` pixels begin."""
    return round((length - side) / 2)
