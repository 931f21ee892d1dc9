from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from inpaintbench.annotate.statistics.ranking import Comparison
from inpaintbench.annotate.statistics.standings import (
    Choice,
    Opinion,
    dimension_correlations,
    mean_opinion,
    selection_frequency,
    win_ratios,
)
from inpaintbench.errors import InputError

FEW = "{}: an interval, rank or lead needs at least 6"


def test_a_task_goes_to_most_votes_and_draws_are_shared() -> None:
    choices = [Choice("1", "a", "s"), Choice("1", "a", "s"), Choice("1", "b", "s"), Choice("2", "b", "t"), Choice("2", "a", "t")]
    found = selection_frequency(choices, ["a", "b", "c"])
    assert {name: one.value for name, one in found.items()} == {"a": 0.75, "b": 0.25, "c": 0.0}
    assert found["a"].n == 2
    assert {(one.low, one.high, one.reason) for one in found.values()} == {(None, None, FEW.format("2 sources"))}
    six = selection_frequency([Choice(name, "a", name) for name in "uvwxyz"], ["a", "c"])
    assert (six["c"].low, six["a"].high) == (0.0, 1.0)
    assert six["c"].high > 0.3


def test_frequency_intervals_hold_the_truth() -> None:
    rng = np.random.default_rng(0)
    held = []
    for _ in range(300):
        chances = np.clip(rng.normal(0.3, 0.15, 25), 0, 1)
        choices = [Choice(f"{s}-{n}", "a" if rng.random() < chances[s] else "b", str(s)) for s in range(25) for n in range(4)]
        found = selection_frequency(choices, ["a", "b"])["a"]
        held.append(found.low <= 0.3 <= found.high)
    assert np.mean(held) == pytest.approx(0.95, abs=0.04)


def test_mean_opinion_is_a_mean_with_the_error_of_sources() -> None:
    values = {"s": [1, 2], "t": [4, 5], "u": [3], "v": [3], "w": [3], "x": [3]}
    found = mean_opinion([Opinion("a", value, name) for name, own in values.items() for value in own])["a"]
    apart = np.array([sum(own) - 3 * len(own) for own in values.values()])
    error = np.sqrt(6 / 5 * (apart**2).sum()) / 8
    assert found.value == 3
    assert found.high - found.low == pytest.approx(2 * 2.570582 * error, rel=1e-5)
    alone = mean_opinion([Opinion("a", 3, "s")])["a"]
    assert (alone.low, alone.reason) == (None, FEW.format("1 source"))


def test_choices_that_fit_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="'z' was chosen"):
        selection_frequency([Choice("1", "z", "s")], ["a"])
    with pytest.raises(InputError, match="two sources"):
        selection_frequency([Choice("1", "a", "s"), Choice("1", "a", "t")], ["a"])
    with pytest.raises(InputError, match="no choices"):
        selection_frequency([], ["a"])


def test_win_ratios_count_ties_half() -> None:
    answers = [
        Comparison("a", "b", "first", "r", "s"),
        Comparison("b", "a", "tie", "r", "s"),
        Comparison("a", "c", "second", "r", "s"),
        Comparison("a", "c", "both_bad", "r", "s"),
    ]
    found = win_ratios({"i": answers, "j": [Comparison("b", "a", "second", "r", "s")]})
    expected = {("a", "i"): 0.5, ("b", "i"): 0.25, ("c", "i"): 1.0, ("a", "j"): 1.0, ("b", "j"): 0.0}
    assert found == expected


def test_correlations_are_those_of_scipy() -> None:
    rng = np.random.default_rng(1)
    keys = [(method, str(item)) for method in "abc" for item in range(20)]
    one = {key: float(rng.normal()) for key in keys}
    two = {key: one[key] + float(rng.normal()) for key in keys[:-1]}
    found = dimension_correlations({"x": one, "y": two})[0]
    values = np.array([(one[key], two[key]) for key in keys[:-1]])
    assert found.pearson == pytest.approx(pearsonr(*values.T).statistic)
    assert found.spearman == pytest.approx(spearmanr(values).statistic)
    assert found.n == 59
    assert found.pearson_low < found.pearson < found.pearson_high
    assert found.spearman_low < found.spearman < found.spearman_high


