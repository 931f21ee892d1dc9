"""Frechet distance between short windows of clips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval import frechet
from inpaintbench.eval.metrics.base import Comparison, Features, Measurement, check_regions
from inpaintbench.eval.passes import i3d_windows
from inpaintbench.models import weights
from inpaintbench.models.i3d import WEIGHTS, BatchNorm
from inpaintbench.view import ItemView


class VfidClips:
    """``Vfid`` of overlapping windows: each is one vector of I3D, its last layer averaged over the window.

    Not in the DEVIL paper, but in its released code. Windows and short clips as for ``Pvcs``; vectors of one clip are far from
    independent, so their number says little about how certain the distance is. Measured for the whole frame alone.

    Args:
        regions: some of ``inpaintbench.regions.REGIONS``.
        band_radius_pixels: of no effect.
        window_frames: length of a window.
        stride_frames: from the start of one window to that of the next.
        input_low: what black is to the network.
        input_high: what white is.
        batch_norm: as for ``models.i3d.i3d``; ``"train"`` takes the statistics of each window itself.
        ddof: covariances are divided by n - ``ddof``.
    """

    name = "vfid_clips"
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
        window_frames: int,
        stride_frames: int,
        input_low: float,
        input_high: float,
        batch_norm: BatchNorm,
        ddof: int,
    ) -> None:
        self.regions = tuple(region for region in check_regions(regions) if region == "frame")
        self.band_radius_pixels = band_radius_pixels
        self.constants = i3d_windows.Constants(
            window_frames=window_frames, stride_frames=stride_frames, input_low=input_low, input_high=input_high,
            batch_norm=batch_norm,
        )  # fmt: skip
        self.ddof = ddof

    @staticmethod
    def weights_of(constants: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG004 - the same for all
        """Of the network."""
        return (WEIGHTS,)

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """No value, but one vector a window, ``float32[windows, 1024]``.

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
        key = f"i3d windows {i3d_windows.VERSION} {weights.named(WEIGHTS).sha256} {self.constants}"
        found, truth = i3d_windows.i3d_vectors(views, self.constants, key=key)
        return [{"frame": Measurement(None, details={"vectors": len(truth)}, features=Features(one, truth))} for one in found]

    def reduce(self, measurements: Sequence[float]) -> float | None:  # noqa: ARG002 - it has no values
        """Nothing: sets are compared instead."""
        return None

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The distance between all windows of composites and of true clips."""
        return frechet.compare(sets, clusters, ddof=self.ddof)
