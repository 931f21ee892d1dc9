"""Ranking of methods by single comparisons of raters, with the uncertainty of strengths and ranks.

The estimand: the strengths that Davidson's model would give were every pair compared, as often as it was here, on endlessly many
sources of the kind that were drawn. A source may favour some methods; that is averaged over, which pulls strengths a little
towards each other. A rater's own bias and readiness to call a tie are not averaged over but taken out.

Votes on one source hang together, so the uncertainty comes from leaving out one source at a time (jackknife) with quantiles of
Student's t for one degree of freedom less than there are sources. Against 10 to 50 sources, 3 % to 40 % ties and raters that
differ, its 95 % intervals hold the truth about as often as they say, where percentiles of a bootstrap over sources fall to 86 %
for 10 sources and normal quantiles to 90 %.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from inpaintbench.annotate.statistics.davidson import PRIOR, Design, Ints, Reals, Spread, estimate_spread, fit, unconnected
from inpaintbench.claims import students_t, too_few
from inpaintbench.errors import InputError

# With more sources than this, groups of them are left out: as good, and the time does not grow.
MOST_GROUPS = 100
# With fewer, the spread of raters cannot be told.
FEWEST_RATERS = 3
FIRST, SECOND, TIE = range(3)


class Votes(NamedTuple):
    """Comparisons as numbers, ``int64[votes]`` each."""

    first: Ints
    """Method shown first."""
    second: Ints
    outcome: Ints
    """0 = first, 1 = second, 2 = tie."""
    rater: Ints
    cluster: Ints


@dataclass(frozen=True, eq=False)
class Tally:
    """Votes counted by source and kind."""

    design: Design
    by_group: Reals
    """``float64[groups, rows, 3]``; a group is one source, or several where there are very many."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Strengths, and how far they may be off."""

    strengths: Reals
    """``float64[methods]``, logarithms with mean 0."""
    covariance: Reals | None
    """``float64[methods + 1, methods + 1]``: of the strengths and the bias; None for votes on one source alone."""
    bias: float
    """Log odds that being shown first adds."""
    log_nu: float
    spread: Spread | None
    """Spread of raters; None where they were taken as equal."""
    degrees: int
    """Degrees of freedom of Student's t: sources (or groups of them) less one."""
    shut_out: bool
    """Some group of methods won everything against the rest, so their distance rests on the prior."""


def numbered(names: Sequence[str], known: Sequence[str]) -> Ints:
    """The place of each of ``names`` in ``known``."""
    place = {name: index for index, name in enumerate(known)}
    return np.array([place[name] for name in names], np.int64)


def tally(votes: Votes, *, methods: int, rater_effects: bool) -> Tally:
    """Count ``votes``; raters are kept apart with ``rater_effects`` and at least ``FEWEST_RATERS`` of them."""
    _, rater = np.unique(votes.rater, return_inverse=True)
    _, cluster = np.unique(votes.cluster, return_inverse=True)
    apart = rater_effects and rater.max() + 1 >= FEWEST_RATERS
    keys = np.stack([rater if apart else np.zeros_like(rater), votes.first, votes.second], axis=1)
    rows, row = np.unique(keys, axis=0, return_inverse=True)
    groups = min(int(cluster.max()) + 1, MOST_GROUPS)
    counts = np.zeros((groups, len(rows), 3))
    np.add.at(counts, (cluster % groups, row, votes.outcome), 1.0)
    design = Design(methods, rows[:, 1], rows[:, 2], rows[:, 0], raters=int(rater.max()) + 1 if apart else 0)
    return Tally(design, counts)


def estimate(counted: Tally, *, prior: float = PRIOR) -> Estimate:
    """Strengths and their jackknife covariance; the graph of comparisons must be connected."""
    design, total = counted.design, counted.by_group.sum(axis=0)[None]
    spread: Spread | None = None
    if design.raters:
        spread, fitted = estimate_spread(design, total, prior=prior)
    else:
        fitted = fit(design, total, prior=prior)
    names, wins = [str(index) for index in range(design.methods)], total[0][:, [FIRST, SECOND]] + total[0][:, [TIE]]
    led = [(design.first, design.second, wins[:, 0] > 0), (design.second, design.first, wins[:, 1] > 0)]
    edges = [(str(a), str(b)) for winner, loser, rows in led for a, b in zip(winner[rows], loser[rows], strict=True)]
    shut_out = unconnected(names, edges, both_ways=True) is not None
    groups = len(counted.by_group)
    covariance: Reals | None = None
    if groups > 1:  # the jackknife: how the estimates move when each group is left out
        left = fit(design, total - counted.by_group, prior=prior, spread=spread, start=fitted)
        moved = left.core[:, :-1] - fitted.core[:, :-1]
        covariance = (groups - 1) / groups * (moved.T @ moved)
        if shut_out:
            # Leaving out a source hardly moves a method that wins everything; the curvature of the likelihood says how little
            # is known.
            covariance = covariance + centred(fitted.covariance[0, :-1, :-1])
    core = fitted.core[0]
    return Estimate(core[:-2], covariance, float(core[-2]), float(core[-1]), spread, groups - 1, shut_out)


