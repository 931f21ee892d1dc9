"""Agreement of a metric with people on pairs of methods: matching rates, win ratios and how these correlate.

Matching rate (EditBoard, AAAI 2025, section on human alignment): how often people choose what a metric prefers. An answer
matches when the person chose the metric's winner, or called the two hard to distinguish while their values differ by less than
a threshold. The paper prints no thresholds, so each must be given. Equal values have no winner: whoever prefers one of the two
then does not match. How far people agree with each other is what a metric can be expected to reach.

A method's win ratio on an item is (wins + ties / 2) / comparisons. People: over their answers. Metric: over the same
comparisons, each as often as people answered it; equal values are a tie, and no threshold plays a part. Of several methods it
is told, too, how often each is chosen as the best.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.values.statistics import best_of_row, shares_of
from inpaintbench.wings.align.bootstrap import BOOTSTRAP_95, Bootstrap, Estimate, Floats, Places, Sample, correlation, rate
from inpaintbench.wings.align.reading import TIE, Ballot, Measured, Value

# What an answer says of the pair of a task, whatever side a method stood on.
FIRST, SECOND, TIED = 0, 1, 2


@dataclass(frozen=True)
class Pair:
    """Item and methods of a comparison; the methods in the order of their names."""

    item: str
    first: str
    second: str


@dataclass(frozen=True)
class Votes:
    """All comparisons of pairs under one dimension; arrays have one entry an answer unless they say otherwise."""

    dimension: str
    pairs: tuple[Pair, ...]
    source_of_pair: Places
    """``int64[pairs]``, places in ``sources``."""
    sources: tuple[str, ...]
    pair: Places
    """``int64[n]``, places in ``pairs``."""
    choice: Places
    """``int64[n]``, ``FIRST``, ``SECOND`` or ``TIED``."""
    count: Floats
    """``float64[n]``, answers that the line stands for."""
    rater: Places | None
    """``int64[n]``; None where raters are unknown."""

    @property
    def answers(self) -> int:
        """Number of answers."""
        return round(float(self.count.sum()))

    @property
    def source(self) -> Places:
        """``int64[n]``, the source of each answer's item."""
        return self.source_of_pair[self.pair]

    def tally(self) -> Floats:
        """``float64[pairs, 3]``, answers for the first, for the second, and ties."""
        flat = np.bincount(self.pair * 3 + self.choice, weights=self.count, minlength=3 * len(self.pairs))
        return np.asarray(flat, np.float64).reshape(-1, 3)

    def among(self, items: Collection[str]) -> Votes:
        """Votes about some items; the pairs and sources keep their places."""
        wanted = np.array([pair.item in items for pair in self.pairs], np.bool_)[self.pair]
        rater = None if self.rater is None else self.rater[wanted]
        return Votes(
            self.dimension, self.pairs, self.source_of_pair, self.sources,
            self.pair[wanted], self.choice[wanted], self.count[wanted], rater,
        )  # fmt: skip


def votes_of(dimension: str, ballots: Sequence[Ballot]) -> Votes:
    """The comparisons of pairs of one dimension, the same for any order of ballots and either side of a method."""
    own = sorted(
        (ballot for ballot in ballots if ballot.dimension == dimension and len(ballot.candidates) == 2),
        key=lambda one: (one.item, sorted(one.candidates), one.rater or "", one.choice),
    )
    source_of = {one.item: one.source for one in own}
    sources = tuple(sorted(set(source_of.values())))
    pair_of = [Pair(one.item, *sorted(one.candidates)) for one in own]
    pairs = tuple(dict.fromkeys(pair_of))
    place = {pair: index for index, pair in enumerate(pairs)}
    source_place = {name: index for index, name in enumerate(sources)}
    raters = {name: index for index, name in enumerate(sorted({one.rater or "" for one in own}))}
    known = all(one.rater is not None for one in own)
    return Votes(
        dimension=dimension,
        pairs=pairs,
        source_of_pair=np.array([source_place[source_of[pair.item]] for pair in pairs], np.int64),
        sources=sources,
        pair=np.array([place[pair] for pair in pair_of], np.int64),
        choice=np.array([TIED if one.choice == TIE else sorted(one.candidates).index(one.choice) for one in own], np.int64),
        count=np.array([one.count for one in own], np.float64),
        rater=np.array([raters[one.rater or ""] for one in own], np.int64) if known else None,
    )


