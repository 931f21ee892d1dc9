from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.statistics import (
    Interval,
    check_infinite_rule,
    mean_of,
    rank,
    relative_improvement,
    settle_infinite,
    summarise,
)

finite = st.floats(-1e6, 1e6)
measured = st.one_of(st.none(), st.just(math.inf), finite)
labelled = st.lists(st.tuples(measured, st.sampled_from("abcde")), max_size=25)


def columns(pairs: list[tuple[float | None, str]]) -> tuple[list[float | None], list[str]]:
    return [value for value, _ in pairs], [source for _, source in pairs]


def test_mean_and_standard_error_are_those_of_numpy_and_scipy() -> None:
    values = list(np.random.default_rng(0).normal(30, 4, 40))
    found = summarise(values, clusters=[str(index // 4) for index in range(40)])
    assert found.mean == pytest.approx(np.mean(values), abs=1e-12)
    assert found.standard_error == pytest.approx(scipy.stats.sem(values), rel=1e-12)
    assert (found.n, found.n_infinite, found.n_missing, found.n_clusters) == (40, 0, 0, 10)
    assert found.reason is None


def test_missing_and_infinite_values_are_counted_and_left_out() -> None:
    found = summarise([10.0, None, math.inf, 20.0], clusters=["a", "a", "b", "c"])
    assert (found.mean, found.n, found.n_infinite, found.n_missing, found.n_clusters) == (15.0, 2, 1, 1, 2)


def test_the_published_rule_takes_infinite_for_the_largest_finite() -> None:
    found = summarise([10.0, None, math.inf, 20.0], clusters=["a", "a", "b", "c"], infinite="largest_finite")
    assert found.mean == pytest.approx(50 / 3)
    assert (found.n, found.n_infinite, found.n_clusters) == (3, 1, 3)


def test_kept_infinite_values_make_the_mean_infinite() -> None:
    found = summarise([10.0, None, math.inf, 20.0], clusters=["a", "a", "b", "c"], infinite="keep")
    assert (found.mean, found.n, found.n_infinite, found.n_missing, found.n_clusters) == (math.inf, 3, 1, 1, 3)
    assert (found.standard_error, found.interval_low, found.interval_high) == (None, None, None)
    assert found.reason == "no interval: the mean is infinite"
    values, clusters = [10.0, None, 20.0], ["a", "a", "b"]
    assert summarise(values, clusters=clusters, infinite="keep") == summarise(values, clusters=clusters)
    assert summarise([None], clusters=["a"], infinite="keep").reason == "no item has a value"
    assert mean_of([], infinite="keep") is None


@pytest.mark.parametrize("infinite", ["count", "largest_finite"])
def test_nothing_finite_has_no_mean_but_a_reason(infinite: str) -> None:
    endless = summarise([math.inf, math.inf], clusters=["a", "b"], infinite=infinite)  # type: ignore[arg-type]
    assert (endless.mean, endless.n, endless.n_infinite, endless.reason) == (None, 0, 2, "all 2 values are infinite")
    empty = summarise([None], clusters=["a"], infinite=infinite)  # type: ignore[arg-type]
    assert (empty.mean, empty.interval_low, empty.reason) == (None, None, "no item has a value")


def test_one_source_has_a_mean_and_a_standard_error_but_no_interval() -> None:
    found = summarise([1.0, 2.0, 3.0], clusters=["a", "a", "a"])
    assert (found.mean, found.interval_low, found.interval_high) == (2.0, None, None)
    assert found.standard_error == pytest.approx(1 / math.sqrt(3))
    assert found.reason == "no interval: all items come from one source"
    assert summarise([1.0], clusters=["a"]).standard_error is None


@pytest.mark.parametrize("level", [0.95, 0.6])
def test_the_interval_resamples_sources_and_weighs_items(level: float) -> None:
    values, clusters = [0.0, 10.0, 11.0, 12.0, 40.0], ["a", "b", "b", "b", "c"]
    found = summarise(values, clusters=clusters, interval=Interval(level=level))
    by_source = {"a": [0.0], "b": [10.0, 11.0, 12.0], "c": [40.0]}
    # Three sources have 27 equally likely draws, so the quantiles that the bootstrap approaches can be listed.
    draws = itertools.product("abc", repeat=3)
    means = [np.mean([value for source in draw for value in by_source[source]]) for draw in draws]
    tail = (1 - level) / 2
    expected = np.quantile(means, [tail, 1 - tail], method="inverted_cdf")
    assert (found.interval_low, found.interval_high) == pytest.approx(tuple(expected))


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(200):
        source_effects = rng.normal(0, 3, 30)
        values = list(np.repeat(source_effects, 4) + rng.normal(0, 1, 120))
        found = summarise(values, clusters=[str(index // 4) for index in range(120)], interval=Interval(replicates=300))
        assert found.interval_low is not None
        assert found.interval_high is not None
        covered += found.interval_low <= 0 <= found.interval_high
    # Items taken for independent would cover about 70 %.
    assert 0.88 <= covered / 200 <= 0.99


def test_the_interval_follows_its_settings_and_nothing_else() -> None:
    values, clusters = list(range(20)), [str(index) for index in range(20)]
    base = summarise(values, clusters=clusters)
    assert summarise(values, clusters=clusters) == base
    assert summarise(values, clusters=clusters, interval=Interval(seed=1)) != base
    narrow = summarise(values, clusters=clusters, interval=Interval(level=0.5))
    assert base.interval_low < narrow.interval_low < narrow.interval_high < base.interval_high  # type: ignore[operator]


@settings(max_examples=60, deadline=None)
@given(pairs=labelled, infinite=st.sampled_from(["count", "largest_finite"]), seed=st.integers(0, 99))
def test_the_order_of_items_never_matters(pairs: list[tuple[float | None, str]], infinite: str, seed: int) -> None:
    shuffled = random.Random(seed).sample(pairs, len(pairs))
    first, second = (
        summarise(values, clusters=clusters, infinite=infinite)  # type: ignore[arg-type]
        for values, clusters in (columns(pairs), columns(shuffled))
    )
    assert first == second


def test_a_mean_is_rounded_once() -> None:
    assert mean_of([1e16, 1.0, -1e16]) == mean_of([1.0, 1e16, -1e16]) == pytest.approx(1 / 3)


@settings(max_examples=60, deadline=None)
@given(pairs=labelled, infinite=st.sampled_from(["count", "largest_finite"]))
def test_counts_add_up_and_numbers_are_finite_and_in_order(pairs: list[tuple[float | None, str]], infinite: str) -> None:
    values, clusters = columns(pairs)
    found = summarise(values, clusters=clusters, infinite=infinite)  # type: ignore[arg-type]
    known = [value for value in values if value is not None and math.isfinite(value)]
    assert found.n_missing == values.count(None)
    assert found.n_infinite == values.count(math.inf)
    assert found.n in (len(known), len(values) - found.n_missing)
    numbers = [one for one in (found.mean, found.standard_error, found.interval_low, found.interval_high) if one is not None]
    assert all(math.isfinite(number) for number in numbers)
    assert (found.mean is None) == (not known)
    if found.interval_low is not None and found.interval_high is not None:
        slack = 1e-9 * max(map(abs, known))
        assert min(known) - slack <= found.interval_low <= found.interval_high <= max(known) + slack


@given(values=st.lists(st.one_of(st.just(math.inf), finite), max_size=10))
def test_settling_leaves_finite_values_alone(values: list[float]) -> None:
    known = [value for value in values if math.isfinite(value)]
    assert settle_infinite(values, infinite="count") == known
    replaced = settle_infinite(values, infinite="largest_finite")
    assert len(replaced) == (len(values) if known else 0)
    assert not known or max(replaced) == max(known)


@pytest.mark.parametrize("value", [math.nan, -math.inf])
def test_values_that_no_metric_gives_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="where there is nothing to measure the value is None"):
        mean_of([1.0, value])


def test_an_unknown_rule_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="unknown rule for infinite values 'counts', did you mean 'count'"):
        check_infinite_rule("counts")  # type: ignore[arg-type]


def test_equal_values_share_the_better_place() -> None:
    values = {"a": 3.0, "b": 5.0, "c": 3.0, "d": None, "e": 1.0, "f": math.inf}
    assert rank(values, higher_is_better=True) == {"a": 3, "b": 2, "c": 3, "d": None, "e": 5, "f": 1}
    assert rank(values, higher_is_better=False) == {"a": 2, "b": 4, "c": 2, "d": None, "e": 1, "f": 5}
    with pytest.raises(ValueError, match="cannot rank NaN"):
        rank({"a": math.nan}, higher_is_better=True)


@settings(max_examples=40, deadline=None)
@given(values=st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_ranks_are_those_of_scipy(values: list[int]) -> None:
    named = {str(index): float(value) for index, value in enumerate(values)}
    for higher_is_better, costs in ((True, -np.array(values)), (False, np.array(values))):
        expected = scipy.stats.rankdata(costs, method="min")
        assert list(rank(named, higher_is_better=higher_is_better).values()) == list(expected)


def test_improvement_is_positive_where_the_high_slice_is_easier() -> None:
    assert relative_improvement(20.0, 25.0, higher_is_better=True) == pytest.approx(0.25)
    assert relative_improvement(0.4, 0.3, higher_is_better=False) == pytest.approx(0.25)
    assert relative_improvement(0.4, 0.5, higher_is_better=False) == pytest.approx(-0.25)


@pytest.mark.parametrize(("low", "high"), [(None, 1.0), (1.0, None), (0.0, 1.0), (math.inf, 1.0), (1.0, math.inf)])
def test_improvement_over_nothing_is_none(low: float | None, high: float | None) -> None:
    assert relative_improvement(low, high, higher_is_better=True) is None
