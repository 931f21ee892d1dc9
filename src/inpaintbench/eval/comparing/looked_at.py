"""Everything of a run that is looked at for a finding, with one correction for all of it.

Looked at are, of each quantity that ranks methods: the change of each method from a low to a high slice, unless pairs tell it,
each slice against the items outside of it, the lead of each method over each other, and what each factor does to each method and
to each such lead. What is told of them (findings, headline, leads, diagnosis, on pages and in files) is what `simultaneous`
leaves of them.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.claims import too_few
from inpaintbench.eval.comparing.factors import NO_FACTOR, Factor, Factors, factors_of, not_compared_in, source_numbers
from inpaintbench.eval.comparing.simultaneous import difference, simultaneous
from inpaintbench.eval.comparing.slopes import of_same_items, regression_on
from inpaintbench.eval.results.measured import kept
from inpaintbench.eval.values.permutation import LEVEL
from inpaintbench.types import Slice

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
        self.quantity, self.rule, self.sources = quantity, results.protocol.infinite_rule(quantity.metric), sources
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
    other: str = ""
    """Attribute of a change; the second method of a lead; empty for a slice and for a factor's effect on a method itself."""
    within: str = ""
    """Slice in which a lead is; empty for the others."""
    value: float = 0.0
    n: tuple[int, int] = (0, 0)
    """Items on either side, the same twice for a lead."""
    n_sources: tuple[int, int] = (0, 0)
    reach: float = math.inf
    """Half the width of its interval among all that was looked at."""
    p: float = 1.0
    """Corrected for all that was looked at."""
    factor: Factor = NO_FACTOR
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
        """A difference between two methods seen from the second."""
        return self._replace(one=self.other, other=self.one, value=-self.value)


_Found = tuple[Effect, Array, Array]
"""An effect, the same without each source, and what each source counts for in it."""


@kept
def looked_at(results: Results) -> list[Effect]:
    """What a report looks at, leads over all items; see ``effects_of``."""
    return effects_of(results)


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
    found: list[_Found] = []
    for quantity in results.quantities if quantities is None else quantities:
        if quantity.ranked and not quantity.of_sets:
            columns = Columns(results, quantity, sources)
            if pairs is not None:
                found += _leads(columns, pairs, within, inside)
                continue
            of_factors = list(_of_factors(results, columns))
            effects = (effect for effect, _, _ in of_factors)
            # Slices of an axis hold the items of its pairs: their difference is the same effect, and would count twice.
            in_pairs = {(e.factor.name, e.one) for e in effects if e.factor.kind == "paired" and not e.other}
            found += _of_slices(results, columns, inside, in_pairs)
            found += _leads(columns, list(combinations(results.contenders, 2)), [results.everything, *within], inside)
            found += of_factors
    if not found:
        return []
    effects_found = [effect for effect, _, _ in found]
    # Effects of one unit and of designs of one size: of factors those of a kind, of methods or of their leads.
    of_kind = [(one.kind, one.quantity, one.factor.kind, one.kind == "factor" and bool(one.other)) for one in effects_found]
    among = simultaneous(
        np.array([effect.value for effect in effects_found]),
        np.stack([without for _, without, _ in found], axis=1),
        alike=of_kind,
        first=np.array([effect.quantity == results.protocol.primary for effect in effects_found]),
        shares=np.stack([shares for _, _, shares in found], axis=1),
    )
    numbers = zip(effects_found, among.reach.tolist(), among.p.tolist(), strict=True)
    return [effect._replace(reach=reach, p=p) for effect, reach, p in numbers]


def _of_mean(effect: Effect, mean: Mean) -> _Found:
    """``effect`` with the numbers of a mean over the same items on either side."""
    n, n_sources = (mean.n, mean.n), (mean.n_sources, mean.n_sources)
    return effect._replace(value=mean.value, n=n, n_sources=n_sources), mean.without, mean.shares


def _leads(
    columns: Columns, pairs: Sequence[tuple[str, str]], within: Sequence[Slice], inside: dict[str, Inside]
) -> Iterator[_Found]:
    for part in within:
        for one, other in pairs:
            found = columns.lead(one, other, inside[part.name])
            if found is not None and not too_few(found.n_sources):
                yield _of_mean(Effect("lead", columns.quantity, one, other, part.name), found)


