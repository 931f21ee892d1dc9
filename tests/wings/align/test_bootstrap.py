"""Intervals of matching rates hold the planted truth, and say so where there can be none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.wings.align.planted_answers import planted_scores, planted_votes, shares

from inpaintbench.wings.align.bootstrap import Bootstrap, Sample, correlation, rate
from inpaintbench.wings.align.win_ratios import matched

QUICK = Bootstrap(replicates=400)
STUDIES = 200


@pytest.mark.parametrize("kind", ["the same everywhere", "differs by group", "differs much by group", "differs by rater"])
def test_planted_choices_lie_within_their_interval(kind: str) -> None:
    rng = np.random.default_rng(3)
    held, widths = 0, []
    for _ in range(STUDIES):
        own, prefers = planted_scores(rng)
        chance, truth = shares(rng, kind)
        found = matched(planted_votes(rng, chance, metric_prefers=prefers), own, "m", tie_eps=0.0, bootstrap=QUICK).rate
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
        widths.append(found.high - found.low)
    assert held >= stats.binom.ppf(0.01, STUDIES, 0.95)  # 182: an honest interval fails one time in a hundred
    assert np.mean(widths) < 0.3  # and not by being endless


def test_where_nothing_varies_each_source_is_one_trial() -> None:
    places = np.repeat(np.arange(10), 5)
    ones = Sample(np.ones(50), np.ones(50), places, np.tile(np.arange(5), 10))
    found = rate(ones, QUICK)
    exact = stats.binomtest(10, 10).proportion_ci(method="exact")
    assert (found.value, found.high, found.n, found.n_sources) == (1.0, 1.0, 50, 10)
    assert found.low == pytest.approx(exact.low)
    none = rate(ones._replace(matches=np.zeros(50)), QUICK)
    assert (none.value, none.low) == (0.0, 0.0)
    assert none.high == pytest.approx(1 - exact.low)


def test_no_interval_has_a_reason() -> None:
    one = Sample(np.array([1.0, 0.0]), np.ones(2), np.zeros(2, np.int64), None)
    assert rate(one)[:3] == (0.5, None, None)
    assert rate(one).reason == "1 source: an interval, rank or lead needs at least 6"
    assert rate(Sample(np.ones(0), np.ones(0), np.zeros(0, np.int64), None)).reason == "no answer can be compared"
    assert (
        correlation(lambda weights: weights[:, 0], n=2, n_sources=2).reason == "a correlation takes 3 points or more, there are 2"
    )
    flat = correlation(lambda weights: np.full(len(weights), np.nan), n=9, n_sources=9)
    assert (flat.value, flat.reason) == (None, "on one side all points are equal")


def test_raters_who_differ_widen_the_interval() -> None:
    sources, raters = (places.ravel().astype(np.int64) for places in np.indices((20, 8)))
    of_rater = (raters < 5).astype(np.float64)  # each rater answers everything alike
    known = rate(Sample(of_rater, np.ones(160), sources, raters), QUICK)
    unknown = rate(Sample(of_rater, np.ones(160), sources, None), QUICK)
    assert known.low is not None
    assert unknown.low is not None
    assert known.high - known.low > 0.3  # type: ignore[operator]
    assert unknown.high - unknown.low < 0.2  # type: ignore[operator]


@pytest.mark.parametrize(("sources", "answers"), [(6, 4), (7, 3), (9, 4)])
def test_few_sources_that_agree_by_chance_make_nobody_sure(sources: int, answers: int) -> None:
    rng, held = np.random.default_rng(11), 0
    places = np.repeat(np.arange(sources), answers)
    for _ in range(STUDIES):
        found = rate(Sample((rng.random(len(places)) < 0.8).astype(np.float64), np.ones(len(places)), places, None), QUICK)
        assert found.low is not None
        assert found.high is not None
        assert found.low < found.high
        held += found.low <= 0.8 <= found.high
    assert held >= stats.binom.ppf(0.01, STUDIES, 0.95)
