"""Whether the scene of a clip stays the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, check_regions, mean_over_clip
from inpaintbench.eval.passes.clip_frames import SINGLE_PRECISION, clip_vectors
from inpaintbench.eval.passes.clip_pictures import check_way
from inpaintbench.eval.passes.frame_vectors import consistency
from inpaintbench.eval.passes.gif_frames import WITHOUT_GIF, through_gif
from inpaintbench.eval.statistics import mean_of
from inpaintbench.models.clip import shape_of
from inpaintbench.view import ItemView


class BackgroundConsistency:
    """How alike CLIP finds every frame and the first one, and every frame and the one before; 0..1, 1 for a still clip.

    VBench, CVPR 2024, and EditBoard, AAAI 2025; see ``inpaintbench.eval.passes.frame_vectors.consistency``. Whole frames are
    looked at, there is no mask of a background. Nearly every clip is above 0.9, and one that never moves wins.

    Args:
        regions: some of ``inpaintbench.regions.REGIONS``; of them only ``frame`` is answered.
        band_radius_pixels: of no consequence here.
        network: one of ``inpaintbench.models.clip.NETWORKS``; published "ViT-B/32".
        preprocess: one of ``inpaintbench.eval.passes.clip_pictures.PREPROCESSES``; published "tensor".
        portrait: one of ``inpaintbench.eval.passes.clip_pictures.PORTRAITS``; published "centre".
        gif: look at what is left after a GIF, as EditBoard's code does.
        least_cosine: what smaller cosines count as; published 0, EditBoard's paper takes them as they are: -1.
    """

    name = "background_consistency"
    deviations = (SINGLE_PRECISION, WITHOUT_GIF)
    fewest_frames = 2
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
        network: str,
        preprocess: str,
        portrait: str,
        gif: bool,
        least_cosine: float,
    ) -> None:
        check_way(preprocess, portrait)
        shape_of(network)
        self.regions = tuple(name for name in check_regions(regions) if name == "frame")
        self.band_radius_pixels, self.gif, self.least_cosine = band_radius_pixels, gif, least_cosine
        self.network, self.preprocess, self.portrait = network, preprocess, portrait

    @staticmethod
    def weights_of(constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The entry of ``weights.toml``."""
        return (shape_of(constants["network"]).weights,)

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """The mean over all frames but the first.

        Raises:
            NotMeasurable: there is one frame only, or the weights are not there.
        """
        if not self.regions:
            return {}
        view = through_gif(view) if self.gif else view
        if view.frames < 2:
            raise NotMeasurable("one frame has no other frame to be like")
        vectors = clip_vectors(view, network=self.network, preprocess=self.preprocess, portrait=self.portrait)
        values = consistency(vectors, least_cosine=self.least_cosine)
        return {"frame": mean_over_clip(values, parts="pairs", missing="there is no pair of frames")}

    def reduce(self, measurements: Sequence[float]) -> float | None:
        """The mean, each item with equal weight."""
        return mean_of(measurements)