def centred(covariance: Reals) -> Reals:
    """``covariance`` of strengths (and the bias behind them) once their mean is taken out."""
    methods = len(covariance) - 1
    matrix = np.eye(methods + 1)
    matrix[:methods, :methods] -= 1 / methods
    projected: Reals = matrix @ covariance @ matrix.T
    return projected


def difference_errors(covariance: Reals) -> Reals:
    """``float64[methods, methods]``: standard error of every difference of two strengths."""
    of_strengths = covariance[:-1, :-1]
    own = np.diag(of_strengths)
    return np.sqrt(np.maximum(own[:, None] + own[None, :] - 2 * of_strengths, 0))


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
    """Rank methods by Davidson's model with sources as clusters; see the module for what exactly is estimated and how.

    Args:
        comparisons: the answers; their order does not matter.
        level: of intervals.
        replicates: draws of the strengths that rank intervals and the probability of being the best are taken from.
        seed: of these draws.
        rater_effects: each rater has their own bias towards a side and readiness to call a tie.

    Raises:
        InputError: an unknown outcome, a method compared with itself, or a level outside 0..1.
    """
    if not 0 < level < 1:
        raise InputError(f"the level of intervals is {level}, give a number between 0 and 1, such as 0.95")
    for comparison in comparisons:
        if comparison.outcome not in get_args(Outcome):
            raise InputError(f"outcome {comparison.outcome!r} of a comparison, give one of {', '.join(get_args(Outcome))}")
        if comparison.first == comparison.second:
            raise InputError(f"method {comparison.first!r} is compared with itself")
    ordered = sorted(comparisons)
    names = sorted({name for comparison in ordered for name in (comparison.first, comparison.second)})
    decided = [comparison for comparison in ordered if comparison.outcome != "both_bad"]
    points: dict[str, list[float]] = {name: [] for name in names}
    for row in decided:
        of_first = {"tie": TIED, "first": WON, "second": 0.0}[row.outcome]
        points[row.first].append(of_first)
        points[row.second].append(WON - of_first)
    nothing = (None,) * 7
    counted = Ranking(
        methods=tuple(Standing(name, *nothing, sum(own) / len(own) if own else None, len(own)) for name, own in points.items()),
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
    votes, raters = numbered_votes(decided, names), len({row.rater for row in decided})
    estimated = estimate(tally(votes, methods=len(names), rater_effects=rater_effects))
    notes = []
    if few := too_few(counted.clusters):
        notes.append(f"strengths alone, no ranks: {few}")
    elif counted.clusters < FEW_SOURCES:
        notes.append(f"{counted.clusters} sources are few: intervals are wide and rest on Student's t")
    if estimated.shut_out:
        notes.append("some methods won everything against the rest; how far they lead rests on the prior")
    if rater_effects and raters < FEWEST_RATERS:
        who = "1 rater is" if raters == 1 else f"{raters} raters are"
        notes.append(f"{who} too few to tell their differences apart, so they were taken as equal")
    counted = replace(counted, spread=estimated.spread, notes=tuple(notes))
    return _ranked(counted, estimated, names, replicates=replicates, seed=seed)


def numbered_votes(decided: Sequence[tuple[str, ...]], names: Sequence[str]) -> Votes:
    """Comparisons that one of the methods ``names``, or neither, won, as numbers; rows as in ``Comparison``."""
    first, second, outcome, rater, cluster = zip(*decided, strict=True)
    return Votes(
        numbered(first, names), numbered(second, names), numbered(outcome, ["first", "second", "tie"]),
        numbered(rater, sorted(set(rater))), numbered(cluster, sorted(set(cluster))),
    )  # fmt: skip


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
    methods = []
    for i, row in enumerate(scored):
        low, high = (float(estimated.strengths[i] + sign * quantile * errors[i]) for sign in (-1, 1))
        ranks = {"rank": place[i], "rank_low": int(lowest[i]), "rank_high": int(highest[i])}
        methods.append(replace(row, low=low, high=high, best=best[i] / replicates, **ranks))  # type: ignore[arg-type]
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
