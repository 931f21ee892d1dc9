"""Geometry that the normalizer leaves share: square pixels, whole sizes, a limit to enlarging, and how they put it in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.catalogue import known_name
from inpaintbench.errors import InputError, Rejected

# Pixels; nothing smaller is a clip.
LEAST_SIDE = 16
# By which frames are scaled: bicubic with anti-aliasing; the same to the byte of Pillow; OpenCV's bilinear one, which has none;
# the nearest pixel, for masks.
FILTERS = ("bicubic", "pillow-bicubic", "opencv-linear", "nearest")
# Keeps exact multiples exact: 854.0000000001 must not become 855.
_SLACK = 1e-6


def check_size(width: int, height: int) -> None:
    """Raise ``InputError`` when a wanted size is below ``LEAST_SIDE``."""
    if min(width, height) < LEAST_SIDE:
        raise InputError(f"a clip of {width}x{height} is too small; {LEAST_SIDE}x{LEAST_SIDE} is the least")


def check_enlargement(most_enlargement: float) -> None:
    """Raise ``InputError`` unless a limit to enlarging is above 0."""
    if not most_enlargement > 0:
        raise InputError(f"most_enlargement is {most_enlargement:g}, it must be above 0 (1 never enlarges, inf always may)")


def square_size(frame: npt.NDArray[np.uint8], *, pixel_aspect: float) -> tuple[float, float]:
    """Width and height of ``uint8[h, w, 3]`` in square pixels; the height stays, the width may be a fraction."""
    return frame.shape[1] * pixel_aspect, float(frame.shape[0])


def refuse_enlarging(size: tuple[float, float], *, ratio: float, most_enlargement: float, target: str) -> None:
    """Raise ``Rejected`` when scaling a frame of ``size`` (square pixels) by ``ratio`` enlarges it more than allowed."""
    if ratio > most_enlargement + _SLACK:
        raise Rejected(
            f"the picture is {size[0]:.0f}x{size[1]:.0f} and would be enlarged {ratio:.2f} times for {target}, "
            f"at most {most_enlargement:g} times is allowed"
        )


def resized(frame: npt.NDArray[np.uint8], *, width: int, height: int, resample: str = "bicubic") -> npt.NDArray[np.uint8]:
    """``uint8[h, w, 3]`` at ``width`` x ``height`` by one of ``FILTERS``; the same array where the size is right."""
    if frame.shape[:2] == (height, width):
        return frame
    if resample == "bicubic":
        return video.scaled(frame, width=width, height=height)
    scales: dict[str, Callable[..., Any]] = {
        "pillow-bicubic": video.bicubic, "opencv-linear": video.linear, "nearest": video.nearest
    }  # fmt: skip
    return np.asarray(scales[resample](frame[None], height=height, width=width)[0], np.uint8)


def check_filter(resample: str) -> None:
    """Raise ``UnknownNameError`` unless ``resample`` is one of ``FILTERS``."""
    known_name("filter", resample, FILTERS)


def rounded_up(length: float) -> int:
    """The next whole number."""
    return math.ceil(length - _SLACK)


def nearest_even(length: float) -> int:
    """The nearest even number, at least 2; an odd whole number becomes the even one above."""
    return max(2, 2 * math.floor(length / 2 + 0.5 + _SLACK))


def enlargement_words(most_enlargement: float) -> str:
    """The limit as the last words of a description; nothing where there is none."""
    if math.isinf(most_enlargement):
        return ""
    return ", never enlarged" if most_enlargement == 1 else f", enlarged at most {most_enlargement:g} times"
