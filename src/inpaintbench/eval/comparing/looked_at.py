"""Everything of a run that is looked at for a finding, with one correction for all of it.

Looked at are, of each quantity that ranks methods: the change of each method from a low to a high slice, each slice against the
items outside of it, and the lead of each method over each other. What is told of them (findings, headline, leads, on pages and in
files) is what `simultaneous` leaves of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from inpaintbench.claims import too_few
from inpaintbench.eval.comparing.permutation import LEVEL
from inpaintbench.eval.comparing.simultaneous import difference, simultaneous
from inpaintbench.types import Slice

if TYPE_CHECKING:
    from inpaintbench.eval.report.quantity import Quantity
    from inpaintbench.eval.report.tables import Results

Array = npt.NDArray[np.float64]
Kind = Literal["change", "slice", "lead"]


class Effect(NamedTuple):
    """One number that was looked at, with its interval and p among all of them."""

    kind: Kind
    """``"change"``: high slice less low one; ``"slice"``: its items less all others, mean over methods; ``"lead"``: one method
    less another over the same items."""
    quantity: Quantity
    one: str
    """Method of a change or the first of a lead; name of the slice."""
    other: str
    """Attribute of a change; the second method of a lead; empty for a slice."""
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


class _Columns:
    """Values and weights of one quantity as arrays: ``float64[items]`` for each method, NaN where there is nothing to compare."""

    def __init__(self, results: Results, quantity: Quantity, sources: npt.NDArray[np.int64]) -> None:
        items = list(results.sources)
        self.rule, self.sources = results.infinite_rule(quantity.metric), sources
        self.values: dict[str, Array] = {}
        self.weights: dict[str, Array] = {}
        weighed = results.protocol.averaging == "all_frames"
        for method in results.contenders:
            given = [results.value(method, item_id, quantity) for item_id in items]
            self.values[method] = np.array([math.nan if value is None else value for value in given])
            weights = [results.weight(method, item_id, quantity) for item_id in items] if weighed else 1.0
            self.weights[method] = np.broadcast_to(np.asarray(weights, np.float64), len(items))

    def mean(self, method: str, inside: npt.NDArray[np.bool_]) -> _Mean | None:
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
        return self._of(values, self.weights[method], there)

    def lead(self, one: str, other: str, inside: npt.NDArray[np.bool_]) -> _Mean | None:
        """Mean difference of two methods over the items that both have a finite value of, as the paired test takes them."""
        columns = [self.values[one], self.values[other]]
        if self.rule == "largest_finite":
            columns = [np.minimum(column, np.max(column[np.isfinite(column)], initial=-math.inf)) for column in columns]
        there = inside & np.isfinite(columns[0]) & np.isfinite(columns[1])
        first, second = (np.where(there, column, 0.0) for column in columns)
        return self._of(difference(first, second), (self.weights[one] + self.weights[other]) / 2, there)

    def _of(self, values: Array, weights: Array, there: npt.NDArray[np.bool_]) -> _Mean | None:
        if not there.any():
            return None
        own, size = self.sources[there], int(self.sources.max()) + 1
        counts = np.bincount(own, weights[there], size)
        sums = np.bincount(own, weights[there] * values[there], size)
        left = counts.sum() - counts
        with np.errstate(divide="ignore", invalid="ignore"):
            without = np.where(left > 0, (sums.sum() - sums) / left, math.nan)
        whole = counts.sum()
        return _Mean(float(sums.sum() / whole), without, counts / whole, int(there.sum()), int(np.count_nonzero(counts)))


class _Mean(NamedTuple):
    value: float
    without: Array
    """``float64[sources]``, without each source."""
    shares: Array
    """``float64[sources]``, what each source counts for."""
    n: int
    n_sources: int


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
    names = {source: index for index, source in enumerate(sorted(set(results.sources.values())))}
    sources = np.array([names[source] for source in results.sources.values()])
    places = {item_id: index for index, item_id in enumerate(results.sources)}
    parts = [results.everything, *results.slices, *within]
    inside = {part.name: np.isin(np.arange(len(places)), [places[item_id] for item_id in part.item_ids]) for part in parts}
    effects: list[Effect] = []
    without: list[Array] = []
    shares: list[Array] = []
    for quantity in results.quantities if quantities is None else quantities:
        if quantity.ranked and not quantity.of_sets:
            columns = _Columns(results, quantity, sources)
            for effect, each, own in _of_quantity(results, quantity, columns, inside, within, pairs):
                effects.append(effect)
                without.append(each)
                shares.append(own)
    if not effects:
        return []
    found = simultaneous(
        np.array([effect.value for effect in effects]),
        np.stack(without, axis=1),
        alike=[(effect.kind, effect.quantity) for effect in effects],
        shares=np.stack(shares, axis=1),
        first=np.array([effect.quantity == results.protocol.primary for effect in effects]),
    )
    numbers = zip(effects, found.reach.tolist(), found.p.tolist(), strict=True)
    return [effect._replace(reach=reach, p=p) for effect, reach, p in numbers]


def _of_quantity(
    results: Results, quantity: Quantity, columns: _Columns, inside: dict[str, npt.NDArray[np.bool_]],
    within: Sequence[Slice], pairs: Sequence[tuple[str, str]] | None,
) -> Iterator[tuple[Effect, Array, Array]]:  # fmt: skip
    if pairs is None:
        for pair in results.pairs:
            for method in results.contenders:
                if not results.unfit_change(pair, method, quantity):
                    low, high = (columns.mean(method, inside[part.name]) for part in (pair.low, pair.high))
                    yield from _apart(Effect("change", quantity, method, pair.attribute, "", 0.0, (0, 0), (0, 0)), low, high)
        for part in results.slices:
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


def _apart(effect: Effect, low: _Mean | None, high: _Mean | None) -> Iterator[tuple[Effect, Array, Array]]:
    """``effect`` as the second mean less the first, where both rest on enough sources."""
    if low is not None and high is not None and not too_few(min(low.n_sources, high.n_sources)):
        n, n_sources = (low.n, high.n), (low.n_sources, high.n_sources)
        value = float(difference(high.value, low.value))
        shares = (low.shares + high.shares) / 2
        yield effect._replace(value=value, n=n, n_sources=n_sources), difference(high.without, low.without), shares


def _over(columns: _Columns, methods: Sequence[str], inside: npt.NDArray[np.bool_]) -> _Mean | None:
    """Mean over methods of their means; None where one has none."""
    found = [columns.mean(method, inside) for method in methods]
    means = [mean for mean in found if mean is not None]
    if not means or len(means) < len(found):
        return None
    without = np.mean([mean.without for mean in means], axis=0)
    shares = np.mean([mean.shares for mean in means], axis=0)
    fewest = (min(mean.n for mean in means), min(mean.n_sources for mean in means))
    return _Mean(math.fsum(mean.value for mean in means) / len(means), without, shares, *fewest)
