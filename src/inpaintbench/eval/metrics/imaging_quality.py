"""How free of blur, noise and wrong exposure the frames of a video are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inpaintbench.eval.metrics.base import Measurement, check_regions, mean_over_clip
from inpaintbench.eval.passes.gif_frames import WITHOUT_GIF, through_gif
from inpaintbench.eval.passes.musiq_frames import check_preprocess, musiq_scores
from inpaintbench.eval.statistics import mean_of
from inpaintbench.models.musiq import HEADS, check_head
from inpaintbench.view import ItemView


class ImagingQuality:
    """Mean of MUSIQ over the frames, divided; 0..1 with the divisor 100.

    VBench, CVPR 2024, and EditBoard, AAAI 2025. VBench gives 0..100 for a video (divisor 1) and divides the mean over videos
    alone, EditBoard divides for each.

    Args:
        regions: some of ``inpaintbench.regions.REGIONS``; of them only ``frame`` is answered.
        band_radius_pixels: of no consequence here.
        head: one of ``inpaintbench.models.musiq.HEADS``; published "spaq".
        preprocess: one of ``inpaintbench.eval.passes.musiq_frames.PREPROCESSES``; published "longer".
        antialias: whether frames are smoothed before they are made smaller; EditBoard True, VBench since November 2024 False.
        divisor: of the scores; EditBoard 100.
        gif: look at what is left after a GIF, as EditBoard's code does.
    """

    name = "imaging_quality"
    deviations = (WITHOUT_GIF,)
    version = "1"
    unit = ""
    higher_is_better = True
    decimals = 4
    needs: tuple[str, ...] = ("prediction",)

    def __init__(
        self,
        *,
        regions: tuple[str, ...],
        band_radius_pixels: int,
        head: str,
        preprocess: str,
        antialias: bool,
        divisor: float,
        gif: bool,
    ) -> None:
        if divisor <= 0:
            raise ValueError(f"divisor is {divisor}, it must be above 0")
        self.regions = tuple(name for name in check_regions(regions) if name == "frame")
        self.band_radius_pixels, self.gif = band_radius_pixels, gif
        self.head, self.preprocess = check_head(head), check_preprocess(preprocess)
        self.antialias, self.divisor = antialias, divisor

    @staticmethod
    def weights_of(constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The entry of ``weights.toml``."""
        return (HEADS[check_head(constants["head"])],)

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """The mean over frames.

        Raises:
            NotMeasurable: the weights are not there.
        """
        if not self.regions:
            return {}
        view = through_gif(view) if self.gif else view
        scores = musiq_scores(
            view.prediction, view.shared, head=self.head, preprocess=self.preprocess, antialias=self.antialias
        )  # fmt: skip
        values = [score / self.divisor for score in scores]
        return {"frame": mean_over_clip(values, parts="frames", missing="there is no frame")}

    def reduce(self, measurements: Sequence[float]) -> float | None:
        """The mean, each item with equal weight."""
        return mean_of(measurements)
