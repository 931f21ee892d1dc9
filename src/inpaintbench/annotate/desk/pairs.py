"""Votes on pairs of methods: which pair to ask about next, and when a ranking needs no more votes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.records import Comparison
from inpaintbench.annotate.statistics.davidson import Design, Ints, fit, probabilities, unconnected
from inpaintbench.annotate.statistics.ranking import estimate, least_lead, numbered_votes, tally
from inpaintbench.annotate.study import Study
from inpaintbench.claims import too_few
from inpaintbench.errors import InputError
from inpaintbench.lazily import lazily

special = lazily("scipy.special")

# Rule for when a comparison may end: the whole order of the methods is settled.
#
# Whoever looks again and again finds chance differences sooner or later. So the lead of each neighbour in the order is held
# against a limit that is valid however often, and whenever, one looks: the asymptotic confidence sequence of Waudby-Smith,
# Arbour, Sinha, Kennedy and Ramdas (Annals of Statistics 52, 2024), with Robbins' normal mixture. With probability ``level``
# two equal methods are never told apart over the whole study, so a study of equal methods runs until its tasks are used up.

OUTCOMES = ("first", "second", "tie")


def is_stable(comparisons: Sequence[tuple[str, str, str, str]], *, level: float, fewest_votes: int) -> bool:
    """Return whether the order of all methods is settled, however often this was asked before.

    Votes on ``claims.too_few`` sources settle nothing, as they give no ranks.

    Args:
        comparisons: (shown first, shown second, ``first`` | ``second`` | ``tie``, source).
        level: probability that no wrong order is ever called stable, 0..1.
        fewest_votes: below so many the answer is no.

    Raises:
        InputError: an unknown outcome.
    """
    for _, _, given, _ in comparisons:
        if given not in OUTCOMES:
            raise InputError(f"outcome {given!r} of a comparison, give one of {', '.join(OUTCOMES)}")
    names = sorted({name for first, second, _, _ in comparisons for name in (first, second)})
    sources = sorted({source for *_, source in comparisons})
    if len(comparisons) < max(fewest_votes, 1) or too_few(len(sources)):
        return False
    if unconnected(names, [comparison[:2] for comparison in comparisons]):
        return False
    votes = numbered_votes([(first, second, outcome, "", source) for first, second, outcome, source in comparisons], names)
    estimated = estimate(tally(votes, methods=len(names), rater_effects=False))
    # The normal quantile as improbable as the lead is under Student's t; 1e-300 keeps it finite.
    lead = float(-special.ndtri(max(special.stdtr(estimated.degrees, -least_lead(estimated)), 1e-300)))
    return estimated.covariance is not None and lead > limit(len(comparisons), level=level, fewest_votes=fewest_votes)


def limit(votes: int, *, level: float, fewest_votes: int) -> float:
    """Standard errors that a lead needs after ``votes`` votes; tightest at four times ``fewest_votes``."""
    miss = -2 * math.log(1 - level)
    share = votes / (4 * max(fewest_votes, 1)) * (miss + math.log(miss) + 1)
    return math.sqrt((share + 1) / share * (math.log(share + 1) + miss))


# Choice of the pair to ask about next: the one whose answer says most about the order of the methods.
#
# The posterior of the strengths is taken as normal (Laplace). For a pair a, b with lead ``z`` in standard deviations the order
# is open with the entropy of ``Phi(z)``. One more vote shrinks the variance of the lead by a share ``r``, which lowers that
# entropy by ``r phi(z)^2 / (2 Phi(z) Phi(-z))`` on average, to first order. The information of a vote is the sum of this over
# all pairs: votes go where the order is open, and not also to pairs that are settled, as D- or A-optimal choices would send
# them.

# Of the prior of the strengths: methods worth comparing lie about one log unit apart.
SPREAD_PRECISION = 1.0


@lru_cache(maxsize=16)
def _design(methods: int) -> tuple[Design, Ints, Ints]:
    first, second = np.triu_indices(methods, 1)
    return Design(methods, first, second, np.zeros_like(first), position=False), first, second


def expected_information(
    pairs: Mapping[tuple[str, str], Mapping[str, int]], candidates: Sequence[str]
) -> dict[tuple[str, str], float]:
    """Nats about the order of the candidates that one more vote on each pair is expected to give.

    Args:
        pairs: (a, b) with a < b -> how often ``a`` won, ``b`` won, and ``tie``, each 0 where missing; pairs without votes may be
            missing.
        candidates: at least two methods, each once.

    Returns:
        Every pair (a, b) of the candidates with a < b; more than 0.

    Raises:
        InputError: fewer than two candidates, or a pair that is not of two different candidates in order.
    """
    names = sorted(set(candidates))
    if len(names) < 2:
        raise InputError(f"comparing needs two methods or more, there is {list(candidates)}")
    design, first, second = _design(len(names))
    place = {name: index for index, name in enumerate(names)}
    counts = np.zeros((len(names), len(names), 3))
    for (a, b), votes in pairs.items():
        if a not in place or b not in place or a >= b:
            raise InputError(f"{(a, b)} is no pair of two candidates in alphabetical order")
        counts[place[a], place[b]] = votes.get("a", 0), votes.get("b", 0), votes.get("tie", 0)
    fitted = fit(design, counts[first, second][None], prior=SPREAD_PRECISION)
    contrasts = design.of_difference
    shared = contrasts @ fitted.covariance[0] @ contrasts.T
    variance, lead = np.diag(shared), contrasts @ fitted.core[0]
    shares = probabilities(lead, fitted.log_nu[0])
    per_vote = (1 - shares[:, 2] - (shares[:, 0] - shares[:, 1]) ** 2) / 4
    # Rows: pairs whose order is open; columns: the pair that gets the vote.
    shrinkage = shared**2 * per_vote / (1 + per_vote * variance) / variance[:, None]
    z = lead / np.sqrt(variance)
    # phi(z)^2 / (2 Phi(z) Phi(-z)), in logarithms against underflow.
    openness = np.exp(-(z**2) - np.log(2 * np.pi) - np.log(2) - special.log_ndtr(z) - special.log_ndtr(-z))
    gains = openness @ shrinkage
    return {(names[a], names[b]): float(gain) for a, b, gain in zip(first, second, gains, strict=True)}


# Votes of a question between two looks at whether its ranking is stable: a look takes seconds with many votes.
CHECK_EVERY = 25
# New votes, as a share of those that the expected information rests on, after which it is computed again; at least `STEP_VOTES`.
STEP_FRACTION = 0.05
STEP_VOTES = 10


class Finish:
    """Rankings that are stable, as far as has been looked; a look may take long, so it is made outside of any lock."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._looked: dict[str, tuple[int, int]] = {}
        self.settled: frozenset[str] = frozenset()
        """Questions whose ranking is stable: they get no more votes."""

    def due(self, state: State) -> dict[str, tuple[Comparison, ...]]:
        """Question -> comparisons of the rankings to look at now; the same is not named twice."""
        stop, due = self._study.file.stop, {}
        for question, votes in state.compared.items() if stop.kind == "stable_ranking" else ():
            # Exclusions and inclusions change which votes count, so whatever was seen before them says nothing.
            turn = (votes // CHECK_EVERY, state.decisions)
            if (votes >= stop.fewest_votes or question in self.settled) and turn != self._looked.get(question):
                self._looked[question] = turn
                due[question] = tuple(state.comparisons(question).values())
        return due

    def look(self, comparisons: Sequence[Comparison]) -> bool:
        """Return whether the ranking of ``comparisons`` is stable."""

        return is_stable(comparisons, level=self._study.file.stop.level, fewest_votes=self._study.file.stop.fewest_votes)

    def note(self, question: str, *, stable: bool) -> None:
        """Keep the outcome of a look."""
        self.settled = self.settled | {question} if stable else self.settled - {question}


class InformationGain:
    """Expected information of one more vote on each pair, kept for each question about pairs."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._computed: dict[str, tuple[int, int, Mapping[tuple[str, str], float]]] = {}

    def of(self, question: str) -> Mapping[tuple[str, str], float]:
        """Pair -> expected information of one more vote, from the votes of a short while ago at the most."""

        votes, decisions = self._state.compared.get(question, 0), self._state.decisions
        rests_on, decided, gains = self._computed.get(question, (None, 0, {}))
        if rests_on is None or decisions != decided or abs(votes - rests_on) >= max(STEP_VOTES, STEP_FRACTION * rests_on):
            tasks = [task for task in self._state.study.tasks if task.question == question and len(task.candidates) == 2]
            counted, none = self._state.pairs.get(question, {}), {"a": 0, "b": 0, "tie": 0}
            pairs = dict.fromkeys((task.candidates[0], task.candidates[1]) for task in tasks)
            names = sorted({name for pair in pairs for name in pair})
            gains = expected_information({pair: counted.get(pair, none) for pair in pairs}, names)
            self._computed[question] = (votes, decisions, gains)
        return gains
