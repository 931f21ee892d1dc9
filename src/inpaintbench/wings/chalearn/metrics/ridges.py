"""Metrics of a print's ridges: their orientation and their frequency; and what metrics of prints share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, Unpack

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where, mean_over_clip
from inpaintbench.ranges import Positive, Radius
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.fingerprints.estimation import (
    Mask,
    Picture,
    estimate_orientation,
    measure_periods,
    orientation_rmsd,
    print_area,
)
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH

# Reach within which a picture with ridges shows a ridge and a valley, pixels at 500 per inch.
RIDGE_REACH_PIXELS = 8
# Range of grey levels up to which a place has no ridges.
FLAT_LEVELS = 1
WORST_DEGREES = 90.0
# Relative error of a place that shows no ridges, and the most that any place counts.
WORST = 1.0


class Print(NamedTuple):
    """Grey levels of truth and prediction, ``uint8[H, W]``, and the area of the truth's print, ``bool[H, W]``."""

    truth: Picture
    ours: Picture
    area: Mask


class PrintMetric(SingleRegionMetric):
    """A metric of what a picture of a print shows.

    Args:
        pixels_per_inch: of the prints.
    """

    needs = ("truth", "composite")

    def __init__(self, *, pixels_per_inch: Positive, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.pixels_per_inch = pixels_per_inch
        self.scale = pixels_per_inch / REFERENCE_PIXELS_PER_INCH

    def prints(self, view: ItemView) -> Iterator[Print]:
        """Each frame whose truth shows a print."""
        for truth, ours in zip(view.truth, view.composite, strict=True):
            true, other = (np.asarray(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), np.uint8) for frame in (truth, ours))
            area = print_area(true, pixels_per_inch=self.pixels_per_inch)
            if area.any():
                yield Print(true, other, area)


class OrientationRmsd(PrintMetric):
    """Root mean square difference of ridge angles of prediction and truth over the truth's print area, in degrees.

    Both fields are estimated from pictures by the structure tensor; differences are wrapped into [-90, 90) degrees. 0 = the same
    ridges, about 52 by chance, 90 at most; lower is better. Where the truth has ridges and the prediction is flat, grey levels
    within 8 pixels (at 500 per inch) of a place being a level apart at most, the difference counts as 90 degrees, so that nothing
    is gained by leaving ridges out where they are hard. The details have the share of such places (``flat``).

    Args:
        pixels_per_inch: of the prints.
    """

    name = "orientation_rmsd"
    version = "2"
    unit = "°"
    higher_is_better = False
    decimals = 2
    bounds = (0.0, WORST_DEGREES)

    def measurement(self, view: ItemView) -> Measurement:
        """Degrees in 0..90; None where the truth shows no print."""
        side = 2 * max(1, round(RIDGE_REACH_PIXELS * self.scale)) + 1
        around = np.ones((side, side), np.uint8)
        values, shares = [], []
        for one in self.prints(view):
            pictures = (one.ours, one.truth)
            ours, truth = (estimate_orientation(picture, pixels_per_inch=self.pixels_per_inch) for picture in pictures)
            flat, flat_truth = (
                cv2.subtract(cv2.dilate(picture, around), cv2.erode(picture, around)) <= FLAT_LEVELS for picture in pictures
            )
            lost = flat & ~flat_truth
            across = np.where(lost, truth + math.pi / 2, ours)
            values.append(min(orientation_rmsd(across, truth, mask=one.area), WORST_DEGREES))
            shares.append(float(lost[one.area].mean()))
        found = mean_over_clip(values, parts="frames", missing="the truth shows no print")
        return replace(found, details={**found.details, "flat": math.fsum(shares) / len(shares)}) if shares else found


class Compared(NamedTuple):
    """Two lists of ridge periods at the same places."""

    percent: float
    """Mean relative error of frequency over the places with a true period, 0..100."""
    places: int
    """Places with a true period, at least 1."""
    dead: int
    """Those of them without a predicted one."""


class RidgeFrequencyError(PrintMetric):
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

    def __init__(self, *, grid_pixels: Radius, pixels_per_inch: Positive, **where: Unpack[Where]) -> None:
        super().__init__(pixels_per_inch=pixels_per_inch, **where)
        self.grid_pixels = grid_pixels

    def measurement(self, view: ItemView) -> Measurement:
        """Percent in 0..100; None where the truth shows no ridges."""
        ours: list[npt.NDArray[np.float32]] = []
        true: list[npt.NDArray[np.float32]] = []
        step = max(1, round(self.grid_pixels * self.scale))
        for one in self.prints(view):
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
