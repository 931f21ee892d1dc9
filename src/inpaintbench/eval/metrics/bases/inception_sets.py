"""What metrics that compare sets of Inception vectors have in common: their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from inpaintbench.eval.metrics.base import Measurement, SetMetric, TogetherMetric, Where
from inpaintbench.eval.passes.inception_frames import check_resize, inception_vectors
from inpaintbench.models.inception import WEIGHTS
from inpaintbench.view import ItemView


class InceptionSets(TogetherMetric, SetMetric):
    """Base of metrics of the vectors that the FID Inception network gives for whole frames; several share one pass.

    Args:
        resize: how frames come to the network's size, one of ``inpaintbench.eval.passes.inception_frames.RESIZES``.
        side_pixels: that size; published 299.
    """

    unit = ""
    needs = ("truth", "composite")
    answers = ("frame",)
    weights = (WEIGHTS,)

    def __init__(self, *, resize: str, side_pixels: int, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.resize = check_resize(resize)
        self.side_pixels = side_pixels

    def measure_together(self, views: Sequence[ItemView]) -> list[dict[str, Measurement]]:
        """The vectors of the composites' frames and of the truth's, ``float32[frames, 2048]`` each."""
        if not self.regions:
            return [{} for _ in views]
        found = inception_vectors(views, resize=self.resize, side_pixels=self.side_pixels)
        return [{"frame": Measurement(None, details={"frames": len(one.truth)}, features=one)} for one in found]
