"""Learned perceptual similarity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from inpaintbench.catalogue import known_name
from inpaintbench.eval.metrics.base import Measurement, TogetherMetric, Where, mean_over_clip
from inpaintbench.eval.passes.lpips_frames import lpips_frames
from inpaintbench.models.lpips_networks import LPIPS_WEIGHTS
from inpaintbench.view import ItemView

# Of the linear heads; those of 0.0 came from a faulty normalisation.
VERSIONS = ("0.1",)


class Lpips(TogetherMetric):
    """How far a frame is from the true one in the layers of a classifier, averaged over frames.

    Zhang et al., CVPR 2018, equal to the package ``lpips`` at full size. In the frame it is that package's number. In the hole
    and the band it is the mean over their pixels of the package's spatial map, the layers enlarged bilinearly to the frame and
    summed: a fill is not diluted by the known pixels around it, though layers see across the border by up to a hundred pixels.
    Frames without a pixel of the region are left out. 0 for a perfect copy, without a fixed upper end.

    DEVIL, CVPR 2022, has "alex" and the frame; the values printed there come from a trunk that was never trained.

    Args:
        net: the trunk, "alex", "vgg" or "squeeze".
        version: of the linear heads, "0.1".
    """

    name = "lpips"
    version = "1"
    higher_is_better = False
    decimals = 6
    bounds = (0.0, math.inf)
    needs = ("truth", "composite", "hole")

    def __init__(self, *, net: str, version: str, **where: Unpack[Where]) -> None:
        known_name("network of LPIPS", net, LPIPS_WEIGHTS)
        known_name("version of LPIPS", version, VERSIONS)
        super().__init__(**where)
        self.net = net

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The trunk; the heads belong to the installed package, and others than those of version 0.1 are refused."""
        return (LPIPS_WEIGHTS[constants["net"]],)

    def measure_together(self, views: Sequence[ItemView]) -> list[dict[str, Measurement]]:
        """``measure`` for several methods of one item; the truth goes through the network once."""
        scores = lpips_frames(views, net=self.net, regions=self.regions, band_radius_pixels=self.band_radius_pixels)
        return [
            {
                region: mean_over_clip(values, parts="frames", missing=f"no frame has a pixel of the region {region!r}")
                for region, values in score.items()
            }
            for score in scores
        ]
