"""Aesthetic rating of the frames."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from inpaintbench.eval.metrics.base import Measurement, mean_over_clip
from inpaintbench.eval.metrics.clip import ClipConstants, ClipMetric
from inpaintbench.eval.passes.clip_frames import SINGLE_PRECISION
from inpaintbench.eval.passes.edits import WITHOUT_GIF, through_gif
from inpaintbench.models import torch_networks
from inpaintbench.models.aesthetic import LENGTH, WEIGHTS, aesthetic_head
from inpaintbench.models.clip import shape_of
from inpaintbench.ranges import Positive
from inpaintbench.view import ItemView


class AestheticQuality(ClipMetric):
    """Mean rating of the frames by LAION's linear head on CLIP's vectors, divided by ten: about 0.4 to 0.7, without fixed ends.

    VBench, CVPR 2024, and EditBoard, AAAI 2025. A fair picture is rated 5 of 10. Sharpness and faults of small parts hardly
    count.

    Args:
        network: one of ``inpaintbench.models.clip.NETWORKS`` with vectors of 768 numbers; published "ViT-L/14".
        preprocess: one of ``inpaintbench.eval.passes.clip_frames.PREPROCESSES``; published "tensor".
        portrait: one of ``inpaintbench.eval.passes.clip_frames.PORTRAITS``; published "centre".
        divisor: of the ratings; published 10.
        gif: look at what is left after a GIF, as EditBoard's code does.
    """

    name = "aesthetic_quality"
    deviations = (SINGLE_PRECISION, WITHOUT_GIF)
    version = "1"
    diagnostic = "it knows no truth, and a frozen clip repeats a frame that may be one of the better ones"
    weights = (WEIGHTS,)
    needs = ("prediction",)

    def __init__(self, *, divisor: Positive, gif: bool, **clip: Unpack[ClipConstants]) -> None:
        super().__init__(**clip)
        if shape_of(self.network).length != LENGTH:
            raise ValueError(
                f"network is {self.network!r}, whose vectors do not have the {LENGTH} numbers that the head was made for"
            )
        if divisor <= 0:
            raise ValueError(f"divisor is {divisor}, it must be above 0")
        self.gif = gif
        self.divisor = divisor

    def measurement(self, view: ItemView) -> Measurement:
        """The mean over frames.

        Raises:
            NotMeasurable: the weights of the network or of the head are not there.
        """
        view = through_gif(view) if self.gif else view
        compute = view.shared.compute
        head = aesthetic_head(compute)
        vectors = self.vectors(view)
        with torch_networks.running(compute) as device:
            ratings = head(torch_networks.torch().from_numpy(vectors.astype(np.float32)).to(device)).float().cpu()
        values = (ratings[:, 0].double() / self.divisor).tolist()
        return mean_over_clip(values, parts="frames", missing="there is no frame")