@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_intervals_of_correlations_hold_the_truth_as_often_as_they_say(rho: float) -> None:
    """Six sources of four items; percentiles of a bootstrap hold 79 to 86 % of such truths."""
    rng, studies, held = np.random.default_rng(3), 200, np.zeros(2)
    truths = rho, 6 / np.pi * np.arcsin(rho / 2)  # Pearson's and Spearman's of two normal dimensions
    items = [str(item) for item in range(24)]
    for _ in range(studies):
        drawn = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], size=(2, 6, 1)).repeat(4, axis=2) * 0.7
        drawn = (drawn + rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], size=(2, 6, 4)) * np.sqrt(0.51)).reshape(-1, 2)
        keys = [(method, item) for method in "ab" for item in items]
        ratios = {name: dict(zip(keys, drawn[:, at].tolist(), strict=True)) for at, name in enumerate("xy")}
        row = dimension_correlations(ratios, cluster_of={item: str(int(item) // 4) for item in items})[0]
        limits = [(row.pearson_low, row.pearson_high), (row.spearman_low, row.spearman_high)]
        held += [low <= truth <= high for truth, (low, high) in zip(truths, limits, strict=True)]
    assert (held / studies).min() >= 0.91


def test_a_perfect_correlation_has_no_interval_beyond_its_range() -> None:
    one = {(method, str(item)): float(item) for method in "ab" for item in range(8)}
    row = dimension_correlations({"x": one, "y": one})[0]
    assert row.pearson == pytest.approx(1)
    assert row.pearson_low is None or -1 <= row.pearson_low <= row.pearson_high <= 1
    constant = {**dict.fromkeys(one, 0.5), ("a", "0"): 0.6, ("b", "0"): 0.7}
    alone = dimension_correlations({"x": one, "y": constant})[0]
    assert alone.pearson is not None
    assert (alone.pearson_low, alone.spearman_low) == (None, None)


@pytest.mark.parametrize("sources", [5, 6])
def test_few_sources_bear_no_interval(sources: int) -> None:
    names = [f"s{number}" for number in range(sources)]
    rng = np.random.default_rng(2)
    opinions = mean_opinion([Opinion("a", float(rng.integers(1, 6)), name) for name in names for _ in range(4)])["a"]
    chosen = selection_frequency([Choice(name, "ab"[at % 2], name) for at, name in enumerate(names)], ["a", "b"])["a"]
    ratios = [{(method, name): float(rng.normal()) for method in "abc" for name in names} for _ in range(2)]
    correlated = dimension_correlations({"x": ratios[0], "y": ratios[1]})[0]
    few = sources == 5
    assert (opinions.low is None) == (chosen.low is None) == (correlated.pearson_low is None) == few
    assert correlated.pearson is not None
    assert opinions.reason == chosen.reason == (FEW.format("5 sources") if few else None)


def test_no_correlation_has_a_reason() -> None:
    few = dimension_correlations({"x": {("a", "1"): 0.5}, "y": {("a", "1"): 0.5}})[0]
    assert few.pearson is None
    assert few.reason == "1 pairs of method and item are too few for a correlation"
    same = {("a", str(n)): 0.5 for n in range(5)}
    assert "same score" in dimension_correlations({"x": same, "y": same})[0].reason


def test_the_interval_is_wilsons_with_students_quantile() -> None:
    """Its limits are the shares ``x`` from which the one found lies just ``quantile * sqrt(x (1 - x) / n)`` away."""
    choices = [Choice(str(n), "a" if n < 3 else "b", str(n)) for n in range(10)]
    found = selection_frequency(choices, ["a", "b"], level=0.9)["a"]
    # Ten sources of one task each: their spread is that of nine independent tasks.
    for limit in (found.low, found.high):
        assert abs(limit - 0.3) == pytest.approx(1.833113 * np.sqrt(limit * (1 - limit) / 9), rel=1e-6)
    assert found.low < 0.3 < found.high
