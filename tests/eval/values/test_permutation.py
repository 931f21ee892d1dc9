from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.stats

from inpaintbench.eval.values.permutation import MOST_ENUMERATED_SOURCES, PairTest, holm, paired


def test_enumeration_is_brute_force_over_sources() -> None:
    rng = np.random.default_rng(0)
    clusters = [f"s{index % 7}" for index in range(17)]
    one, other = rng.normal(1, 1, (2, 17)).tolist()
    [found] = paired({"one": one, "other": other}, clusters, higher_is_better=True, seed=0)
    differences = np.subtract(one, other)
    hits = 0
    for signs in itertools.product((1, -1), repeat=7):
        flipped = [difference * signs[int(source[1:])] for difference, source in zip(differences, clusters, strict=True)]
        hits += abs(np.mean(flipped)) >= abs(differences.mean()) - 1e-12
    assert found.p == pytest.approx(hits / 2**7, abs=1e-15)
    assert found.p_holm == found.p
    assert (found.n, found.n_sources, found.least_p) == (17, 7, 2 / 2**7)


def test_equals_scipy_where_every_item_is_a_source() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.normal(0, 1, 10), rng.normal(0.7, 1, 10)
    expected = scipy.stats.permutation_test(
        (one, other),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    ).pvalue
    [found] = paired({"a": one.tolist(), "b": other.tolist()}, list("0123456789"), higher_is_better=True, seed=0)
    assert found.p == pytest.approx(expected, rel=1e-12)


def test_drawn_flips_agree_with_all_flips() -> None:
    rng = np.random.default_rng(2)
    count = MOST_ENUMERATED_SOURCES + 1
    differences = rng.normal(0.5, 1, count)
    [drawn] = paired(
        {"a": differences.tolist(), "b": [0.0] * count}, [str(i) for i in range(count)], higher_is_better=True, seed=3
    )
    signs = np.array(list(itertools.product((1, -1), repeat=count)))
    exact = np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9)
    assert drawn.p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 20_000))
    assert drawn.least_p == 1 / 20_000


