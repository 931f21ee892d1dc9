from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.linalg

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Features
from inpaintbench.eval.set_distances import frechet
from inpaintbench.eval.set_distances.frechet import Moments


def of(*parts: np.ndarray) -> Moments:
    moments = Moments()
    for part in parts:
        moments.add(part)
    return moments


def fd(one: np.ndarray, other: np.ndarray, *, ddof: int = 1) -> float:
    return frechet.distance(of(one), of(other), ddof=ddof)


def drawn(n: int, d: int, *, seed: int = 0, offset: float = 1.0) -> np.ndarray:
    """Correlated vectors with a spectrum that falls off, as those of networks do."""
    rng = np.random.default_rng(seed)
    mixing = np.linalg.qr(np.random.default_rng(99).normal(size=(d, d)))[0]
    return (rng.normal(size=(n, d)) / np.sqrt(np.arange(1, d + 1))) @ mixing.T + offset


def with_covariance(covariance: np.ndarray, *, n: int, mean: np.ndarray, seed: int = 0) -> np.ndarray:
    """Vectors whose mean and unbiased covariance are exactly these."""
    rows = np.random.default_rng(seed).normal(size=(n, len(mean)))
    rows -= rows.mean(axis=0)
    white = rows @ np.linalg.inv(np.linalg.cholesky(rows.T @ rows / (n - 1))).T
    return white @ np.linalg.cholesky(covariance).T + mean


def reference(one: np.ndarray, other: np.ndarray, *, ddof: int = 1) -> float:
    """The definition, the trace from the eigenvalues of the product."""
    covariances = [np.atleast_2d(np.cov(rows, rowvar=False, ddof=ddof)) for rows in (one, other)]
    values = scipy.linalg.eigvals(covariances[0] @ covariances[1])
    gap = one.mean(axis=0) - other.mean(axis=0)
    root = np.sqrt(np.clip(values.real, 0, None)).sum()
    return float(gap @ gap + sum(map(np.trace, covariances)) - 2 * root)


SIZES = pytest.mark.parametrize(("n", "m", "d"), [(20, 30, 60), (200, 150, 12), (20, 200, 60), (200, 20, 60), (8, 8, 8)])


@SIZES
@pytest.mark.parametrize("ddof", [0, 1])
def test_agrees_with_the_definition(n: int, m: int, d: int, ddof: int) -> None:
    one, other = drawn(n, d), 1.2 * drawn(m, d, seed=1)
    assert fd(one, other, ddof=ddof) == pytest.approx(reference(one, other, ddof=ddof), rel=1e-6)


# Identity 1: one dimension, isotropic and commuting covariances.
def test_in_one_dimension_means_and_deviations_differ() -> None:
    one, other = drawn(50, 1), 3 * drawn(70, 1, seed=1)
    expected = (one.mean() - other.mean()) ** 2 + (one.std(ddof=1) - other.std(ddof=1)) ** 2
    assert fd(one, other) == pytest.approx(expected, rel=1e-10)


def test_isotropic_and_commuting_covariances_have_closed_forms() -> None:
    d, gap = 5, np.array([1.0, -2.0, 0.0, 0.5, 3.0])
    one = with_covariance(4 * np.eye(d), n=40, mean=np.zeros(d))
    other = with_covariance(9 * np.eye(d), n=50, mean=gap, seed=1)
    assert fd(one, other) == pytest.approx(gap @ gap + d * (2 - 3) ** 2, rel=1e-10)
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(d, d)))[0]
    first, second = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([0.1, 7.0, 2.0, 4.0, 9.0])
    one = with_covariance(rotation * first @ rotation.T, n=40, mean=np.zeros(d))
    other = with_covariance(rotation * second @ rotation.T, n=50, mean=np.zeros(d), seed=1)
    assert fd(one, other) == pytest.approx(np.sum((np.sqrt(first) - np.sqrt(second)) ** 2), rel=1e-9)


# Identity 2.
def test_two_by_two_has_a_closed_form() -> None:
    first, second = np.array([[2.0, 0.7], [0.7, 1.0]]), np.array([[1.0, -0.9], [-0.9, 3.0]])
    one, other = (with_covariance(one, n=30, mean=np.zeros(2), seed=index) for index, one in enumerate((first, second)))
    root = math.sqrt(np.trace(first @ second) + 2 * math.sqrt(np.linalg.det(first) * np.linalg.det(second)))
    assert fd(one, other) == pytest.approx(np.trace(first) + np.trace(second) - 2 * root, rel=1e-9)


