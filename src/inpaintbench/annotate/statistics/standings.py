"""From the votes of a study to rankings, shares, mean opinions and correlations; and which verdicts hang on excluded answers.

Intervals take sources as clusters and Student's t with one degree of freedom less than there are sources.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.annotate.questions.base import Question, Subject
from inpaintbench.annotate.questions.leaves import BOTH_BAD, TIE
from inpaintbench.annotate.records import Vote, first_votes
from inpaintbench.annotate.statistics.davidson import Reals
from inpaintbench.annotate.statistics.ranking import TIED, WON, Comparison, Ranking, rank
from inpaintbench.annotate.study import Study
from inpaintbench.claims import Estimate, clustered_mean, jackknife_reach, share_interval, students_t, too_few
from inpaintbench.errors import InputError

# Quality of clips from grades, with each rater's bias and inconsistency taken into account.
#
# The model of ITU-T P.910 (10/2023, Appendix VI) and P.913: grade = quality of the clip + bias of the rater + their
# inconsistency times noise. Its published iteration collapses in small panels: one rater's variance goes to zero, their weight
# to infinity, and the qualities become their grades (74 % of simulated panels of six raters). Hence a floor of the variance,
# and no panels below 8.

# Least standard deviation of a rater, in steps of the scale.
FLOOR = 0.25
# Raters below which single ones decide.
FEWEST_RATERS = 8
_ROUNDS, _TOLERANCE = 1000, 1e-8
# Keeps the weight of a rater without any residual finite where there is no floor, as in the recommendation.
_LEAST_VARIANCE = 1e-8


class Recovered(NamedTuple):
    """Qualities and raters of a panel."""

    quality: Reals
    """``float64[clips]``, in grades."""
    error: Reals
    """``float64[clips]``: standard errors of ``quality``."""
    bias: Reals
    """``float64[raters]``, mean 0."""
    sigma: Reals
    """``float64[raters]``: standard deviation of what quality and bias leave over, the floor at least."""
    floored: int
    """Raters at the floor."""
    rounds: int


def recovered(grades: Reals, *, floor: float, fewest: int = FEWEST_RATERS) -> Recovered:
    """Recover the quality of clips.

    Args:
        grades: ``float64[clips, raters]``; NaN where a rater did not grade a clip. Every clip and every rater has one grade.
        floor: least standard deviation of a rater, in the unit of the grades; 0 gives the published iteration.
        fewest: raters below which nothing is recovered.

    Raises:
        InputError: too few raters, or a clip or a rater without grades.
    """
    known = ~np.isnan(grades)
    if grades.shape[1] < fewest:
        raise InputError(f"{grades.shape[1]} raters are too few to tell quality from raters, {fewest} are needed")
    if not known.any(axis=0).all() or not known.any(axis=1).all():
        raise InputError("a clip or a rater has no grade; leave it out")
    quality = np.nanmean(grades, axis=1)
    bias = np.nanmean(grades - quality[:, None], axis=0)
    for rounds in range(1, _ROUNDS + 1):  # noqa: B007 - told in the result
        residual = grades - quality[:, None] - bias
        sigma = np.maximum(np.nanstd(residual, axis=0), floor)
        weight = np.where(known, 1 / (sigma**2 + (0 if floor else _LEAST_VARIANCE)), 0.0)
        before = quality
        quality = (weight * np.where(known, grades - bias, 0.0)).sum(axis=1) / weight.sum(axis=1)
        bias = np.nanmean(grades - quality[:, None], axis=0)
        if np.linalg.norm(quality - before) < _TOLERANCE:
            break
    error = np.nanstd(residual, axis=1) / np.sqrt(known.sum(axis=1))
    shift = bias.mean()
    return Recovered(quality + shift, error, bias - shift, sigma, int((sigma <= floor).sum()) if floor else 0, rounds)


# Pairs (method, item) that a correlation needs: two always lie on a line.
FEWEST_PAIRS = 3


class Choice(NamedTuple):
    """One answer to "which is the best of these"."""

    task: str
    method: str
    cluster: str
    """Source of the task."""


class Opinion(NamedTuple):
    """One answer to "how good is this"."""

    method: str
    value: float
    cluster: str


class Correlation(NamedTuple):
    """Correlation of two dimensions over (method, item)."""

    one: str
    other: str
    pearson: float | None
    pearson_low: float | None
    pearson_high: float | None
    spearman: float | None
    spearman_low: float | None
    spearman_high: float | None
    n: int
    """Pairs (method, item) that both dimensions have."""
    reason: str | None
    """Reason why there is none; None when there is one."""


def choices_of(votes: Iterable[Vote]) -> list[Choice]:
    """Every vote as a choice of its own: what people select is a share of their votes, as in the user study of the
    re-inpainting paper; only a metric chooses once an item."""
    return [Choice(str(number), vote.choice, vote.cluster) for number, vote in enumerate(votes)]


def opinions_of(votes: Iterable[Vote], question: Question) -> list[Opinion]:
    """Numbers that answers about one prediction count as, with method and source; answers that are no number are left out."""
    numbers = ((vote, question.number(vote.choice)) for vote in votes)
    return [Opinion(vote.candidates[0], value, vote.cluster) for vote, value in numbers if value is not None]


def selection_frequency(choices: Sequence[Choice], methods: Sequence[str], *, level: float = 0.95) -> dict[str, Estimate]:
    """The share of tasks for which each method was chosen: by most of the task's raters, a draw shared equally.

    The interval is Wilson's with as many tasks as independent ones would give the same spread.

    Raises:
        InputError: no choices, a choice of none of the methods, or a task of two sources.
    """
    if not choices:
        raise InputError("there are no choices to count")
    if strangers := sorted({choice.method for choice in choices} - set(methods)):
        raise InputError(f"{strangers[0]!r} was chosen, which is none of {', '.join(methods)}")
    clusters: dict[str, str] = {}
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for choice in choices:
        if clusters.setdefault(choice.task, choice.cluster) != choice.cluster:
            raise InputError(f"task {choice.task!r} is of two sources, {clusters[choice.task]!r} and {choice.cluster!r}")
        votes[choice.task][choice.method] += 1
    tasks = sorted(votes)
    won = {task: {name for name, n in votes[task].items() if n == max(votes[task].values())} for task in tasks}
    sources = [clusters[task] for task in tasks]
    return {
        name: share_interval([1 / len(won[task]) if name in won[task] else 0.0 for task in tasks], sources, level=level)
        for name in methods
    }


def mean_opinion(
    opinions: Sequence[Opinion], *, scale: tuple[float, float] | None = None, level: float = 0.95
) -> dict[str, Estimate]:
    """The mean opinion of each method, every answer with the same weight; Student's t over sources, within ``scale``."""
    estimates = {}
    for name in sorted({opinion.method for opinion in opinions}):
        own = [opinion for opinion in opinions if opinion.method == name]
        values, sources = [row.value for row in own], [row.cluster for row in own]
        mean, error, clusters = clustered_mean(values, sources)
        reach = None if error is None else students_t(level, clusters - 1) * error
        low, high = (None, None) if reach is None else (mean - reach, mean + reach)
        if scale is not None and low is not None and high is not None:
            low, high = max(low, scale[0]), min(high, scale[1])
        estimates[name] = Estimate(mean, low, high, len(own), clusters, too_few(clusters))
    return estimates


