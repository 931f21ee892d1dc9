"""Comparison studies with planted strengths, drawn vote by vote, and the strengths that endless votes would give."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq, minimize

from inpaintbench.annotate.statistics.ranking import Comparison

Reals = npt.NDArray[np.float64]
OUTCOMES = ("first", "second", "tie")


@dataclass(frozen=True)
class Planted:
    """A population of studies. Spreads are standard deviations in log units."""

    strengths: tuple[float, ...]
    ties: float
    sources: int
    raters: int = 30
    votes: int = 600
    source_spread: float = 0.3
    bias: float = 0.1
    bias_spread: float = 0.3
    tie_spread: float = 0.5

    @property
    def names(self) -> list[str]:
        return [f"m{number}" for number in range(len(self.strengths))]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(len(self.strengths)), 2))

    @property
    def log_nu(self) -> float:
        def excess(log_nu: float) -> float:
            shares = [outcome_shares(self.strengths[a] - self.strengths[b], log_nu)[2] for a, b in self.pairs]
            return float(np.mean(shares)) - self.ties

        return float(brentq(excess, -30, 30))


def outcome_shares(difference: float, log_nu: float) -> tuple[float, float, float]:
    p, nu = np.exp(difference), np.exp(log_nu)
    whole = p + 1 + nu * np.sqrt(p)
    return float(p / whole), float(1 / whole), float(nu * np.sqrt(p) / whole)


def drawn(planted: Planted, seed: int) -> list[Comparison]:
    """One study: every pair of every source gets a vote in turn, by raters and with sides drawn at random."""
    rng = np.random.default_rng([seed, planted.sources, planted.votes])
    methods, log_nu = len(planted.strengths), planted.log_nu
    of_source = np.array(planted.strengths) + rng.normal(0, planted.source_spread, (planted.sources, methods))
    bias = rng.normal(planted.bias, planted.bias_spread, planted.raters)
    tie = rng.normal(log_nu, planted.tie_spread, planted.raters)
    tasks = np.array([(source, *pair) for source in range(planted.sources) for pair in planted.pairs])
    order = rng.permutation(len(tasks))
    source, one, other = tasks[order[np.arange(planted.votes) % len(tasks)]].T
    swapped = rng.random(planted.votes) < 0.5
    one, other = np.where(swapped, other, one), np.where(swapped, one, other)
    rater = rng.integers(planted.raters, size=planted.votes)
    first, second, _ = _shares(of_source[source, one] - of_source[source, other] + bias[rater], tie[rater])
    chance = rng.random(planted.votes)
    outcome = np.where(chance < first, 0, np.where(chance < first + second, 1, 2))
    columns = zip(one.tolist(), other.tolist(), outcome.tolist(), rater.tolist(), source.tolist(), strict=True)
    return [Comparison(f"m{a}", f"m{b}", OUTCOMES[o], f"r{r}", f"s{c}") for a, b, o, r, c in columns]


def true_strengths(planted: Planted) -> Reals:
    """What endless sources give: shares of outcomes averaged over sources, fitted with each rater's own effects.

    Deviations of raters are integrated on a grid of 7 x 7 and sources on 21 nodes of Gauss and Hermite's rule.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(7)
    source_nodes, source_weights = np.polynomial.hermite_e.hermegauss(21)
    bias = planted.bias + planted.bias_spread * np.repeat(nodes, 7)
    tie = planted.log_nu + planted.tie_spread * np.tile(nodes, 7)
    rater_weights = np.outer(weights, weights).ravel() / weights.sum() ** 2
    kinds = planted.pairs + [(b, a) for a, b in planted.pairs]
    signs = np.zeros((len(kinds), len(planted.strengths)))
    for row, (one, other) in enumerate(kinds):
        signs[row, one], signs[row, other] = 1, -1
    leads = (signs @ np.array(planted.strengths))[:, None, None] + bias[:, None]
    leads = leads + np.sqrt(2) * planted.source_spread * source_nodes
    expected = np.stack(_shares(leads, tie[:, None]), axis=-1)
    expected = (expected * source_weights[:, None]).sum(axis=2) / source_weights.sum() * rater_weights[:, None]
    raters, methods = len(bias), len(planted.strengths)

    def loss(parameters: Reals) -> tuple[float, Reals]:
        strengths, own_bias, own_tie = np.split(parameters, [methods, methods + raters])
        first, second, tied = _shares((signs @ strengths)[:, None] + own_bias, own_tie)
        value = -(expected * np.log(np.stack([first, second, tied], axis=-1))).sum()
        total = expected.sum(axis=-1)
        by_lead = (total * (first - second) - expected[..., 0] + expected[..., 1]) / 2
        by_tie = total * tied - expected[..., 2]
        return float(value), np.concatenate([signs.T @ by_lead.sum(axis=1), by_lead.sum(axis=0), by_tie.sum(axis=0)])

    start = np.concatenate([planted.strengths, bias, tie])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-9}).x[:methods]
    return found - found.mean()


def _shares(lead: Reals, tie: Reals) -> tuple[Reals, Reals, Reals]:
    p, nu = np.exp(lead), np.exp(tie)
    whole = p + 1 + nu * np.sqrt(p)
    return p / whole, 1 / whole, nu * np.sqrt(p) / whole