@dataclass(frozen=True)
class Matched:
    """Agreement of a metric with the answers of one dimension."""

    rate: Estimate
    """Over all answers; needs a threshold."""
    decided: Estimate
    """Over the answers that prefer one of the two; no threshold plays a part."""
    not_compared: int
    """Answers about pairs of which the metric lacks a value."""


def difference(one: float, other: float) -> float:
    """One value less the other, 0 for two equal infinities."""
    return 0.0 if one == other else one - other


def differences(votes: Votes, values: Value, *, higher_is_better: bool) -> Floats:
    """``float64[pairs]``, above 0 where the metric prefers the first method of a pair, NaN where it lacks a value."""
    sign = 1.0 if higher_is_better else -1.0
    both = ((values.get((pair.item, pair.first)), values.get((pair.item, pair.second))) for pair in votes.pairs)
    return np.array(
        [math.nan if one is None or other is None else sign * difference(one, other) for one, other in both], np.float64
    )


def tie_threshold(votes: Votes, values: Value, *, quantile: float) -> float:
    """A quantile of the absolute differences between the values of the pairs that people compared, each pair once.

    Pairs that lack a value or whose difference is infinite are left out.

    Raises:
        InputError: ``quantile`` is not in 0..1.
        NotMeasurable: no pair has a finite difference.
    """
    if not 0 <= quantile <= 1:
        raise InputError(f"the quantile of a tie threshold is {quantile:g}, it must lie in 0..1")
    found = np.abs(differences(votes, values, higher_is_better=True))
    found = found[np.isfinite(found)]
    if not len(found):
        raise NotMeasurable("no pair that was compared has finite values of both methods")
    return float(np.quantile(found, quantile))


def matches(votes: Votes, difference_of_pair: Floats, *, tie_eps: float) -> Floats:
    """``float64[n]``, 1 where an answer matches, 0 where not, NaN where the metric lacks a value."""
    if not tie_eps >= 0:
        raise InputError(f"the tie threshold is {tie_eps:g}, it must be 0 or more")
    found = difference_of_pair[votes.pair]
    hit = np.where(votes.choice == FIRST, found > 0, found < 0)
    hit = np.where(votes.choice == TIED, np.abs(found) < tie_eps, hit)
    return np.where(np.isnan(found), np.nan, hit.astype(np.float64))


def matched(votes: Votes, measured: Measured, metric: str, *, tie_eps: float, bootstrap: Bootstrap = BOOTSTRAP_95) -> Matched:
    """The matching rate of one metric.

    Args:
        votes: of one dimension.
        measured: holds the metric.
        metric: its name.
        tie_eps: in the metric's unit; a difference below it counts as hard to distinguish. With 0 no tie of people matches.
        bootstrap: of the intervals.

    Raises:
        InputError: ``tie_eps`` is negative or NaN.
    """
    hits = hits_of(votes, measured, metric, tie_eps=tie_eps)
    decided = np.where(votes.choice == TIED, np.nan, hits)
    lost = round(float(votes.count[np.isnan(hits)].sum()))
    return Matched(rate_of_hits(votes, hits, bootstrap), rate_of_hits(votes, decided, bootstrap), lost)


def hits_of(votes: Votes, measured: Measured, metric: str, *, tie_eps: float) -> Floats:
    """``matches`` of one metric."""
    found = differences(votes, measured.values[metric], higher_is_better=measured.higher_is_better[metric])
    return matches(votes, found, tie_eps=tie_eps)


