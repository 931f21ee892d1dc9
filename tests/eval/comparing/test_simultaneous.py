from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats

from inpaintbench.claims import effective_degrees, students_t
from inpaintbench.eval.comparing.simultaneous import FIRST_SHARE, LEVEL, MOST_ENUMERATED_SOURCES, _normal, _students, simultaneous
from inpaintbench.eval.comparing.slopes import regression_on

Numbers = npt.NDArray[np.float64]


def leave_one_out(values: Numbers) -> tuple[Numbers, Numbers]:
    """Means over sources of ``float64[S, K]``, and without each."""
    count = len(values)
    return values.mean(axis=0), (values.sum(axis=0) - values) / (count - 1)


def test_a_single_error_is_that_of_the_mean_and_its_p_is_the_share_of_flips_that_are_as_clear() -> None:
    values = np.random.default_rng(0).normal(0.6, 1, (9, 1))
    found = simultaneous(*leave_one_out(values), alike=["a"])
    assert found.errors[0] == pytest.approx(values.std(ddof=1) / 3)
    ratio = abs(values.mean()) / found.errors[0]
    centred, as_clear = values[:, 0] - values.mean(), 0
    for flips in range(2**8):  # of the others than the first: Student's t of each, as of nine new values
        flipped = centred * [1 - 2 * (flips >> at & 1) for at in range(9)]
        as_clear += abs(flipped.mean()) / (flipped.std(ddof=1) / 3) >= ratio
    assert found.p[0] == pytest.approx((1 + as_clear) / (1 + 2**8))
    assert abs(values.mean()) > found.reach[0] or found.p[0] >= 0.05


def test_effects_without_spread_are_surely_there_or_surely_not() -> None:
    estimates, without = np.array([2.0, 0.0, 0.1]), np.array([[2.0, 0.0, 0.1]] * 7)
    found = simultaneous(estimates, without, alike=["a", "a", "b"])
    assert found.errors.tolist() == found.reach.tolist() == [0, 0, 0]
    assert found.p.tolist() == [1 / 65, 1, 1 / 65]


def test_more_that_is_looked_at_makes_every_interval_wider_but_copies_do_not() -> None:
    values = np.random.default_rng(1).normal(size=(14, 40))
    alone = simultaneous(*leave_one_out(values[:, :1]), alike=[0])
    copies = simultaneous(*leave_one_out(np.repeat(values[:, :1], 40, axis=1)), alike=[0] * 40)
    many = simultaneous(*leave_one_out(values), alike=range(40))
    assert copies.reach[0] == pytest.approx(alone.reach[0])
    assert many.reach[0] > 1.3 * alone.reach[0]
    assert many.p[0] >= alone.p[0]


def test_units_and_order_change_nothing_and_equal_input_gives_equal_bytes() -> None:
    values = np.random.default_rng(2).normal(0.3, 1, (16, 6))
    kinds = ["dB", "dB", "dB", "share", "share", "share"]
    first = simultaneous(*leave_one_out(values), alike=kinds)
    again = simultaneous(*leave_one_out(values), alike=kinds)
    assert all(one.tobytes() == other.tobytes() for one, other in zip(first, again, strict=True))
    scaled = simultaneous(*leave_one_out(values * [1, 1, 1, 1000, 1000, 1000]), alike=kinds)
    assert scaled.p == pytest.approx(first.p)
    turned = simultaneous(*leave_one_out(values[:, ::-1]), alike=kinds[::-1])
    assert turned.p[::-1] == pytest.approx(first.p)


def test_errors_of_one_kind_are_drawn_together_by_as_much_as_chance_spreads_them() -> None:
    rng = np.random.default_rng(3)
    alike = leave_one_out(rng.normal(size=(12, 200)))
    own = np.std(np.log([simultaneous(alike[0][[at]], alike[1][:, [at]], alike=[0]).errors[0] for at in range(200)]))
    assert np.std(np.log(simultaneous(*alike, alike=[0] * 200).errors)) < 0.3 * own
    unlike = leave_one_out(rng.normal(size=(12, 200)) * np.repeat([0.1, 10], 100))
    kept = simultaneous(*unlike, alike=[0] * 200).errors
    assert np.median(kept[100:]) / np.median(kept[:100]) == pytest.approx(100, rel=0.2)


