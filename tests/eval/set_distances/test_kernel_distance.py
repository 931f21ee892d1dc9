from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inpaintbench.eval.metrics.base import Comparison, Features
from inpaintbench.eval.set_distances import samples


def naive(one: np.ndarray, other: np.ndarray) -> float:
    """The definition, vector by vector."""

    def kernel(x: np.ndarray, y: np.ndarray) -> float:
        return float((np.dot(x, y) / len(x) + 1) ** 3)

    m, n = len(one), len(other)
    within_one = sum(kernel(one[i], one[j]) for i in range(m) for j in range(m) if i != j)
    within_other = sum(kernel(other[i], other[j]) for i in range(n) for j in range(n) if i != j)
    between = sum(kernel(x, y) for x in one for y in other)
    return within_one / (m * (m - 1)) + within_other / (n * (n - 1)) - 2 * between / (m * n)


def vectors(n: int, d: int, *, seed: int, mean: float = 0.3) -> np.ndarray:
    return np.random.default_rng(seed).normal(mean, 1, (n, d))


def sets_of(one: np.ndarray, other: np.ndarray, *, items: int) -> list[Features]:
    return [Features(*pair) for pair in zip(np.array_split(one, items), np.array_split(other, items), strict=True)]


def compare(sets: list[Features], sources: list[str] | None = None, **constants: Any) -> Comparison:
    asked = {"subsets": 0, "subset_size": 1000, "subset_seed": 0} | constants
    return samples.compare(sets, sources or ["a"] * len(sets), **asked)


@pytest.mark.parametrize("items", [1, 3, 9])
def test_equals_the_double_loop(items: int) -> None:
    one, other = vectors(30, 7, seed=0), vectors(24, 7, seed=1, mean=0.5)
    found = compare(sets_of(one, other, items=items))
    assert found.value == pytest.approx(naive(one, other), rel=1e-10)
    assert found.details == {"n": 30, "n_truth": 24, "d": 7, "paired": True}


def test_many_blocks_equal_one() -> None:
    one, other = vectors(2300, 4, seed=0), vectors(1100, 4, seed=1)
    products = [((a @ b.T) / 4 + 1) ** 3 for a, b in ((one, one), (other, other), (one, other))]
    means = [(part.sum() - np.trace(part)) / (len(part) * (len(part) - 1)) for part in products[:2]]
    found = compare(sets_of(one, other, items=50), [str(index) for index in range(50)])
    assert found.value == pytest.approx(sum(means) - 2 * products[2].mean(), abs=1e-10)


def test_has_no_bias_whatever_the_number() -> None:
    # Normal vectors in one dimension: E k(x, y) = 1 + 3 E xy + 3 E x^2y^2 + E x^3y^3, by the moments of each.
    def moments(mean: float) -> np.ndarray:
        return np.array([1, mean, mean**2 + 1, mean**3 + 3 * mean])

    weights, first, second = np.array([1, 3, 3, 1]), moments(0.0), moments(0.7)
    expected = weights @ (first - second) ** 2
    for n in (3, 12):
        rng = np.random.default_rng(n)
        draws = [compare([Features(rng.normal(0, 1, (n, 1)), rng.normal(0.7, 1, (n, 1)))]).value for _ in range(6000 // n)]
        assert np.mean(draws) == pytest.approx(expected, abs=4 * np.std(draws) / np.sqrt(len(draws)))
        assert np.min(draws) < 0


def test_the_interval_leaves_out_each_source() -> None:
    one, other = vectors(32, 6, seed=0), vectors(32, 6, seed=1, mean=0.6)
    sets, sources = sets_of(one, other, items=8), list("abcdefba")
    without = []
    for source in "abcdef":
        kept = [pair for pair, name in zip(sets, sources, strict=True) if name != source]
        without.append(naive(*(np.concatenate(arrays) for arrays in zip(*kept, strict=True))))
    found = compare(sets, sources)
    assert found.standard_error == pytest.approx(np.sqrt(5 / 6 * np.sum((without - np.mean(without)) ** 2)), rel=1e-8)
    assert found.value is not None
    assert found.interval_high == pytest.approx(found.value + 2.570582 * found.standard_error, rel=1e-6)


@pytest.mark.parametrize("sources", [["a"] * 4, ["a", "a", "b", "b"], ["a", "b", "c", "d"]])
def test_few_sources_have_no_interval(sources: list[str]) -> None:
    found = compare(sets_of(vectors(8, 3, seed=0), vectors(8, 3, seed=1), items=4), sources)
    assert found.value is not None
    assert found.standard_error is None


def test_subsets_of_everything_are_the_exact_form() -> None:
    one, other = vectors(20, 5, seed=0), vectors(20, 5, seed=1, mean=0.5)
    found = compare(sets_of(one, other, items=4), subsets=3, subset_size=20)
    assert found.value == pytest.approx(naive(one, other), rel=1e-10)
    assert found.details["deviation_of_subsets"] == pytest.approx(0, abs=1e-12)


def test_subsets_scatter_about_the_exact_form_and_follow_their_seed() -> None:
    one, other = vectors(200, 5, seed=0), vectors(150, 5, seed=1, mean=0.6)
    sets = sets_of(one, other, items=10)
    exact = compare(sets).value
    first, again, second = (compare(sets, subsets=100, subset_size=40, subset_seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert first.value != second.value
    assert first.details["subsets"] == 100
    assert first.value == pytest.approx(exact, abs=4 * first.details["deviation_of_subsets"] / np.sqrt(100))


def test_what_cannot_be_compared_has_a_reason() -> None:
    one = vectors(4, 3, seed=0)
    found = compare([Features(one, one)], subsets=2, subset_size=5)
    assert found.value is None
    assert found.reason == "subsets of 5 vectors cannot be drawn from 4"
    assert "at least 2 vectors" in str(compare([Features(one[:1], one)]).reason)
    assert "NaN" in str(compare([Features(one * np.nan, one)]).reason)


def test_constant_features_of_both_sets_do_not_differ() -> None:
    still = np.full((6, 3), 2.0)
    assert compare([Features(still, still)]).value == pytest.approx(0, abs=1e-9)


def test_beyond_many_vectors_the_exact_form_is_replaced_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "MOST_EXACT", 99)
    sets = sets_of(vectors(100, 5, seed=0), vectors(90, 5, seed=1, mean=0.6), items=10)
    found = compare(sets, subset_size=40)
    assert found.details.pop("note") == "more than 99 vectors: the mean over 100 random subsets of 40, not all pairs"
    assert found == compare(sets, subsets=100, subset_size=40)
    assert "of 90, not" in compare(sets, subset_size=1000).details["note"]
    monkeypatch.setattr(samples, "MOST_EXACT", 100)
    assert compare(sets).details == {"n": 100, "n_truth": 90, "d": 5, "paired": True}
