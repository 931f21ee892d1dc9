"""DINO's vectors of every frame of a prediction, prepared as VBench does."""

from __future__ import annotations

from typing import Any

from inpaintbench.compute import Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.passes.clip_frames import scaled_size, short_side_scaled
from inpaintbench.eval.passes.frame_vectors import Vectors, frame_vectors, normalised, unit_length
from inpaintbench.models.dino import DEVIATION, LENGTH, MEAN, dino
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

_PATCH_PIXELS = 16
# Of activations, for each number of a token.
_BYTES_PER_NUMBER = 80
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
    vectors: Vectors = shared.once_of([frames], ("dino", side_pixels), lambda: _vectors(frames, shared, side_pixels))
    return vectors


def _vectors(frames: Frames, shared: Shared, side_pixels: int) -> Vectors:
    rows, columns = (length // _PATCH_PIXELS for length in scaled_size(*frames.shape[1:3], side=side_pixels))
    if rows * columns > _MOST_TOKENS:
        raise NotMeasurable(f"frames of {frames.shape[2]}x{frames.shape[1]} are too long for their width for DINO")
    module = dino(shared.compute)

    def answer(pictures: Any) -> Any:
        return module(normalised(short_side_scaled(pictures, side=side_pixels, mode="bilinear"), MEAN, DEVIATION))

    return unit_length(frame_vectors(frames, shared, answer, picture_bytes=_BYTES_PER_NUMBER * LENGTH * (1 + rows * columns)))
