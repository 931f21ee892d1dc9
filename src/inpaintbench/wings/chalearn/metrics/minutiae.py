"""Minutiae that a denoised print shows at their places and in their directions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Unpack

import numpy as np
import numpy.typing as npt
import scipy.ndimage
import scipy.optimize
import scipy.spatial
from skimage.morphology import remove_small_holes, remove_small_objects, skeletonize

from inpaintbench.eval.metrics.base import Measurement, Where
from inpaintbench.ranges import Amount, Positive, Radius
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.fingerprints.estimation import RIM_PIXELS, Mask, Picture, blurred, print_area, shrunk
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH
from inpaintbench.wings.chalearn.metrics.ridges import Print, PrintMetric

# Minutiae extraction: ridge endings and bifurcations by the crossing number on the skeleton (Rutovitz, 1966).

# Blur before thresholding, so that specks leave no holes.
SMOOTHING_PIXELS = 1.2
# Gaussian of the local mean that ridges are thresholded by: about one ridge period.
_SURROUNDINGS_PIXELS = 8.0
# Smaller pieces of ridge are dirt; smaller holes than half of it are pores or specks.
_SPECK_AREA_PIXELS = 40
# Minutiae nearer to each other than one ridge period are a break, a spur or a bridge.
_SPUR_PIXELS = 9.0
# Length of ridge that a direction is taken over.
_TANGENT_PIXELS = 10.0
_NEIGHBOURS = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))
# (x, y, direction), pixels and radians.
Point = Sequence[float]
# Reaches of the details' curve, pixels at 500 per inch.
CURVE_PIXELS = (4.0, 8.0, 12.0, 16.0)


class Minutia(NamedTuple):
    """Ridge ending or bifurcation at (x, y), pixels."""

    x: float
    y: float
    kind: str
    """``ending`` or ``fork``."""
    direction: float
    """Radians in [0, 2 pi), counter-clockwise as seen: of an ending away from its ridge, of a fork along its single branch."""


def find_minutiae(
    picture: Picture, mask: Mask | None = None, *, pixels_per_inch: float = REFERENCE_PIXELS_PER_INCH
) -> tuple[Minutia, ...]:
    """Find the minutiae of ``uint8[H, W]`` (ridges dark) within ``bool[H, W]`` (by default ``print_area``), row by row.

    Excluded are those near the edge of the print, and those so near to each other that they stem from specks and gaps.
    """
    scale = pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    area = print_area(picture, pixels_per_inch=pixels_per_inch) if mask is None else mask
    skeleton = ridge_skeleton(picture, scale=scale) & area
    crossings = crossing_numbers(skeleton)
    inner = shrunk(area, RIM_PIXELS * scale)
    places = np.argwhere(np.isin(crossings, (1, 3)))
    if len(places) > 1:
        distances, _ = scipy.spatial.cKDTree(places).query(places, k=2)
        places = places[distances[:, 1] >= _SPUR_PIXELS * scale]
    padded = np.pad(skeleton, 1)
    return tuple(
        Minutia(float(x), float(y), "ending" if crossings[y, x] == 1 else "fork", _direction(padded, x, y, scale=scale))
        for y, x in places.tolist()
        if inner[y, x]
    )


def ridge_skeleton(picture: Picture, *, scale: float = 1.0) -> Mask:
    """Skeleton of the ridges of ``uint8[H, W]``, ``bool[H, W]``, one pixel wide; ``scale``: pixels per pixel at 500 per inch."""
    grey = blurred(picture.astype(np.float32), sigma=SMOOTHING_PIXELS * scale)
    ridges = (grey < blurred(grey, sigma=_SURROUNDINGS_PIXELS * scale)) & (grey < 200)
    area = max(1, round(_SPECK_AREA_PIXELS * scale * scale))
    cleaned = remove_small_holes(remove_small_objects(ridges, max_size=area), max_size=area // 2)
    return np.asarray(skeletonize(cleaned), np.bool_)  # type: ignore[no-untyped-call]


def crossing_numbers(skeleton: Mask) -> npt.NDArray[np.int8]:
    """Crossing numbers on a skeleton ``bool[H, W]``, ``int8[H, W]``: 1 = ending, 2 = line, 3 = bifurcation, 0 elsewhere."""
    padded = np.pad(skeleton, 1).astype(np.int8)
    height, width = skeleton.shape
    ring = [padded[1 + down : 1 + down + height, 1 + right : 1 + right + width] for down, right in _NEIGHBOURS]
    changes = sum(np.abs(before - after) for before, after in zip(ring, (*ring[1:], ring[0]), strict=True))
    return np.where(skeleton, np.asarray(changes) // 2, 0).astype(np.int8)


def _direction(padded: Mask, x: int, y: int, *, scale: float) -> float:
    """Direction of the minutia at (x, y) of a skeleton with a border of one pixel: see ``Minutia.direction``."""
    branches = [_branch(padded, start, (y, x), pixels=max(1, round(_TANGENT_PIXELS * scale))) for start in _starts(padded, y, x)]
    if not branches:  # a single pixel
        return 0.0
    angles = [math.atan2(-down, right) for down, right in branches]
    if len(angles) == 1:
        return (angles[0] + math.pi) % math.tau
    # The single branch lies opposite to the two that enclose the smallest angle.
    return max(angles, key=lambda angle: sum(abs((angle - other + math.pi) % math.tau - math.pi) for other in angles)) % math.tau


def _starts(padded: Mask, y: int, x: int) -> list[tuple[int, int]]:
    """The first pixel of each branch at (x, y): one for each run of skeleton in the ring of neighbours."""
    ring = [bool(padded[y + 1 + down, x + 1 + right]) for down, right in _NEIGHBOURS]
    starts: list[tuple[int, int]] = []
    for at, on in enumerate(ring):
        if on and not ring[at - 1]:
            run = [(at + step) % 8 for step in range(8)]
            length = next(step for step, place in enumerate(run) if not ring[place]) if not all(ring) else 8
            # Of a run the pixel that shares a side, if there is one.
            chosen = min(run[:length], key=lambda place: abs(_NEIGHBOURS[place][0]) + abs(_NEIGHBOURS[place][1]))
            starts.append((y + _NEIGHBOURS[chosen][0], x + _NEIGHBOURS[chosen][1]))
    return starts


def _branch(padded: Mask, start: tuple[int, int], origin: tuple[int, int], *, pixels: int) -> tuple[int, int]:
    """Vector (down, right) from ``origin`` to where a branch has come after so many pixels, or ends or forks."""
    visited = {origin, *((origin[0] + down, origin[1] + right) for down, right in _NEIGHBOURS)}
    here = start
    for _ in range(pixels - 1):
        following = [
            place
            for down, right in sorted(_NEIGHBOURS, key=lambda step: abs(step[0]) + abs(step[1]))
            if (place := (here[0] + down, here[1] + right)) not in visited and padded[place[0] + 1, place[1] + 1]
        ]
        if not following:
            break
        visited.update((here, *following))
        here = following[0]
    return here[0] - origin[0], here[1] - origin[1]


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


class Minutiae(PrintMetric):
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
    share = "f1"
    """Which of the details is the value."""

    def __init__(self, *, reach_pixels: Radius, angle_degrees: Amount, pixels_per_inch: Positive, **where: Unpack[Where]) -> None:
        super().__init__(pixels_per_inch=pixels_per_inch, **where)
        self.reach_pixels, self.angle_degrees = reach_pixels, angle_degrees

    def measurement(self, view: ItemView) -> Measurement:
        """A share in 0..1; None where the truth shows no print."""
        lists = [self._lists(one) for one in self.prints(view)]
        if not lists:
            return Measurement(None, "the truth shows no print")
        found = self._pooled(lists, self.reach_pixels)
        details = {name: getattr(found, name) for name in ("precision", "recall", "f1", "predicted", "true", "matched")}
        if found.matched:
            details["mean_distance_pixels"] = found.distance / found.matched
        details |= {f"f1_at_{reach:g}": self._pooled(lists, reach).f1 for reach in CURVE_PIXELS}
        return Measurement(details[self.share], details=details)

    def _lists(self, one: Print) -> list[list[Point]]:
        found = (find_minutiae(picture, one.area, pixels_per_inch=self.pixels_per_inch) for picture in (one.ours, one.truth))
        return [[(minutia.x, minutia.y, minutia.direction) for minutia in minutiae] for minutiae in found]

    def _pooled(self, lists: Sequence[Sequence[Sequence[Point]]], reach: float) -> Matched:
        pixels = reach * self.scale
        each = [match(ours, true, reach_pixels=pixels, angle_degrees=self.angle_degrees) for ours, true in lists]
        return Matched(*map(sum, zip(*each, strict=True)))


class MinutiaePrecision(Minutiae):
    """Share of a prediction's minutiae that the truth has; see ``minutiae``.

    Painting over doubtful minutiae raises it, so it orders no methods (``ranked`` is False); F1 does.
    """

    name = "minutiae_precision"
    ranked = False
    share = "precision"


class MinutiaeRecall(Minutiae):
    """Share of the truth's minutiae that a prediction has; see ``minutiae``.

    Painting minutiae everywhere raises it, so it orders no methods (``ranked`` is False); F1 does.
    """

    name = "minutiae_recall"
    ranked = False
    share = "recall"


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
