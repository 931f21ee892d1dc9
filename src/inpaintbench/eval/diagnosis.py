"""All that the scores of a run say of where methods fail: effects of factors, curves, what hurts together, what is left."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from inpaintbench.claims import jackknife_error, too_few
from inpaintbench.eval.comparing.factors import Factor, Factors, Places, Step, factors_of, source_numbers
from inpaintbench.eval.comparing.looked_at import Array, Columns, Effect, Inside, looked_at, weighted_mean
from inpaintbench.eval.comparing.simultaneous import simultaneous
from inpaintbench.eval.comparing.slopes import of_same_items, regression_on
from inpaintbench.eval.results.measured import kept
from inpaintbench.eval.results.quantity import (
    Quantity,
    first_shown,
    metric_leaf,
    quantity_label,
    standing,
    usual_quantities,
    with_unit,
)
from inpaintbench.eval.values.permutation import LEVEL
from inpaintbench.pages.words import count, number, signed
from inpaintbench.table_files import csv_bytes

if TYPE_CHECKING:
    from inpaintbench.eval.protocols.base import Protocol
    from inpaintbench.eval.results.tables import Results


class Curve(NamedTuple):
    """Score of a method over a measured attribute, with a band that holds the whole curve in 95 % of studies."""

    factor: Factor
    quantity: Quantity
    method: str
    at: tuple[float, ...]
    """Values of the attribute, ascending."""
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    points: tuple[tuple[str, float, float], ...]
    """Items, their values of the attribute and their scores."""


class Together(NamedTuple):
    """Two factors that hurt more together than each by itself: found on one half of the sources, confirmed on the other."""

    one: Factor
    """Its ``step`` is the one that was taken, of an axis of several."""
    other: Factor
    quantity: Quantity
    method: str
    value: float
    """What both bring beyond the sum of each, in the metric's unit, of the half that confirms."""
    reach: float
    p: float
    n_sources: int
    """Of the half that confirms."""


class Explained(NamedTuple):
    """How much of the spread of a method's scores the factors explain."""

    quantity: Quantity
    method: str
    share: float
    """0..1, of the variance between items, predicted for sources that were left out."""
    n: int
    n_sources: int


class Unexplained(NamedTuple):
    """An item on which a method is worse than the factors let expect."""

    item_id: str
    quantity: Quantity
    method: str
    score: float
    expected: float
    residual: float
    """Score less expected."""


class Diagnosis(NamedTuple):
    """Everything that is said of where methods fail."""

    factors: tuple[Factor, ...]
    effects: tuple[Effect, ...]
    """Of methods and of differences between them."""
    curves: tuple[Curve, ...]
    together: tuple[Together, ...]
    explained: tuple[Explained, ...]
    unexplained: tuple[Unexplained, ...]
    """The largest first, by method and quantity."""
    left_out: dict[str, str]
    """Factor -> why it is not told."""


def clearest_first(effects: Sequence[Effect], quantity: Quantity) -> list[Effect]:
    """Effects by one quantity: what is told before what is not, each by the size that its interval leaves.

    Of a difference, whoever comes off worse is the first of the two.
    """
    found = [one.turned() if one.other and one.better else one for one in effects if one.quantity == quantity]
    return sorted(found, key=lambda one: (not one.told, -(abs(one.value) - one.reach) if one.told else one.p))


def size_words(effect: Effect | Together) -> str:
    """The sizes that the interval of what is told holds, with the metric's unit: ``1.20 to 5.10 dB``."""
    leaf, size = metric_leaf(effect.quantity.metric), abs(effect.value)
    ends = f"{number(max(0.0, size - effect.reach), leaf.decimals)} to {number(size + effect.reach, leaf.decimals)}"
    return f"{ends} {leaf.unit}".strip()


def moved_words(effect: Effect) -> str:
    """Whether a score gets better or worse, and by how much: the interval's sizes where it is told, else the size found."""
    metric = effect.quantity.metric
    size = size_words(effect) if effect.told else with_unit(abs(effect.value), metric)
    if metric_leaf(metric).unit and effect.quantity.higher_is_better:
        return f"{'gains' if effect.better else 'loses'} {size}"
    return f"gets {size} {'better' if effect.better else 'worse'}"


