"""How far people agree with each other: what a metric can be expected to reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inpaintbench.eval.alignment.bootstrap import BOOTSTRAP_95, Bootstrap, Estimate, Floats, Sample, rate
from inpaintbench.eval.alignment.votes import FIRST, SECOND, TIED, Votes


@dataclass(frozen=True)
class Ceiling:
    """Agreement of raters under one dimension."""

    rater_against_others: Estimate
    """Share of answers that say what most of the other raters of the pair said; where k answers are equally frequent among the
    others, one of them counts 1 / k."""
    decided_against_others: Estimate
    """The same over answers that prefer one of the two, against the preferences of the others; beside ``Matched.decided``."""
    two_raters: Estimate
    """Chance that another rater of the same pair, drawn at random, gave the same answer."""
    attainable: float | None
    """The largest matching rate that any metric could have on these answers: each pair's winner is the one that more people
    chose, and its values lie within the threshold, so that ties match too."""
    ties: float | None
    """Share of answers that call the two hard to distinguish."""


def ceiling(votes: Votes, bootstrap: Bootstrap = BOOTSTRAP_95) -> Ceiling:
    """Agreement of the raters of ``votes``; pairs with a single answer tell nothing of it."""
    tally = votes.tally()
    total = float(tally.sum())
    best = float((np.maximum(tally[:, FIRST], tally[:, SECOND]) + tally[:, TIED]).sum())
    preferences = tally * np.array([1.0, 1.0, 0.0])
    return Ceiling(
        rater_against_others=_rate(votes, _as_most(tally), bootstrap),
        decided_against_others=_rate(votes, _as_most(preferences), bootstrap, decided=True),
        two_raters=_rate(votes, _as_another(tally), bootstrap),
        attainable=best / total if total else None,
        ties=float(tally[:, TIED].sum()) / total if total else None,
    )


def _as_most(tally: Floats) -> Floats:
    """``float64[pairs, 3]``: the share of the commonest answers of the others that each answer is, NaN without others."""
    found = np.full(tally.shape, np.nan)
    for choice in range(3):
        others = tally.copy()
        others[:, choice] -= 1
        most = others.max(axis=1)
        common = (others == most[:, None]).sum(axis=1)
        there = (tally[:, choice] > 0) & (most > 0)
        found[there, choice] = ((others[:, choice] == most) / common)[there]
    return found


def _as_another(tally: Floats) -> Floats:
    """``float64[pairs, 3]``: the share of the others that gave the same answer, NaN without others."""
    others = tally.sum(axis=1, keepdims=True) - 1
    found = np.full(tally.shape, np.nan)
    np.divide(tally - 1, others, out=found, where=np.broadcast_to(others > 0, tally.shape) & (tally > 0))
    return found


def _rate(votes: Votes, share: Floats, bootstrap: Bootstrap, *, decided: bool = False) -> Estimate:
    hits = share[votes.pair, votes.choice]
    kept = ~np.isnan(hits) & ((votes.choice != TIED) | (not decided))
    raters = None if votes.rater is None else votes.rater[kept]
    found = rate(Sample(hits[kept] * votes.count[kept], votes.count[kept], votes.source[kept], raters), bootstrap)
    return found if found.n else found._replace(reason="no pair has answers of two raters")
