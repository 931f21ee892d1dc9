"""Constancy of the looks of what a clip shows."""

from __future__ import annotations

from typing import Any, Unpack

from inpaintbench.compute import Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where, mean_over_clip
from inpaintbench.eval.passes.clip_frames import scaled_size, short_side_scaled
from inpaintbench.eval.passes.edits import WITHOUT_GIF, through_gif
from inpaintbench.eval.passes.frame_vectors import Vectors, consistency, frame_vectors, normalised, unit_length
from inpaintbench.models.dino import DEVIATION, LENGTH, MEAN, WEIGHTS, dino
from inpaintbench.ranges import Cosine, Side
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

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
    vectors: Vectors = shared.once_of([frames], ("dino", side_pixels), lambda: _dino_vectors(frames, shared, side_pixels))
    return vectors


def _dino_vectors(frames: Frames, shared: Shared, side_pixels: int) -> Vectors:
    rows, columns = (length // _PATCH_PIXELS for length in scaled_size(*frames.shape[1:3], side=side_pixels))
    if rows * columns > _MOST_TOKENS:
        raise NotMeasurable(f"frames of {frames.shape[2]}x{frames.shape[1]} are too long for their width for DINO")
    module = dino(shared.compute)

    def answer(pictures: Any) -> Any:
        return module(normalised(short_side_scaled(pictures, side=side_pixels, mode="bilinear"), MEAN, DEVIATION))

    return unit_length(frame_vectors(frames, shared, answer, picture_bytes=_BYTES_PER_NUMBER * LENGTH * (1 + rows * columns)))


class SubjectConsistency(SingleRegionMetric):
    """How alike DINO finds every frame and the first one, and every frame and the one before; 0..1, 1 for a still clip.

    VBench, CVPR 2024, and EditBoard, AAAI 2025; see ``inpaintbench.eval.passes.frame_vectors.consistency``. Whole frames are
    looked at, there is no mask of a subject. One that never moves wins.

    Args:
        side_pixels: what the shorter side comes to; published 224.
        gif: look at what is left after a GIF, as EditBoard's code does.
        least_cosine: what smaller cosines count as; published 0, EditBoard's paper takes them as they are: -1.
    """

    name = "subject_consistency"
    deviations = (WITHOUT_GIF,)
    fewest_frames = 2
    version = "1"
    diagnostic = "a frozen or flat clip is as consistent as can be"
    higher_is_better = True
    decimals = 4
    weights = (WEIGHTS,)
    needs = ("prediction",)

    def __init__(self, *, side_pixels: Side, gif: bool, least_cosine: Cosine, **where: Unpack[Where]) -> None:
        if side_pixels < 16:
            raise ValueError(f"side_pixels is {side_pixels}, it must be at least 16, the side of a patch")
        super().__init__(**where)
        self.gif, self.least_cosine = gif, least_cosine
        self.side_pixels = side_pixels

    def measurement(self, view: ItemView) -> Measurement:
        """The mean over all frames but the first.

        Raises:
            NotMeasurable: there is one frame only, it is too long for its width, or the weights are not there.
        """
        view = through_gif(view) if self.gif else view
        if view.frames < 2:
            raise NotMeasurable("one frame has no other frame to be like")
        values = consistency(dino_vectors(view, side_pixels=self.side_pixels), least_cosine=self.least_cosine)
        return mean_over_clip(values, parts="pairs", missing="there is no pair of frames")
