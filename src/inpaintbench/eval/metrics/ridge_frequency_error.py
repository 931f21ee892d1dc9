"""Error of a print's ridge frequency."""

from __future__ import annotations

from typing import NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where
from inpaintbench.eval.passes.prints import prints
from inpaintbench.fingerprints.estimation import estimate_orientation, measure_periods
from inpaintbench.view import ItemView

# Share of the places that the truth has a period at, below which there is no value.
LEAST_COVERAGE = 0.5


class Compared(NamedTuple):
    """Two lists of ridge periods at the same places."""

    percent: float | None
    """Mean relative error of frequency; None without a place where both are known."""
    coverage: float
    """Share of the places with a true period where there is a predicted one, 0..1."""


class RidgeFrequencyError(SingleRegionMetric):
    """Mean relative error of ridge frequency (the inverse of the ridge period) within the truth's print area, in percent.

    Periods are measured from pictures at points of a grid, along the normal of the *truth's* ridges in both, and compared where
    both are known: |f - f_true| / f_true. 0 = the same; lower is better. The details have the share of the truth's points that
    were compared (``coverage``); below one half there is no value, as there is nothing to call ridges.

    Args:
        grid_pixels: distance of neighbouring points, at 500 pixels per inch.
        pixels_per_inch: of the prints.
    """

    name = "ridge_frequency_error"
    version = "1"
    unit = "%"
    higher_is_better = False
    decimals = 2
    bounds = (0.0, np.inf)
    needs = ("truth", "composite")

    def __init__(self, *, grid_pixels: float, pixels_per_inch: float, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.grid_pixels, self.pixels_per_inch = grid_pixels, pixels_per_inch

    def measurement(self, view: ItemView) -> Measurement:
        """Percent, at least 0; None where the truth shows no ridges, or the prediction too few where the truth does."""
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
        percent, coverage = compare_periods(np.concatenate(ours), np.concatenate(true))
        if percent is None or coverage < LEAST_COVERAGE:
            return Measurement(
                None, f"the prediction has ridges at {coverage:.0%} of the places where the truth has", {"coverage": coverage}
            )
        return Measurement(percent, details={"coverage": coverage})


def compare_periods(periods: npt.NDArray[np.floating], true: npt.NDArray[np.floating]) -> Compared:
    """The mean error of the frequencies of two lists of periods, NaN = unknown."""
    known = np.isfinite(true)
    both = known & np.isfinite(periods)
    if not both.any():
        return Compared(None, 0.0)
    errors = np.abs(true[both].astype(np.float64) / periods[both].astype(np.float64) - 1)
    return Compared(100 * float(errors.mean()), float(both.sum() / known.sum()))
