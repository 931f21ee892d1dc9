"""Constancy of the looks of what a clip shows."""

from __future__ import annotations

from typing import Unpack

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where, mean_over_clip
from inpaintbench.eval.passes.dino_frames import dino_vectors
from inpaintbench.eval.passes.edits import WITHOUT_GIF, through_gif
from inpaintbench.eval.passes.frame_vectors import consistency
from inpaintbench.models.dino import WEIGHTS
from inpaintbench.ranges import Cosine, Side
from inpaintbench.view import ItemView


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
