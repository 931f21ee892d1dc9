"""Scores of one quantity as columns, and means of them that can be made again without each source."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.eval.comparing.simultaneous import difference

if TYPE_CHECKING:
    from inpaintbench.eval.results.quantity import Quantity
    from inpaintbench.eval.results.tables import Results

Array = npt.NDArray[np.float64]
Inside = npt.NDArray[np.bool_]


class Mean(NamedTuple):
    """A number over items, and the same without each source."""

    value: float
    without: Array
    """``float64[sources]``."""
    shares: Array
    """``float64[sources]``, how much of it each source decides, 1 together."""
    n: int
    n_sources: int


class Columns:
    """Values and weights of one quantity as arrays: ``float64[items]`` for each method, NaN where there is nothing to compare."""

    def __init__(self, results: Results, quantity: Quantity, sources: npt.NDArray[np.int64]) -> None:
        items = list(results.sources)
        self.quantity, self.rule, self.sources = quantity, results.infinite_rule(quantity.metric), sources
        self.n_sources = int(sources.max(initial=-1)) + 1
        self.values: dict[str, Array] = {}
        self.weights: dict[str, Array] = {}
        weighed = results.protocol.averaging == "all_frames"
        for method in results.contenders:
            given = [results.value(method, item_id, quantity) for item_id in items]
            self.values[method] = np.array([math.nan if value is None else value for value in given], np.float64)
            weights = [results.weight(method, item_id, quantity) for item_id in items] if weighed else 1.0
            self.weights[method] = np.broadcast_to(np.asarray(weights, np.float64), len(items))

    def mean(self, method: str, inside: Inside) -> Mean | None:
        """Of a method over some items, infinite values as the protocol counts them; None without a finite one."""
        values = self.values[method]
        there = inside & ~np.isnan(values)
        infinite = there & np.isinf(values)
        if infinite.any():
            finite = there & ~infinite
            if self.rule == "keep" or not finite.any():
                return None
            if self.rule == "largest_finite":
                values = np.where(infinite, values[finite].max(), values)
            else:
                there = finite
        return weighted_mean(values, self.weights[method], there, self.sources, self.n_sources)

    def finite(self, method: str) -> Array:
        """The values that differences are made of, as the paired test takes them: NaN for infinite ones, unless the protocol
        counts them as the largest finite one."""
        values = self.values[method]
        if self.rule == "largest_finite":
            values = np.minimum(values, np.max(values[np.isfinite(values)], initial=-math.inf))
        return np.where(np.isfinite(values), values, math.nan)

    def apart(self, one: str, other: str) -> tuple[Array, Array]:
        """Differences of two methods, NaN where either has no finite value, and their weights."""
        first, second = self.finite(one), self.finite(other)
        there = ~np.isnan(first) & ~np.isnan(second)
        apart = difference(np.where(there, first, 0.0), np.where(there, second, 0.0))
        return np.where(there, apart, math.nan), (self.weights[one] + self.weights[other]) / 2

    def lead(self, one: str, other: str, inside: Inside) -> Mean | None:
        """Mean difference of two methods over the items that both have a finite value of, as the paired test takes them."""
        apart, weights = self.apart(one, other)
        return weighted_mean(apart, weights, inside & ~np.isnan(apart), self.sources, self.n_sources)


def weighted_mean(values: Array, weights: Array, there: Inside, sources: npt.NDArray[np.int64], n_sources: int) -> Mean | None:
    """Mean of the values that are ``there``, of sources 0..``n_sources`` - 1; None where there are none."""
    if not there.any():
        return None
    own, size = sources[there], n_sources
    counts = np.bincount(own, weights[there], size)
    sums = np.bincount(own, weights[there] * values[there], size)
    left = counts.sum() - counts
    with np.errstate(divide="ignore", invalid="ignore"):
        without = np.where(left > 0, (sums.sum() - sums) / left, math.nan)
    return Mean(float(sums.sum() / counts.sum()), without, counts / counts.sum(), int(there.sum()), int(np.count_nonzero(counts)))
