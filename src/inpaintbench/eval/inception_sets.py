"""What metrics that compare sets of Inception vectors have in common: their vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inpaintbench.eval.metrics.base import Measurement, check_regions
from inpaintbench.eval.passes.inception_frames import check_resize, inception_vectors
from inpaintbench.models.inception import WEIGHTS
from inpaintbench.view import ItemView


class InceptionSets:
    """Base of metrics of the vectors that the FID Inception network gives for whole frames; several share one pass.

    Args:
        regions: some of ``inpaintbench.regions.REGIONS``; of them only ``frame`` is answered.
        band_radius_pixels: of no consequence here.
        resize: how frames come to the network's size, one of ``inpaintbench.eval.passes.inception_frames.RESIZES``.
        side_pixels: that size; published 299.
    """

    unit = ""
    needs: tuple[str, ...] = ("truth", "composite")

    def __init__(self, *, regions: tuple[str, ...], band_radius_pixels: int, resize: str, side_pixels: int) -> None:
        self.regions = tuple(name for name in check_regions(regions) if name == "frame")
        self.band_radius_pixels = band_radius_pixels
        self.resize = check_resize(resize)
        self.side_pixels = side_pixels

    @staticmethod
    def weights_of(constants: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG004 - the same for all constants
        """The entry of ``weights.toml``."""
        return (WEIGHTS,)

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """The vectors of the composite's frames and of the truth's, ``float32[frames, 2048]`` each."""
        return self.measure_together([view])[0]

    def measure_together(self, views: Sequence[ItemView]) -> list[dict[str, Measurement]]:
        """``measure`` for several predictions of one item, whose truth is looked at once."""
        if not self.regions:
            return [{} for _ in views]
        found = inception_vectors(views, resize=self.resize, side_pixels=self.side_pixels)
        return [{"frame": Measurement(None, details={"frames": len(one.truth)}, features=one)} for one in found]

    def reduce(self, measurements: Sequence[float]) -> float | None:  # noqa: ARG002 - items have no values
        """None: items have no values of their own."""
        return None
