"""From the votes of a study to rankings, shares and how its dimensions go together, question by question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from inpaintbench.annotate.questions.base import Subject
from inpaintbench.annotate.questions.pairwise import BOTH_BAD, TIE
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
