"""How much people would like the frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from inpaintbench.eval.metrics.base import Measurement, check_regions, mean_over_clip
from inpaintbench.eval.passes.clip_frames import SINGLE_PRECISION, clip_vectors
from inpaintbench.eval.passes.clip_pictures import check_way
from inpaintbench.eval.passes.gif_frames import WITHOUT_GIF, through_gif
from inpaintbench.eval.statistics import mean_of
from inpaintbench.models import torch_networks
from inpaintbench.models.aesthetic import LENGTH, WEIGHTS, aesthetic_head
from inpaintbench.models.clip import shape_of
from inpaintbench.view import ItemView


class AestheticQuality:
    """Mean rating of the frames by LAION's linear head on CLIP's vectors, divided by ten: about 0.4 to 0.7, without fixed ends.

    VBench, CVPR 2024, and EditBoard, AAAI 2025. A fair picture is rated 5 of 10. Sharpness and faults of small parts hardly
    count.

    Args:
        regions: some of ``inpaintbench.regions.REGIONS``; of them only ``frame`` is answered.
        band_radius_pixels: of no consequence here.
        network: one of ``inpaintbench.models.clip.NETWORKS`` with vectors of 768 numbers; published "ViT-L/14".
        preprocess: one of ``inpaintbench.eval.passes.clip_pictures.PREPROCESSES``; published "tensor".
        portrait: one of ``inpaintbench.eval.passes.clip_pictures.PORTRAITS``; published "centre".
        divisor: of the ratings; published 10.
        gif: look at what is left after a GIF, as EditBoard's code does.
    """

    name = "aesthetic_quality"
    deviations = (SINGLE_PRECISION, WITHOUT_GIF)
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
        divisor: float,
        gif: bool,
    ) -> None:
        check_way(preprocess, portrait)
        if shape_of(network).length != LENGTH:
            raise ValueError(f"network is {network!r}, whose vectors do not have the {LENGTH} numbers that the head was made for")
        if divisor <= 0:
            raise ValueError(f"divisor is {divisor}, it must be above 0")
        self.regions = tuple(name for name in check_regions(regions) if name == "frame")
        self.band_radius_pixels, self.gif = band_radius_pixels, gif
        self.network, self.preprocess, self.portrait, self.divisor = network, preprocess, portrait, divisor

    @staticmethod
    def weights_of(constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The entries of ``weights.toml``: the network's and the head's."""
        return (shape_of(constants["network"]).weights, WEIGHTS)

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """The mean over frames.

        Raises:
            NotMeasurable: the weights of the network or of the head are not there.
        """
        if not self.regions:
            return {}
        view = through_gif(view) if self.gif else view
        compute = view.shared.compute
        head = aesthetic_head(compute)
        vectors = clip_vectors(view, network=self.network, preprocess=self.preprocess, portrait=self.portrait)
        with torch_networks.running(compute) as device:
            ratings = head(torch_networks.torch().from_numpy(vectors.astype(np.float32)).to(device)).float().cpu()
        values = (ratings[:, 0].double() / self.divisor).tolist()
        return {"frame": mean_over_clip(values, parts="frames", missing="there is no frame")}

    def reduce(self, measurements: Sequence[float]) -> float | None:
        """The mean, each item with equal weight."""
        return mean_of(measurements)
