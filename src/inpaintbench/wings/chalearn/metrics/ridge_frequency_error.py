"""Error of a print's ridge frequency."""

from __future__ import annotations

from typing import NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where
from inpaintbench.ranges import Positive, Radius
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.fingerprints.estimation import estimate_orientation, measure_periods
from inpaintbench.wings.chalearn.metrics.prints import prints

# Relative error of a place that shows no ridges, and the most that any place counts.
WORST = 1.0


class Compared(NamedTuple):
    """Two lists of ridge periods at the same places."""

    percent: float
    """Mean relative error of frequency over the places with a true period, 0..100."""
    places: int
    """Places with a true period, at least 1."""
    dead: int
    """Those of them without a predicted one."""


class RidgeFrequencyError(SingleRegionMetric):
    """Mean relative error of ridge frequency (the inverse of the ridge period) within the truth's print area, in percent.

    Periods are measured from pictures at points of a grid, along the normal of the *truth's* ridges in both, and compared at all
    points where the truth has one: |f - f_true| / f_true, at most 100 %. Points where the prediction shows no ridges count as
    100 %, so that nothing is gained by leaving ridges out where they are hard. 0 = the same, 100 = no ridges anywhere; lower is
    better. The details have the numbers of points (``places``), of those without ridges (``dead``) and the share of the others
    (``coverage``).

    Args:
        grid_pixels: distance of neighbouring points, at 500 pixels per inch.
        pixels_per_inch: of the prints.
    """

    name = "ridge_frequency_error"
    version = "2"
    unit = "%"
    higher_is_better = False
    decimals = 2
    bounds = (0.0, 100.0)
    needs = ("truth", "composite")

    def __init__(self, *, grid_pixels: Radius, pixels_per_inch: Positive, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.grid_pixels, self.pixels_per_inch = grid_pixels, pixels_per_inch

    def measurement(self, view: ItemView) -> Measurement:
        """Percent in 0..100; None where the truth shows no ridges."""
        ours: list[npt.NDArray[np.float32]] = []
        true: list[npt.NDArray[np.float32]] = []
        step = max(1, round(self.grid_pixels * self.pixels_per_inch / 500))
        for one in prints(view, pixels_per_inch=self.pixels_per_inch):
            theta = estimate_orientation(one.truth, pixels_per_inch=self.pixels_per_inch)
            places = np.argwhere(one.area[step // 2 :: step, step // 2 :: step])[:, ::-1] * float(step) + step // 2
            for picture, periods in ((one.ours, ours), (one.truth, true)):
                periods.append(measure_periods(picture, theta, points=places, pixels_per_inch=self.pixels_per_inch))
        if not true or not np.isfinite(np.concatenate(true)).any():
            return Measurement(None, "the truth shows no ridges")
        found = compare_periods(np.concatenate(ours), np.concatenate(true))
        coverage = 1 - found.dead / found.places
        return Measurement(found.percent, details={"places": found.places, "dead": found.dead, "coverage": coverage})


def compare_periods(periods: npt.NDArray[np.floating], true: npt.NDArray[np.floating]) -> Compared:
    """The mean error of the frequencies of two lists of periods, NaN = unknown; at least one of ``true`` is known."""
    known = np.isfinite(true)
    ours, others = (some[known].astype(np.float64) for some in (periods, true))
    errors = np.nan_to_num(np.abs(others / ours - 1), nan=WORST)
    return Compared(100 * float(np.minimum(errors, WORST).mean()), int(known.sum()), int(np.count_nonzero(np.isnan(ours))))
