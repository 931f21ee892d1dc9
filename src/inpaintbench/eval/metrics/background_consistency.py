"""Constancy of the scene of a clip."""

from __future__ import annotations

from typing import Unpack

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, mean_over_clip
from inpaintbench.eval.metrics.clip import ClipConstants, ClipMetric
from inpaintbench.eval.passes.clip_frames import SINGLE_PRECISION
from inpaintbench.eval.passes.edits import WITHOUT_GIF, through_gif
from inpaintbench.eval.passes.frame_vectors import consistency
from inpaintbench.ranges import Cosine
from inpaintbench.view import ItemView


class BackgroundConsistency(ClipMetric):
    """How alike CLIP finds every frame and the first one, and every frame and the one before; 0..1, 1 for a still clip.

    VBench, CVPR 2024, and EditBoard, AAAI 2025; see ``inpaintbench.eval.passes.frame_vectors.consistency``. Whole frames are
    looked at, there is no mask of a background. Nearly every clip is above 0.9, and one that never moves wins.

    Args:
        network: one of ``inpaintbench.models.clip.NETWORKS``; published "ViT-B/32".
        preprocess: one of ``inpaintbench.eval.passes.clip_frames.PREPROCESSES``; published "tensor".
        portrait: one of ``inpaintbench.eval.passes.clip_frames.PORTRAITS``; published "centre".
        gif: look at what is left after a GIF, as EditBoard's code does.
        least_cosine: what smaller cosines count as; published 0, EditBoard's paper takes them as they are: -1.
    """

    name = "background_consistency"
    deviations = (SINGLE_PRECISION, WITHOUT_GIF)
    fewest_frames = 2
    version = "1"
    diagnostic = "a frozen or flat clip is as consistent as can be"
    needs = ("prediction",)

    def __init__(self, *, gif: bool, least_cosine: Cosine, **clip: Unpack[ClipConstants]) -> None:
        super().__init__(**clip)
        self.gif, self.least_cosine = gif, least_cosine

    def measurement(self, view: ItemView) -> Measurement:
        """The mean over all frames but the first.

        Raises:
            NotMeasurable: there is one frame only, or the weights are not there.
        """
        view = through_gif(view) if self.gif else view
        if view.frames < 2:
            raise NotMeasurable("one frame has no other frame to be like")
        vectors = self.vectors(view)
        values = consistency(vectors, least_cosine=self.least_cosine)
        return mean_over_clip(values, parts="pairs", missing="there is no pair of frames")
