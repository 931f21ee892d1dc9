"""Technical quality of frames: free of blur, noise and wrong exposure."""

from __future__ import annotations

from typing import Unpack

from inpaintbench.catalogue import known_name
from inpaintbench.eval.metrics.base import Measurement, Where, mean_over_clip
from inpaintbench.eval.metrics.musiq import MusiqMetric
from inpaintbench.eval.passes.edits import WITHOUT_GIF, through_gif
from inpaintbench.eval.passes.musiq_frames import PREPROCESSES, musiq_scores
from inpaintbench.ranges import Positive
from inpaintbench.view import ItemView


class ImagingQuality(MusiqMetric):
    """Mean of MUSIQ over the frames, divided; 0..1 with the divisor 100.

    VBench, CVPR 2024, and EditBoard, AAAI 2025. VBench gives 0..100 for a video (divisor 1) and divides the mean over videos
    alone, EditBoard divides for each.

    Args:
        head: one of ``inpaintbench.models.musiq.HEADS``; published "spaq".
        preprocess: one of ``inpaintbench.eval.passes.musiq_frames.PREPROCESSES``; published "longer".
        antialias: whether frames are smoothed before they are made smaller; EditBoard True, VBench since November 2024 False.
        divisor: of the scores; EditBoard 100.
        gif: look at what is left after a GIF, as EditBoard's code does.
    """

    name = "imaging_quality"
    deviations = (WITHOUT_GIF,)
    version = "1"
    diagnostic = "it knows no truth, and a frozen clip repeats a frame that may be one of the better ones"
    decimals = 4
    needs = ("prediction",)

    def __init__(
        self, *, head: str, preprocess: str, antialias: bool, divisor: Positive, gif: bool, **where: Unpack[Where]
    ) -> None:
        if divisor <= 0:
            raise ValueError(f"divisor is {divisor}, it must be above 0")
        super().__init__(head=head, **where)
        self.gif = gif
        self.preprocess = known_name("preprocessing for MUSIQ", preprocess, PREPROCESSES)
        self.antialias, self.divisor = antialias, divisor

    def measurement(self, view: ItemView) -> Measurement:
        """The mean over frames.

        Raises:
            NotMeasurable: the weights are not there.
        """
        view = through_gif(view) if self.gif else view
        scores = musiq_scores(
            view.prediction, view.shared, head=self.head, preprocess=self.preprocess, antialias=self.antialias
        )  # fmt: skip
        values = [score / self.divisor for score in scores]
        return mean_over_clip(values, parts="frames", missing="there is no frame")
