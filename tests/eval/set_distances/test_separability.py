from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Comparison, Features
from inpaintbench.eval.set_distances import samples
from inpaintbench.eval.set_distances.samples import Machine


def pairs(n: int, d: int, *, seed: int = 0, shift: float = 0.3, noise: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Predictions that resemble their truths and are shifted as a whole."""
    rng = np.random.default_rng(seed)
    truth = rng.gamma(1.0, 0.4, (n, d))
    return truth + rng.normal(0, noise, (n, d)) + shift / np.sqrt(d), truth


def compared(prediction: np.ndarray, truth: np.ndarray, *, ties: str = "loss", items: int = 1) -> tuple[Comparison, Comparison]:
    parts = zip(np.array_split(prediction, items), np.array_split(truth, items), strict=True)
    sets, clusters = [Features(*part) for part in parts], ["a"] * items
    return (
        samples.paired(sets, clusters, cost=1.0, ties=ties),
        samples.unpaired(sets, clusters, cost=1.0),
    )


def objective(weights: np.ndarray, extended: np.ndarray, signs: np.ndarray, cost: float) -> tuple[float, np.ndarray]:
    slack = np.clip(1 - signs * (extended @ weights), 0, None)
    return weights @ weights / 2 + cost * slack @ slack, weights - 2 * cost * extended.T @ (signs * slack)


def slow_optimum(real: np.ndarray, fake: np.ndarray, *, cost: float) -> tuple[float, np.ndarray]:
    """Of the published problem, by a general minimiser."""
    rows = np.vstack([real, fake])
    extended, signs = np.column_stack([rows, np.ones(len(rows))]), np.repeat([1.0, -1.0], [len(real), len(fake)])
    found = scipy.optimize.minimize(
        objective, np.zeros(extended.shape[1]), (extended, signs, cost), "L-BFGS-B", jac=True,
        options={"maxiter": 50_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 50},
    )  # fmt: skip
    return found.fun, found.x


@pytest.mark.parametrize(("n", "d"), [(60, 5), (200, 20), (15, 40), (1500, 6)])
@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
def test_finds_the_optimum_of_the_published_problem(n: int, d: int, cost: float) -> None:
    fake, real = pairs(n, d)
    machine = Machine(cost=cost)
    values = machine.fit([real], [fake])
    least, weights = slow_optimum(real, fake, cost=cost)
    assert machine.objective == pytest.approx(least, rel=1e-8)
    np.testing.assert_allclose(machine.weights, weights, atol=2e-4 * np.abs(weights).max())
    for rows, found in zip((real, fake), values, strict=True):
        np.testing.assert_allclose(rows @ machine.weights[:-1] + machine.weights[-1], found, atol=1e-10)


def test_shares_are_those_of_the_slow_machine() -> None:
    fake, real = pairs(400, 12)
    _, weights = slow_optimum(real, fake, cost=1.0)
    on_real, on_fake = (rows @ weights[:-1] + weights[-1] for rows in (real, fake))
    found_paired, found_unpaired = compared(fake, real)
    assert found_paired.value == pytest.approx(np.mean(on_fake > on_real), abs=1 / 400)
    expected = (np.mean(on_real <= 0) + np.mean(on_fake > 0)) / 2
    assert found_unpaired.value == pytest.approx(expected, abs=1 / 400)
    assert 0.1 < expected < 0.5
    assert found_unpaired.details == {"n": 400, "d": 12, "paired": True}


def test_sets_that_a_plane_separates_score_nothing() -> None:
    truth = np.random.default_rng(0).normal(size=(50, 4))
    prediction = truth + np.array([20.0, 0, 0, 0])
    found = compared(prediction, truth)
    assert [one.value for one in found] == [0, 0]
    few = compared(*pairs(6, 64, noise=3.0))
    assert [one.value for one in few] == [0, 0]
    assert all("2 N = 12 <= d + 1 = 65" in one.details["warning"] for one in few)


@pytest.mark.parametrize("items", [1, 7])
def test_identical_sets_cannot_be_told_apart(items: int) -> None:
    _, truth = pairs(300, 8)
    for ties, expected in (("loss", 0.0), ("half", 0.5)):
        found_paired, found_unpaired = compared(truth.copy(), truth, ties=ties, items=items)
        assert found_paired.value == expected
        assert found_paired.details["ties"] == 300
        assert found_unpaired.value == 0.5


def test_identical_pairs_among_others_are_ties() -> None:
    prediction, truth = pairs(300, 8)
    prediction[:100] = truth[:100]
    loss, half = (compared(prediction, truth, ties=ties, items=4)[0] for ties in ("loss", "half"))
    assert loss.details["ties"] == half.details["ties"] == 100
    assert loss.value is not None
    assert half.value == pytest.approx(loss.value + 100 / 2 / 300)


def test_shuffled_pairs_change_only_the_paired_score() -> None:
    prediction, truth = pairs(400, 10)
    order = np.random.default_rng(1).permutation(400)
    before, after = compared(prediction, truth), compared(prediction[order], truth)
    assert before[0].value != after[0].value
    assert before[1].value == pytest.approx(after[1].value, abs=1e-12)


def test_items_do_not_matter() -> None:
    prediction, truth = pairs(300, 10)
    assert compared(prediction, truth, items=1) == compared(prediction, truth, items=13)


def test_both_scores_share_one_training() -> None:
    sets = [Features(*pairs(100, 10, seed=4))]
    first = samples.separation(sets, ["a"], cost=1.0)
    same = [Features(*(features.copy() for features in sets[0]))]
    assert samples.separation(same, ["a"], cost=1.0) is first
    assert samples.separation(same, ["a"], cost=0.001) is not first


def test_what_cannot_be_compared_has_a_reason() -> None:
    prediction, truth = pairs(6, 3)
    for found in compared(prediction * np.inf, truth):
        assert found.value is None
        assert "NaN or infinite" in str(found.reason)
    with pytest.raises(NotMeasurable, match="do not come in pairs"):
        samples.separation([Features(prediction[:4], truth)], ["a"], cost=1.0)


def test_constant_features_have_a_score() -> None:
    still = np.full((40, 3), 2.0)
    found_paired, found_unpaired = compared(still, still, ties="half")
    assert (found_paired.value, found_unpaired.value) == (0.5, 0.5)
