"""Rule for when a comparison may end: the whole order of the methods is settled.

Whoever looks again and again finds chance differences sooner or later. So the lead of each neighbour in the order is held against
a limit that is valid however often, and whenever, one looks: the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha,
Kennedy and Ramdas (Annals of Statistics 52, 2024), with Robbins' normal mixture. With probability ``level`` two equal methods
are never told apart over the whole study, so a study of equal methods runs until its tasks are used up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri, stdtr

from inpaintbench.annotate.statistics.design import unconnected
from inpaintbench.annotate.statistics.paired import Votes, estimate, numbered, tally
from inpaintbench.annotate.statistics.ranking import least_lead
from inpaintbench.claims import too_few
from inpaintbench.errors import InputError

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
    first, second, outcome, cluster = zip(*comparisons, strict=True)
    votes = Votes(
        first=numbered(first, names),
        second=numbered(second, names),
        outcome=numbered(outcome, OUTCOMES),
        rater=np.zeros(len(first), np.int64),
        cluster=numbered(cluster, sources),
    )
    estimated = estimate(tally(votes, methods=len(names), rater_effects=False))
    # The normal quantile as improbable as the lead is under Student's t; 1e-300 keeps it finite.
    lead = float(-ndtri(max(stdtr(estimated.degrees, -least_lead(estimated)), 1e-300)))
    return estimated.covariance is not None and lead > limit(len(comparisons), level=level, fewest_votes=fewest_votes)


def limit(votes: int, *, level: float, fewest_votes: int) -> float:
    """Standard errors that a lead needs after ``votes`` votes; tightest at four times ``fewest_votes``."""
    miss = -2 * math.log(1 - level)
    share = votes / (4 * max(fewest_votes, 1)) * (miss + math.log(miss) + 1)
    return math.sqrt((share + 1) / share * (math.log(share + 1) + miss))
