"""Error of a print's ridge orientation."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Unpack

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where, mean_over_clip
from inpaintbench.ranges import Positive
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.fingerprints.estimation import estimate_orientation
from inpaintbench.wings.chalearn.fingerprints.poincare import orientation_rmsd
from inpaintbench.wings.chalearn.metrics.prints import prints

# Reach within which a picture with ridges shows a ridge and a valley, pixels at 500 per inch.
RIDGE_REACH_PIXELS = 8
# Range of grey levels up to which a place has no ridges.
FLAT_LEVELS = 1
WORST_DEGREES = 90.0


class OrientationRmsd(SingleRegionMetric):
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
    needs = ("truth", "composite")

    def __init__(self, *, pixels_per_inch: Positive, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.pixels_per_inch = pixels_per_inch

    def measurement(self, view: ItemView) -> Measurement:
        """Degrees in 0..90; None where the truth shows no print."""
        values, shares, scale = [], [], self.pixels_per_inch
        for one in prints(view, pixels_per_inch=scale):
            ours, truth = (estimate_orientation(picture, pixels_per_inch=scale) for picture in (one.ours, one.truth))
            lost = _flat(one.ours, pixels_per_inch=scale) & ~_flat(one.truth, pixels_per_inch=scale)
            across = np.where(lost, truth + math.pi / 2, ours)
            values.append(min(orientation_rmsd(across, truth, mask=one.area), WORST_DEGREES))
            shares.append(float(lost[one.area].mean()))
        found = mean_over_clip(values, parts="frames", missing="the truth shows no print")
        return replace(found, details={**found.details, "flat": math.fsum(shares) / len(shares)}) if shares else found


def _flat(picture: npt.NDArray[np.uint8], *, pixels_per_inch: float) -> npt.NDArray[np.bool_]:
    """Places of ``uint8[H, W]`` without a ridge near, ``bool[H, W]``."""
    side = 2 * max(1, round(RIDGE_REACH_PIXELS * pixels_per_inch / 500)) + 1
    around = np.ones((side, side), np.uint8)
    flat: npt.NDArray[np.bool_] = cv2.subtract(cv2.dilate(picture, around), cv2.erode(picture, around)) <= FLAT_LEVELS
    return flat