def _of_slices(
    results: Results, columns: Columns, inside: dict[str, Inside], in_pairs: Container[tuple[str, str]]
) -> Iterator[_Found]:
    """Changes of methods from low to high slices, and slices against the items outside of them by the mean over methods."""
    quantity, compared = columns.quantity, list[tuple[Effect, Mean | None, Mean | None]]()
    without = not_compared_in(results, quantity.region)
    for pair in (pair for pair in results.pairs if pair.attribute not in without):
        for method in results.contenders:
            if (pair.attribute, method) not in in_pairs and not results.unfit_change(pair, method, quantity):
                low, high = (columns.mean(method, inside[part.name]) for part in (pair.low, pair.high))
                compared.append((Effect("change", quantity, method, pair.attribute), low, high))
    for part in (part for part in results.slices if part.name.rpartition("-")[0] not in without):
        methods, own = results.compared(part, quantity), inside[part.name]
        rest = _over(columns, methods, inside[results.everything.name] & ~own)
        compared.append((Effect("slice", quantity, part.name), rest, _over(columns, methods, own)))
    for effect, first, second in compared:
        if first is not None and second is not None and not too_few(min(first.n_sources, second.n_sources)):
            n, n_sources = (first.n, second.n), (first.n_sources, second.n_sources)
            value = float(difference(second.value, first.value))
            apart, shares = difference(second.without, first.without), (first.shares + second.shares) / 2
            yield effect._replace(value=value, n=n, n_sources=n_sources), apart, shares


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


_Row = tuple[str, str, Array, Array]
"""A method, or two of which the difference is taken: values and weights over all items."""


def _of_factors(results: Results, columns: Columns) -> Iterator[_Found]:
    """Every effect of a factor that rests on enough sources; on methods alone of those that lack no item (see ``Results.unfit``).

    Of an axis: the mean difference within its pairs, in which the clip's own difficulty cancels. Of measured and labelled
    factors: their coefficients in one regression over all items (`slopes`), which holds the others and the levels of axes
    constant. An effect on a lead is that on the item-by-item difference of two methods, in which what is hard for both cancels.
    """
    factors, quantity, whole = factors_of(results), columns.quantity, results.everything
    if not factors.all:
        return
    without = not_compared_in(results, quantity.region)
    steps = [step for step in factors.steps if step.factor.name not in without]
    fit = [method for method in results.contenders if not results.unfit(whole, method, quantity)]
    own = [method for method in fit if not results.contradicted(whole, method, quantity)]
    of_methods: list[_Row] = [(method, "", columns.finite(method), columns.weights[method]) for method in own]
    of_leads: list[_Row] = [(one, other, *columns.apart(one, other)) for one, other in combinations(results.contenders, 2)]
    for rows in (of_methods, of_leads):
        for method, other, values, weights in rows:
            for step in steps:
                low, high = values[step.low], values[step.high]
                there = ~np.isnan(low) & ~np.isnan(high)
                apart = difference(np.where(there, high, 0.0), np.where(there, low, 0.0))
                both = (weights[step.low] + weights[step.high]) / 2
                mean = weighted_mean(apart, both, there, columns.sources[step.low], columns.n_sources)
                if mean is not None and not too_few(mean.n_sources):
                    levels = (step.low_level, step.high_level)
                    yield _of_mean(Effect("factor", quantity, method, other, factor=step.factor, levels=levels), mean)
        yield from _slopes(factors, columns, rows)


def _slopes(factors: Factors, columns: Columns, rows: Sequence[_Row]) -> Iterator[_Found]:
    """Effects of measured and labelled factors on rows of one kind: those of the same items are fitted together."""
    if not factors.columns:
        return
    held = [values for _, values in factors.columns]
    regression = regression_on(factors.beside, held, columns.sources, columns.n_sources)
    first = regression.columns.shape[1] - len(held)
    for members in of_same_items([(values, weights) for _, _, values, weights in rows]):
        _, _, values, weights = rows[members[0]]
        there = factors.known & ~np.isnan(values)
        n, n_sources = int(there.sum()), len(np.unique(columns.sources[there]))
        if too_few(n_sources):
            continue
        fit = regression.fit(np.stack([rows[place][2] for place in members], axis=1), there, weights)
        for column, (factor, _) in enumerate(factors.columns, start=first):
            levels = (factor.levels[0], factor.levels[-1]) if factor.levels else ("", "")
            for place, index in enumerate(members) if fit.tells[column] else ():
                value, without = float(fit.coefficients[column, place]), fit.without[:, column, place]
                mean = Mean(value, without, fit.shares[:, column], n, n_sources)
                yield _of_mean(Effect("factor", columns.quantity, *rows[index][:2], factor=factor, levels=levels), mean)
