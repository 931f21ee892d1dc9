"""From the votes of a study to rankings and shares; and which verdicts hang on answers that are excluded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, NamedTuple

from inpaintbench.annotate.questions.base import Subject
from inpaintbench.annotate.questions.of_methods import BOTH_BAD, TIE
from inpaintbench.annotate.records import Vote, first_votes
from inpaintbench.annotate.statistics.ranking import Comparison, Ranking, rank
from inpaintbench.annotate.statistics.shares import (
    choices_of,
    dimension_correlations,
    mean_opinion,
    opinions_of,
    selection_frequency,
    win_ratios,
)
from inpaintbench.annotate.study import Study
from inpaintbench.claims import Estimate


def comparisons_of(study: Study, votes: Iterable[Vote], label: str) -> dict[str, list[Comparison]]:
    """Item -> the comparisons of one pairwise question: of each rater the first answer to a task, and none of gold tasks."""
    comparisons: dict[str, list[Comparison]] = defaultdict(list)
    for of_task in first_votes(study, votes, gold=False).values():
        for vote in of_task:
            if vote.question == label:
                comparisons[vote.subject_id].append(_comparison(vote))
    return dict(comparisons)


def _comparison(vote: Vote) -> Comparison:
    first, second = vote.sides
    outcome = vote.choice if vote.choice in (TIE, BOTH_BAD) else "first" if vote.choice == first else "second"
    return Comparison(first, second, outcome, vote.rater_id, vote.cluster)  # type: ignore[arg-type]


def rankings_of(study: Study, votes: Sequence[Vote], *, seed: int = 0) -> dict[str, Ranking]:
    """Pairwise question -> its ranking, at the level of the study's stop rule."""
    return {
        label: rank(
            [row for own in comparisons_of(study, votes, label).values() for row in own], level=study.file.stop.level, seed=seed
        )
        for label in labels_of(study, "pair")
    }


def shares_of(study: Study, votes: Sequence[Vote]) -> dict[str, dict[str, Estimate]]:
    """Question that picks one of several, or grades, -> method -> selection frequency or mean opinion; answered ones alone."""
    shares: dict[str, dict[str, Estimate]] = {}
    by_label: dict[str, list[Vote]] = defaultdict(list)
    for of_task in first_votes(study, votes, gold=False).values():
        for vote in of_task:
            by_label[vote.question].append(vote)
    level = study.file.stop.level
    for label in labels_of(study, "set"):
        if own := by_label[label]:
            methods = sorted({name for vote in own for name in vote.candidates})
            shares[label] = selection_frequency(choices_of(own), methods, level=level)
    for label in labels_of(study, "one"):
        question = study.question_of[label]
        if opinions := opinions_of(by_label[label], question):
            shares[label] = mean_opinion(opinions, scale=question.ends(), level=level)
    return shares


def dimensions_of(study: Study, votes: Sequence[Vote]) -> dict[str, Any]:
    """Return how the win ratios of pairwise questions go together: ``questions``, ``correlation`` (Pearson; None where there is
    none), ``n`` and ``notes``; empty with fewer than two such questions."""
    labels = labels_of(study, "pair")
    if len(labels) < 2:
        return {}
    ratios = {label: win_ratios(comparisons_of(study, votes, label)) for label in labels}
    cluster_of = {task.subject_id: task.cluster for task in study.tasks}
    correlations = dimension_correlations(ratios, cluster_of=cluster_of)
    by_pair = {frozenset((row.one, row.other)): row for row in correlations}
    rows = [[1.0 if label == other else by_pair[frozenset((label, other))].pearson for other in labels] for label in labels]
    reasons = sorted({row.reason for row in correlations if row.reason})
    return {"questions": labels, "correlation": rows, "n": max(row.n for row in correlations), "notes": reasons}


def labels_of(study: Study, subject: Subject) -> list[str]:
    """Questions that show ``subject``, in the study's order."""
    return [label for label, question in study.question_of.items() if question.subject == subject]


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