def what_words(effect: Effect) -> str:
    """Who loses or gains how much, by the interval; of what is not told only whose effect it is."""
    if not effect.told:
        return f"{effect.one}{f' against {effect.other}' if effect.other else ''}: could be chance"
    if effect.other:
        return f"{effect.one} {'gains' if effect.better else 'loses'} {size_words(effect)} against {effect.other}"
    return f"{effect.one} {moved_words(effect)}"


def when_words(effect: Effect) -> str:
    """The step of a factor: ``when size of the hole goes from low to high``."""
    step = " to ".join(effect.levels).replace("_", " ") if effect.levels[0] else effect.factor.step
    return f"when {effect.factor.label} goes from {step}{'' if effect.factor.kind == 'paired' else ', all else equal'}"


def rests_on(effect: Effect) -> str:
    """Pairs or items, and their sources."""
    return f"{count(effect.n[0], 'pair' if effect.factor.kind == 'paired' else 'item')} of {count(effect.n_sources[0], 'source')}"


def interval_words(effect: Effect) -> str:
    """The effect with the ends of its interval: ``-4.09 (-5.31 to -2.87)``."""
    decimals = metric_leaf(effect.quantity.metric).decimals
    return f"{signed(effect.value, decimals)} ({signed(effect.low, decimals)} to {signed(effect.high, decimals)})"


def together_words(one: Together) -> str:
    """What two factors do beyond the sum of each."""
    return (
        f"{one.method}: {one.one.label} ({one.one.step}) and {one.other.label} ({one.other.step}) together cost "
        f"{size_words(one)} more than one and the other; found on half of the sources, confirmed on the other {one.n_sources}"
    )


def explained_words(explained: Sequence[Explained], quantity: Quantity) -> str | None:
    """How much of the spread between items is explained; None where that is not known."""
    own = [one for one in explained if one.quantity == quantity]
    if not own:
        return None
    shares = ", ".join(f"{one.method} {one.share:.0%}" for one in own)
    return (
        f"Of the spread of {quantity_label(quantity)} between items, on sources that were left out, all this explains: {shares}"
    )


def unexplained_words(one: Unexplained) -> str:
    """A failure that no factor explains."""
    score, expected = (with_unit(value, one.quantity.metric) for value in (one.score, one.expected))
    return f"{one.method} on item {one.item_id}: {score}, where {expected} is expected"


def left_out_words(diagnosis: Diagnosis) -> list[str]:
    """Factors that stand in no table, each with the reason."""
    return [f"left out: {name}: {why}" for name, why in diagnosis.left_out.items()]


# Released: other programs read columns by these names.
EFFECT_COLUMNS = (
    "factor", "kind", "label", "step", "low_level", "high_level", "metric", "region", "standing", "method", "other", "value",
    "interval_low", "interval_high", "p_corrected", "told", "n", "n_sources",
)  # fmt: skip


def effect_rows(effects: Iterable[Effect], protocol: Protocol) -> list[dict[str, Any]]:
    """A row for each effect with the names of ``EFFECT_COLUMNS``; ``other`` is None for an effect on a method itself."""
    return [
        {
            "factor": one.factor.name, "kind": one.factor.kind, "label": one.factor.label, "step": one.factor.step,
            "low_level": one.levels[0] or None, "high_level": one.levels[1] or None, **one.quantity._asdict(),
            "standing": standing(one.quantity, protocol), "method": one.one, "other": one.other or None, "value": one.value,
            "interval_low": one.low, "interval_high": one.high, "p_corrected": one.p, "told": one.told, "n": one.n[0],
            "n_sources": one.n_sources[0],
        }
        for one in effects
    ]  # fmt: skip


def effects_csv(effects: Sequence[Effect], protocol: Protocol) -> bytes:
    """The same as CSV."""
    return csv_bytes(EFFECT_COLUMNS, [[row[name] for name in EFFECT_COLUMNS] for row in effect_rows(effects, protocol)])


