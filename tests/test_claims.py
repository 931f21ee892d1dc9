from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from inpaintbench.claims import (
    ENOUGH_SOURCES,
    Estimate,
    clustered_mean,
    effective_degrees,
    jackknife_error,
    jackknife_reach,
    share_interval,
    students_t,
    tells_nothing,
    too_few,
)


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


def test_a_reach_is_the_error_times_students_t_at_the_sources_degrees() -> None:
    without, sizes = [0.2, 0.5, 0.4, 0.1], [4, 1, 1, 1]
    t = scipy.stats.t.ppf(0.95, 49 / 19 - 1)
    assert jackknife_reach(without, sizes=sizes, level=0.9) == pytest.approx(t * jackknife_error(without), rel=1e-12)
    t = scipy.stats.t.ppf(0.975, 49 / 19 - 1)
    assert jackknife_reach(without, sizes=sizes) == pytest.approx(t * jackknife_error(without), rel=1e-12)


def test_the_error_of_a_mean_over_sources_of_one_item_or_of_equal_items_is_the_usual_one() -> None:
    values = np.random.default_rng(1).normal(5, 2, 9).tolist()
    names = [f"s{number}" for number in range(9)]
    expected = (pytest.approx(np.mean(values)), pytest.approx(scipy.stats.sem(values)), 9)
    assert clustered_mean(values, names) == expected
    assert clustered_mean([value for value in values for _ in range(3)], [name for name in names for _ in range(3)]) == expected


def test_the_error_of_a_mean_adds_up_what_items_of_a_source_are_off() -> None:
    # Liang and Zeger's sandwich of a mean of 8 items: sources are off by 1, -1, 2, -2, 1, and -1 of two items together.
    values, sources = [4.0, 2.0, 5.0, 1.0, 4.0, 2.0, 3.0, 3.0], ["a", "b", "c", "d", "e", "f", "f", "e"]
    mean, error, count = clustered_mean(values, sources)
    assert (mean, count) == (3.0, 6)
    assert error == pytest.approx(np.sqrt(6 / 5 * (1 + 1 + 4 + 4 + 1 + 1)) / 8)
    assert clustered_mean(values, ["a", *"abcdeee"]) == (3.0, None, 5)


@pytest.mark.parametrize("ones", [1, 4, 7])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_wilsons_limits_are_the_shares_from_which_the_one_seen_is_just_so_far(ones: int, level: float) -> None:
    values = [1.0] * ones + [0.0] * (9 - ones)
    found = share_interval(values, [f"s{number}" for number in range(9)], level=level)
    share, error = ones / 9, scipy.stats.sem(values)
    size = share * (1 - share) / error**2
    assert (found.value, found.n, found.n_sources, found.reason) == (pytest.approx(share), 9, 9, None)
    for limit in (found.low, found.high):
        distance = scipy.stats.t.ppf((1 + level) / 2, 8) * np.sqrt(limit * (1 - limit) / size)
        assert abs(limit - share) == pytest.approx(distance)
    assert found.low < share < found.high


def test_where_all_items_agree_each_source_counts_once() -> None:
    sources = [f"s{number % 6}" for number in range(18)]
    t = scipy.stats.t.ppf(0.975, 5)
    none, every = share_interval([0.0] * 18, sources), share_interval([1.0] * 18, sources)
    assert (none.low, none.high) == (0.0, pytest.approx(t**2 / (6 + t**2)))
    assert (every.low, every.high) == (pytest.approx(6 / (6 + t**2)), 1.0)


def test_a_share_of_five_sources_has_no_interval() -> None:
    found = share_interval([1.0, 0.0, 1.0, 0.0, 1.0, 1.0], [*"abcdee"])
    assert found == Estimate(pytest.approx(4 / 6), None, None, 6, 5, too_few(5))


def test_slices_and_axes_of_too_few_films_are_named_with_the_reason_and_others_are_not() -> None:
    said = tells_nothing({"camera_motion-low": 6, "camera_motion-high": 4, "speed": 1, "size": 9}, films=9)
    assert said == [
        "camera_motion-high will tell nothing: 4 of 9 films have clips for it, and an interval, rank or lead needs at least 6; "
        "add films of that kind",
        "speed will tell nothing: 1 of 9 films has clips for it, and an interval, rank or lead needs at least 6; "
        "add films of that kind",
    ]
    assert tells_nothing({"size": 6}, films=6) == []


def test_too_few_films_for_anything_are_said_once() -> None:
    said = tells_nothing({"size": 5, "pose": 3}, films=5)
    assert said == [
        "the clips that are kept are of 5 films, and an interval, rank or lead needs at least 6: no slice or axis will tell "
        "anything; add films"
    ]
