from __future__ import annotations

import choix
import numpy as np
import pytest
from scipy.optimize import minimize

from inpaintbench.annotate.statistics.davidson import PRIOR, Design, Spread, estimate_spread, fit, probabilities, unconnected
from inpaintbench.errors import InputError


def davidson(wins: np.ndarray, ties: np.ndarray, *, prior: float = PRIOR) -> tuple[np.ndarray, np.ndarray]:
    """Strengths with mean 0 and log nu, ``float64[..., methods]`` and ``float64[...]``, without positions or raters.

    ``wins``, ``float64[..., methods, methods]``: how often the row beat the column; of ``ties`` each counts once, on either side.
    """
    first, second = np.triu_indices(wins.shape[-1], 1)
    tied = ties + np.swapaxes(ties, -1, -2)
    counts = np.stack([wins[..., first, second], wins[..., second, first], tied[..., first, second]], axis=-1)
    design = Design(wins.shape[-1], first, second, np.zeros_like(first), position=False)
    fitted = fit(design, counts.reshape(-1, len(first), 3), prior=prior)
    return fitted.strengths.reshape(wins.shape[:-1]), fitted.log_nu.reshape(wins.shape[:-2])


def draws(seed: int, *, methods: int, votes: int) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Tie-free wins, as a table and as (winner, loser)."""
    rng = np.random.default_rng(seed)
    strengths = rng.normal(0, 1, methods)
    wins, pairs = np.zeros((methods, methods)), []
    for _ in range(votes):
        one, other = rng.choice(methods, 2, replace=False)
        if rng.random() > 1 / (1 + np.exp(strengths[other] - strengths[one])):
            one, other = other, one
        wins[one, other] += 1
        pairs.append((int(one), int(other)))
    return wins, pairs


@pytest.mark.parametrize("seed", range(4))
def test_without_ties_and_prior_it_is_what_choix_finds(seed: int) -> None:
    wins, pairs = draws(seed, methods=6, votes=400)
    strengths, log_nu = davidson(wins, np.zeros_like(wins), prior=0)
    for found in (choix.ilsr_pairwise(6, pairs), choix.opt_pairwise(6, pairs, tol=1e-12)):
        assert strengths == pytest.approx(found - found.mean(), abs=1e-6)
    assert log_nu < -25


def test_with_ties_it_is_the_maximum_of_davidsons_likelihood() -> None:
    rng = np.random.default_rng(3)
    wins, ties = rng.integers(2, 20, (4, 4)).astype(float), np.triu(rng.integers(2, 9, (4, 4)), 1).astype(float)
    np.fill_diagonal(wins, 0)

    def loss(parameters: np.ndarray) -> float:
        worth, nu, total = np.exp(np.append(parameters[:3], 0)), np.exp(parameters[3]), 0.0
        for i in range(4):
            for j in range(i + 1, 4):
                root = nu * np.sqrt(worth[i] * worth[j])
                whole = worth[i] + worth[j] + root
                total -= wins[i, j] * np.log(worth[i] / whole) + wins[j, i] * np.log(worth[j] / whole)
                total -= ties[i, j] * np.log(root / whole)
        return total

    best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-8}).x
    strengths, log_nu = davidson(wins, ties, prior=0)
    expected = np.append(best[:3], 0)
    assert strengths == pytest.approx(expected - expected.mean(), abs=1e-5)
    assert log_nu == pytest.approx(best[3], abs=1e-5)


def test_replicates_are_solved_each_for_itself() -> None:
    rng = np.random.default_rng(5)
    wins, ties = rng.poisson(6, (50, 5, 5)).astype(float), rng.poisson(2, (50, 5, 5)).astype(float)
    together = davidson(wins, ties)
    for index in (0, 17, 49):
        alone = davidson(wins[index], ties[index])
        assert together[0][index] == pytest.approx(alone[0], abs=1e-8)
        assert together[1][index] == pytest.approx(alone[1], abs=1e-8)


def test_a_method_that_won_everything_needs_the_prior() -> None:
    wins = np.array([[0.0, 20, 20], [0, 0, 5], [0, 5, 0]])
    with pytest.raises(InputError, match="won everything"):
        davidson(wins, np.zeros((3, 3)), prior=0)
    strengths, _ = davidson(wins, np.zeros((3, 3)))
    assert 2 < strengths[0] - strengths[1] < 8
    assert strengths[1] == pytest.approx(strengths[2], abs=1e-8)


def test_probabilities_are_those_of_the_paper() -> None:
    p, q, nu = 3.0, 0.5, 0.7
    whole = p + q + nu * np.sqrt(p * q)
    expected = [p / whole, q / whole, nu * np.sqrt(p * q) / whole]
    assert probabilities(np.log(p / q), np.log(nu)) == pytest.approx(expected)
    assert probabilities(4000.0, -3000.0) == pytest.approx([1, 0, 0])


def rated(seed: int, *, raters: int, votes: int, spread: Spread) -> tuple[Design, np.ndarray]:
    rng = np.random.default_rng(seed)
    strengths = np.linspace(1, -1, 4)
    first, rater = rng.integers(0, 4, votes), rng.integers(0, raters, votes)
    second = (first + rng.integers(1, 4, votes)) % 4
    bias, log_nu = rng.normal(0.3, spread.bias, raters), rng.normal(-1, spread.log_nu, raters)
    shares = probabilities(strengths[first] - strengths[second] + bias[rater], log_nu[rater])
    outcome = (rng.random(votes)[:, None] > shares.cumsum(axis=1)).sum(axis=1)
    return Design(4, first, second, rater, raters), np.eye(3)[outcome][None]


def test_effects_of_raters_are_the_maximum_of_the_penalised_likelihood() -> None:
    design, counts = rated(1, raters=5, votes=300, spread=Spread(0.5, 0.5))
    spread, prior = Spread(0.6, 0.4), 0.2

    def loss(parameters: np.ndarray) -> float:
        core, own = parameters[:6], parameters[6:].reshape(5, 2)
        lead = core[design.first] - core[design.second] + core[4] + own[design.rater, 0]
        shares = probabilities(lead, core[5] + own[design.rater, 1])
        penalty = prior * (core**2).sum() + (own**2 / np.square(spread)).sum()
        return float(-(counts[0] * np.log(shares)).sum() + penalty / 2)

    best = minimize(loss, np.zeros(16), method="BFGS", options={"gtol": 1e-6}).x
    found = fit(design, counts, prior=prior, spread=spread)
    assert found.core[0] == pytest.approx(best[:6], abs=1e-4)
    assert found.of_raters[0].ravel() == pytest.approx(best[6:], abs=1e-4)


def test_the_spread_of_raters_is_found() -> None:
    wide = [estimate_spread(*rated(seed, raters=60, votes=4000, spread=Spread(0.8, 1.0)))[0] for seed in range(3)]
    none = [estimate_spread(*rated(seed, raters=60, votes=4000, spread=Spread(0.0, 0.0)))[0] for seed in range(3)]
    # 60 raters tell a standard deviation to about 10 %, three studies together to 6 %.
    assert np.mean(wide, axis=0) == pytest.approx([0.8, 1.0], rel=0.2)
    assert np.mean(none, axis=0).max() < 0.25


def test_groups_without_a_comparison_between_them_are_named() -> None:
    assert unconnected("abc", [("a", "b"), ("c", "b")]) is None
    reason = unconnected("abcd", [("a", "c"), ("b", "d")])
    assert reason == "no comparison connects these groups of methods: a, c; b, d"
    assert unconnected("ab", [("a", "b")], both_ways=True) is not None
    assert unconnected("ab", [("a", "b"), ("b", "a")], both_ways=True) is None