@pytest.mark.parametrize("sources", [10, 30])
def test_p_is_uniform_without_a_difference_though_items_of_a_source_agree(sources: int) -> None:
    rng = np.random.default_rng(4)
    clusters = [str(index // 3) for index in range(3 * sources)]
    found = []
    for _ in range(300):
        differences = np.repeat(rng.normal(0, 1, sources), 3) + rng.normal(0, 0.1, 3 * sources)
        values = {"a": differences.tolist(), "b": [0.0] * len(clusters)}
        [test] = paired(values, clusters, higher_is_better=True, seed=0, random_flips=999)
        found.append(test.p)
    assert scipy.stats.kstest(found, "uniform").pvalue > 0.01
    assert np.mean(np.array(found) <= 0.05) < 0.09


def test_a_real_difference_is_found() -> None:
    rng = np.random.default_rng(5)
    shared = rng.normal(30, 5, 40)  # how hard items are is the same for both and cancels
    values = {"a": (shared + rng.normal(0.5, 0.5, 40)).tolist(), "b": shared.tolist()}
    [test] = paired(values, [str(index // 2) for index in range(40)], higher_is_better=True, seed=0)
    assert test.one == "a"
    assert test.p is not None
    assert test.p < 0.001
    assert test.difference == pytest.approx(0.5, abs=0.3)


def test_order_of_items_and_methods_does_not_matter() -> None:
    rng = np.random.default_rng(6)
    for sources in (9, 25):
        clusters = [str(rng.integers(sources)) for _ in range(60)]
        values = {name: rng.normal(shift, 1, 60).tolist() for name, shift in (("a", 0.0), ("b", 0.3), ("c", 0.6))}
        shuffled = rng.permutation(60)
        moved = {name: [values[name][index] for index in shuffled] for name in ("c", "a", "b")}
        one = paired(values, clusters, higher_is_better=False, seed=1)
        other = paired(moved, [clusters[index] for index in shuffled], higher_is_better=False, seed=1)
        assert {(test.one, test.other): test for test in one} == {(test.one, test.other): test for test in other}
        assert len(one) == 3


def test_the_better_comes_first_in_the_direction_of_the_metric() -> None:
    values, clusters = {"a": [1.0] * 8, "b": [2.0] * 8}, list("abcdefgh")
    [higher] = paired(values, clusters, higher_is_better=True, seed=0)
    [lower] = paired(values, clusters, higher_is_better=False, seed=0)
    assert (higher.one, higher.difference) == ("b", 1.0)
    assert (lower.one, lower.difference) == ("a", -1.0)
    assert higher.p == lower.p == 2 / 2**8


def test_equal_methods_have_p_one() -> None:
    [found] = paired({"b": [1.0] * 8, "a": [1.0] * 8}, list("abcdefgh"), higher_is_better=True, seed=0)
    assert (found.one, found.other, found.difference, found.p) == ("a", "b", 0.0, 1.0)


def test_holm_on_a_hand_made_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_all_pairs_are_corrected_together() -> None:
    rng = np.random.default_rng(7)
    values = {name: rng.normal(shift, 1, 12).tolist() for name, shift in (("a", 0), ("b", 1), ("c", 2), ("d", 2.1))}
    tests = paired(values, [str(index) for index in range(12)], higher_is_better=True, seed=0)
    assert len(tests) == 6
    assert [test.p_holm for test in tests] == holm([test.p for test in tests if test.p is not None])


def test_missing_and_infinite_values_leave_their_item_out_of_that_pair_alone() -> None:
    values = {
        "a": [1.0, None, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
        "b": [0.0, 1.0, math.inf, 3.0, 4.0, 5.0, 6.0, 7.0],
        "c": [0.0] * 8,
    }
    found = {(test.one, test.other): test for test in paired(values, list("abcdefgh"), higher_is_better=True, seed=0)}
    assert (found["a", "b"].n, found["a", "b"].n_sources) == (6, 6)
    assert found["a", "b"].difference == pytest.approx(1)
    assert found["a", "c"].n == found["b", "c"].n == 7


def test_too_few_sources_have_no_p_and_say_the_least() -> None:
    values = {"a": [float(index) for index in range(10)], "b": [0.0] * 10}
    [five] = paired(values, [str(index // 2) for index in range(10)], higher_is_better=True, seed=0)
    assert (five.p, five.p_holm, five.least_p) == (None, None, 0.0625)
    assert five.difference == 4.5
    assert five.reason == "5 sources: an interval, rank or lead needs at least 6"
    [none] = paired({"a": [None], "b": [1.0]}, ["x"], higher_is_better=True, seed=0)
    assert none == PairTest("a", "b", None, None, None, 0, 0, 1.0, "no item has a finite value of both")
    assert paired({"a": [1.0]}, ["x"], higher_is_better=True, seed=0) == []


def test_columns_have_a_value_for_each_item() -> None:
    with pytest.raises(ValueError, match="'b' has 1 values for 2 items"):
        paired({"a": [1.0, 2.0], "b": [1.0]}, ["x", "y"], higher_is_better=True, seed=0)


def test_items_weigh_as_in_weighted_means_and_p_follows_brute_force() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.normal(0.4, 1, 16), rng.normal(0, 1, 16)
    weights = rng.integers(1, 90, 16).astype(float)
    clusters = [str(index // 2) for index in range(16)]
    [found] = paired(
        {"a": one.tolist(), "b": other.tolist()}, clusters, higher_is_better=True, seed=0,
        weights={"a": weights.tolist(), "b": weights.tolist()},
    )  # fmt: skip
    gap = np.average(one, weights=weights) - np.average(other, weights=weights)
    assert found.difference == pytest.approx(abs(gap), rel=1e-12)
    sums = (weights * (one - other)).reshape(8, 2).sum(axis=1)
    flips = [abs(np.dot(signs, sums)) for signs in itertools.product((1, -1), repeat=8)]
    assert found.p == np.mean(np.array(flips) >= abs(sums.sum()) - 1e-9)


def test_infinite_values_count_as_the_rule_says() -> None:
    values = {"a": [math.inf, 4.0, 6.0, 8.0, 5.0, 7.0], "b": [1.0, math.inf, 3.0, 3.0, 3.0, None]}
    [settled] = paired(values, list("abcdef"), higher_is_better=True, seed=0, infinite="largest_finite")
    assert (settled.n, settled.n_infinite) == (5, 0)
    assert settled.difference == pytest.approx((8 - 1 + 4 - 3 + 6 - 3 + 8 - 3 + 5 - 3) / 5)
    for rule in ("count", "keep"):
        [kept] = paired(values, list("abcdef"), higher_is_better=True, seed=0, infinite=rule)
        assert (kept.n, kept.n_infinite) == (3, 2)


def test_fourteen_sources_are_still_enumerated() -> None:
    rng = np.random.default_rng(2)
    one, other = rng.normal(0.4, 1, (2, 14)).tolist()
    [found] = paired({"one": one, "other": other}, [f"s{n}" for n in range(14)], higher_is_better=True, seed=0)
    assert found.p is not None
    assert (found.p * 2**14) % 1 == 0
