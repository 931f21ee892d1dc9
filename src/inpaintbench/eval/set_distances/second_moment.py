"""Distance of two sets of vectors by their second moments: squared maximum mean discrepancy under a quadratic kernel.

``k(x, y) = (x.y / d)^2``, with which JEDi (Luo et al., ICLR 2025) compares features of clips. With the raw second moments
``S = X^T X / n`` the biased form is ``|S_x - S_y|^2 / d^2`` (squares of all numbers added up), so that no table of all pairs is
needed, and sets merge by adding moments. Everything is float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from inpaintbench.eval.set_distances import feature_sets
from inpaintbench.eval.set_distances.feature_sets import Matrix, Vectors
from inpaintbench.eval.values.measurement import Comparison, Features

Estimate = Literal["biased", "unbiased"]


class SecondMoments:
    """Sums of products of vectors that come in parts, in any order.

    Args:
        d: their length.
    """

    def __init__(self, d: int) -> None:
        self.n, self._outer, self._fourth = 0, np.zeros((d, d)), 0.0

    def add(self, features: Vectors) -> None:
        """Take ``float[n, d]`` into account."""
        rows = np.asarray(features, np.float64)
        self._outer += rows.T @ rows
        self._fourth += float(np.square(np.einsum("nd,nd->n", rows, rows)).sum())
        self.n += len(rows)

    def merge(self, other: SecondMoments) -> None:
        """Take the vectors of ``other`` into account too."""
        self.n, self._outer, self._fourth = self.n + other.n, self._outer + other._outer, self._fourth + other._fourth

    @property
    def mean(self) -> Matrix:
        """``float64[d, d]``."""
        return self._outer / self.n

    def own(self, estimate: Estimate) -> float:
        """Mean squared product of two vectors of the set; ``"unbiased"`` leaves out those of a vector with itself."""
        every = float(np.square(self._outer).sum())
        return every / self.n**2 if estimate == "biased" else (every - self._fourth) / (self.n * (self.n - 1))


def distance(one: SecondMoments, other: SecondMoments, *, estimate: Estimate) -> float:
    """The squared discrepancy of two sets; at least 0 where ``estimate`` is ``"biased"``, and exactly 0 for equal sets."""
    first, second = one.mean, other.mean
    scale = float(len(first)) ** 2
    if estimate == "biased":
        return float(np.square(first - second).sum()) / scale
    return (one.own(estimate) + other.own(estimate) - 2 * float(np.vdot(first, second))) / scale


@feature_sets.or_reason
def compare(sets: Sequence[Features], clusters: Sequence[str], *, estimate: Estimate) -> Comparison:
    """``distance`` of the vectors of all predictions and those of all truths.

    Args:
        sets: one for each item; arrays may be mapped from disk, each is read twice.
        clusters: the source of each item.
        estimate: as for ``distance``; the unbiased one does not grow as the sets become smaller, and needs two vectors in each;
            beside the biased one it stands in the details.
    """
    size = feature_sets.extent(sets, clusters, fewest=1 if estimate == "biased" else 2)
    moments = SecondMoments(size.d), SecondMoments(size.d)
    for features in sets:
        for sums, vectors in zip(moments, features, strict=True):
            sums.add(vectors)
    details = dict(size.details)
    if estimate == "biased" and min(size.n, size.n_truth) > 1:
        details["unbiased"] = distance(*moments, estimate="unbiased")
    return Comparison(distance(*moments, estimate=estimate), details=details)