def rate_of_hits(votes: Votes, hits: Floats, bootstrap: Bootstrap) -> Estimate:
    """The mean of ``float64[n]`` in 0..1 over answers, NaN = left out."""
    kept = ~np.isnan(hits)
    raters = None if votes.rater is None else votes.rater[kept]
    return rate(Sample(hits[kept] * votes.count[kept], votes.count[kept], votes.source[kept], raters), bootstrap)


def pair_shares(votes: Votes, hits: Floats) -> tuple[Mapping[int, float], Mapping[int, float]]:
    """Place of a pair -> the share of its answers that match, and place -> how many answers it has."""
    kept = ~np.isnan(hits)
    size = len(votes.pairs)
    of = np.bincount(votes.pair[kept], weights=votes.count[kept], minlength=size)
    hit = np.bincount(votes.pair[kept], weights=(hits * votes.count)[kept], minlength=size)
    places = np.flatnonzero(of > 0).tolist()
    return {place: float(hit[place] / of[place]) for place in places}, {place: float(of[place]) for place in places}


@dataclass(frozen=True)
class Ceiling:
    """Agreement of raters under one dimension."""

    rater_against_others: Estimate
    """Share of answers that say what most of the other raters of the pair said; where k answers are equally frequent among the
    others, one of them counts 1 / k."""
    decided_against_others: Estimate
    """``rater_against_others`` over preferences alone; stands beside ``Matched.decided``."""
    two_raters: Estimate
    """Chance that another rater of the same pair, drawn at random, gave the same answer."""
    attainable: float | None
    """The largest matching rate that any metric could have on these answers: each pair's winner is the one that more people
    chose, and its values lie within the threshold, so that ties match too."""
    ties: float | None
    """Share of answers that call the two hard to distinguish."""


def ceiling(votes: Votes, bootstrap: Bootstrap = BOOTSTRAP_95) -> Ceiling:
    """Agreement of the raters of ``votes``; pairs with a single answer tell nothing of it."""
    tally = votes.tally()
    total = float(tally.sum())
    best = float((np.maximum(tally[:, FIRST], tally[:, SECOND]) + tally[:, TIED]).sum())
    preferences = tally * np.array([1.0, 1.0, 0.0])
    # Of each answer the share of the others that gave the same one, NaN without others.
    others, same = tally.sum(axis=1, keepdims=True) - 1, np.full(tally.shape, np.nan)
    np.divide(tally - 1, others, out=same, where=np.broadcast_to(others > 0, tally.shape) & (tally > 0))
    rates = []
    for shares in (_as_most(tally), _as_most(preferences), same):
        estimate = rate_of_hits(votes, shares[votes.pair, votes.choice], bootstrap)
        rates.append(estimate if estimate.n else estimate._replace(reason="no pair has answers of two raters"))
    ties = float(tally[:, TIED].sum())
    against, decided, two = rates
    return Ceiling(against, decided, two, best / total if total else None, ties / total if total else None)


def _as_most(tally: Floats) -> Floats:
    """``float64[pairs, 3]``: the share of the commonest answers of the others that each answer is, NaN without others."""
    found = np.full(tally.shape, np.nan)
    for choice in range(3):
        others = tally.copy()
        others[:, choice] -= 1
        most = others.max(axis=1)
        common = (others == most[:, None]).sum(axis=1)
        there = (tally[:, choice] > 0) & (most > 0)
        found[there, choice] = ((others[:, choice] == most) / common)[there]
    return found


KINDS = ("pearson", "spearman", "kendall")


class Point(NamedTuple):
    """One method on one item, or over all of them."""

    method: str
    item: str | None
    """None for all items."""
    source: int
    """Place in the votes' sources; -1 for all items."""
    people: float
    """Win ratio, 0..1."""
    metric: float
    """Win ratio, 0..1."""
    answers: int


