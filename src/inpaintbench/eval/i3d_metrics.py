"""What metrics of I3D's features have in common: one answer, for whole frames, and none for a single frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval import frechet
from inpaintbench.eval.metrics.base import Comparison, Features, Measurement, check_regions
from inpaintbench.models import weights
from inpaintbench.models.i3d import WEIGHTS
from inpaintbench.view import ItemView


class I3dMetric(ABC):
    """Base of metrics of the features that I3D gives for clips.

    Args:
        regions: some of ``inpaintbench.regions.REGIONS``; of them only ``frame`` is answered, since features see far beyond any.
        band_radius_pixels: of no effect.
    """

    unit = ""
    higher_is_better = False
    decimals = 4
    needs: tuple[str, ...] = ("truth", "composite")
    fewest_frames = 2

    def __init__(self, *, regions: tuple[str, ...], band_radius_pixels: int) -> None:
        self.regions = tuple(region for region in check_regions(regions) if region == "frame")
        self.band_radius_pixels = band_radius_pixels

    @staticmethod
    def weights_of(constants: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG004 - the same for all
        """Of the network."""
        return (WEIGHTS,)

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """The answer for the frame.

        Raises:
            NotMeasurable: there is a single frame, or as ``models.i3d.i3d``.
            MissingExtraError: PyTorch is not installed.
        """
        return self.measure_together([view])[0]

    def measure_together(self, views: Sequence[ItemView]) -> list[dict[str, Measurement]]:
        """``measure`` for several methods."""
        if not self.regions:
            return [{} for _ in views]
        if views[0].frames < self.fewest_frames:
            raise NotMeasurable("one frame has no next frame")
        return [{"frame": one} for one in self._measured(views)]

    @abstractmethod
    def _measured(self, views: Sequence[ItemView]) -> Sequence[Measurement]:
        """One for each of ``views``."""


class I3dSets(I3dMetric):
    """Base of metrics that compare sets of I3D's vectors by their Frechet distance.

    Args:
        regions: as for ``I3dMetric``.
        band_radius_pixels: of no effect.
        ddof: covariances are divided by n - ``ddof``.
    """

    def __init__(self, *, regions: tuple[str, ...], band_radius_pixels: int, ddof: int) -> None:
        super().__init__(regions=regions, band_radius_pixels=band_radius_pixels)
        self.ddof = ddof

    def reduce(self, measurements: Sequence[float]) -> float | None:  # noqa: ARG002 - it has no values
        """Nothing: sets are compared instead."""
        return None

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The distance between the vectors of all composites and those of all true clips."""
        return frechet.compare(sets, clusters, ddof=self.ddof)


def stored_key(kind: str, version: str, constants: Any) -> str:
    """Under which vectors of the truth are kept: everything that decides their numbers."""
    return f"{kind} {version} {weights.named(WEIGHTS).sha256} {constants}"
