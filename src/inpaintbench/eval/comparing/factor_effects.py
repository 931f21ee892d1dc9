"""What each factor does to a method, and to its lead over another, by one quantity.

Of an axis: the mean difference within its pairs, in which the clip's own difficulty cancels. Of measured and labelled factors:
their coefficients in one regression over all items (`slopes`), which holds the others and the levels of axes constant. An
effect on a lead is that on the item-by-item difference of two methods, in which what is hard for both cancels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from inpaintbench.claims import too_few
from inpaintbench.eval.comparing.factors import Factor, Places, Step, factors_of, not_compared_in, source_numbers
from inpaintbench.eval.comparing.looked_at import Array, Columns, Inside, Mean, weighted_mean
from inpaintbench.eval.comparing.simultaneous import difference
from inpaintbench.eval.comparing.slopes import Regression, of_same_items

if TYPE_CHECKING:
    from inpaintbench.eval.results.tables import Results


class FactorEstimate(NamedTuple):
    """One effect of a factor."""

    factor: Factor
    levels: tuple[str, str]
    method: str
    other: str
    """Empty for the effect on the method itself."""
    mean: Mean


class _Row(NamedTuple):
    """Values of a method, or of the difference of two, over all items."""

    method: str
    other: str
    values: Array
    weights: Array


class FactorEffects:
    """The factors of a dataset, put to one quantity after the other."""

    def __init__(self, results: Results) -> None:
        self.results, self.factors, self.sources = results, factors_of(results), source_numbers(results)
        columns = [values for _, values in self.factors.columns]
        self.n_sources = int(self.sources.max(initial=-1)) + 1
        self.regression = regression_on(self.factors.beside, columns, self.sources, self.n_sources)

    def of(self, columns: Columns) -> Iterator[FactorEstimate]:
        """Every effect that rests on enough sources; on methods alone of those that lack no item (see ``Results.unfit``)."""
        if not self.factors.all:
            return
        results = self.results
        whole, quantity = results.everything, columns.quantity
        without = not_compared_in(results, quantity.region)
        steps = [step for step in self.factors.steps if step.factor.name not in without]
        fit = [method for method in results.contenders if not results.unfit(whole, method, quantity)]
        own = [method for method in fit if not results.contradicted(whole, method, quantity)]
        for rows in (
            [_Row(method, "", columns.finite(method), columns.weights[method]) for method in own],
            [_Row(one, other, *columns.apart(one, other)) for one, other in combinations(results.contenders, 2)],
        ):
            for row in rows:
                for step in steps:
                    if mean := self._paired(step, row.values, row.weights):
                        yield FactorEstimate(step.factor, (step.low_level, step.high_level), row.method, row.other, mean)
            yield from self._slopes(rows)

    def _paired(self, step: Step, values: Array, weights: Array) -> Mean | None:
        low, high = values[step.low], values[step.high]
        there = ~np.isnan(low) & ~np.isnan(high)
        apart = difference(np.where(there, high, 0.0), np.where(there, low, 0.0))
        mean = weighted_mean(apart, (weights[step.low] + weights[step.high]) / 2, there, self.sources[step.low], self.n_sources)
        return None if mean is None or too_few(mean.n_sources) else mean

    def _slopes(self, rows: Sequence[_Row]) -> Iterator[FactorEstimate]:
        """Of rows of one kind: those of the same items are fitted together."""
        if not self.factors.columns:
            return
        first = self.regression.columns.shape[1] - len(self.factors.columns)
        for members in of_same_items([(row.values, row.weights) for row in rows]):
            weights = rows[members[0]].weights
            there: Inside = self.factors.known & ~np.isnan(rows[members[0]].values)
            n, n_sources = int(there.sum()), len(np.unique(self.sources[there]))
            if too_few(n_sources):
                continue
            fit = self.regression.fit(np.stack([rows[place].values for place in members], axis=1), there, weights)
            for column, (factor, _) in enumerate(self.factors.columns, start=first):
                levels = (factor.levels[0], factor.levels[-1]) if factor.levels else ("", "")
                for place, index in enumerate(members) if fit.tells[column] else ():
                    value, without = float(fit.coefficients[column, place]), fit.without[:, column, place]
                    mean = Mean(value, without, fit.shares[:, column], n, n_sources)
                    yield FactorEstimate(factor, levels, rows[index].method, rows[index].other, mean)


def regression_on(beside: Array, columns: Sequence[Array], sources: Places, n_sources: int) -> Regression:
    """The regression on a constant, on what is held constant, and on the columns of factors, these last."""
    return Regression(np.column_stack([np.ones(len(sources)), beside, *columns]), sources, n_sources)
