"""Win ratios of methods by people and by a metric, and how they correlate.

A method's win ratio on an item is (wins + ties / 2) / comparisons. People: over their answers. Metric: over the same comparisons,
each as often as people answered it; equal values are a tie, and no threshold plays a part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from inpaintbench.wings.align.bootstrap import BOOTSTRAP_95, Bootstrap, Estimate, Floats, Places, correlation
from inpaintbench.wings.align.matching import differences
from inpaintbench.wings.align.reading import Measured
from inpaintbench.wings.align.votes import FIRST, SECOND, Votes

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
    sums = _sums(votes, measured, metric)
    return [
        Point(method, item, source, people / of, theirs / of, round(of))
        for (method, item, source), (people, theirs, of) in sums.items()
    ]


def by_method(found: Sequence[Point]) -> list[Point]:
    """Points over all items of a method, each comparison with the same weight (as VBench does)."""
    names = sorted({one.method for one in found})
    rows = []
    for name in names:
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
    measures = zip(KINDS, (_pearson, _spearman, _kendall), strict=True)
    return {
        kind: correlation(partial(measure, x, y, sources), n=len(found), n_sources=n_sources, bootstrap=bootstrap)
        for kind, measure in measures
    }


def _sums(votes: Votes, measured: Measured, metric: str) -> dict[tuple[str, str, int], list[float]]:
    """(method, item, source) -> points won by people's answers, points won by the metric, answers."""
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
    return sums


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
