"""Frechet distance between short windows of clips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from inpaintbench.eval.metrics.base import Features, Measurement, Where
from inpaintbench.eval.metrics.i3d import SHORT_CLIPS, I3dSets, stored_key
from inpaintbench.eval.passes import i3d_windows
from inpaintbench.eval.set_distances.frechet import ROOT_OF_COVARIANCES
from inpaintbench.models.i3d import BatchNorm
from inpaintbench.ranges import AtLeastOne, Number, Whole
from inpaintbench.view import ItemView


class VfidClips(I3dSets):
    """``Vfid`` of overlapping windows: each is one vector of I3D, its last layer averaged over the window.

    Not in the DEVIL paper, but in its released code. Windows and short clips as for ``Pvcs``; vectors of one clip are far from
    independent, so their number says little about how certain the distance is. Measured for the whole frame alone.

    Args:
        window_frames: length of a window.
        stride_frames: from the start of one window to that of the next.
        input_low: what black is to the network.
        input_high: what white is.
        batch_norm: as for ``models.i3d.i3d``; ``"train"`` takes the statistics of each window itself.
        ddof: covariances are divided by n - ``ddof``.
    """

    name = "vfid_clips"
    label = "VFID-clips"
    deviations = (ROOT_OF_COVARIANCES, SHORT_CLIPS)
    version = "1"

    def __init__(
        self,
        *,
        window_frames: AtLeastOne,
        stride_frames: AtLeastOne,
        input_low: Number,
        input_high: Number,
        batch_norm: BatchNorm,
        ddof: Whole,
        **where: Unpack[Where],
    ) -> None:
        super().__init__(ddof=ddof, **where)
        self.constants = i3d_windows.Constants(
            window_frames=window_frames, stride_frames=stride_frames, input_low=input_low, input_high=input_high,
            batch_norm=batch_norm,
        )  # fmt: skip

    def _measured(self, views: Sequence[ItemView]) -> list[Measurement]:
        """No values, but one vector a window, ``float32[windows, 1024]``."""
        key = stored_key("i3d windows", i3d_windows.VERSION, self.constants)
        predictions, truth = i3d_windows.i3d_vectors(views, self.constants, key=key)
        return [Measurement(None, details={"vectors": len(truth)}, features=Features(vectors, truth)) for vectors in predictions]
