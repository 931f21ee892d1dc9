"""How good a filled picture looks, without the true one to compare with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from inpaintbench.eval.metrics.base import Measurement, check_regions, mean_over_clip
from inpaintbench.eval.passes.musiq_frames import musiq_scores
from inpaintbench.eval.statistics import mean_of
from inpaintbench.models.musiq import HEADS, check_head
from inpaintbench.view import ItemView

Picture = Literal["composite", "prediction"]


class MusiqScore:
    """MUSIQ of whole frames at their own size, averaged over frames; about 0 to 100.

    Ke et al., ICCV 2021; with the head "koniq" the measure beside re-inpainting self-consistency in its paper's Table 5. It
    judges the picture and not the fill: known pixels count as much, and a wrong but sharp fill loses little.

    Args:
        regions: some of ``inpaintbench.regions.REGIONS``; of them only ``frame`` is answered.
        band_radius_pixels: of no consequence here.
        head: one of ``inpaintbench.models.musiq.HEADS``.
        picture: "composite", or "prediction" with what a method made of the known pixels.
    """

    name = "musiq"
    version = "1"
    unit = ""
    higher_is_better = True
    decimals = 2
    needs: tuple[str, ...] = ("composite",)

    def __init__(self, *, regions: tuple[str, ...], band_radius_pixels: int, head: str, picture: Picture) -> None:
        if picture not in get_args(Picture):
            raise ValueError(f"picture is {picture!r}, choose 'composite' or 'prediction'")
        self.regions = tuple(name for name in check_regions(regions) if name == "frame")
        self.band_radius_pixels = band_radius_pixels
        self.head, self.picture = check_head(head), picture
        self.needs = (picture,)

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
        frames = view.composite if self.picture == "composite" else view.prediction
        values = musiq_scores(frames, view.shared, head=self.head, preprocess="none", antialias=False)
        return {"frame": mean_over_clip(values, parts="frames", missing="there is no frame")}

    def reduce(self, measurements: Sequence[float]) -> float | None:
        """The mean, each item with equal weight."""
        return mean_of(measurements)
