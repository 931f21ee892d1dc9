"""Selection frequencies: how often each of several methods is chosen as the best, by people and by each metric."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from inpaintbench.eval.values.statistics import best_of_row, shares_of
from inpaintbench.wings.align.bootstrap import BOOTSTRAP_95, Bootstrap, Estimate, Sample, rate
from inpaintbench.wings.align.reading import Ballot, Measured

# An item and its candidates, sorted.
_Row = tuple[str, tuple[str, ...]]


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
    answers: dict[_Row, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for one in own:
        answers[one.item, tuple(sorted(one.candidates))][one.choice] += one.count
    by_people = {row: {method: n / sum(chosen.values()) for method, n in chosen.items()} for row, chosen in answers.items()}
    source_of = {one.item: one.source for one in own}
    people = Column(
        shares_of(by_people.values(), methods), len(by_people), 0, 0, None, len({source_of[item] for item, _ in by_people})
    )
    metrics = {}
    for metric, values in measured.values.items():
        higher = measured.higher_is_better[metric]
        best = {
            (item, candidates): best_of_row(
                {method: values.get((item, method)) for method in candidates}, higher_is_better=higher
            )
            for item, candidates in answers
        }
        known = {row: found for row, found in best.items() if found}
        tied, sources = sum(len(winners) > 1 for winners in known.values()), {source_of[item] for item, _ in known}
        rate_of = _rate(own, known, bootstrap)
        metrics[metric] = Column(
            shares_of(known.values(), methods), len(known), len(best) - len(known), tied, rate_of, len(sources)
        )
    return Selection(dimension, methods, people, metrics)


def _rate(own: Sequence[Ballot], best: Mapping[_Row, Mapping[str, float]], bootstrap: Bootstrap) -> Estimate:
    kept = [(one, best[row]) for one in own if (row := (one.item, tuple(sorted(one.candidates)))) in best]
    count = np.array([one.count for one, _ in kept], np.float64)
    hits = np.array([parts.get(one.choice, 0.0) for one, parts in kept], np.float64)
    known = all(one.rater is not None for one, _ in kept)
    raters = _numbers([one.rater or "" for one, _ in kept]) if known else None
    return rate(Sample(hits * count, count, _numbers([one.source for one, _ in kept]), raters), bootstrap)


def _numbers(names: Sequence[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.unique(np.array(names, object), return_inverse=True)[1].astype(np.int64)
