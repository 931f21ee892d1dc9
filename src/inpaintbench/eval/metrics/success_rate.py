"""Rate at which an edit shows what it was to show rather than what the clip showed before."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.metrics.clip import ClipConstants, ClipMetric
from inpaintbench.eval.passes.clip_frames import SINGLE_PRECISION, prompt_vector
from inpaintbench.ranges import Amount
from inpaintbench.view import ItemView


class SuccessRate(ClipMetric):
    """Share of frames that are nearer to the target prompt than to the source prompt, by the cosines of CLIP; 0..1.

    EditBoard, AAAI 2025, after FateZero's frame accuracy. A frame as near to the one as to the other counts ``tie``, as every
    frame does where both prompts have the same words.

    Args:
        network: one of ``inpaintbench.models.clip.NETWORKS``; published "ViT-B/32".
        preprocess: one of ``inpaintbench.eval.passes.clip_frames.PREPROCESSES``; published "pillow".
        portrait: one of ``inpaintbench.eval.passes.clip_frames.PORTRAITS``; published "bottom".
        tie: what a frame counts that is as near to the one as to the other; 1 in the released code, 0 in the paper.
    """

    name = "success_rate"
    deviations = (SINGLE_PRECISION,)
    version = "1"
    decimals = 3
    bounds = (0.0, 1.0)
    needs = ("prediction", "prompts")

    def __init__(self, *, tie: Amount, **clip: Unpack[ClipConstants]) -> None:
        if not 0 <= tie <= 1:
            raise ValueError(f"tie is {tie}, it must be from 0 to 1")
        super().__init__(**clip)
        self.tie = tie

    def measurement(self, view: ItemView) -> Measurement:
        """The share; ``successes`` and ``ties`` are in the details.

        Raises:
            NotMeasurable: a prompt is missing or too long, or the weights are not there.
        """
        source, target = (prompt_vector(view, which, network=self.network) for which in ("source", "target"))
        vectors = self.vectors(view)
        nearer = np.sign(vectors @ target - vectors @ source)
        wins, ties = int(np.count_nonzero(nearer > 0)), int(np.count_nonzero(nearer == 0))
        share = (wins + self.tie * ties) / len(vectors)
        return Measurement(share, details={"frames": len(vectors), "successes": wins, "ties": ties})
