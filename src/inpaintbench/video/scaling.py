"""Scaling of frames: bicubic with anti-aliasing, by swscale where they shrink, the same levels on every processor."""

from __future__ import annotations

import math
import threading
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar

import av
import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

from inpaintbench.types import Frames

# Catmull-Rom's kernel, as Pillow has it, widened where a side shrinks; the flags keep processors from rounding each its own way.
_FLAGS = "flags=bicubic+accurate_rnd+bitexact:param0=0:param1=0.5:in_range=full:out_range=full"
# Beyond it the 14-bit weights of swscale no longer sum to one; such frames are shrunk in steps.
_MOST_SHRINKING = 32
_Scalar = TypeVar("_Scalar", bound=np.generic)


def scaled(frame: npt.NDArray[np.uint8], *, width: int, height: int) -> npt.NDArray[np.uint8]:
    """Scale ``uint8[h, w, 3]`` to ``uint8[height, width, 3]``; bicubic, with anti-aliasing where a side shrinks."""
    if frame.shape[0] < height or frame.shape[1] < width:
        # Frames that grow are small, so Pillow's slower sums cost little; camera motion of enlarged frames is tried with them.
        return np.asarray(Image.fromarray(frame).resize((width, height), Image.Resampling.BICUBIC))
    least = [math.ceil(side / _MOST_SHRINKING) for side in frame.shape[:2]]
    if least[0] > height or least[1] > width:
        frame = scaled(frame, width=max(width, least[1]), height=max(height, least[0]))
    scaler = _scaler((frame.shape[1], frame.shape[0]), (width, height))
    # Planes one by one: swscale takes RGB apart into luma and chroma, which is slower and costs a level.
    return np.asarray(cv2.merge([scaler.plane(plane) for plane in cv2.split(frame)]), np.uint8)


class _Scaler:
    """Scales planes of one size to another; the weights are worked out once."""

    def __init__(self, origin: tuple[int, int], target: tuple[int, int]) -> None:
        self._graph: Any = av.filter.Graph()
        source = self._graph.add_buffer(
            width=origin[0], height=origin[1], format=av.VideoFormat("gray"), time_base=Fraction(1, 1)
        )
        scale = self._graph.add("scale", f"w={target[0]}:h={target[1]}:{_FLAGS}")
        source.link_to(scale)
        scale.link_to(self._graph.add("buffersink"))
        self._graph.configure()
        self._lock = threading.Lock()

    def plane(self, plane: Any) -> npt.NDArray[np.uint8]:
        with self._lock:
            self._graph.push(av.VideoFrame.from_numpy_buffer(plane, format="gray"))
            return np.asarray(self._graph.pull().to_ndarray(), np.uint8)


@lru_cache(maxsize=4)
def _scaler(origin: tuple[int, int], target: tuple[int, int]) -> _Scaler:
    return _Scaler(origin, target)


def nearest(frames: npt.NDArray[Any], *, height: int, width: int) -> npt.NDArray[Any]:
    """Frames ``[T, H, W, ...]`` brought to a size by the pixel whose area holds the centre of each new one, as Pillow does."""
    rows, columns = _nearest(frames.shape[1], height), _nearest(frames.shape[2], width)
    return frames if frames.shape[1:3] == (height, width) else frames[:, rows[:, None], columns]


def bicubic(frames: Frames, *, height: int, width: int) -> Frames:
    """``uint8[T, H, W, 3]`` brought to a size by Pillow's bicubic filter, whose reach grows with the scale."""
    if frames.shape[1:3] == (height, width):
        return frames
    resized = np.empty((len(frames), height, width, 3), np.uint8)
    for target, frame in zip(resized, frames, strict=True):
        target[...] = np.asarray(Image.fromarray(frame).resize((width, height), Image.Resampling.BICUBIC))
    return resized


def linear(frames: npt.NDArray[_Scalar], *, height: int, width: int) -> npt.NDArray[_Scalar]:
    """``[T, H, W, C]`` of any type brought to a size by OpenCV's bilinear filter, which looks at four pixels at any scale."""
    if frames.shape[1:3] == (height, width):
        return frames
    return np.stack([cv2.resize(frame, (width, height)) for frame in frames])  # bilinear unless another filter is named


def _nearest(given: int, wanted: int) -> npt.NDArray[np.intp]:
    # Added up step by step as Pillow does: where a centre falls between two pixels, rounding decides.
    steps = np.full(wanted, given / wanted)
    steps[0] /= 2
    return np.minimum(np.cumsum(steps).astype(np.intp), given - 1)
