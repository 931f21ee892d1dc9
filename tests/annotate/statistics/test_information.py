from __future__ import annotations

import numpy as np
import pytest

from inpaintbench.annotate.desk.pairs import expected_information
from inpaintbench.annotate.statistics.davidson import PRIOR, Design, fit, probabilities
from inpaintbench.errors import InputError

NAMES = ["a", "b", "c", "d", "e"]


def test_without_votes_every_pair_is_worth_the_same() -> None:
    gains = expected_information({}, NAMES)
    assert list(gains) == [(one, other) for one in NAMES for other in NAMES if one < other]
    assert max(gains.values()) == pytest.approx(min(gains.values()))
    assert min(gains.values()) > 0


def test_a_settled_pair_is_worth_less_than_an_open_one() -> None:
    counts = {("a", "b"): {"a": 30, "b": 0, "tie": 0}, ("b", "c"): {"a": 15, "b": 15, "tie": 0}, ("a", "c"): {"a": 29, "b": 1}}
    gains = expected_information(counts, ["a", "b", "c"])
    assert gains["b", "c"] > 5 * gains["a", "b"]
    assert gains["b", "c"] > 5 * gains["a", "c"]


def test_the_gain_of_two_methods_is_the_expected_loss_of_entropy() -> None:
    """Against the entropy of the order, integrated over the outcomes with a fine grid as the posterior."""
    counts = {"a": 9, "b": 6, "tie": 4}
    grid = np.linspace(-6, 6, 4001)
    log_nu = _log_nu(counts)

    def entropy(log_posterior: np.ndarray) -> float:
        weights = np.exp(log_posterior - log_posterior.max())
        ahead = weights[grid > 0].sum() / weights.sum()
        return float(-ahead * np.log(ahead) - (1 - ahead) * np.log(1 - ahead))

    shares = probabilities(grid, log_nu)
    # Two strengths with precision 1 each, their mean 0: their difference has the variance 2.
    posterior = -(grid**2) / 4 + np.log(shares) @ np.array([counts["a"], counts["b"], counts["tie"]])
    weights = np.exp(posterior - posterior.max())
    predicted = (weights[:, None] * shares).sum(axis=0) / weights.sum()
    after = sum(predicted[outcome] * entropy(posterior + np.log(shares[:, outcome])) for outcome in range(3))
    gain = expected_information({("a", "b"): counts}, ["a", "b"])["a", "b"]
    assert gain == pytest.approx(entropy(posterior) - after, rel=0.15)


def _log_nu(counts: dict[str, int]) -> float:
    design = Design(2, np.array([0]), np.array([1]), np.array([0]), position=False)
    return float(fit(design, np.array([[[counts["a"], counts["b"], counts["tie"]]]], float), prior=1.0).log_nu[0])


@pytest.mark.long
def test_informed_pairs_reach_the_right_order_with_fewer_votes() -> None:
    strengths = np.array([2.0, 1.6, 0.2, -1.8, -2.0])
    right = {informed: sum(_right(strengths, seed, informed=informed) for seed in range(40)) for informed in (True, False)}
    # Over many studies the shares are about 75 % and 55 %; a difference below 0 would be 2 standard errors away.
    assert right[True] > right[False]


def _right(strengths: np.ndarray, seed: int, *, informed: bool, votes: int = 200) -> bool:
    rng = np.random.default_rng(seed)
    keys = [(one, other) for one in NAMES for other in NAMES if one < other]
    counts = {key: {"a": 0, "b": 0, "tie": 0} for key in keys}
    wins, ties = np.zeros((5, 5)), np.zeros((5, 5))
    for number in range(votes):
        gains = expected_information(counts, NAMES) if informed else {}
        key = max(keys, key=gains.__getitem__) if informed else keys[number % len(keys)]
        one, other = NAMES.index(key[0]), NAMES.index(key[1])
        outcome = rng.choice(3, p=probabilities(strengths[one] - strengths[other], -1.0))
        counts[key][("a", "b", "tie")[outcome]] += 1
        place = ((one, other), (other, one))[outcome % 2]
        (ties if outcome == 2 else wins)[place] += 1
    first, second = np.triu_indices(len(wins), 1)
    design = Design(len(wins), first, second, np.zeros_like(first), position=False)
    tied = ties + ties.T
    counts = np.stack([wins[first, second], wins[second, first], tied[first, second]], axis=-1)
    return bool((np.diff(fit(design, counts[None], prior=PRIOR).strengths[0]) < 0).all())


def test_strange_pairs_are_refused() -> None:
    with pytest.raises(InputError, match="alphabetical order"):
        expected_information({("b", "a"): {"a": 1, "b": 0, "tie": 0}}, NAMES)
    with pytest.raises(InputError, match="alphabetical order"):
        expected_information({("a", "z"): {"a": 1, "b": 0, "tie": 0}}, NAMES)
    with pytest.raises(InputError, match="two methods or more"):
        expected_information({}, ["a"])
