"""Separability of two paired sets of vectors by a linear support vector machine.

Zhao et al., Large Scale Image Completion via Co-Modulated GANs, ICLR 2021. The machine is that of scikit-learn's ``LinearSVC``
at its defaults: ``|w|^2 / 2 + C sum max(0, 1 - y (w.x))^2`` over vectors as they are, extended by a 1 whose weight, the
intercept, is penalised like the others; y is +1 for the truth and -1 for predictions. The optimum is found by Newton's method
with an exact line search in float64 (Keerthi and DeCoste, JMLR 2005), to where its value can fall by no more than a 10^-12th.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.optimize

from inpaintbench.deviations import Deviation
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.set_distances import feature_sets
from inpaintbench.eval.set_distances.feature_sets import Extent, Matrix, Vectors, blocks
from inpaintbench.eval.values.measurement import Comparison, Features
from inpaintbench.types import Plain

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
        return float(scipy.optimize.brentq(self.slope, 0.0, 1.0, xtol=1e-14))


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
        return np.asarray(scipy.linalg.solve(left, right, assume_a="pos", overwrite_a=True, check_finite=False))


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