# Identity 3.
def test_two_vectors_in_each_set_are_rank_one() -> None:
    one, other = drawn(2, 30), drawn(2, 30, seed=1)
    a, b = ((rows[0] - rows[1]) / math.sqrt(2) for rows in (one, other))
    gap = one.mean(axis=0) - other.mean(axis=0)
    assert fd(one, other) == pytest.approx(gap @ gap + a @ a + b @ b - 2 * abs(a @ b), rel=1e-12)


# Identity 4.
@pytest.mark.parametrize(("n", "d"), [(20, 60), (200, 12)])
def test_shifts_scales_rotations_and_exchange(n: int, d: int) -> None:
    one, other = drawn(n, d), 1.3 * drawn(n, d, seed=1)
    scale = np.trace(np.cov(one, rowvar=False))
    assert 0 <= fd(one, one[::-1]) < 1e-12 * scale
    shift = np.linspace(-1, 2, d)
    assert fd(one, one + shift) == pytest.approx(shift @ shift, rel=1e-10)
    assert fd(7 * one, 7 * other) == pytest.approx(49 * fd(one, other), rel=1e-10)
    rotation = np.linalg.qr(np.random.default_rng(5).normal(size=(d, d)))[0]
    assert fd(one @ rotation, other @ rotation) == pytest.approx(fd(one, other), rel=1e-9)
    assert fd(one, other) == pytest.approx(fd(other, one), rel=1e-10)
    mean = one.mean(axis=0)
    assert fd(one, 0.4 * one) == pytest.approx(0.6**2 * (mean @ mean + scale), rel=1e-10)


