"""The frames of one of our own clips, decoded once for everybody who asks."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.types import Frames, Luma
from inpaintbench.video.decoding import _luma, _plane, read_frames, whole
from inpaintbench.video.images import is_image


class DecodedClip:
    """A clip whose coded frames are kept, 1.5 bytes a pixel, so that luma and RGB cost one decode between them.

    ``luma`` and ``frames`` equal ``read_luma`` and ``read_frames`` and cannot be written to. Raises what those raise.
    """

    def __init__(self, path: Path | str) -> None:
        self._path = path

    @cached_property
    def _coded(self) -> list[Any]:
        return list(whole(self._path))

    @cached_property
    def frames(self) -> Frames:
        """``uint8[T, H, W, 3]`` RGB."""
        if is_image(self._path):
            return _read_only(read_frames(self._path))
        return _read_only(np.stack([frame.to_ndarray(format="rgb24") for frame in self._coded]))

    def frame(self, index: int) -> npt.NDArray[np.uint8]:
        """``frames[index]`` alone, without making the others."""
        if is_image(self._path):
            return np.asarray(self.frames[index])
        return np.asarray(self._coded[index].to_ndarray(format="rgb24"))

    @cached_property
    def luma(self) -> Luma:
        """``uint8[T, H, W]`` as coded."""
        if is_image(self._path) or self._coded[0].format.is_rgb:
            return _read_only(_luma(self.frames))
        return _read_only(np.stack([_plane(frame.planes[0]) for frame in self._coded]))


def _read_only(pixels: Frames) -> Frames:
    pixels.flags.writeable = False  # a leaf that wrote into them would change what the next one measures
    return pixels
