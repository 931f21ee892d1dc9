"""Everything of a run that is looked at for a finding, with one correction for all of it.

Looked at are, of each quantity that ranks methods: the change of each method from a low to a high slice, unless pairs tell it,
each slice against the items outside of it, the lead of each method over each other, and what each factor does to each method and
to each such lead (`factor_effects`). What is told of them (findings, headline, leads, diagnosis, on pages and in files) is what
`simultaneous` leaves of them.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from inpaintbench.claims import too_few
from inpaintbench.eval.comparing.factors import Factor, Places, Step, factors_of, not_compared_in, source_numbers
from inpaintbench.eval.comparing.simultaneous import difference, simultaneous
from inpaintbench.eval.comparing.slopes import Regression, of_same_items
from inpaintbench.eval.values.permutation import LEVEL
from inpaintbench.types import Slice

if TYPE_CHECKING:
    from inpaintbench.eval.results.quantity import Quantity
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


Kind = Literal["change", "slice", "lead", "factor"]


class Effect(NamedTuple):
    """One number that was looked at, with its interval and p among all of them."""

    kind: Kind
    """``"change"``: high slice less low one, where no pairs tell it; ``"slice"``: its items less all others, mean over methods;
    ``"lead"``: one method less another over the same items; ``"factor"``: what a factor does to a method, or to the lead of one
    over another."""
    quantity: Quantity
    one: str
    """Method of a change or a factor's effect, or the first of a lead; name of the slice."""
    other: str
    """Attribute of a change; the second method of a lead; empty for a slice and for a factor's effect on a method itself."""
    within: str
    """Slice in which a lead is; empty for the others."""
    value: float
    n: tuple[int, int]
    """Items on either side, the same twice for a lead."""
    n_sources: tuple[int, int]
    reach: float = math.inf
    """Half the width of its interval among all that was looked at."""
    p: float = 1.0
    """Corrected for all that was looked at."""
    factor: Factor | None = None
    levels: tuple[str, str] = ("", "")
    """Of a factor: what its step leaves and comes to; empty for a measured one."""

    @property
    def told(self) -> bool:
        """Return whether it is more than chance."""
        return self.p < LEVEL

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.value - self.reach

    @property
    def high(self) -> float:
        """Upper end."""
        return self.value + self.reach

    @property
    def surely(self) -> float:
        """The least size that the interval leaves, at least 0."""
        return max(0.0, abs(self.value) - self.reach)

    @property
    def better(self) -> bool:
        """Return whether it is for the better in the metric's direction."""
        return (self.value > 0) == self.quantity.higher_is_better

    def turned(self) -> Effect:
        """A lead seen from its second method."""
        return self._replace(one=self.other, other=self.one, value=-self.value)


# A page, its files and its pictures ask for the same.
_FOUND: WeakKeyDictionary[Results, list[Effect]] = WeakKeyDictionary()


def looked_at(results: Results) -> list[Effect]:
    """What a report looks at, leads over all items; see ``effects_of``."""
    if results not in _FOUND:
        _FOUND[results] = effects_of(results)
    return _FOUND[results]


def told_leads(effects: Iterable[Effect]) -> set[tuple[str, Quantity, str, str]]:
    """Leads that are more than chance: slice, quantity, the better method, the other one."""
    leads = [effect if effect.better else effect.turned() for effect in effects if effect.kind == "lead" and effect.told]
    return {(lead.within, lead.quantity, lead.one, lead.other) for lead in leads}


def effects_of(
    results: Results, *, within: Sequence[Slice] = (), pairs: Sequence[tuple[str, str]] | None = None,
    quantities: Sequence[Quantity] | None = None,
) -> list[Effect]:  # fmt: skip
    """Every effect with its interval and p, the primary quantity corrected for itself, the others for all.

    A quantity of sets has none: one number for many items cannot be made again source by source. Effects of fewer sources on
    either side than a claim takes are not looked at, nor those of methods that lack items (see ``Results.unfit``).

    Args:
        results: scores.
        within: slices in which leads are looked at, besides all items.
        pairs: leads alone, of these methods and in ``within``; by default everything of all contenders.
        quantities: what it is looked at by; by default all that were measured.
    """
    sources = source_numbers(results)
    places = {item_id: index for index, item_id in enumerate(results.sources)}
    parts = [results.everything, *results.slices, *within]
    inside = {part.name: np.isin(np.arange(len(places)), [places[item_id] for item_id in part.item_ids]) for part in parts}
    factor_effects = FactorEffects(results) if pairs is None else None
    found: list[tuple[Effect, Array, Array]] = []
    for quantity in results.quantities if quantities is None else quantities:
        if quantity.ranked and not quantity.of_sets:
            columns = Columns(results, quantity, sources)
            of_factors = list(factor_effects.of(columns)) if factor_effects else []
            # Slices of an axis hold the items of its pairs: their difference is the same effect, and would count twice.
            in_pairs = {(one.factor.name, one.method) for one in of_factors if one.factor.kind == "paired" and not one.other}
            found += _of_quantity(results, quantity, columns, inside, within, pairs, in_pairs)
            found += (_of_factor(quantity, one) for one in of_factors)
    if not found:
        return []
    effects = [effect for effect, _, _ in found]
    among = simultaneous(
        np.array([effect.value for effect in effects]),
        np.stack([without for _, without, _ in found], axis=1),
        alike=[_alike(effect) for effect in effects],
        first=np.array([effect.quantity == results.protocol.primary for effect in effects]),
        shares=np.stack([shares for _, _, shares in found], axis=1),
    )
    numbers = zip(effects, among.reach.tolist(), among.p.tolist(), strict=True)
    return [effect._replace(reach=reach, p=p) for effect, reach, p in numbers]


