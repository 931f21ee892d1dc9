"""Two sets of vectors told apart without a normal distribution: by a cubic kernel, and by a linear support vector machine.

The kernel distance is the squared maximum mean discrepancy, without bias: ``k(x, y) = (x.y / d + 1)^3``; the mean of k over
pairs of different vectors within each set, less twice the mean between the sets. Binkowski et al., Demystifying MMD GANs, ICLR
2018. Unlike a Frechet distance its expectation does not depend on how many vectors there are.

Separability is of paired sets: Zhao et al., Large Scale Image Completion via Co-Modulated GANs, ICLR 2021. The machine is that
of scikit-learn's ``LinearSVC`` at its defaults: ``|w|^2 / 2 + C sum max(0, 1 - y (w.x))^2`` over vectors as they are, extended
by a 1 whose weight, the intercept, is penalised like the others; y is +1 for the truth and -1 for predictions. The optimum is
found by Newton's method with an exact line search in float64 (Keerthi and DeCoste, JMLR 2005), to where its value can fall by
no more than a 10^-12th.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import Deviation
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.set_distances import feature_sets
from inpaintbench.eval.set_distances.feature_sets import Extent, Matrix, Vectors, blocks
from inpaintbench.eval.values.measurement import Comparison, Features
from inpaintbench.lazily import lazily
from inpaintbench.types import Plain, item_rng

linalg = lazily("scipy.linalg")
optimize = lazily("scipy.optimize")

# Of the cubic kernel of Binkowski et al.
COEFFICIENT = 1.0
# Groups of sources that are left out in turn: sums of the kernel are kept for every pair of groups.
_MOST_GROUPS = 200
# Vectors in a set up to which all pairs are taken; their number grows with its square.
MOST_EXACT = 20_000
# Subsets of the published estimate.
PUBLISHED_SUBSETS = 100

Labels = npt.NDArray[np.intp]


@feature_sets.or_reason
def compare(sets: Sequence[Features], clusters: Sequence[str], *, subsets: int, subset_size: int, subset_seed: int) -> Comparison:
    """The kernel distance between the vectors of all predictions and those of all truths; below 0 as often as chance has it.

    Args:
        sets: one for each item; arrays may be mapped from disk, of which two blocks at a time are held.
        clusters: the source of each item. With six or more, leaving out each in turn gives a standard error and a 95 % interval
            of the exact form.
        subsets: 0 for the exact form, over all pairs of vectors, which sets of more than ``MOST_EXACT`` replace by
            ``PUBLISHED_SUBSETS`` subsets and say so in the details (``note``); else the mean over so many random subsets, as
            published. Its deviation over subsets is in the details, and is no standard error, since subsets overlap.
        subset_size: vectors of each set in a subset, drawn without replacement.
        subset_seed: of the subsets.
    """
    size = feature_sets.extent(sets, clusters)
    if subsets and subset_size > min(size.n, size.n_truth):
        raise NotMeasurable(f"subsets of {subset_size} vectors cannot be drawn from {min(size.n, size.n_truth)}")
    note: Plain = {}
    if not subsets and max(size.n, size.n_truth) > MOST_EXACT:
        subsets, subset_size = PUBLISHED_SUBSETS, min(subset_size, size.n, size.n_truth)
        note = {"note": f"more than {MOST_EXACT} vectors: the mean over {subsets} random subsets of {subset_size}, not all pairs"}
    predictions, truths = [one.prediction for one in sets], [one.truth for one in sets]
    if subsets:
        rng = item_rng(subset_seed, "kernel_distance", "")
        values = []
        for _ in range(subsets):
            one, other = (
                _rows(arrays, rng.choice(many, subset_size, replace=False))
                for arrays, many in ((predictions, size.n), (truths, size.n_truth))
            )
            together = [np.zeros(subset_size, np.intp)] * 2
            sums = [kernel_sums(a, b, together, 1)[0] for a, b in ((one, one), (other, other), (one, other))]
            values.append(_discrepancy(sums, [np.array(subset_size)] * 2).item())
        details = {**size.details, "subsets": subsets, "deviation_of_subsets": float(np.std(values)), **note}
        return Comparison(float(np.mean(values)), details=details)
    labels, count = feature_sets.groups(clusters, most=_MOST_GROUPS)
    sums = [
        kernel_sums(one, other, [feature_sets.row_labels(arrays, labels) for arrays in (one, other)], count)
        for one, other in ((predictions, predictions), (truths, truths), (predictions, truths))
    ]
    counts = [np.bincount(feature_sets.row_labels(arrays, labels), minlength=count) for arrays in (predictions, truths)]
    value = _discrepancy([np.asarray(one.sum()) for one in sums], [one.sum() for one in counts])
    left = [one.sum() - one for one in counts]
    if min(map(np.min, left)) < 2:
        return Comparison(float(value), details=size.details)
    # The totals without the pairs that hold a vector of each group.
    without = _discrepancy([np.asarray(one.sum() - one.sum(axis=0) - one.sum(axis=1) + np.diag(one)) for one in sums], left)
    return Comparison(float(value), None, *feature_sets.jackknife(float(value), without.tolist()), size.details)


def kernel(one: Matrix, other: Matrix) -> Matrix:
    """``(x.y / d + 1)^3`` for all rows of ``float64[n, d]`` and ``float64[m, d]``, as ``float64[n, m]``."""
    base = one @ other.T
    base /= one.shape[1]
    base += COEFFICIENT
    return np.asarray(base * base * base)  # fifty times faster than a power


def kernel_sums(one: Sequence[Vectors], other: Sequence[Vectors], labels: Sequence[Labels], groups: int) -> Matrix:
    """Sums of the kernel by group of the first and of the second vector, ``float64[groups, groups]``.

    Of a set with itself (the same object twice) the pairs of a vector with itself are left out.

    Args:
        one: vectors of one set, item by item.
        other: vectors of the other set.
        labels: the group of each vector, for either set.
        groups: how many there are.
    """
    same = one is other
    sums = np.zeros((groups, groups))
    for begin, rows in blocks(one):
        for start, columns in blocks(other):
            if same and start < begin:
                continue
            part = kernel(rows, columns)
            if same and start == begin:
                np.fill_diagonal(part, 0.0)
            first, second = labels[0][begin : begin + len(rows)], labels[1][start : start + len(columns)]
            found = _members(first, groups).T @ part @ _members(second, groups)
            sums += found
            if same and start > begin:
                sums += found.T
    return sums


def _members(labels: Labels, groups: int) -> Matrix:
    members = np.zeros((len(labels), groups))
    members[np.arange(len(labels)), labels] = 1.0
    return members


def _discrepancy(sums: Sequence[Matrix], counts: Sequence[npt.NDArray[np.int_]]) -> Matrix:
    """From the sums within the first set, within the second and between them."""
    m, n = (np.asarray(count, np.float64) for count in counts)
    return np.asarray(sums[0] / (m * (m - 1)) + sums[1] / (n * (n - 1)) - 2 * sums[2] / (m * n))


def _rows(arrays: Sequence[Vectors], chosen: npt.NDArray[np.int_]) -> list[Vectors]:
    """The rows ``chosen`` of all arrays together, read item by item."""
    ends = np.cumsum([len(array) for array in arrays])
    chosen = np.sort(chosen)
    item = np.searchsorted(ends, chosen, side="right")
    return [arrays[index][chosen[item == index] - (ends[index] - len(arrays[index]))] for index in np.unique(item).tolist()]


# Share of the objective by which a further step could still lower it when the search ends.
_TOLERANCE = 1e-12
# Steps after which the search has failed: where Newton's method converges it ends far sooner.
_MOST_STEPS = 200

Which = npt.NDArray[np.bool_]


class Separation(NamedTuple):
    """Judgements of the machine on the vectors it was trained with."""

    misjudged: int
    """Vectors on the wrong side, of both sets together."""
    above: int
    """Pairs whose prediction looks more like a truth than the truth itself."""
    ties: int
    """Pairs that look exactly alike."""
    size: Extent


def separation(sets: Sequence[Features], clusters: Sequence[str], *, cost: float) -> Separation:
    """Train the machine on all vectors and judge them; remembered, so that two metrics of the same sets share it.

    Args:
        sets: one for each item, row i of the prediction belonging to row i of the truth; may be mapped from disk.
        clusters: the source of each item, to name the one with a fault.
        cost: C.

    Raises:
        NotMeasurable: features that are no table of finite numbers, too few, or not in pairs.
    """
    size = feature_sets.extent(sets, clusters, fewest=1)
    if any(len(one.prediction) != len(one.truth) for one in sets):
        raise NotMeasurable("predictions and truths do not come in pairs")
    return _separated(_Given(sets), cost, size)


MACHINE = Deviation(
    "the linear machine",
    "`LinearSVC` of scikit-learn with its tolerance and its limit of 1000 rounds",
    "the same problem (squared hinge, C = 1, the intercept in the penalty) solved to its minimum",
    "none where that solver ends by itself; where it stops at its limit its score depends on the limit",
)


class _Given:
    """Sets that are equal when their numbers are; they are let go once they have been used."""

    def __init__(self, sets: Sequence[Features]) -> None:
        self.sets: Sequence[Features] = sets
        content = hashlib.blake2b(digest_size=16)
        for one in sets:
            for features in one:
                content.update(f"{features.shape}{features.dtype}".encode())
                content.update(np.ascontiguousarray(features).reshape(-1).view(np.uint8).data)
        self._content = content.digest()

    def __hash__(self) -> int:
        return hash(self._content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Given) and self._content == other._content

    def taken(self) -> Sequence[Features]:
        sets, self.sets = self.sets, ()
        return sets


@lru_cache(maxsize=16)
def _separated(given: _Given, cost: float, size: Extent) -> Separation:
    sets = given.taken()
    truths, predictions = [one.truth for one in sets], [one.prediction for one in sets]
    real, fake = Machine(cost=cost).fit(truths, predictions)
    alike = np.concatenate([(one.prediction == one.truth).all(axis=1) for one in sets])
    # The product of equal vectors may differ by rounding where they lie otherwise in memory.
    ties, above = alike | (fake == real), ~alike & (fake > real)
    return Separation(int((real <= 0).sum() + (fake > 0).sum()), int(above.sum()), int(ties.sum()), size)


class Machine:
    """The linear machine.

    Args:
        cost: C, of the squared hinge.
    """

    def __init__(self, *, cost: float) -> None:
        self.cost = cost
        self.weights = np.zeros(0)
        """``float64[d + 1]``, the intercept last."""
        self.objective = np.inf

    def fit(self, real: Sequence[Vectors], fake: Sequence[Vectors]) -> tuple[Matrix, Matrix]:
        """Find the weights; gives the decision values of both sets, ``float64[n]`` each.

        Raises:
            NotMeasurable: no optimum within 200 steps.
        """
        classes = (real, fake)
        system = _System(classes, cost=self.cost)
        self.weights = np.zeros(system.length)
        values = _values(classes, self.weights)
        for _ in range(_MOST_STEPS):
            system.include((values[0] < 1, values[1] > -1))  # inside the margin or on the wrong side, which the hinge penalises
            line = _Line(self, values, target := system.solution(), _values(classes, target))
            self.objective = line.value
            if -line.slope(0.0) <= _TOLERANCE * self.objective:
                return values
            at = line.lowest()
            self.weights = self.weights + at * (target - self.weights)
            values = line.values_at(at)
        raise NotMeasurable(f"the support vector machine found no optimum within {_MOST_STEPS} steps")


def _values(classes: Sequence[Sequence[Vectors]], weights: Matrix) -> tuple[Matrix, Matrix]:
    real, fake = (np.concatenate([rows @ weights[:-1] + weights[-1] for _, rows in blocks(arrays)]) for arrays in classes)
    return real, fake


class _Line:
    """The objective between the weights and those they move towards."""

    def __init__(self, machine: Machine, values: tuple[Matrix, Matrix], target: Matrix, there: tuple[Matrix, Matrix]) -> None:
        self._cost, self._weights, self._step = machine.cost, machine.weights, target - machine.weights
        self._values, self._there = values, there

    def values_at(self, at: float) -> tuple[Matrix, Matrix]:
        real, fake = (one + at * (other - one) for one, other in zip(self._values, self._there, strict=True))
        return (real, fake) if at < 1 else self._there

    @property
    def value(self) -> float:
        """Value of the objective at the beginning."""
        slack = [np.clip(1 - sign * one, 0, None) for sign, one in zip((1, -1), self._values, strict=True)]
        return float(self._weights @ self._weights / 2 + self._cost * sum(one @ one for one in slack))

    def slope(self, at: float) -> float:
        found = float((self._weights + at * self._step) @ self._step)
        for sign, begin, end, now in zip((1, -1), self._values, self._there, self.values_at(at), strict=True):
            found -= 2 * self._cost * sign * float(np.clip(1 - sign * now, 0, None) @ (end - begin))
        return found

    def lowest(self) -> float:
        """Return where the objective is least, in 0..1; its slope only grows."""
        if self.slope(1.0) <= _TOLERANCE * abs(self.slope(0.0)):
            return 1.0
        return float(optimize.brentq(self.slope, 0.0, 1.0, xtol=1e-14))


class _System:
    """The normal equations of the vectors that the hinge penalises: ``(I + 2 C X^T X) w = 2 C X^T y``."""

    def __init__(self, classes: Sequence[Sequence[Vectors]], *, cost: float) -> None:
        self._classes, self._cost = classes, cost
        self.length = classes[0][0].shape[1] + 1
        self._included = tuple(np.zeros(sum(map(len, arrays)), np.bool_) for arrays in classes)
        self._products = np.zeros((self.length, self.length))
        # Apart for each set, so that those of equal sets cancel exactly.
        self._sums = np.zeros((2, self.length))

    def include(self, wanted: tuple[Which, Which]) -> None:
        """Let the vectors in question be those of ``wanted``; only those that come or go are read into products."""
        for index, arrays in enumerate(self._classes):
            coming, going = wanted[index] & ~self._included[index], self._included[index] & ~wanted[index]
            for begin, rows in blocks(arrays):
                for which, sign in ((coming, 1), (going, -1)):
                    chosen = rows[which[begin : begin + len(rows)]]
                    if len(chosen):
                        extended = np.column_stack([chosen, np.ones(len(chosen))])
                        self._products += sign * (extended.T @ extended)
                        self._sums[index] += sign * extended.sum(axis=0)
        self._included = wanted

    def solution(self) -> Matrix:
        left = 2 * self._cost * self._products
        left[np.diag_indices(self.length)] += 1
        right = 2 * self._cost * (self._sums[0] - self._sums[1])
        return np.asarray(linalg.solve(left, right, assume_a="pos", overwrite_a=True, check_finite=False))


@feature_sets.or_reason
def paired(sets: Sequence[Features], clusters: Sequence[str], *, cost: float, ties: str) -> Comparison:
    """Share of pairs whose prediction looks more like a truth than the truth itself, 0..1.

    ``ties``: a pair that looks exactly alike counts as ``"half"`` or as a ``"loss"``, as published.
    """
    found = separation(sets, clusters, cost=cost)
    won = found.above + (found.ties / 2 if ties == "half" else 0)
    return Comparison(won / found.size.n, details={**_details(found.size), "ties": found.ties})


@feature_sets.or_reason
def unpaired(sets: Sequence[Features], clusters: Sequence[str], *, cost: float) -> Comparison:
    """Share of all vectors that are taken for the other kind, 0..1, about 0.5 for sets that cannot be told apart."""
    found = separation(sets, clusters, cost=cost)
    return Comparison(found.misjudged / (2 * found.size.n), details=_details(found.size))


def _details(size: Extent) -> Plain:
    if 2 * size.n > size.d + 1:
        return size.details
    return {
        **size.details,
        "warning": f"2 N = {2 * size.n} <= d + 1 = {size.d + 1}: a plane separates any so few vectors, so the value says nothing",
    }
