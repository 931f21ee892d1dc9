"""Error of a print's ridge orientation."""

from __future__ import annotations

from typing import Unpack

from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where, mean_over_clip
from inpaintbench.eval.passes.prints import prints
from inpaintbench.fingerprints.estimation import estimate_orientation
from inpaintbench.fingerprints.poincare import orientation_rmsd
from inpaintbench.view import ItemView


class OrientationRmsd(SingleRegionMetric):
    """Root mean square difference of ridge angles of prediction and truth over the truth's print area, in degrees.

    Both fields are estimated from pictures by the structure tensor; differences are wrapped into [-90, 90) degrees. 0 = the same
    ridges, about 52 by chance, 90 at most; lower is better.

    Args:
        pixels_per_inch: of the prints.
    """

    name = "orientation_rmsd"
    version = "1"
    unit = "°"
    higher_is_better = False
    decimals = 2
    bounds = (0.0, 90.0)
    needs = ("truth", "composite")

    def __init__(self, *, pixels_per_inch: float, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.pixels_per_inch = pixels_per_inch

    def measurement(self, view: ItemView) -> Measurement:
        """Degrees in 0..90; None where the truth shows no print."""
        values, scale = [], self.pixels_per_inch
        for one in prints(view, pixels_per_inch=scale):
            ours, truth = (estimate_orientation(picture, pixels_per_inch=scale) for picture in (one.ours, one.truth))
            values.append(orientation_rmsd(ours, truth, mask=one.area))
        return mean_over_clip(values, parts="frames", missing="the truth shows no print")
