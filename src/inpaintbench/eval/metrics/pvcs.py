"""Perceptual video clip similarity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from inpaintbench.deviations import Deviation
from inpaintbench.eval.metrics.base import Measurement, Where
from inpaintbench.eval.metrics.i3d import I3dMetric
from inpaintbench.eval.passes import i3d_windows
from inpaintbench.models.i3d import BatchNorm
from inpaintbench.ranges import AtLeastOne, Number
from inpaintbench.view import ItemView

SHORT_CLIPS = Deviation(
    "clips of fewer than ten frames",
    "the truth's last frame fills up both clips",
    "each clip repeats its own last frame",
    "such clips score worse here; clips of ten frames and more, as all of DEVIL's are, score the same",
)


class Pvcs(I3dMetric):
    """Distance of I3D features between the composite and the truth, averaged over overlapping windows of frames; 0..8.

    DEVIL, CVPR 2022, section 5.2. At each position of four layers the features are divided by their length over channels + 1e-10;
    a layer's distance is the mean over positions of the sum over channels of squared differences, a window's the sum of the
    layers'. Clips shorter than a window repeat their last frame, the composite its own; the released code repeats the truth's in
    both, which flatters short clips. Measured for the whole frame alone, since features see far beyond any region.

    Args:
        window_frames: length of a window.
        stride_frames: from the start of one window to that of the next; frames behind the last whole window do not count.
        input_low: what black is to the network.
        input_high: what white is.
        batch_norm: as for ``models.i3d.i3d``; ``"train"`` takes the statistics of each window itself.
    """

    name = "pvcs"
    version = "1"
    deviations = (SHORT_CLIPS,)

    def __init__(
        self,
        *,
        window_frames: AtLeastOne,
        stride_frames: AtLeastOne,
        input_low: Number,
        input_high: Number,
        batch_norm: BatchNorm,
        **where: Unpack[Where],
    ) -> None:
        super().__init__(**where)
        self.constants = i3d_windows.Constants(
            window_frames=window_frames, stride_frames=stride_frames, input_low=input_low, input_high=input_high,
            batch_norm=batch_norm,
        )  # fmt: skip

    def _measured(self, views: Sequence[ItemView]) -> list[Measurement]:
        """The details count the windows and have the mean of each layer."""
        measured = []
        for distances in i3d_windows.i3d_distances(views, self.constants):  # float64[layers, windows]
            layers = distances.mean(axis=1)
            details = {"windows": distances.shape[1], "layers": dict(zip(i3d_windows.LAYERS, layers.tolist(), strict=True))}
            measured.append(Measurement(float(layers.sum()), details=details))
        return measured
