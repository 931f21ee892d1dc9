"""Win ratios of methods by people and by a metric, how they correlate, and how often each of several is chosen as the best.

A method's win ratio on an item is (wins + ties / 2) / comparisons. People: over their answers. Metric: over the same comparisons,
each as often as people answered it; equal values are a tie, and no threshold plays a part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from inpaintbench.eval.values.statistics import best_of_row, shares_of
from inpaintbench.wings.align.bootstrap import BOOTSTRAP_95, Bootstrap, Estimate, Floats, Places, Sample, correlation, rate
from inpaintbench.wings.align.matching import FIRST, SECOND, Votes, differences
from inpaintbench.wings.align.reading import Ballot, Measured

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
