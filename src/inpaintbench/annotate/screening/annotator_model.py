"""Rule: comparisons that tell nothing, by a model of the methods and the raters together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from inpaintbench.annotate.questions.pairwise import TIE
from inpaintbench.annotate.screening.base import Finding, Panel, ScreeningRule, at_least, share
from inpaintbench.annotate.statistics.design import Ints, Reals
from inpaintbench.annotate.statistics.paired import numbered

# Methods and raters of comparisons together: Crowd-BT (Chen, Bennett, Collins-Thompson and Horvitz, WSDM 2013).
#
# A rater k prefers method i to j with probability ``eta_k p + (1 - eta_k) (1 - p)``, ``p = 1 / (1 + exp(s_j - s_i))``. Ours is
# the maximum a posteriori with ``s ~ N(0, 10)`` and ``eta ~ Beta(10, 2)``, by L-BFGS with exact gradients; a tie is half a win
# each.

# Precision of the prior of strengths, and the prior of reliability.
RIDGE = 0.1
BETA = (10.0, 2.0)
# Reliabilities from which the search begins, all raters alike.
_STARTS = (0.9, 0.6)


class Judged(NamedTuple):
    """One comparison."""

    first: str
    second: str
    points: float
    """Of the first: 1 when it won, 0 when it lost, 0.5 for a tie."""
    rater: str


class CrowdBT(NamedTuple):
    """Estimate of both."""

    strengths: Mapping[str, float]
    """Logarithms around 0."""
    reliability: Mapping[str, float]
    """Rater -> eta, 0..1."""
    objective: float
    """Negative log posterior, without constants."""


def crowd_bt(comparisons: Sequence[Judged]) -> CrowdBT:
    """Estimate strengths and reliabilities from at least one comparison."""
    from scipy.optimize import minimize

    methods = sorted({name for row in comparisons for name in row[:2]})
    raters = sorted({row.rater for row in comparisons})
    first, second, points, rater = zip(*comparisons, strict=True)
    keys = np.stack([numbered(first, methods), numbered(second, methods), numbered(rater, raters)], axis=1)
    rows, row = np.unique(keys, axis=0, return_inverse=True)
    won: Reals = np.bincount(row, weights=np.array(points), minlength=len(rows)).astype(np.float64)
    lost: Reals = np.bincount(row, minlength=len(rows)).astype(np.float64) - won
    best = None
    for start in _STARTS:
        begin = np.concatenate([_borda(rows, won, lost, methods=len(methods)), np.full(len(raters), np.log(start / (1 - start)))])
        fit = minimize(
            _objective, begin, args=(rows, won, lost, len(methods)), jac=True, method="L-BFGS-B",
            options={"maxiter": 5000, "ftol": 1e-14, "gtol": 1e-9},
        )  # fmt: skip
        best = fit if best is None or fit.fun < best.fun else best
    assert best is not None
    strengths, eta = best.x[: len(methods)], 1 / (1 + np.exp(-best.x[len(methods) :]))
    return CrowdBT(
        dict(zip(methods, strengths.tolist(), strict=True)), dict(zip(raters, eta.tolist(), strict=True)), float(best.fun)
    )


def _borda(rows: Ints, won: Reals, lost: Reals, *, methods: int) -> Reals:
    """Log odds of winning, as strengths to begin with."""
    wins = np.bincount(rows[:, 0], won, methods) + np.bincount(rows[:, 1], lost, methods)
    losses = np.bincount(rows[:, 0], lost, methods) + np.bincount(rows[:, 1], won, methods)
    odds: Reals = np.log((wins + 1) / (losses + 1))
    return odds


def _objective(parameters: Reals, rows: Ints, won: Reals, lost: Reals, methods: int) -> tuple[float, Reals]:
    """Negative log posterior of strengths and logits of reliability, and its gradient."""
    strengths, eta = parameters[:methods], 1 / (1 + np.exp(-parameters[methods:]))
    first, second, rater = rows.T
    p = 1 / (1 + np.exp(strengths[second] - strengths[first]))
    own = eta[rater]
    q = np.clip(own * p + (1 - own) * (1 - p), 1e-300, 1.0)
    other = np.clip(1 - q, 1e-300, 1.0)
    value = -(won * np.log(q) + lost * np.log(other)).sum() + RIDGE / 2 * (strengths**2).sum()
    value -= ((BETA[0] - 1) * np.log(eta) + (BETA[1] - 1) * np.log1p(-eta)).sum()
    by_q = -won / q + lost / other
    by_d = by_q * (2 * own - 1) * p * (1 - p)
    by_strength = np.bincount(first, by_d, methods) - np.bincount(second, by_d, methods) + RIDGE * strengths
    by_eta = np.bincount(rater, by_q * (2 * p - 1), len(eta)) - (BETA[0] - 1) / eta + (BETA[1] - 1) / (1 - eta)
    return float(value), np.concatenate([by_strength, by_eta * eta * (1 - eta)])


class AnnotatorModel(ScreeningRule):
    """Reliability of each rater in Crowd-BT: 1 follows the common order, 0.5 tosses a coin, 0 reverses it.

    It is a diagnosis; rankings stay those of Davidson's model.

    Args:
        reliability: below it a rater is flagged, 0..1.
        least: comparisons of a rater in a question before anything is said.
    """

    name = "annotator_model"
    version = "1"
    title = "Choices by lot"

    def __init__(self, *, reliability: float = 0.6, least: int = 15) -> None:
        self.reliability, self.least = share(reliability, name="reliability"), at_least(least, name="least")

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters whose choices follow no common order."""
        said: dict[str, str] = {}
        for label, votes in panel.of_question.items():
            if panel.kind(label) != "pair":
                continue
            judged = [
                Judged(first, second, 0.5 if vote.choice == TIE else float(vote.choice == first), vote.rater_id)
                for vote in votes
                for first, second in [vote.candidates]
                if vote.choice == TIE or vote.choice in vote.candidates
            ]
            counts: dict[str, int] = {}
            for row in judged:
                counts[row.rater] = counts.get(row.rater, 0) + 1
            model = crowd_bt(judged) if judged else None
            for rater_id, eta in model.reliability.items() if model else ():
                if counts[rater_id] >= self.least and eta < self.reliability:
                    said.setdefault(
                        rater_id, f"reliability {eta:.2f} over {counts[rater_id]} comparisons (1 = all, 0.5 = a coin)"
                    )
        return [Finding(rater_id, said[rater_id]) for rater_id in panel.of_rater if rater_id in said]