def points(votes: Votes, measured: Measured, metric: str) -> list[Point]:
    """A point for each method and item that has answers the metric can be compared with."""
    # (method, item, source) -> points won by people's answers, points won by the metric, answers.
    delta = differences(votes, measured.values[metric], higher_is_better=measured.higher_is_better[metric])
    sums: dict[tuple[str, str, int], list[float]] = {}
    for place, (pair, tally) in enumerate(zip(votes.pairs, votes.tally().tolist(), strict=True)):
        of = sum(tally)
        if not of or np.isnan(delta[place]):
            continue
        share = 0.5 + 0.5 * float(np.sign(delta[place]))
        people = tally[FIRST] + (of - tally[FIRST] - tally[SECOND]) / 2
        source = int(votes.source_of_pair[place])
        for method, won, by_metric in ((pair.first, people, share), (pair.second, of - people, 1 - share)):
            own = sums.setdefault((method, pair.item, source), [0.0, 0.0, 0.0])
            for index, value in enumerate((won, by_metric * of, of)):
                own[index] += value
    return [
        Point(method, item, source, people / of, theirs / of, round(of))
        for (method, item, source), (people, theirs, of) in sums.items()
    ]


def by_method(found: Sequence[Point]) -> list[Point]:
    """Points over all items of a method, each comparison with the same weight (as VBench does)."""
    rows = []
    for name in sorted({one.method for one in found}):
        own = [point for point in found if point.method == name]
        of = sum(point.answers for point in own)
        people = sum(point.people * point.answers for point in own) / of
        rows.append(Point(name, None, -1, people, sum(point.metric * point.answers for point in own) / of, of))
    return rows


def correlations(found: Sequence[Point], bootstrap: Bootstrap = BOOTSTRAP_95) -> Mapping[str, Estimate]:
    """Pearson's r, Spearman's rho and Kendall's tau-b between both win ratios, each point with the same weight.

    Sources are resampled whole, with all their points.
    """
    ordered = sorted(found, key=lambda one: one.source)
    _, sources = np.unique(np.array([one.source for one in ordered], np.int64), return_inverse=True)
    x, y = (np.array(side, np.float64) for side in ([one.metric for one in ordered], [one.people for one in ordered]))
    n_sources = int(sources.max(initial=-1)) + 1
    return {
        kind: correlation(partial(measure, x, y, sources), n=len(found), n_sources=n_sources, bootstrap=bootstrap)
        for kind, measure in zip(KINDS, (_pearson, _spearman, _kendall), strict=True)
    }


def _pearson(x: Floats, y: Floats, sources: Places, weights: Floats) -> Floats:
    return _weighted(np.broadcast_to(x, (len(weights), len(x))), np.broadcast_to(y, (len(weights), len(y))), weights[:, sources])


def _spearman(x: Floats, y: Floats, sources: Places, weights: Floats) -> Floats:
    spread = weights[:, sources]
    return _weighted(_ranks(x, spread), _ranks(y, spread), spread)


def _ranks(values: Floats, weights: Floats) -> Floats:
    """Mean ranks when each value stands there as often as its weight says, ``float64[replicates, n]``."""
    _, places = np.unique(values, return_inverse=True)
    order = np.argsort(places, kind="stable")
    starts = np.flatnonzero(np.diff(places[order], prepend=-1))
    of_value = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks: Floats = (np.cumsum(of_value, axis=1) - of_value / 2)[:, places]
    return ranks