def test_what_was_declared_first_is_corrected_for_itself_and_the_rest_for_all_until_it_opens() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(size=(24, 30))
    values[:, 20] += 3
    first = np.arange(30) < 2
    found = simultaneous(*leave_one_out(values), alike=[0] * 30, first=first)
    whole, own = simultaneous(*leave_one_out(values), alike=[0] * 30), simultaneous(*leave_one_out(values[:, :2]), alike=[0, 0])
    assert found.p[:2] == pytest.approx(np.minimum(1, own.p / FIRST_SHARE), rel=0.1)
    assert found.p[20] == pytest.approx(whole.p[20] / (1 - FIRST_SHARE))  # five times as strictly
    assert found.reach[20] > whole.reach[20]
    values[:, 0] += 3
    opened = simultaneous(*leave_one_out(values), alike=[0] * 30, first=first)
    assert opened.p[20] == max(whole.p[20], opened.p[0])
    assert opened.reach[20] == pytest.approx(whole.reach[20])
    assert opened.reach[2] > opened.reach[0]
    everything = simultaneous(*leave_one_out(values), alike=[0] * 30, first=np.ones(30, np.bool_))
    assert everything.p.tolist() == simultaneous(*leave_one_out(values), alike=[0] * 30).p.tolist()


@pytest.mark.parametrize("sources", [6, MOST_ENUMERATED_SOURCES, MOST_ENUMERATED_SOURCES + 8])
@pytest.mark.parametrize("skewed", [False, True])
def test_nothing_is_told_where_there_is_nothing(sources: int, skewed: bool) -> None:
    """A small form of ``bench/claims.py``: leads of four methods and four halves of the sources against each other."""
    rng = np.random.default_rng([sources, skewed])
    told = 0
    for _ in range(200):
        values = 0.7 * rng.normal(size=(sources, 1)) + 0.7 * rng.normal(size=(sources, 4))
        values = np.exp(values) if skewed else values
        columns = [values[:, one] - values[:, other] for one in range(4) for other in range(one)]
        estimates, without = (list(part.T) for part in leave_one_out(np.stack(columns, axis=1)))
        if sources >= 12:
            for _ in range(4):
                high = np.isin(np.arange(sources), rng.permutation(sources)[: sources // 2])
                (top, low), parts = ((values[side].mean(axis=0) for side in (high, ~high)), (high, ~high))
                sums = [values[side].sum(axis=0) for side in parts]
                each = [
                    (total - np.where(side[:, None], values, 0)) / (side.sum() - side)[:, None]
                    for total, side in zip(sums, parts, strict=True)
                ]
                estimates += list(top - low)
                without += list((each[0] - each[1]).T)
        kinds = ["lead"] * 6 + ["change"] * (len(estimates) - 6)
        told += (simultaneous(np.array(estimates), np.stack(without, axis=1), alike=kinds).p < 0.05).any()
    assert told <= 10 + 2 * np.sqrt(200 * 0.05 * 0.95)


def unequal_studies(count: int) -> list[tuple[Numbers, Numbers, Numbers]]:
    """Means of three effects over items of eight films, one of which has half of them, where there is nothing; shares."""
    rng, sizes = np.random.default_rng(5), np.array([1, 1, 2, 3, 5, 12, 1, 1])
    shares = np.repeat((sizes / sizes.sum())[:, None], 3, axis=1)
    studies = []
    for _ in range(count):
        sums = sizes[:, None] * rng.normal(size=(8, 3)) + np.sqrt(sizes)[:, None] * rng.normal(size=(8, 3))
        without = (sums.sum(axis=0) - sums) / (sizes.sum() - sizes)[:, None]
        studies.append((sums.sum(axis=0) / sizes.sum(), without, shares))
    return studies


def test_a_source_with_half_of_the_items_does_not_make_chance_an_effect() -> None:
    told = np.zeros(2)
    for estimates, without, shares in unequal_studies(300):
        alike = ["a"] * 3
        told += [(simultaneous(estimates, without, alike=alike, shares=given).p < 0.05).any() for given in (shares, None)]
    # Two standard errors above 5 %: 7.5 %. Taken for equal, the sources tell of chance in 22 % of them.
    assert told[0] <= 0.075 * 300
    assert told[1] >= 0.15 * 300


def test_intervals_of_unequal_sources_are_at_least_those_of_students_t_with_kishs_degrees() -> None:
    for estimates, without, shares in unequal_studies(5):
        found = simultaneous(estimates[:1], without[:, :1], alike=["a"], shares=shares[:, :1])
        least = students_t(0.95, effective_degrees([1, 1, 2, 3, 5, 12, 1, 1]))
        assert found.reach[0] >= least * found.errors[0] * (1 - 1e-9)
        assert (found.p[0] < 0.05) <= (abs(estimates[0]) > least * found.errors[0])


def test_equal_shares_or_none_give_the_same_errors_and_draws() -> None:
    values = np.random.default_rng(6).normal(0.3, 1, (14, 5))
    given = [None, np.full((14, 5), np.nan), np.full((14, 5), 1 / 14)]
    found = [simultaneous(*leave_one_out(values), alike=["a"] * 5, shares=shares) for shares in given]
    for one in found[1:]:
        assert one.errors == pytest.approx(found[0].errors)
        assert one.reach == pytest.approx(found[0].reach)


def test_slopes_that_rest_on_few_sources_are_seldom_told_where_there_are_none() -> None:
    """Of 150 studies, in which one column is skewed, so that a few of twelve sources decide most of its slope: 5 % are 7.5, and
    15 have a chance of 1 %."""
    sources, everything, equal = np.repeat(np.arange(12), 3), np.ones(36, np.bool_), np.ones(36)
    told = 0
    for study in range(150):
        rng = np.random.default_rng(study)
        columns = [np.exp(rng.normal(size=12))[sources], rng.normal(size=36)]
        regression = regression_on(np.zeros((36, 0)), columns, sources, 12)
        fit = regression.fit(rng.normal(size=(36, 3)) + rng.normal(size=(12, 3))[sources], everything, equal)
        shares = fit.shares[:, 1:].repeat(3, axis=1)
        estimates, without = fit.coefficients[1:].ravel(), fit.without[:, 1:].reshape(12, -1)
        told += (simultaneous(estimates, without, alike=[0] * 6, shares=shares).p < 0.05).any()
    assert told < 15


def test_effects_of_few_sources_do_not_widen_the_intervals_of_others() -> None:
    rng, count = np.random.default_rng(7), 13
    of_all, of_few = np.full((count, 8), 1 / count), np.zeros((count, 4))
    of_few[:6] = np.array([12, 4, 2, 1, 1, 1])[:, None] / 21
    shares, wider = np.concatenate([of_all, of_few], axis=1), []
    for _ in range(10):
        values = rng.normal(size=(count, 12))
        estimates = (shares * values).sum(axis=0)
        without = (estimates - shares * values) / (1 - shares)
        every = simultaneous(estimates, without, alike=["a"] * 8 + ["b"] * 4, shares=shares)
        alone = simultaneous(estimates[:8], without[:, :8], alike=["a"] * 8, shares=of_all)
        wider.append(every.reach[:8] / alone.reach)
        # Those of about two sources have to lie far off.
        assert (every.reach / every.errors)[8:].min() > 2 * (every.reach / every.errors)[:8].max()
    assert np.mean(wider) < 1.15


def test_nothing_is_told_more_often_where_effects_rest_on_unequal_numbers_of_sources() -> None:
    rng, count, told = np.random.default_rng(8), 13, 0
    sizes = [np.ones(count)] * 9 + [np.r_[np.ones(6), np.zeros(7)]] * 3 + [np.r_[8, 3, np.ones(11)]] * 3
    shares = np.stack([size / size.sum() for size in sizes], axis=1)
    for _ in range(300):
        values = 0.6 * rng.standard_normal((count, 1)) + 0.8 * rng.standard_normal((count, 15))
        estimates = (shares * values).sum(axis=0)
        without = (estimates - shares * values) / (1 - shares)
        told += bool((simultaneous(estimates, without, alike=["a"] * 9 + ["b"] * 3 + ["c"] * 3, shares=shares).p < 0.05).any())
    assert told <= 0.075 * 300


def test_sizes_of_students_t_are_those_of_a_normal_number_as_rare() -> None:
    degrees = np.array([2.0, 5.0, 12.0, 40.0])
    for size in (0.5, 2.0, 3.5, 5.0):
        exact = np.array([scipy.stats.t.isf(scipy.stats.norm.sf(size), degree) for degree in degrees])
        found = _normal(exact, degrees)
        assert found[0] == pytest.approx(size, rel=0.07)
        assert found[1:] == pytest.approx(size, rel=0.02)
        assert _normal(_students(np.full(4, size), degrees), degrees) == pytest.approx(size)


@pytest.mark.parametrize("sources", [6, 7, 8, 10, 14])
def test_an_interval_leaves_zero_out_where_p_says_so_and_nowhere_else(sources: int) -> None:
    rng = np.random.default_rng(sources)
    for _ in range(40):
        values = rng.normal(rng.uniform(0, 2, 5), 1, (sources, 5))
        estimates = values.mean(axis=0)
        without = (values.sum(axis=0) - values) / (sources - 1)
        found = simultaneous(estimates, without, alike=["one kind"] * 5)
        np.testing.assert_array_equal(np.abs(estimates) > found.reach, found.p < 1 - LEVEL)
