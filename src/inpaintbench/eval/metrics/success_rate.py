"""Whether an edit shows what it was to show rather than what the clip showed before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from inpaintbench.eval.metrics.base import Measurement, check_regions
from inpaintbench.eval.passes.clip_frames import SINGLE_PRECISION, clip_vectors, prompt_vector
from inpaintbench.eval.passes.clip_pictures import check_way
from inpaintbench.eval.statistics import mean_of
from inpaintbench.models.clip import shape_of
from inpaintbench.view import ItemView


class SuccessRate:
    """Share of frames that are nearer to the target prompt than to the source prompt, by the cosines of CLIP; 0..1.

    EditBoard, AAAI 2025, after FateZero's frame accuracy. A frame as near to the one as to the other counts ``tie``, as every
    frame does where both prompts have the same words.

    Args:
        regions: some of ``inpaintbench.regions.REGIONS``; of them only ``frame`` is answered.
        band_radius_pixels: of no consequence here.
        network: one of ``inpaintbench.models.clip.NETWORKS``; published "ViT-B/32".
        preprocess: one of ``inpaintbench.eval.passes.clip_pictures.PREPROCESSES``; published "pillow".
        portrait: one of ``inpaintbench.eval.passes.clip_pictures.PORTRAITS``; published "bottom".
        tie: what a frame counts that is as near to the one as to the other; 1 in the released code, 0 in the paper.
    """

    name = "success_rate"
    deviations = (SINGLE_PRECISION,)
    version = "1"
    unit = ""
    higher_is_better = True
    decimals = 3
    needs: tuple[str, ...] = ("prediction", "prompts")

    def __init__(
        self, *, regions: tuple[str, ...], band_radius_pixels: int, network: str, preprocess: str, portrait: str, tie: float
    ) -> None:
        check_way(preprocess, portrait)
        shape_of(network)
        if not 0 <= tie <= 1:
            raise ValueError(f"tie is {tie}, it must be from 0 to 1")
        self.regions = tuple(name for name in check_regions(regions) if name == "frame")
        self.band_radius_pixels = band_radius_pixels
        self.network, self.preprocess, self.portrait, self.tie = network, preprocess, portrait, tie

    @staticmethod
    def weights_of(constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The entry of ``weights.toml``."""
        return (shape_of(constants["network"]).weights,)

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """The share; ``successes`` and ``ties`` are in the details.

        Raises:
            NotMeasurable: a prompt is missing or too long, or the weights are not there.
        """
        if not self.regions:
            return {}
        source, target = (prompt_vector(view, which, network=self.network) for which in ("source", "target"))
        vectors = clip_vectors(view, network=self.network, preprocess=self.preprocess, portrait=self.portrait)
        nearer = np.sign(vectors @ target - vectors @ source)
        wins, ties = int(np.count_nonzero(nearer > 0)), int(np.count_nonzero(nearer == 0))
        share = (wins + self.tie * ties) / len(vectors)
        return {"frame": Measurement(share, details={"frames": len(vectors), "successes": wins, "ties": ties})}

    def reduce(self, measurements: Sequence[float]) -> float | None:
        """The mean, each item with equal weight."""
        return mean_of(measurements)
