"""Frames of our own files one by one, so that a task of any length holds one picture of each file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.annotate.preparing.tiles import Picture
from inpaintbench.errors import MediaError
from inpaintbench.video.decoding import whole

# Frames, height, width.
Shape = tuple[int, int, int]
Array = TypeVar("Array", bound=npt.NDArray[np.generic])


def frames_of(path: Path | str, *, shape: Shape) -> Iterator[Picture]:
    """What ``video.read_frames`` gives, ``uint8[H, W, 3]`` at a time.

    Raises:
        MediaError: as that, and for another size or number of frames than ``shape``.
    """
    found = iter(video.read_frames(path)) if video.is_image(path) else (one.to_ndarray(format="rgb24") for one in whole(path))
    return _exactly(found, shape=shape)


def hole_of(path: Path | str, *, shape: Shape) -> Iterator[npt.NDArray[np.bool_]]:
    """What ``video.read_hole`` gives, ``bool[H, W]`` at a time, True = hole. Raises as ``frames_of``."""
    found = iter(video.read_hole(path)) if video.is_image(path) else (_levels(one) > 127 for one in whole(path))
    return _exactly(found, shape=shape)


def _levels(frame: Any) -> npt.NDArray[np.uint8]:
    """The first plane as coded: asking for a format would convert its range."""
    plane = frame.planes[0]
    return np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)[:, : plane.width]


def _exactly(pictures: Iterator[Array], *, shape: Shape) -> Iterator[Array]:
    frames, height, width = shape
    count = 0
    for picture in pictures:
        count += 1
        if picture.shape[:2] != (height, width):
            raise MediaError(f"it is {picture.shape[1]}x{picture.shape[0]}, not {width}x{height}")
        if count > frames:
            raise MediaError(f"it has more than {_frames(frames)}")
        yield picture
    if count < frames:
        raise MediaError(f"it has {_frames(count)}, not {frames}")


def _frames(count: int) -> str:
    return f"{count} {'frame' if count == 1 else 'frames'}"
