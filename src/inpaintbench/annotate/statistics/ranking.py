"""Ranking of methods by the votes of raters, with the uncertainty of strengths and ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from inpaintbench.annotate.statistics.davidson import Ints, Reals, Spread, unconnected
from inpaintbench.annotate.statistics.paired import FEWEST_RATERS, Estimate, Votes, difference_errors, estimate, numbered, tally
from inpaintbench.claims import students_t, too_few
from inpaintbench.errors import InputError

Outcome = Literal["first", "second", "tie", "both_bad"]
# With fewer sources the quantiles of Student's t are so much wider than the normal ones that readers should know.
FEW_SOURCES = 10
# Points of a comparison: a tie is half a win for both.
WON, TIED = 1.0, 0.5


class Comparison(NamedTuple):
    """One answer to one pair."""

    first: str
    """Method shown left, or first."""
    second: str
    outcome: Outcome
    """``both_bad`` says nothing of which is better, so it is counted apart."""
    rater: str
    cluster: str
    """Source of the picture."""


@dataclass(frozen=True)
class Standing:
    """One method of a ranking. Intervals are of the ranking's level; numbers are None where the ranking's ``reason`` says why."""

    name: str
    strength: float | None
    """Logarithm, mean 0 over the methods: a difference of 1 wins 73 % of the votes that are not ties."""
    low: float | None
    high: float | None
    rank: int | None
    """1 = best."""
    rank_low: int | None
    """Best rank that the votes allow."""
    rank_high: int | None
    best: float | None
    """Probability of being the best."""
    win_share: float | None
    """Wins, ties half, by comparisons without ``both_bad``; None when there are none."""
    votes: int
    """Comparisons with it, without ``both_bad``."""


@dataclass(frozen=True)
class Ranking:
    """Ranking by the votes of one question."""

    methods: tuple[Standing, ...]
    """Best first; by name where nothing could be ranked."""
    level: float
    ties: float | None
    """Share of the votes without ``both_bad``; None when there are none."""
    both_bad: float | None
    """Share of all votes."""
    position_bias: tuple[float, float, float] | None
    """Log odds that being shown first adds, with its interval."""
    spread: Spread | None
    """Spread of raters' bias and log nu; None where they were taken as equal."""
    votes: int
    """Without ``both_bad``."""
    clusters: int
    stable: bool
    """Every neighbour in the order differs by more than chance at the level, looked at once, and so does every method from all
    others together: each has one rank."""
    reason: str | None
    """Reason why there are no strengths; None when there are."""
    notes: tuple[str, ...] = ()


def rank(
    comparisons: Sequence[Comparison], *, level: float = 0.95, replicates: int = 1000, seed: int, rater_effects: bool = True
) -> Ranking:
    """Rank methods by Davidson's model with sources as clusters; see ``paired`` for what exactly is estimated and how.

    Args:
        comparisons: the answers; their order does not matter.
        level: of intervals.
        replicates: draws of the strengths that rank intervals and the probability of being the best are taken from.
        seed: of these draws.
        rater_effects: each rater has their own bias towards a side and readiness to call a tie.

    Raises:
        InputError: an unknown outcome, a method compared with itself, or a level outside 0..1.
    """
    _check(comparisons, level=level)
    ordered = sorted(comparisons)
    names = sorted({name for comparison in ordered for name in (comparison.first, comparison.second)})
    decided = [comparison for comparison in ordered if comparison.outcome != "both_bad"]
    counted = Ranking(
        methods=tuple(_counted(name, decided) for name in names),
        level=level,
        ties=sum(comparison.outcome == "tie" for comparison in decided) / len(decided) if decided else None,
        both_bad=(len(ordered) - len(decided)) / len(ordered) if ordered else None,
        position_bias=None,
        spread=None,
        votes=len(decided),
        clusters=len({comparison.cluster for comparison in decided}),
        stable=False,
        reason=unconnected(names, [comparison[:2] for comparison in decided]) if decided else "there are no votes",
    )
    if counted.reason:
        return counted
    estimated = estimate(tally(_numbers(decided, names), methods=len(names), rater_effects=rater_effects))
    notes = _notes(counted, estimated, raters=len({row.rater for row in decided}), rater_effects=rater_effects)
    return _ranked(replace(counted, spread=estimated.spread, notes=notes), estimated, names, replicates=replicates, seed=seed)


def _check(comparisons: Sequence[Comparison], *, level: float) -> None:
    if not 0 < level < 1:
        raise InputError(f"the level of intervals is {level}, give a number between 0 and 1, such as 0.95")
    for comparison in comparisons:
        if comparison.outcome not in get_args(Outcome):
            raise InputError(f"outcome {comparison.outcome!r} of a comparison, give one of {', '.join(get_args(Outcome))}")
        if comparison.first == comparison.second:
            raise InputError(f"method {comparison.first!r} is compared with itself")


def _counted(name: str, decided: Sequence[Comparison]) -> Standing:
    outcomes = {"tie": TIED, "first": WON, "second": 0.0}
    points = [outcomes[row.outcome] if row.first == name else WON - outcomes[row.outcome] for row in decided if name in row[:2]]
    return Standing(name, None, None, None, None, None, None, None, sum(points) / len(points) if points else None, len(points))


