from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from inpaintbench.claims import ENOUGH_SOURCES, effective_degrees, jackknife_error, students_t, too_few


def test_six_sources_bear_a_claim_and_five_do_not() -> None:
    assert ENOUGH_SOURCES == 6
    assert [too_few(count) is None for count in range(8)] == [False] * 6 + [True] * 2
    assert too_few(5) == "5 sources: an interval, rank or lead needs at least 6"
    assert too_few(1) == "1 source: an interval, rank or lead needs at least 6"


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    values = np.random.default_rng(0).normal(30, 4, 12)
    without = [np.delete(values, index).mean() for index in range(12)]
    assert jackknife_error(without) == pytest.approx(scipy.stats.sem(values), rel=1e-12)


@pytest.mark.parametrize("degrees", [1, 2.5, 9, 200])
def test_students_t_is_that_of_scipy(degrees: float) -> None:
    assert students_t(0.95, degrees) == pytest.approx(scipy.stats.t.ppf(0.975, degrees))


@pytest.mark.parametrize(("sizes", "degrees"), [([5] * 8, 7), ([3, 3, 1], 49 / 19 - 1), ([60, 1, 1], 1), ([4], 1)])
def test_degrees_are_kishs_number_of_sources_less_one_and_never_below_one(sizes: list[int], degrees: float) -> None:
    assert effective_degrees(sizes) == pytest.approx(degrees, rel=1e-12)
