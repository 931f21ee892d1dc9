"""How well an edit fits the text that it was to follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inpaintbench.eval.metrics.base import Measurement, check_regions, mean_over_clip
from inpaintbench.eval.passes.clip_frames import SINGLE_PRECISION, clip_vectors, prompt_vector
from inpaintbench.eval.passes.clip_pictures import check_way
from inpaintbench.eval.statistics import mean_of
from inpaintbench.models.clip import shape_of
from inpaintbench.view import ItemView


class ClipSimilarity:
    """Mean cosine of CLIP's vectors of the frames with that of the target prompt, as it is: about 0.2 to 0.35, in -1..1.

    EditBoard, AAAI 2025; not times 100 or 2.5 as elsewhere, and not cut off at 0.

    Args:
        regions: some of ``inpaintbench.regions.REGIONS``; of them only ``frame`` is answered.
        band_radius_pixels: of no consequence here.
        network: one of ``inpaintbench.models.clip.NETWORKS``; published "ViT-B/32".
        preprocess: one of ``inpaintbench.eval.passes.clip_pictures.PREPROCESSES``; published "pillow".
        portrait: one of ``inpaintbench.eval.passes.clip_pictures.PORTRAITS``; published "bottom".
    """

    name = "clip_similarity"
    deviations = (SINGLE_PRECISION,)
    version = "1"
    unit = ""
    higher_is_better = True
    decimals = 4
    needs: tuple[str, ...] = ("prediction", "prompts")

    def __init__(
        self, *, regions: tuple[str, ...], band_radius_pixels: int, network: str, preprocess: str, portrait: str
    ) -> None:
        check_way(preprocess, portrait)
        shape_of(network)
        self.regions = tuple(name for name in check_regions(regions) if name == "frame")
        self.band_radius_pixels = band_radius_pixels
        self.network, self.preprocess, self.portrait = network, preprocess, portrait

    @staticmethod
    def weights_of(constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The entry of ``weights.toml``."""
        return (shape_of(constants["network"]).weights,)

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """The mean over frames.

        Raises:
            NotMeasurable: the target prompt is missing or too long, or the weights are not there.
        """
        if not self.regions:
            return {}
        target = prompt_vector(view, "target", network=self.network)
        vectors = clip_vectors(view, network=self.network, preprocess=self.preprocess, portrait=self.portrait)
        return {"frame": mean_over_clip((vectors @ target).tolist(), parts="frames", missing="there is no frame")}

    def reduce(self, measurements: Sequence[float]) -> float | None:
        """The mean, each item with equal weight."""
        return mean_of(measurements)