def plain(diagnosis: Diagnosis, protocol: Protocol) -> dict[str, Any]:
    """All of a diagnosis but the items of its curves, whose scores stand in a file of their own."""
    return {
        "factors": [factor._asdict() for factor in diagnosis.factors],
        "effects": effect_rows(diagnosis.effects, protocol),
        "curves": [
            {
                "factor": curve.factor.name, **curve.quantity._asdict(), "method": curve.method, "at": curve.at,
                "mean": curve.mean, "interval_low": curve.low, "interval_high": curve.high,
            }
            for curve in diagnosis.curves
        ],
        "together": [
            {
                "factor": one.one.name, "other_factor": one.other.name, **one.quantity._asdict(), "method": one.method,
                "value": one.value, "interval_low": one.value - one.reach, "interval_high": one.value + one.reach, "p": one.p,
                "n_sources": one.n_sources,
            }
            for one in diagnosis.together
        ],
        "explained": [_flat(one) for one in diagnosis.explained],
        "unexplained": [_flat(one) for one in diagnosis.unexplained],
        "left_out": diagnosis.left_out,
    }  # fmt: skip


def _flat(record: Any) -> dict[str, Any]:
    """A record with its quantity as metric and region."""
    fields = record._asdict()
    return {**fields.pop("quantity")._asdict(), **fields}


# Steps of a curve at most, and points that are drawn with it.
_MOST_STEPS, _MOST_POINTS = 8, 500
# Failures that no factor explains: how many are told, of those that are worse by so many standard deviations of what is left.
_MOST_UNEXPLAINED, _FAR = 5, 2.0


@kept
def diagnose(results: Results) -> Diagnosis:
    """Say where the methods of a run fail; computed once for each ``results``."""
    factors = factors_of(results)
    effects = tuple(effect for effect in looked_at(results) if effect.kind == "factor")
    curves: list[Curve] = []
    explained: list[Explained] = []
    unexplained: list[Unexplained] = []
    for quantity in usual_quantities(results.quantities, results.protocol) if factors.all or factors.measured else ():
        if quantity.ranked and not quantity.of_sets:
            columns = Columns(results, quantity, source_numbers(results))
            drawn = (
                _curve(results, factor, values, columns, method)
                for factor, values in factors.measured
                for method in results.contenders
            )
            curves += filter(None, drawn)
            for share, far in _expected(results, factors, columns) if factors.all else ():
                explained.append(share)
                unexplained += far
    return Diagnosis(
        factors=factors.all, effects=effects, curves=tuple(curves), together=tuple(together(results)),
        explained=tuple(explained), unexplained=tuple(unexplained), left_out=dict(factors.left_out),
    )  # fmt: skip


