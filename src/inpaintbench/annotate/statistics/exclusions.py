"""Results with and without the answers that are excluded, and which verdicts hang on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.statistics.ranking import Ranking
from inpaintbench.annotate.statistics.standings import rankings_of, shares_of
from inpaintbench.annotate.study import Study
from inpaintbench.claims import Estimate

# Of a pair of methods, by name: the first is better, the second is, or neither is clearly so.
Verdict = Literal["first", "second", "open"]


class Score(NamedTuple):
    """Number of a method in one question: a strength, mean or share, with its interval and rank where there are any."""

    value: float | None
    low: float | None
    high: float | None
    rank_low: int | None
    """Best rank that the votes allow; None where the question gives no ranks."""
    rank_high: int | None
    votes: int


@dataclass(frozen=True)
class Results:
    """Everything that votes say of methods."""

    rankings: Mapping[str, Ranking]
    shares: Mapping[str, Mapping[str, Estimate]]

    def scores(self) -> dict[str, dict[str, Score]]:
        """Question -> method -> number."""
        scores = {
            label: {
                row.name: Score(row.strength, row.low, row.high, row.rank_low, row.rank_high, row.votes) for row in of.methods
            }
            for label, of in self.rankings.items()
        }
        for label, shares in self.shares.items():
            scores[label] = {name: Score(of.value, of.low, of.high, None, None, of.n) for name, of in shares.items()}
        return scores


class Change(NamedTuple):
    """Verdict on two methods that is another one without the excluded answers."""

    question: str
    first: str
    second: str
    everything: Verdict
    """With all answers that stand."""
    counted: Verdict
    """Without the excluded ones."""


def results_of(study: Study, votes: Sequence[Vote]) -> Results:
    """Rankings and shares of all questions that compare methods."""
    return Results(rankings_of(study, votes), shares_of(study, votes))


def changes(everything: Results, counted: Results) -> list[Change]:
    """Pairs of methods on which the verdict moves when answers are excluded; in the order of questions and names."""
    before, after = everything.scores(), counted.scores()
    moved = []
    for label in before:
        rows = after.get(label, {})
        for first, second in combinations(sorted(before[label]), 2):
            was = verdict(before[label][first], before[label][second])
            now = verdict(rows[first], rows[second]) if {first, second} <= rows.keys() else "open"
            if was != now:
                moved.append(Change(label, first, second, was, now))
    return moved


def verdict(first: Score, second: Score) -> Verdict:
    """Which of two methods is better: the intervals of their ranks are apart or, where there are none, those of their numbers."""
    if None not in (first.rank_low, first.rank_high, second.rank_low, second.rank_high):
        low, high, of_second = first.rank_low, first.rank_high, (second.rank_low, second.rank_high)
        return "first" if high < of_second[0] else "second" if low > of_second[1] else "open"  # type: ignore[operator]
    if None in (first.low, first.high, second.low, second.high):
        return "open"
    return "first" if first.low > second.high else "second" if first.high < second.low else "open"  # type: ignore[operator]
