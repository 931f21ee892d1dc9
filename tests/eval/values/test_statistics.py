from __future__ import annotations

import math
import random

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.values.statistics import (
    check_infinite_rule,
    mean_of,
    rank,
    relative_improvement,
    settle_infinite,
    spread_of,
    summarise,
)

finite = st.floats(-1e6, 1e6)
measured = st.one_of(st.none(), st.just(math.inf), finite)
labelled = st.lists(st.tuples(measured, st.sampled_from("abcdefgh")), max_size=25)


def columns(pairs: list[tuple[float | None, str]]) -> tuple[list[float | None], list[str]]:
    return [value for value, _ in pairs], [source for _, source in pairs]


def test_the_standard_error_is_that_of_the_means_of_sources() -> None:
    values = np.random.default_rng(0).normal(30, 4, 40)
    found = summarise(values.tolist(), clusters=[str(index // 4) for index in range(40)])
    assert found.mean == pytest.approx(np.mean(values), abs=1e-12)
    assert found.standard_error == pytest.approx(scipy.stats.sem(values.reshape(10, 4).mean(axis=1)), rel=1e-12)
    assert (found.n, found.n_infinite, found.n_missing, found.n_clusters) == (40, 0, 0, 10)
    assert found.reason is None


def test_an_interval_ends_where_values_do() -> None:
    """One source of seven has all of the error: the interval reaches below 0, where no squared error can be."""
    values, clusters = [0.0001, 0.0002, 0.0, 0.0001, 0.0, 0.0, 0.04], list("abcdefg")
    free = summarise(values, clusters=clusters)
    cut = summarise(values, clusters=clusters, bounds=(0.0, 1.0))
    assert free.interval_low is not None
    assert free.interval_low < 0
    assert cut == free._replace(interval_low=0.0)
    high = summarise([1 - value for value in values], clusters=clusters, bounds=(0.0, 1.0))
    assert high.interval_high == 1.0


@pytest.mark.parametrize(
    ("metric", "bounds"),
    [
        ("mse", (0, 1)),
        ("flicker", (0, math.inf)),
        ("warp_error", (0, math.inf)),
        ("ssim", (-1, 1)),
        ("kid", (-math.inf, math.inf)),
    ],
)
def test_metrics_state_what_values_they_can_have(metric: str, bounds: tuple[float, float]) -> None:
    assert METRICS.get(metric).bounds == bounds


def test_the_standard_error_leaves_out_one_source_at_a_time() -> None:
    rng = np.random.default_rng(1)
    sizes = [1, 2, 3, 4, 6, 8]
    clusters = [name for name, size in zip("abcdef", sizes, strict=True) for _ in range(size)]
    values, weights = rng.normal(0, 1, 24), rng.integers(1, 9, 24).astype(float)
    found = summarise(values.tolist(), clusters=clusters, weights=weights.tolist())
    kept = [np.array([name != source for name in clusters]) for source in "abcdef"]
    without = [np.average(values[keep], weights=weights[keep]) for keep in kept]
    assert found.mean == pytest.approx(np.average(values, weights=weights), rel=1e-12)
    assert found.standard_error == pytest.approx(math.sqrt(5 / 6 * sum((one - np.mean(without)) ** 2 for one in without)))


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


@pytest.mark.parametrize("sources", [1, 5])
def test_fewer_than_six_sources_have_a_mean_and_nothing_else(sources: int) -> None:
    values = [float(index) for index in range(12)]
    found = summarise(values, clusters=[str(index % sources) for index in range(12)])
    assert (found.mean, found.standard_error, found.interval_low, found.interval_high) == (5.5, None, None, None)
    words = "1 source" if sources == 1 else f"{sources} sources"
    assert found.reason == f"{words}: an interval, rank or lead needs at least 6"
    six = summarise(values, clusters=[str(index % 6) for index in range(12)])
    assert None not in (six.standard_error, six.interval_low, six.interval_high)
    assert six.reason is None


def reach_of(values: list[float], clusters: list[str]) -> float:
    """How far an interval reaches, in standard errors."""
    found = summarise(values, clusters=clusters)
    assert found.mean is not None
    assert found.interval_low is not None
    assert found.interval_high is not None
    assert found.standard_error is not None
    assert found.mean - found.interval_low == pytest.approx(found.interval_high - found.mean)
    return (found.interval_high - found.mean) / found.standard_error


def test_the_interval_is_students_t_at_least_and_half_as_wide_again_at_most() -> None:
    rng = np.random.default_rng(2)
    t = scipy.stats.t.ppf(0.975, 9)
    clusters = [str(index) for index in range(10)]
    assert reach_of(list(scipy.stats.norm.ppf((np.arange(10) + 0.5) / 10)), clusters) == pytest.approx(t, rel=0.08)
    assert reach_of([0.0] * 9 + [1.0], clusters) == pytest.approx(1.5 * t)  # resamples without the one are endlessly sure
    reaches = [reach_of(list(rng.lognormal(0, 1, 10)), clusters) / t for _ in range(20)]
    assert min(reaches) >= 1 - 1e-12
    assert max(reaches) <= 1.5 + 1e-12
    assert np.mean(reaches) > 1.1


def test_a_source_with_most_of_the_items_leaves_fewer_degrees_of_freedom() -> None:
    values = list(np.random.default_rng(3).normal(0, 1, 24))
    equal = reach_of(values, [str(index // 4) for index in range(24)])
    one_large = reach_of(values, ["a"] * 14 + [str(index // 2) for index in range(10)])
    assert one_large > 1.3 * equal


def test_equal_sources_are_sure_and_have_no_width() -> None:
    found = summarise([0.1] * 18, clusters=[str(index % 6) for index in range(18)])
    assert found.standard_error == pytest.approx(0, abs=1e-15)
    assert found.interval_low == pytest.approx(0.1, abs=1e-15)
    assert found.interval_high == pytest.approx(0.1, abs=1e-15)


@pytest.mark.parametrize("sources", [6, 20])
@pytest.mark.parametrize("sizes", [(4,), (1, 2, 3, 4, 6, 8)])
def test_the_interval_covers_the_true_mean_about_as_often_as_it_says(sources: int, sizes: tuple[int, ...]) -> None:
    rng, studies, covered = np.random.default_rng(4), 200, 0
    counts = np.resize(sizes, sources)
    clusters = [str(source) for source in np.repeat(np.arange(sources), counts)]
    for _ in range(studies):
        values = np.repeat(rng.normal(0, 3, sources), counts) + rng.normal(0, 1, counts.sum())
        found = summarise(values.tolist(), clusters=clusters)
        assert found.interval_low is not None
        assert found.interval_high is not None
        covered += found.interval_low <= 0 <= found.interval_high
    # Items taken for independent would cover about 70 %, percentiles of a bootstrap over 6 sources 85 %.
    assert scipy.stats.binom.ppf(0.002, studies, 0.95) <= covered <= studies - 1


def test_means_of_methods_have_a_standard_error_of_their_own() -> None:
    values = [3.0, 1.0, None, 2.0, math.inf]
    assert spread_of(values) == (2.0, pytest.approx(scipy.stats.sem([1.0, 2.0, 3.0])), 3)
    assert spread_of([1.0, None]) == (1.0, None, 1)
    assert spread_of([None]) == (None, None, 0)


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
    assert (found.standard_error is None) == (found.interval_low is None) == (found.interval_high is None)
    if found.mean is not None and found.interval_low is not None and found.interval_high is not None:
        assert found.interval_low <= found.mean <= found.interval_high


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


def test_every_value_needs_its_source_and_its_weight() -> None:
    with pytest.raises(ValueError, match="shorter"):
        summarise([1.0, 2.0], clusters=["a"])
    with pytest.raises(ValueError, match="shorter"):
        summarise([1.0, 2.0], clusters=["a", "b"], weights=[1.0])
