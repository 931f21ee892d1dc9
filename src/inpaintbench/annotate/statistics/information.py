"""Choice of the pair to ask about next: the one whose answer says most about the order of the methods.

The posterior of the strengths is taken as normal (Laplace). For a pair a, b with lead ``z`` in standard deviations the order is
open with the entropy of ``Phi(z)``. One more vote shrinks the variance of the lead by a share ``r``, which lowers that entropy by
``r phi(z)^2 / (2 Phi(z) Phi(-z))`` on average, to first order. The information of a vote is the sum of this over all pairs: votes
go where the order is open, and not also to pairs that are settled, as D- or A-optimal choices would send them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from scipy.special import log_ndtr

from inpaintbench.annotate.statistics.davidson import fit, probabilities
from inpaintbench.annotate.statistics.design import Design, Ints, Reals
from inpaintbench.errors import InputError

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
    gains = _gains(design, counts[first, second])
    return {(names[a], names[b]): float(gain) for a, b, gain in zip(first, second, gains, strict=True)}


def _gains(design: Design, counts: Reals) -> Reals:
    """``float64[pairs]``."""
    fitted = fit(design, counts[None], prior=SPREAD_PRECISION)
    contrasts = design.of_difference
    shared = contrasts @ fitted.covariance[0] @ contrasts.T
    variance, lead = np.diag(shared), contrasts @ fitted.core[0]
    shares = probabilities(lead, fitted.log_nu[0])
    per_vote = (1 - shares[:, 2] - (shares[:, 0] - shares[:, 1]) ** 2) / 4
    # Rows: pairs whose order is open; columns: the pair that gets the vote.
    shrinkage = shared**2 * per_vote / (1 + per_vote * variance) / variance[:, None]
    z = lead / np.sqrt(variance)
    # phi(z)^2 / (2 Phi(z) Phi(-z)), in logarithms against underflow.
    openness = np.exp(-(z**2) - np.log(2 * np.pi) - np.log(2) - log_ndtr(z) - log_ndtr(-z))
    gains: Reals = openness @ shrinkage
    return gains
