"""Frechet distance between clips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from inpaintbench.eval.metrics.base import Array, Features, Measurement, Where
from inpaintbench.eval.metrics.families import I3dSets, stored_key
from inpaintbench.eval.passes import i3d_clip
from inpaintbench.eval.set_distances.frechet import ROOT_OF_COVARIANCES
from inpaintbench.models.i3d import BatchNorm
from inpaintbench.ranges import Number, Whole
from inpaintbench.view import ItemView


class Vfid(I3dSets):
    """Frechet distance between composites and true clips, each one vector of I3D: its last layer averaged over the whole clip.

    DEVIL, CVPR 2022, section 5.2. Measured for the whole frame alone.

    Args:
        input_low: what black is to the network.
        input_high: what white is.
        batch_norm: as for ``models.i3d.i3d``.
        ddof: covariances are divided by n - ``ddof``.
    """

    name = "vfid"
    deviations = (ROOT_OF_COVARIANCES,)
    version = "1"

    def __init__(
        self, *, input_low: Number, input_high: Number, batch_norm: BatchNorm, ddof: Whole, **where: Unpack[Where]
    ) -> None:
        super().__init__(ddof=ddof, **where)
        self.constants = i3d_clip.Constants(input_low=input_low, input_high=input_high, batch_norm=batch_norm)

    def _measured(self, views: Sequence[ItemView]) -> list[Measurement]:
        """No values, but one vector each, ``float32[1, 1024]``."""
        clip, truth = self._clip(views)
        return [Measurement(None, details={"vectors": 1}, features=Features(row[None], truth[None])) for row in clip.composites]

    def _clip(self, views: Sequence[ItemView]) -> tuple[i3d_clip.Clip, Array]:
        """Return what the pass found, and the truth's vector, which is the stored one where there is one."""
        view, composites = views[0], [view.composite for view in views]
        made: list[i3d_clip.Clip] = []

        def both() -> Array:
            made.append(i3d_clip.i3d_clip(view.truth, composites, self.constants, view.shared))
            return made[0].truth

        truth = view.shared.stored(stored_key("i3d clip", i3d_clip.VERSION, self.constants), both)
        if not made:
            made.append(i3d_clip.i3d_clip(view.truth, composites, self.constants, view.shared, truth=truth))
        return made[0], truth
