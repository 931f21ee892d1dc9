"""Coefficients and errors against statsmodels 0.15.0, which made the numbers below from the same data."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from inpaintbench.claims import jackknife_error
from inpaintbench.eval.comparing.slopes import Regression, regression_on

# WLS(y, add_constant(x), weights=w).fit(cov_type="cluster"), and the jackknife over fifteen such fits without a source each.
PARAMETERS = [30.358684704925025, -1.945705048718289, 0.8871359560311158]
CLUSTER_ERRORS = [0.3631859288686798, 0.146112254717614, 0.24734146700554063]
JACKKNIFE_ERRORS = [0.36939827908810613, 0.16788933812674764, 0.26442516223649376]
Numbers = npt.NDArray[np.float64]


def data() -> tuple[Regression, Numbers, Numbers, npt.NDArray[np.int64]]:
    rng = np.random.default_rng(33)
    n, sources = 60, np.repeat(np.arange(15), 4)
    x = rng.normal(size=(n, 2))
    x[:, 0] += rng.normal(size=15)[sources]
    weights = rng.integers(1, 4, n).astype(float)
    y = 30 - 2 * x[:, 0] + 0.5 * x[:, 1] + rng.normal(size=15)[sources] + rng.normal(size=n)
    return regression_on(np.zeros((n, 0)), list(x.T), sources, 15), y, weights, sources


def test_coefficients_and_their_errors_are_those_of_statsmodels() -> None:
    regression, y, weights, _ = data()
    fit = regression.fit(y[:, None], np.ones(60, np.bool_), weights, resemblance=0)
    assert fit.coefficients[:, 0].tolist() == pytest.approx(PARAMETERS)
    errors = [jackknife_error(fit.without[:, at, 0].tolist()) for at in range(3)]
    assert errors == pytest.approx(JACKKNIFE_ERRORS)
    assert errors == pytest.approx(CLUSTER_ERRORS, rel=0.2)  # the sandwich, which few clusters make too small
    assert all(own > usual for own, usual in zip(errors, CLUSTER_ERRORS, strict=True))


def test_with_a_part_that_sources_share_it_is_generalised_least_squares() -> None:
    regression, y, weights, sources = data()
    fit = regression.fit(y[:, None], np.ones(60, np.bool_), weights, resemblance=0.7)
    x = regression.columns
    inverse = np.linalg.inv(np.diag(1 / weights) + 0.7 * (sources[:, None] == sources))
    assert fit.coefficients[:, 0] == pytest.approx(np.linalg.solve(x.T @ inverse @ x, x.T @ inverse @ y))
    own = sources != 4
    part = inverse[np.ix_(own, own)]
    again = np.linalg.solve(x[own].T @ part @ x[own], x[own].T @ part @ y[own])
    assert fit.without[4, :, 0] == pytest.approx(again)


def test_how_much_items_of_a_source_resemble_each_other_is_seen() -> None:
    rng = np.random.default_rng(5)
    sources = np.repeat(np.arange(80), rng.integers(2, 8, 80))
    n = len(sources)
    x = rng.normal(size=(n, 1))
    regression = regression_on(np.zeros((n, 0)), list(x.T), sources, 80)
    everything, equal = np.ones(n, np.bool_), np.ones(n)
    for wanted in (0.0, 2.0):
        y = x + np.sqrt(wanted) * rng.normal(size=(80, 9))[sources] + rng.normal(size=(n, 9))
        seen = regression.fit(y, everything, equal)
        known = regression.fit(y, everything, equal, resemblance=wanted)
        assert seen.coefficients == pytest.approx(known.coefficients, abs=0.02)
    # Within films, where their own difficulty cancels.
    plain = regression.fit(y, everything, equal, resemblance=0)
    errors = [jackknife_error(fit.without[:, 1, 0].tolist()) for fit in (seen, plain)]
    assert errors[0] < 0.8 * errors[1]


def test_leaving_out_by_sums_is_fitting_again_also_where_values_are_missing_and_columns_repeat() -> None:
    regression, y, weights, sources = data()
    there = np.random.default_rng(1).random(60) < 0.8
    twice = Regression(np.column_stack([regression.columns, regression.columns[:, 1]]), sources, 17)  # two without an item
    values = np.where(there, y, np.nan)[:, None]
    fit = regression.fit(values, there, weights, resemblance=0)
    for source in range(15):
        left = there & (sources != source)
        root = np.sqrt(weights[left])
        again = np.linalg.lstsq(regression.columns[left] * root[:, None], y[left] * root, rcond=None)[0]
        assert fit.without[source, :, 0] == pytest.approx(again)
        own = there & (sources == source)
        assert fit.expected[own, 0] == pytest.approx(regression.columns[own] @ again)
    assert np.isnan(fit.expected[~there]).all()
    same = twice.fit(values, there, weights, resemblance=0)
    assert same.tells.tolist() == [True, False, True, False]
    assert same.coefficients[2, 0] == pytest.approx(fit.coefficients[2, 0])
    assert (same.without[15:] == same.coefficients).all()


def test_what_one_source_alone_tells_is_not_told() -> None:
    sources = np.repeat(np.arange(8), 3)
    alone = (sources == 2) * np.tile([0.0, 1.0, 2.0], 8)
    regression = regression_on(np.zeros((24, 0)), [alone, np.arange(24.0)], sources, 8)
    fit = regression.fit(np.random.default_rng(2).normal(size=(24, 1)), np.ones(24, np.bool_), np.ones(24))
    assert fit.tells.tolist() == [True, False, True]
    assert fit.shares[2, 1] > 0.9


def test_shares_are_those_of_what_the_others_do_not_say_of_a_column() -> None:
    regression, y, weights, sources = data()
    own = regression.columns[:, 1]
    root, others = np.sqrt(weights), regression.columns[:, [0, 2]]
    rest = (own - others @ np.linalg.lstsq(others * root[:, None], own * root, rcond=None)[0]) * root
    wanted = np.bincount(sources, rest**2) / (rest @ rest)
    fit = regression.fit(y[:, None], np.ones(60, np.bool_), weights, resemblance=0)
    assert fit.shares[:, 1] == pytest.approx(wanted)


def test_values_that_are_all_the_same_have_no_slope() -> None:
    regression, _, weights, _ = data()
    fit = regression.fit(np.full((60, 1), 100.1), np.ones(60, np.bool_), weights)
    assert not fit.coefficients[1:].any()
    assert not fit.without[:, 1:].any()
