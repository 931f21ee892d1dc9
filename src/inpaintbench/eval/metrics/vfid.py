"""Frechet distance between clips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval import frechet
from inpaintbench.eval.metrics.base import Array, Comparison, Features, Measurement, check_regions
from inpaintbench.eval.passes import i3d_clip
from inpaintbench.models import weights
from inpaintbench.models.i3d import WEIGHTS, BatchNorm
from inpaintbench.view import ItemView


class Vfid:
    """Frechet distance between composites and true clips, each one vector of I3D: its last layer averaged over the whole clip.

    DEVIL, CVPR 2022, section 5.2. Measured for the whole frame alone.

    Args:
        regions: some of ``inpaintbench.regions.REGIONS``.
        band_radius_pixels: of no effect.
        input_low: what black is to the network.
        input_high: what white is.
        batch_norm: as for ``models.i3d.i3d``.
        ddof: covariances are divided by n - ``ddof``.
    """

    name = "vfid"
    version = "1"
    unit = ""
    higher_is_better = False
    decimals = 4
    needs: tuple[str, ...] = ("truth", "composite")
    fewest_frames = 2

    def __init__(
        self,
        *,
        regions: tuple[str, ...],
        band_radius_pixels: int,
        input_low: float,
        input_high: float,
        batch_norm: BatchNorm,
        ddof: int,
    ) -> None:
        self.regions = tuple(region for region in check_regions(regions) if region == "frame")
        self.band_radius_pixels = band_radius_pixels
        self.constants = i3d_clip.Constants(input_low=input_low, input_high=input_high, batch_norm=batch_norm)
        self.ddof = ddof

    @staticmethod
    def weights_of(constants: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG004 - the same for all
        """Of the network."""
        return (WEIGHTS,)

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """No value, but one vector, ``float32[1, 1024]``.

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
        clip, truth = self._clip(views)
        return [
            {"frame": Measurement(None, details={"vectors": 1}, features=Features(one[None], truth[None]))}
            for one in clip.composites
        ]

    def reduce(self, measurements: Sequence[float]) -> float | None:  # noqa: ARG002 - it has no values
        """Nothing: sets are compared instead."""
        return None

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The distance between all composites and all true clips."""
        return frechet.compare(sets, clusters, ddof=self.ddof)

    def _clip(self, views: Sequence[ItemView]) -> tuple[i3d_clip.Clip, Array]:
        """What the pass found, and the truth's vector, which is the stored one where there is one."""
        view, composites = views[0], [view.composite for view in views]
        made: list[i3d_clip.Clip] = []

        def both() -> Array:
            made.append(i3d_clip.i3d_clip(view.truth, composites, self.constants, view.shared.compute))
            return made[0].truth

        truth = view.shared.stored(f"i3d clip {i3d_clip.VERSION} {weights.named(WEIGHTS).sha256} {self.constants}", both)
        if not made:
            made.append(i3d_clip.i3d_clip(view.truth, composites, self.constants, view.shared.compute, truth=truth))
        return made[0], truth