def _weighted(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Pearson's r of each row; NaN where a side is constant."""
    total = weights.sum(axis=1, keepdims=True)
    x = x - (weights * x).sum(axis=1, keepdims=True) / total
    y = y - (weights * y).sum(axis=1, keepdims=True) / total
    xx, yy, xy = (weights * x * x).sum(axis=1), (weights * y * y).sum(axis=1), (weights * x * y).sum(axis=1)
    return _ratio(xy, xx, yy, least=1e-12 * float(total[0, 0]))


def _ratio(both: Floats, one: Floats, other: Floats, *, least: float) -> Floats:
    defined = (one > least) & (other > least)
    found: Floats = np.full(len(both), np.nan)
    found[defined] = both[defined] / np.sqrt(one[defined] * other[defined])
    return found


def _kendall(x: Floats, y: Floats, sources: Places, weights: Floats) -> Floats:
    """Tau-b. Pairs of points are summed over pairs of sources first, so replicates cost little; ``sources`` is sorted."""
    starts = np.flatnonzero(np.diff(sources, prepend=-1))
    both, one, other = (np.zeros((len(starts), len(starts))) for _ in range(3))
    for place, (start, end) in enumerate(zip(starts, [*starts[1:], len(x)], strict=True)):
        left, up = np.sign(x[start:end, None] - x), np.sign(y[start:end, None] - y)
        for table, product in ((both, left * up), (one, np.abs(left)), (other, np.abs(up))):
            table[place] = np.add.reduceat(product.sum(axis=0), starts)
    return _ratio(*(((weights @ table) * weights).sum(axis=1) for table in (both, one, other)), least=0.5)


@dataclass(frozen=True)
class Column:
    """Selection frequencies by people or by one metric."""

    shares: Mapping[str, float]
    """Method -> share of the rows; they sum to 1. Empty where no row counts."""
    rows: int
    """Rows of results that count."""
    left_out: int
    """Rows of which the metric lacks a value of some candidate."""
    tied: int
    """Rows with several best methods; each then has an equal part of the row."""
    rate: Estimate | None
    """Share of answers that choose the metric's best, parts of a tied row in proportion; None for people."""
    n_sources: int
    """Sources of the rows that count."""


@dataclass(frozen=True)
class Selection:
    """The selection frequencies under one dimension."""

    dimension: str
    methods: tuple[str, ...]
    people: Column
    """Every row has the same weight, however many answered it."""
    metrics: Mapping[str, Column]

    @property
    def columns(self) -> dict[str, Column]:
        """``people``, then the metrics."""
        return {"people": self.people, **self.metrics}


def selection(
    dimension: str, ballots: Sequence[Ballot], measured: Measured, *, bootstrap: Bootstrap = BOOTSTRAP_95
) -> Selection | None:
    """The table of one dimension; None where nobody chose among three methods or more.

    The re-inpainting paper (arXiv 2405.16263) states no rule for ties; here a row is divided between its best methods.
    """
    own = [ballot for ballot in ballots if ballot.dimension == dimension and len(ballot.candidates) > 2]
    if not own:
        return None
    methods = tuple(sorted({method for one in own for method in one.candidates}))
    source_of = {one.item: one.source for one in own}
    # Row of results, an item and its sorted candidates -> how often each was chosen.
    answers: dict[tuple[str, tuple[str, ...]], Counter[str]] = {}
    for one in own:
        answers.setdefault((one.item, tuple(sorted(one.candidates))), Counter())[one.choice] += one.count
    by_people = [{method: n / chosen.total() for method, n in chosen.items()} for chosen in answers.values()]
    sources = {source_of[item] for item, _ in answers}
    people = Column(shares_of(by_people, methods), len(answers), 0, 0, None, len(sources))
    metrics = {}
    for metric, values in measured.values.items():
        higher, best = measured.higher_is_better[metric], {}
        for item, candidates in answers:
            of_row = {method: values.get((item, method)) for method in candidates}
            if found := best_of_row(of_row, higher_is_better=higher):
                best[item, candidates] = found
        kept = [(one, best[row]) for one in own if (row := (one.item, tuple(sorted(one.candidates)))) in best]
        count = np.array([one.count for one, _ in kept], np.float64)
        hits = np.array([parts.get(one.choice, 0.0) for one, parts in kept], np.float64)
        known = all(one.rater is not None for one, _ in kept)
        raters = _numbered([one.rater or "" for one, _ in kept]) if known else None
        metrics[metric] = Column(
            shares=shares_of(best.values(), methods),
            rows=len(best),
            left_out=len(answers) - len(best),
            tied=sum(len(winners) > 1 for winners in best.values()),
            rate=rate(Sample(hits * count, count, _numbered([one.source for one, _ in kept]), raters), bootstrap),
            n_sources=len({source_of[item] for item, _ in best}),
        )
    return Selection(dimension, methods, people, metrics)


def _numbered(names: Sequence[str]) -> Places:
    return np.unique(np.array(names, object), return_inverse=True)[1].astype(np.int64)
