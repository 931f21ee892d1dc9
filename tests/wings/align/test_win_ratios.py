"""Win ratios by hand; correlations, also of resampled points, against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.wings.align.planted_answers import ballot, measured

from inpaintbench.wings.align.bootstrap import Bootstrap
from inpaintbench.wings.align.reading import TIE
from inpaintbench.wings.align.win_ratios import Point, _kendall, _pearson, _spearman, by_method, correlations, points, votes_of


def test_win_ratios_by_hand() -> None:
    told = [
        *(ballot("x", "a", "b", choice, rater=f"r{n}") for n, choice in enumerate(("a", "a", TIE, "b"))),
        ballot("x", "c", "a", "c"),
        ballot("x", "b", "c", TIE),
    ]
    values = {("x", "a"): 2.0, ("x", "b"): 1.0, ("x", "c"): 2.0}
    found = {one.method: one for one in points(votes_of("quality", told), measured(values), "m")}
    assert (found["a"].people, found["a"].metric, found["a"].answers) == (2.5 / 5, 4.5 / 5, 5)
    assert (found["b"].people, found["b"].metric, found["b"].answers) == (2.0 / 5, 0.0, 5)
    assert (found["c"].people, found["c"].metric, found["c"].answers) == (1.5 / 2, 1.5 / 2, 2)
    without = points(votes_of("quality", told), measured({("x", "a"): 2.0, ("x", "b"): 1.0}), "m")
    assert {one.method for one in without} == {"a", "b"}


def test_over_all_items_every_comparison_has_the_same_weight() -> None:
    rows = [Point("a", "x", 0, 1.0, 0.0, 3), Point("a", "y", 1, 0.0, 1.0, 1), Point("b", "x", 0, 0.5, 0.5, 2)]
    assert by_method(rows) == [Point("a", None, -1, 0.75, 0.25, 4), Point("b", None, -1, 0.5, 0.5, 2)]


def test_correlations_are_those_of_scipy() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 5, 40) / 4, rng.integers(0, 9, 40) / 8  # many ties
    rows = [Point("a", f"i{n}", int(n % 13), float(y[n]), float(x[n]), 1) for n in range(40)]
    found = correlations(rows, Bootstrap(replicates=100))
    assert found["pearson"].value == pytest.approx(stats.pearsonr(x, y).statistic)
    assert found["spearman"].value == pytest.approx(stats.spearmanr(x, y).statistic)
    assert found["kendall"].value == pytest.approx(stats.kendalltau(x, y).statistic)
    assert all(one.n == 40 and one.n_sources == 13 and one.low < one.value < one.high for one in found.values())  # type: ignore[operator]
    shuffled = [rows[place] for place in rng.permutation(40)]
    for kind, one in correlations(shuffled, Bootstrap(replicates=100)).items():
        assert one[:3] == pytest.approx(found[kind][:3])


def test_resamples_are_those_of_repeated_points() -> None:
    rng = np.random.default_rng(2)
    x, y, sources = rng.integers(0, 4, 24) / 3, rng.random(24).round(1), np.repeat(np.arange(8), 3)
    weights = rng.multinomial(8, np.full(8, 1 / 8), size=20).astype(np.float64)
    ours = [of(x, y, sources, weights) for of in (_pearson, _spearman, _kendall)]
    for place, row in enumerate(weights.astype(int)):
        drawn = np.repeat(np.arange(24), row[sources])
        theirs = [of(x[drawn], y[drawn]).statistic for of in (stats.pearsonr, stats.spearmanr, stats.kendalltau)]
        assert [one[place] for one in ours] == pytest.approx(theirs)


def test_a_constant_side_has_no_correlation() -> None:
    rows = [Point("a", f"i{n}", n, n / 5, 0.5, 1) for n in range(5)]
    for one in correlations(rows, Bootstrap(replicates=100)).values():
        assert (one.value, one.reason) == (None, "on one side all points are equal")


def test_intervals_of_correlations_hold_the_truth() -> None:
    rng = np.random.default_rng(4)
    truth, held, studies = 0.8, 0, 60
    for _ in range(studies):
        of_source = rng.multivariate_normal([0, 0], [[1, truth], [truth, 1]], 10) * np.sqrt(0.4)
        of_point = rng.multivariate_normal([0, 0], [[1, truth], [truth, 1]], (10, 3)) * np.sqrt(0.6)
        both = of_source[:, None] + of_point
        rows = [Point("a", f"{s}{p}", s, float(both[s, p, 0]), float(both[s, p, 1]), 1) for s in range(10) for p in range(3)]
        one = correlations(rows, Bootstrap(replicates=300))["pearson"]
        held += one.low <= truth <= one.high  # type: ignore[operator]
    assert held >= stats.binom.ppf(0.005, studies, 0.95)
