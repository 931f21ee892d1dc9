"""Similarity of an edit to the text that it was to follow."""

from __future__ import annotations

from inpaintbench.eval.metrics.base import Measurement, mean_over_clip
from inpaintbench.eval.metrics.families import ClipMetric
from inpaintbench.eval.passes.clip_frames import SINGLE_PRECISION, prompt_vector
from inpaintbench.view import ItemView


class ClipSimilarity(ClipMetric):
    """Mean cosine of CLIP's vectors of the frames with that of the target prompt, as it is: about 0.2 to 0.35, in -1..1.

    EditBoard, AAAI 2025; not times 100 or 2.5 as elsewhere, and not cut off at 0.

    Args:
        network: one of ``inpaintbench.models.clip.NETWORKS``; published "ViT-B/32".
        preprocess: one of ``inpaintbench.eval.passes.clip_frames.PREPROCESSES``; published "pillow".
        portrait: one of ``inpaintbench.eval.passes.clip_frames.PORTRAITS``; published "bottom".
    """

    name = "clip_similarity"
    label = "CLIP similarity"
    deviations = (SINGLE_PRECISION,)
    version = "1"
    needs = ("prediction", "prompts")

    def measurement(self, view: ItemView) -> Measurement:
        """The mean over frames.

        Raises:
            NotMeasurable: the target prompt is missing or too long, or the weights are not there.
        """
        target = prompt_vector(view, "target", network=self.network)
        vectors = self.vectors(view)
        return mean_over_clip((vectors @ target).tolist(), parts="frames", missing="there is no frame")