def _curve(results: Results, factor: Factor, attribute: Array, columns: Columns, method: str) -> Curve | None:
    """Means over steps of about as many items each, every one of enough sources; None where there are not two such steps."""
    values, sources = columns.finite(method), columns.sources
    places = np.flatnonzero(~np.isnan(values) & ~np.isnan(attribute))
    if not len(places):
        return None
    steps = _steps(attribute, sources, places)
    inside = [np.isin(np.arange(len(values)), step) for step in steps]
    found = (weighted_mean(values, columns.weights[method], step, sources, columns.n_sources) for step in inside)
    means = [mean for mean in found if mean is not None]
    if len(means) < 2:
        return None
    estimates = np.array([mean.value for mean in means])
    without, shares = (np.stack([of(mean) for mean in means], axis=1) for of in (attrgetter("without"), attrgetter("shares")))
    reach = simultaneous(estimates, without, alike=["step"] * len(means), shares=shares).reach
    ids = list(results.sources)
    drawn = places[:: -(-len(places) // _MOST_POINTS)].tolist()
    return Curve(
        factor, columns.quantity, method,
        at=tuple(float(attribute[step].mean()) for step in steps),
        mean=tuple(estimates.tolist()), low=tuple((estimates - reach).tolist()), high=tuple((estimates + reach).tolist()),
        points=tuple((ids[place], float(attribute[place]), float(values[place])) for place in drawn),
    )  # fmt: skip


def _steps(attribute: Array, sources: Places, places: Places) -> list[Places]:
    """Places of items in the order of an attribute, cut where it changes; steps of too few sources go with the next."""
    order = places[np.argsort(attribute[places], kind="stable")]
    # An equal value is never on both sides of a cut.
    cuts = np.searchsorted(attribute[order], attribute[order[np.arange(1, _MOST_STEPS) * len(order) // _MOST_STEPS]], "right")
    steps: list[Places] = []
    for part in np.split(order, np.unique(cuts)):
        if steps and too_few(len(np.unique(sources[steps[-1]]))):
            steps[-1] = np.append(steps[-1], part)
        elif len(part):
            steps.append(part)
    if len(steps) > 1 and too_few(len(np.unique(sources[steps[-1]]))):
        steps[-2:] = [np.append(*steps[-2:])]
    return steps


def _expected(results: Results, factors: Factors, columns: Columns) -> Iterator[tuple[Explained, list[Unexplained]]]:
    """What the factors explain of each method's scores, and the items that are worse than they let expect."""
    sources, n_sources = columns.sources, columns.n_sources
    regression = regression_on(factors.beside, [values for _, values in factors.columns], sources, n_sources)
    rows = [(columns.finite(method), columns.weights[method]) for method in results.contenders]
    for members in of_same_items(rows):
        weights = rows[members[0]][1]
        there = factors.known & ~np.isnan(rows[members[0]][0])
        if too_few(len(np.unique(sources[there]))):
            continue
        fit = regression.fit(np.stack([rows[place][0] for place in members], axis=1), there, weights)
        for at, place in enumerate(members):
            method, values = results.contenders[place], rows[place][0]
            # The squares around the mean of the other sources, of which what these let expect takes a share away.
            mean = weighted_mean(values, weights, there, sources, n_sources)
            around = np.zeros(len(values)) if mean is None else values - mean.without[sources]
            spread, left = (float(weights[there] @ rest[there] ** 2) for rest in (around, values - fit.expected[:, at]))
            share = max(0.0, 1 - left / spread) if spread > 0 else 0.0
            told = Explained(columns.quantity, method, share, int(there.sum()), len(np.unique(sources[there])))
            # The fit to all items: what the others let expect of a film that is unlike them can lie far outside of what there is.
            expected = regression.columns @ fit.coefficients[:, at]
            yield told, list(_far(list(results.sources), columns, method, there, expected))


def _far(ids: Sequence[str], columns: Columns, method: str, there: Inside, expected: Array) -> Iterator[Unexplained]:
    """Items that are far worse than expected, the worst of each source and of all these first."""
    values = columns.finite(method)
    worse = np.where(there, (expected - values) * (1 if columns.quantity.higher_is_better else -1), -np.inf)
    least = _FAR * float(np.sqrt(np.mean(worse[there] ** 2)))
    order = np.argsort(-worse, kind="stable")
    firsts = np.sort(np.unique(columns.sources[order], return_index=True)[1])
    for place in order[firsts[:_MOST_UNEXPLAINED]].tolist():
        if worse[place] > max(least, 0.0):
            score, usual = float(values[place]), float(expected[place])
            yield Unexplained(ids[place], columns.quantity, method, score, usual, score - usual)


# Size of an effect in standard errors from which the first half proposes it.
_LEAST_RATIO = 2.0


class _Crossed(NamedTuple):
    """Columns whose last coefficient is what two factors do beyond the sum of each."""

    one: Factor
    other: Factor
    beside: Array
    """``float64[rows, k]``: what else is held constant."""
    columns: tuple[Array, ...]
    """Of items: the one, the other, their product. Of pairs, whose difference is what the one does: the other."""
    step: Step | None
    """Whose pairs the rows are; None where they are items."""


def _candidates(factors: Factors) -> Iterator[_Crossed]:
    for (one, x), (other, z) in combinations(factors.columns, 2):
        rest = [values for factor, values in factors.columns if factor not in (one, other)]
        yield _Crossed(one, other, np.column_stack([factors.beside, *rest]), (x, z, x * z), None)
    for step in factors.steps:
        for other, z in factors.columns:
            one = step.factor._replace(step=f"{step.low_level} to {step.high_level}")
            yield _Crossed(one, other, np.zeros((len(step.low), 0)), (z[step.low],), step)


def together(results: Results) -> list[Together]:
    """Pairs that hurt together by the quantity that a page opens with, the primary one where it was measured."""
    quantity = first_shown(results.quantities, results.protocol)
    factors = factors_of(results)
    if not quantity.ranked or quantity.of_sets or not factors.columns:
        return []
    columns = Columns(results, quantity, source_numbers(results))
    names = sorted(set(results.sources.values()))
    order = sorted(range(len(names)), key=lambda at: hashlib.sha256(names[at].encode()).digest())
    first = np.isin(np.arange(len(names)), order[: len(names) // 2])  # the half that proposes
    if too_few(int(first.sum())) or too_few(int((~first).sum())):
        return []
    proposed = [(method, found) for method in results.contenders if (found := _proposed(factors, columns, method, first))]
    confirmed = [(method, crossed, own) for method, crossed in proposed if (own := _last(crossed, columns, method, ~first))]
    if not confirmed:
        return []
    among = simultaneous(
        np.array([own.value for _, _, own in confirmed]),
        np.stack([own.without for _, _, own in confirmed], axis=1)[~first],
        shares=np.stack([own.shares for _, _, own in confirmed], axis=1)[~first],
        alike=[crossed.step is None for _, crossed, _ in confirmed],
    )
    return [
        Together(crossed.one, crossed.other, quantity, method, own.value, float(reach), float(p), own.n_sources)
        for (method, crossed, own), reach, p in zip(confirmed, among.reach, among.p, strict=True)
        if p < LEVEL and _harms(own.value, quantity)
    ]


def _harms(value: float, quantity: Quantity) -> bool:
    return value < 0 if quantity.higher_is_better else value > 0


class _Last(NamedTuple):
    """The last coefficient, with what it stands beside."""

    value: float
    without: Array
    """``float64[sources]``, as the next."""
    shares: Array
    alone: tuple[float, ...]
    """What the two do by themselves; of pairs the step alone, since the other is the same on both sides."""
    n_sources: int


def _last(crossed: _Crossed, columns: Columns, method: str, half: Inside) -> _Last | None:
    """What both do together in one half of the sources; None where that is not defined, with all of them or without any one."""
    values, sources, weights = columns.finite(method), columns.sources, columns.weights[method]
    if step := crossed.step:
        values, weights = values[step.high] - values[step.low], (weights[step.low] + weights[step.high]) / 2
        sources = sources[step.low]
    regression = regression_on(crossed.beside, crossed.columns, sources, columns.n_sources)
    there = half[sources] & ~np.isnan(values) & ~np.isnan(regression.columns).any(axis=1)
    last, n_sources = regression.columns.shape[1] - 1, len(np.unique(sources[there]))
    if too_few(n_sources):
        return None
    fit = regression.fit(values[:, None], there, weights)
    if not fit.tells[last]:
        return None
    own = fit.coefficients[:, 0].tolist()
    shares, alone = fit.shares[:, last], tuple(own[:1] if step else own[-3:-1])
    return _Last(own[-1], fit.without[:, last, 0], shares, alone, n_sources)


def _proposed(factors: Factors, columns: Columns, method: str, half: Inside) -> _Crossed | None:
    """The pair that is clearest to hurt more than the sum of two that each hurt; None where none is clear."""
    best, most = None, _LEAST_RATIO
    for crossed in _candidates(factors):
        found = _last(crossed, columns, method, half)
        if found and all(_harms(value, columns.quantity) for value in (found.value, *found.alone)):
            error = jackknife_error(found.without[half].tolist())
            ratio = abs(found.value) / error if error > 0 else 0.0
            if ratio > most:
                best, most = crossed, ratio
    return best