def win_ratios(comparisons: Mapping[str, Sequence[Comparison]]) -> dict[tuple[str, str], float]:
    """(method, item) -> wins by comparisons, ties half, ``both_bad`` left out; pairs without comparisons are missing.

    Args:
        comparisons: item -> its comparisons, all of one dimension.
    """
    points: dict[tuple[str, str], list[float]] = defaultdict(list)
    for item, answers in comparisons.items():
        for answer in answers:
            if answer.outcome == "both_bad":
                continue
            of_first = TIED if answer.outcome == "tie" else WON * (answer.outcome == "first")
            points[answer.first, item].append(of_first)
            points[answer.second, item].append(WON - of_first)
    return {key: math.fsum(own) / len(own) for key, own in sorted(points.items())}


def dimension_correlations(
    ratios: Mapping[str, Mapping[tuple[str, str], float]],
    *,
    cluster_of: Mapping[str, str] | None = None,
    level: float = 0.95,
) -> list[Correlation]:
    """Pearson's and Spearman's correlation between every two dimensions over the (method, item) that both have.

    Args:
        ratios: dimension -> (method, item) -> win ratio, or any other score.
        cluster_of: item -> source; each item is a source of its own by default.
        level: of the intervals, by ``claims.jackknife_reach`` on the scale of Fisher's z; none where ``too_few``, and
            where without some source a dimension does not vary.
    """
    from scipy.stats import rankdata  # a second of importing that no other command should wait for

    correlations = []
    for first, second in combinations(sorted(ratios), 2):
        keys = sorted(set(ratios[first]) & set(ratios[second]))
        table = np.array([(ratios[first][key], ratios[second][key]) for key in keys]).reshape(-1, 2)
        clusters = [cluster_of[item] if cluster_of is not None else item for _, item in keys]
        sources = np.unique(clusters, return_inverse=True)[1]
        pearson = _with_interval(table, sources, _pearson, level=level)
        spearman = _with_interval(table, sources, lambda own: _pearson(rankdata(own, axis=0)) if len(own) else None, level=level)
        reason = None
        if pearson[0] is None and len(table) < FEWEST_PAIRS:
            reason = f"{len(table)} pairs of method and item are too few for a correlation"
        elif pearson[0] is None:
            reason = "one of the dimensions gives all pairs of method and item the same score"
        correlations.append(Correlation(first, second, *pearson, *spearman, len(keys), reason))
    return correlations