# Also of dead features and of fewer vectors than dimensions, where the roots of rounding errors would be far from 0.
@pytest.mark.parametrize(("n", "d"), [(20, 60), (200, 12), (60, 60), (7, 1)])
def test_a_set_has_no_distance_from_itself(n: int, d: int) -> None:
    rows = drawn(n, d)
    rows[:, : d // 3] = 2.0
    assert fd(rows, rows.copy()) == 0.0
    found = frechet.compare(sets_of(rows, rows.copy(), items=7), list("abcdefa"), ddof=1)
    assert (found.value, found.standard_error, found.interval_low, found.interval_high) == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(("n", "d"), [(20, 60), (200, 12)])
def test_small_distances_are_not_taken_for_nothing(n: int, d: int) -> None:
    rows = drawn(n, d)
    shift = np.full(d, 1e-5)
    assert fd(rows, rows + shift) == pytest.approx(shift @ shift, rel=1e-3)


# Identity 5.
def test_both_routes_agree() -> None:
    one, other = drawn(60, 40), 1.3 * drawn(70, 40, seed=1)
    padded = [np.hstack([rows, np.zeros((len(rows), 60))]) for rows in (one, other)]  # d = 100 > n: the other route
    assert fd(*padded) == pytest.approx(fd(one, other), rel=1e-9)


@pytest.mark.parametrize("size", [1, 7, 64, 500])
@pytest.mark.parametrize(("n", "d"), [(40, 60), (500, 12)])
def test_streaming_gives_what_one_batch_gives(n: int, d: int, size: int) -> None:
    rows = drawn(n, d, offset=100.0)
    streamed = of(*(rows[begin : begin + size] for begin in range(0, n, size)))
    assert streamed.n == n
    assert streamed.d == d
    np.testing.assert_allclose(streamed.mean(), rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(streamed.covariance(ddof=1), np.cov(rows, rowvar=False), rtol=1e-10, atol=1e-12)
    other = of(drawn(n, d, seed=1, offset=100.0))
    assert frechet.distance(streamed, other, ddof=1) == pytest.approx(frechet.distance(of(rows), other, ddof=1), rel=1e-10)


def test_a_large_common_offset_costs_few_digits() -> None:
    rows = drawn(400, 6)
    found = of(*np.array_split(rows + 1e6, 9)).covariance(ddof=1)
    np.testing.assert_allclose(found, np.cov(rows, rowvar=False), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("lengths", [(3, 5, 4), (90, 2, 40), (5, 80, 6), (100, 120, 60)])
def test_merges_in_any_order(lengths: tuple[int, ...]) -> None:
    d = 20
    rows = drawn(sum(lengths), d, offset=50.0)
    parts = np.split(rows, np.cumsum(lengths)[:-1])
    covariance = np.cov(rows, rowvar=False)
    for order in itertools.permutations(parts):
        whole = Moments()
        for part in order:
            given = of(part)
            whole.merge(given)
            assert given.n == len(part)
        assert whole.n == len(rows)
        np.testing.assert_allclose(whole.mean(), rows.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(whole.covariance(ddof=1), covariance, rtol=1e-10, atol=1e-12)


def test_merging_nothing_changes_nothing() -> None:
    rows = drawn(4, 5)
    moments = of(rows)
    moments.merge(Moments())
    assert moments.n == 4
    assert np.array_equal(moments.mean(), rows.mean(axis=0))


def test_vectors_are_kept_only_while_they_are_few() -> None:
    rows = drawn(9, 8)
    moments = of(rows[:8])
    kept = moments.rows
    assert kept is not None
    assert np.array_equal(kept, rows[:8])
    moments.add(rows[8:])
    assert moments.rows is None


# Identity 6.
@pytest.mark.parametrize(("n", "d"), [(20, 60), (200, 12)])
def test_ddof_scales_the_traces(n: int, d: int) -> None:
    one, other = drawn(n, d), 1.3 * drawn(n, d, seed=1)
    gap = np.sum((one.mean(axis=0) - other.mean(axis=0)) ** 2)
    assert fd(one, other, ddof=0) - gap == pytest.approx((fd(one, other) - gap) * (n - 1) / n, rel=1e-9)


def test_constant_and_dead_features_have_a_distance() -> None:
    still, moved = np.full((50, 4), 2.0), np.full((50, 4), 5.0)
    assert fd(still, moved) == pytest.approx(36)
    assert fd(still[:3], moved[:3]) == pytest.approx(36)
    one, other = drawn(100, 6), drawn(90, 6, seed=1)
    dead = [np.hstack([rows, np.zeros((len(rows), 2))]) for rows in (one, other)]
    assert fd(*dead) == pytest.approx(fd(one, other), rel=1e-6)


@pytest.mark.parametrize(("n", "independent", "paired"), [(50, 0.945, 1.93e-3), (150, 0.644, 1.38e-3)])
def test_few_vectors_make_it_large_as_simulated(n: int, independent: float, paired: float) -> None:
    d, rng = 1024, np.random.default_rng(0)
    spectrum = 1 / np.arange(1, d + 1)
    one, other, noise = (rng.normal(size=(n, d)) * np.sqrt(spectrum) for _ in range(3))
    assert fd(one, other) / spectrum.sum() == pytest.approx(independent, rel=0.15)
    assert fd(one, one + 0.05 * noise) / spectrum.sum() == pytest.approx(paired, rel=0.15)


def sets_of(one: np.ndarray, other: np.ndarray, *, items: int) -> list[Features]:
    return [Features(*pair) for pair in zip(np.array_split(one, items), np.array_split(other, items), strict=True)]


def test_a_comparison_says_how_sure_it_is() -> None:
    one, other = drawn(24, 40), drawn(24, 40, seed=1)
    sources = list("abcdef") * 2
    sets = sets_of(one, other, items=12)
    found = frechet.compare(sets, sources, ddof=1)
    assert found.value == pytest.approx(fd(one, other), rel=1e-10)
    assert found.details["n"] == 24
    assert found.details["d"] == 40
    assert found.details["paired"] is True
    assert "N = 24 < d = 40" in found.details["warning"]
    without = []
    for source in "abcdef":
        kept = [pair for pair, name in zip(sets, sources, strict=True) if name != source]
        without.append(reference(*(np.concatenate(arrays) for arrays in zip(*kept, strict=True))))
    error = math.sqrt(5 / 6 * sum((one - np.mean(without)) ** 2 for one in without))
    assert found.standard_error == pytest.approx(error, rel=1e-5)
    assert found.value is not None
    assert found.interval_low == pytest.approx(max(found.value - 2.570582 * error, 0), rel=1e-5)
    assert found.interval_high == pytest.approx(found.value + 2.570582 * error, rel=1e-5)


def test_neither_the_order_of_items_nor_their_size_matters() -> None:
    one, other = drawn(300, 20), drawn(300, 20, seed=1)
    values = [
        frechet.compare(sets, [str(index) for index in range(len(sets))], ddof=1).value
        for sets in (sets_of(one, other, items=1), sets_of(one, other, items=60), sets_of(one, other, items=60)[::-1])
    ]
    assert values == pytest.approx([values[0]] * 3, rel=1e-10)


@pytest.mark.parametrize(("n", "sources"), [(24, 2), (60, 2)])
def test_few_sources_have_no_interval(n: int, sources: int) -> None:
    sets = sets_of(drawn(n, 40), drawn(n, 40, seed=1), items=4)
    found = frechet.compare(sets, [str(index % sources) for index in range(4)], ddof=1)
    assert found.value is not None
    assert found.standard_error is None
    assert found.interval_low is None


@pytest.mark.parametrize(("sources", "groups"), [(7, 7), (20, 20), (25, 20)])
def test_many_vectors_have_an_interval_by_merging_the_other_groups(sources: int, groups: int) -> None:
    one, other = drawn(300, 12), drawn(300, 12, seed=1)
    names = [f"{index % sources:02}" for index in range(50)]
    sets = sets_of(one, other, items=50)
    found = frechet.compare(sets, names, ddof=1)
    without = []
    for group in range(groups):
        kept = [pair for pair, name in zip(sets, names, strict=True) if int(name) % groups != group]
        without.append(reference(*(np.concatenate(arrays) for arrays in zip(*kept, strict=True))))
    error = math.sqrt((groups - 1) / groups * sum((value - np.mean(without)) ** 2 for value in without))
    assert found.standard_error == pytest.approx(error, rel=1e-5)


@pytest.mark.parametrize(
    ("d", "sources", "groups"),
    [
        (9, 2, 0), (9, 5, 0), (9, 90, 90), (500, 90, 20), (1024, 90, 20), (1600, 150, 20), (2048, 150, 10), (2048, 7, 7),
        (2100, 150, 0),
    ],
)  # fmt: skip
def test_an_interval_is_made_only_while_it_takes_some_seconds(d: int, sources: int, groups: int) -> None:
    assert frechet._affordable([str(index) for index in range(sources)], products=frechet._ROOTS * float(d) ** 3) == groups


def test_sums_about_one_centre_merge_to_what_all_vectors_give() -> None:
    rows = drawn(90, 8, offset=30.0)
    merged = Moments()
    for part in np.split(rows, [3, 40]):
        moments = Moments(centre=rows[0])
        moments.add(part)
        moments.fold()
        assert moments.rows is None
        merged.merge(moments)
    assert merged.n == 90
    np.testing.assert_allclose(merged.mean(), rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(merged.covariance(ddof=1), np.cov(rows, rowvar=False), rtol=1e-10, atol=1e-12)


def test_single_vectors_of_sources_have_an_interval() -> None:
    sets = sets_of(drawn(6, 40), drawn(6, 40, seed=1), items=6)
    assert frechet.compare(sets, list("abcdef"), ddof=1).standard_error is not None
    five = frechet.compare(sets[:5], list("abcde"), ddof=1)
    assert five.value is not None
    assert (five.standard_error, five.interval_low, five.interval_high) == (None, None, None)


def test_what_cannot_be_compared_has_a_reason() -> None:
    rows = drawn(4, 5)
    broken = rows.copy()
    broken[1, 2] = np.nan
    found = frechet.compare([Features(rows, rows), Features(broken, rows)], ["a", "b"], ddof=1)
    assert found.value is None
    assert "of source 'b' hold NaN" in str(found.reason)
    found = frechet.compare([Features(rows[:1], rows[:1])], ["a"], ddof=1)
    assert found.value is None
    assert "at least 2 vectors" in str(found.reason)
    with pytest.raises(NotMeasurable, match="shape"):
        of(np.zeros(7))
    with pytest.raises(NotMeasurable, match="at least 2"):
        fd(rows[:1], rows)
    with pytest.raises(NotMeasurable, match="several lengths"):
        fd(rows, rows[:, :3])
    with pytest.raises(NotMeasurable, match="several lengths"):
        of(rows, rows[:, :3])
    with pytest.raises(ValueError, match="not 0 or 1"):
        frechet.check_ddof(2)


def test_the_divisor_is_that_of_the_sample_or_of_the_population() -> None:
    assert [frechet.check_ddof(ddof) for ddof in (0, 1)] == [0, 1]
    for ddof in (-1, 2):
        with pytest.raises(ValueError, match=f"ddof is {ddof}, not 0 or 1"):
            frechet.check_ddof(ddof)