def _numbers(decided: Sequence[Comparison], names: Sequence[str]) -> Votes:
    first, second, outcome, rater, cluster = zip(*decided, strict=True)
    return Votes(
        first=numbered(first, names),
        second=numbered(second, names),
        outcome=numbered(outcome, ["first", "second", "tie"]),
        rater=numbered(rater, sorted(set(rater))),
        cluster=numbered(cluster, sorted(set(cluster))),
    )


def _notes(counted: Ranking, estimated: Estimate, *, raters: int, rater_effects: bool) -> tuple[str, ...]:
    notes = []
    few = too_few(counted.clusters)
    if few:
        notes.append(f"strengths alone, no ranks: {few}")
    elif counted.clusters < FEW_SOURCES:
        notes.append(f"{counted.clusters} sources are few: intervals are wide and rest on Student's t")
    if estimated.shut_out:
        notes.append("some methods won everything against the rest; how far they lead rests on the prior")
    if rater_effects and raters < FEWEST_RATERS:
        few = "1 rater is" if raters == 1 else f"{raters} raters are"
        notes.append(f"{few} too few to tell their differences apart, so they were taken as equal")
    return tuple(notes)


def _ranked(counted: Ranking, estimated: Estimate, names: Sequence[str], *, replicates: int, seed: int) -> Ranking:
    order = sorted(range(len(names)), key=lambda index: (-estimated.strengths[index], names[index]))
    place = {index: position + 1 for position, index in enumerate(order)}
    scored = [replace(row, strength=float(estimated.strengths[i])) for i, row in enumerate(counted.methods)]
    if estimated.covariance is None or too_few(counted.clusters):
        return replace(counted, methods=tuple(scored[index] for index in order))
    quantile = students_t(counted.level, estimated.degrees)
    errors = np.sqrt(np.diag(estimated.covariance))
    draws = _draws(estimated, estimated.covariance, replicates=replicates, seed=seed)
    best = Counter(draws.argmax(axis=1).tolist())
    lowest, highest = _rank_limits(estimated, estimated.covariance, draws, level=counted.level)
    methods = [
        replace(
            row,
            low=float(estimated.strengths[i] - quantile * errors[i]),
            high=float(estimated.strengths[i] + quantile * errors[i]),
            rank=place[i],
            rank_low=int(lowest[i]),
            rank_high=int(highest[i]),
            best=best[i] / replicates,
        )
        for i, row in enumerate(scored)
    ]
    bias = (estimated.bias, estimated.bias - quantile * float(errors[-1]), estimated.bias + quantile * float(errors[-1]))
    return replace(
        counted,
        methods=tuple(methods[index] for index in order),
        position_bias=bias,
        # Leads over neighbours are judged one by one, ranks over all others at once: a settled order passes both.
        stable=least_lead(estimated) > quantile and bool((lowest == highest).all()),
    )


def _draws(estimated: Estimate, covariance: Reals, *, replicates: int, seed: int) -> Reals:
    """``float64[replicates, methods]``: strengths that the votes allow, multivariate t around the estimate."""
    rng = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(covariance[:-1, :-1])
    normal = rng.standard_normal((replicates, len(values))) * np.sqrt(np.maximum(values, 0))
    scale = np.sqrt(estimated.degrees / rng.chisquare(estimated.degrees, size=(replicates, 1)))
    drawn: Reals = estimated.strengths + normal @ vectors.T * scale
    return drawn


def _rank_limits(estimated: Estimate, covariance: Reals, draws: Reals, *, level: float) -> tuple[Ints, Ints]:
    """Ranks that remain when all others with a clear difference are above or below.

    All differences of a method are judged together (Mogstad, Romano, Shaikh and Wilhelm, Review of Economic Studies 91, 2024).
    """
    errors = np.maximum(difference_errors(covariance), 1e-9)
    apart = estimated.strengths[:, None] - estimated.strengths[None, :]
    drawn = draws[:, :, None] - draws[:, None, :]
    largest = (np.abs(drawn - apart) / errors).max(axis=2)
    needed = np.quantile(largest, level, axis=0)[:, None] * errors
    return 1 + (apart < -needed).sum(axis=1), len(apart) - (apart > needed).sum(axis=1)


def least_lead(estimated: Estimate) -> float:
    """The smallest difference of neighbours in the order, in standard errors; infinite for one method, 0 without a covariance."""
    if estimated.covariance is None:
        return 0.0
    order = np.argsort(-estimated.strengths)
    errors = np.maximum(difference_errors(estimated.covariance)[order[:-1], order[1:]], 1e-9)
    leads = (estimated.strengths[order[:-1]] - estimated.strengths[order[1:]]) / errors
    return float(leads.min()) if len(leads) else float("inf")


def plain(rankings: Mapping[str, Ranking]) -> dict[str, dict[str, Any]]:
    """Rankings by question, as JSON-able data for a report."""
    return {
        question: {
            "methods": [asdict(standing) for standing in ranking.methods],
            "ties": ranking.ties,
            "both_bad": ranking.both_bad,
            "position_bias": ranking.position_bias,
            "votes": ranking.votes,
            "sources": ranking.clusters,
            "notes": [*([ranking.reason] if ranking.reason else []), *ranking.notes],
            "stable": ranking.stable,
        }
        for question, ranking in rankings.items()
    }