def _with_interval(
    table: Reals, sources: npt.NDArray[np.int64], correlate: Callable[[Reals], float | None], *, level: float
) -> tuple[float | None, float | None, float | None]:
    value, sizes = correlate(table), np.bincount(sources)
    if value is None or too_few(len(sizes)):
        return value, None, None
    without = [correlate(table[sources != place]) for place in range(len(sizes))]
    defined = [own for own in without if own is not None]
    if len(defined) < len(without):
        return value, None, None
    end = 1 - 1 / len(table) ** 2  # Fisher's z of 1 is infinite
    reach = jackknife_reach([math.atanh(min(end, max(-end, own))) for own in defined], sizes=sizes.tolist(), level=level)
    if reach < 1e-9:
        return value, None, None
    middle = math.atanh(min(end, max(-end, value)))
    return value, min(value, math.tanh(middle - reach)), max(value, math.tanh(middle + reach))


def _pearson(table: Reals) -> float | None:
    if len(table) < FEWEST_PAIRS:
        return None
    apart = table - table.mean(axis=0)
    norm = math.sqrt(float((apart[:, 0] ** 2).sum() * (apart[:, 1] ** 2).sum()))
    return float((apart[:, 0] * apart[:, 1]).sum() / norm) if norm > 1e-12 else None


def comparisons_of(study: Study, votes: Iterable[Vote], label: str) -> dict[str, list[Comparison]]:
    """Item -> the comparisons of one pairwise question: of each rater the first answer to a task, and none of gold tasks."""
    comparisons: dict[str, list[Comparison]] = defaultdict(list)
    for of_task in first_votes(study, votes, gold=False).values():
        for vote in of_task:
            if vote.question == label:
                first, second = vote.sides
                outcome = vote.choice if vote.choice in (TIE, BOTH_BAD) else "first" if vote.choice == first else "second"
                row = Comparison(first, second, outcome, vote.rater_id, vote.cluster)  # type: ignore[arg-type]
                comparisons[vote.subject_id].append(row)
    return dict(comparisons)


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
