"""Clips of the workspace, decoded once for several readers."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.types import Frames, Luma
from inpaintbench.video.conversion import to_rgb
from inpaintbench.video.decoding import _luma, _plane, read_frames, whole
from inpaintbench.video.suffixes import is_image


class DecodedClip:
    """Clip whose coded frames are cached, 1.5 bytes per pixel, so that luma and RGB share one decoding.

    ``luma`` and ``frames`` equal ``read_luma`` and ``read_frames``, raise the same errors, and are read-only.
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
        return _read_only(np.stack([to_rgb(frame) for frame in self._coded]))

    def frame(self, index: int) -> npt.NDArray[np.uint8]:
        """Frame ``index`` as ``uint8[H, W, 3]`` RGB, without converting the others."""
        if is_image(self._path):
            return np.asarray(self.frames[index])
        return to_rgb(self._coded[index])

    @cached_property
    def luma(self) -> Luma:
        """Luma plane as coded, ``uint8[T, H, W]``."""
        if is_image(self._path) or self._coded[0].format.is_rgb:
            return _read_only(_luma(self.frames))
        return _read_only(np.stack([_plane(frame.planes[0]) for frame in self._coded]))


def _read_only(pixels: Frames) -> Frames:
    pixels.flags.writeable = False  # a leaf that wrote into shared frames would change the next leaf's results
    return pixels