def _of_quantity(
    results: Results, quantity: Quantity, columns: Columns, inside: dict[str, Inside],
    within: Sequence[Slice], pairs: Sequence[tuple[str, str]] | None, in_pairs: Container[tuple[str, str]],
) -> Iterator[tuple[Effect, Array, Array]]:  # fmt: skip
    if pairs is None:
        without = not_compared_in(results, quantity.region)
        for pair in (pair for pair in results.pairs if pair.attribute not in without):
            for method in results.contenders:
                if (pair.attribute, method) not in in_pairs and not results.unfit_change(pair, method, quantity):
                    low, high = (columns.mean(method, inside[part.name]) for part in (pair.low, pair.high))
                    yield from _apart(Effect("change", quantity, method, pair.attribute, "", 0.0, (0, 0), (0, 0)), low, high)
        for part in (part for part in results.slices if part.name.rpartition("-")[0] not in without):
            methods = results.compared(part, quantity)
            own = _over(columns, methods, inside[part.name])
            rest = _over(columns, methods, inside[results.everything.name] & ~inside[part.name])
            yield from _apart(Effect("slice", quantity, part.name, "", "", 0.0, (0, 0), (0, 0)), rest, own)
    leads = list(combinations(results.contenders, 2)) if pairs is None else pairs
    for part in [results.everything, *within] if pairs is None else within:
        for one, other in leads:
            found = columns.lead(one, other, inside[part.name])
            if found is not None and not too_few(found.n_sources):
                n, n_sources = (found.n, found.n), (found.n_sources, found.n_sources)
                yield Effect("lead", quantity, one, other, part.name, found.value, n, n_sources), found.without, found.shares


def _of_factor(quantity: Quantity, found: FactorEstimate) -> tuple[Effect, Array, Array]:
    factor, levels, one, other, mean = found
    n, n_sources = (mean.n, mean.n), (mean.n_sources, mean.n_sources)
    effect = Effect("factor", quantity, one, other, "", mean.value, n, n_sources, factor=factor, levels=levels)
    return effect, mean.without, mean.shares


def _alike(effect: Effect) -> tuple[object, ...]:
    """Effects of one unit and of designs of one size: of factors those of a kind, of methods or of their leads."""
    own = (effect.factor.kind, bool(effect.other)) if effect.factor else ()
    return effect.kind, effect.quantity, *own


def _apart(effect: Effect, low: Mean | None, high: Mean | None) -> Iterator[tuple[Effect, Array, Array]]:
    """``effect`` as the second mean less the first, where both rest on enough sources."""
    if low is not None and high is not None and not too_few(min(low.n_sources, high.n_sources)):
        n, n_sources = (low.n, high.n), (low.n_sources, high.n_sources)
        value = float(difference(high.value, low.value))
        shares = (low.shares + high.shares) / 2
        yield effect._replace(value=value, n=n, n_sources=n_sources), difference(high.without, low.without), shares


def _over(columns: Columns, methods: Sequence[str], inside: Inside) -> Mean | None:
    """Mean over methods of their means; None where one has none."""
    found = [columns.mean(method, inside) for method in methods]
    means = [mean for mean in found if mean is not None]
    if not means or len(means) < len(found):
        return None
    without = np.mean([mean.without for mean in means], axis=0)
    shares = np.mean([mean.shares for mean in means], axis=0)
    fewest = (min(mean.n for mean in means), min(mean.n_sources for mean in means))
    return Mean(math.fsum(mean.value for mean in means) / len(means), without, shares, *fewest)
