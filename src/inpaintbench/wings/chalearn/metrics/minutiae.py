"""Minutiae that a denoised print shows at their places and in their directions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Unpack

import numpy as np
import numpy.typing as npt
import scipy.optimize

from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where
from inpaintbench.ranges import Amount, Positive, Radius
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.fingerprints.minutiae import find_minutiae
from inpaintbench.wings.chalearn.metrics.prints import prints

# (x, y, direction), pixels and radians.
Point = Sequence[float]
# Reaches of the details' curve, pixels at 500 per inch.
CURVE_PIXELS = (4.0, 8.0, 12.0, 16.0)


class Matched(NamedTuple):
    """Counts of a matching, which add up over pictures."""

    predicted: int
    true: int
    matched: int
    distance: float
    """Sum of the distances of matched pairs, pixels."""

    @property
    def precision(self) -> float:
        """Share of the predicted minutiae that are there; 1 where neither list has any, 0 where one has none."""
        return self._share(self.predicted)

    @property
    def recall(self) -> float:
        """Share of the true minutiae that were found; as ``precision``."""
        return self._share(self.true)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; as ``precision``."""
        return self._share((self.predicted + self.true) / 2)

    def _share(self, of: float) -> float:
        if not (self.predicted and self.true):
            return float(self.predicted == self.true)
        return self.matched / of


class Minutiae(SingleRegionMetric):
    """F1 of minutiae: of the ridge endings and forks of the truth and of the prediction, those that match one to one.

    Both lists are those of ``find_minutiae`` inside the *truth's* print area less its rim, so what a method invents there counts
    against it. A pair matches within ``reach_pixels`` and ``angle_degrees`` of direction; the assignment has the most pairs and,
    among these, the least sum of distances, so it does not depend on the order of the lists (the released code of FingerNet and
    MinutiaeNet takes the nearest truth of each prediction instead, which is not one to one). 1 = all, and where neither has any;
    0 = none. The details have precision, recall, counts, the mean distance of pairs and F1 at 4, 8, 12 and 16 pixels.

    Args:
        reach_pixels: at 500 pixels per inch.
        angle_degrees: largest difference of directions.
        pixels_per_inch: of the prints.
    """

    name = "minutiae"
    version = "1"
    higher_is_better = True
    decimals = 4
    bounds = (0.0, 1.0)
    needs = ("truth", "composite")

    def __init__(self, *, reach_pixels: Radius, angle_degrees: Amount, pixels_per_inch: Positive, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.reach_pixels, self.angle_degrees, self.pixels_per_inch = reach_pixels, angle_degrees, pixels_per_inch

    def measurement(self, view: ItemView) -> Measurement:
        """A share in 0..1; None where the truth shows no print."""
        lists = [self._lists(one.truth, one.ours, one.area) for one in prints(view, pixels_per_inch=self.pixels_per_inch)]
        if not lists:
            return Measurement(None, "the truth shows no print")
        found = self._pooled(lists, self.reach_pixels)
        details = {
            **{"precision": found.precision, "recall": found.recall, "f1": found.f1},
            **{"predicted": found.predicted, "true": found.true, "matched": found.matched},
            **({"mean_distance_pixels": found.distance / found.matched} if found.matched else {}),
            **{f"f1_at_{reach:g}": self._pooled(lists, reach).f1 for reach in CURVE_PIXELS},
        }
        return Measurement(self._value(found), details=details)

    def _value(self, found: Matched) -> float:
        return found.f1

    def _lists(self, truth: npt.NDArray[np.uint8], ours: npt.NDArray[np.uint8], area: npt.NDArray[np.bool_]) -> list[list[Point]]:
        found = (find_minutiae(picture, area, pixels_per_inch=self.pixels_per_inch) for picture in (ours, truth))
        return [[(one.x, one.y, one.direction) for one in points] for points in found]

    def _pooled(self, lists: Sequence[Sequence[Sequence[Point]]], reach: float) -> Matched:
        pixels = reach * self.pixels_per_inch / 500
        each = [match(ours, true, reach_pixels=pixels, angle_degrees=self.angle_degrees) for ours, true in lists]
        return Matched(*map(sum, zip(*each, strict=True)))


class MinutiaePrecision(Minutiae):
    """Share of a prediction's minutiae that the truth has; see ``minutiae``.

    Painting over doubtful minutiae raises it, so it orders no methods (``ranked`` is False); F1 does.
    """

    name = "minutiae_precision"
    ranked = False

    def _value(self, found: Matched) -> float:
        return found.precision


class MinutiaeRecall(Minutiae):
    """Share of the truth's minutiae that a prediction has; see ``minutiae``.

    Painting minutiae everywhere raises it, so it orders no methods (``ranked`` is False); F1 does.
    """

    name = "minutiae_recall"
    ranked = False

    def _value(self, found: Matched) -> float:
        return found.recall


def match(predicted: Sequence[Point], true: Sequence[Point], *, reach_pixels: float, angle_degrees: float) -> Matched:
    """Match two lists of (x, y, direction) one to one: most pairs first, then the least sum of distances."""
    if not (predicted and true):
        return Matched(len(predicted), len(true), 0, 0.0)
    ours, others = (np.asarray(points, np.float64)[:, None] for points in (predicted, true))
    apart = ours - others.transpose(1, 0, 2)
    distance = np.hypot(apart[..., 0], apart[..., 1])
    turn = np.abs((apart[..., 2] + math.pi) % math.tau - math.pi)
    allowed = (distance <= reach_pixels) & (turn <= math.radians(angle_degrees))
    # More than all distances of any assignment together.
    never = (reach_pixels + 1) * (min(distance.shape) + 1)
    rows, columns = scipy.optimize.linear_sum_assignment(np.where(allowed, distance, never))
    kept = allowed[rows, columns]
    return Matched(len(predicted), len(true), int(kept.sum()), math.fsum(distance[rows, columns][kept].tolist()))
