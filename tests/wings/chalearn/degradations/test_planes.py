"""Random planes: the statistics they promise, geometry against plain definitions, any size."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.wings.chalearn.degradations import planes


def lag(plane: planes.Plane, down: int, across: int) -> float:
    """Correlation of a plane with itself moved by so many pixels."""
    height, width = plane.shape
    one, other = plane[: height - down, : width - across], plane[down:, across:]
    return float(np.corrcoef(one.ravel(), other.ravel())[0, 1])


@pytest.mark.parametrize("period", [1.0, 3.0, 9.0, 24.0])
def test_bumps_have_mean_0_and_standard_deviation_1(period: float) -> None:
    plane = planes.bumps(500, 600, period_pixels=period, rng=np.random.default_rng(1))
    assert abs(plane.mean()) < 0.1
    assert plane.std() == pytest.approx(1, abs=0.12)


def test_bumps_are_as_wide_as_asked_and_alike_in_both_directions() -> None:
    plane = planes.bumps(600, 600, period_pixels=30, rng=np.random.default_rng(2))
    assert lag(plane, 3, 0) > 0.9
    assert abs(lag(plane, 60, 0)) < 0.15
    assert lag(plane, 10, 0) == pytest.approx(lag(plane, 0, 10), abs=0.08)


def test_stretched_bumps_are_longer_to_the_right() -> None:
    plane = planes.bumps(400, 400, period_pixels=12, stretch=4, rng=np.random.default_rng(2))
    assert lag(plane, 0, 16) > 0.5 > 0.2 > abs(lag(plane, 16, 0))


def test_clouds_have_standard_deviation_1_and_more_detail_with_gain() -> None:
    smooth, rough = (
        planes.clouds(400, 500, period_pixels=32, octaves=4, rng=np.random.default_rng(5), gain=gain) for gain in (0.3, 0.9)
    )
    assert smooth.std() == pytest.approx(1, abs=0.12)
    assert rough.std() == pytest.approx(1, abs=0.12)
    assert lag(smooth, 0, 4) > lag(rough, 0, 4) + 0.15


@pytest.mark.parametrize("degrees", [0.0, 90.0, 30.0])
def test_streaks_run_in_their_direction(degrees: float) -> None:
    plane = planes.streaks(300, 300, length_pixels=60, degrees=degrees, rng=np.random.default_rng(3))
    down, across = round(10 * math.sin(math.radians(degrees))), round(10 * math.cos(math.radians(degrees)))
    assert lag(plane, down, across) > 0.6
    assert abs(lag(plane, across, down) if degrees != 30 else lag(plane, 10, 0)) < 0.25
    assert plane.std() == pytest.approx(1, abs=0.35)


def test_coordinates_are_a_turned_frame_around_the_middle() -> None:
    along, across = planes.coordinates(5, 7, degrees=90)
    np.testing.assert_allclose(along[:, 3], [-2, -1, 0, 1, 2], atol=1e-6)
    np.testing.assert_allclose(across[2], [3, 2, 1, 0, -1, -2, -3], atol=1e-6)


def test_cells_are_nearest_points_of_about_one_a_square() -> None:
    numbers, far = planes.cells(200, 260, spacing_pixels=20, bend_pixels=0, rng=np.random.default_rng(4))
    assert len(np.unique(numbers)) == pytest.approx(200 * 260 / 400, rel=0.35)
    # Cells of nearest points are convex: along every row and column a number comes in one run.
    for line in [*numbers[::17], *numbers.T[::17]]:
        runs = 1 + np.count_nonzero(np.diff(line))
        assert runs - len(np.unique(line)) <= 1  # a pixel at a corner, of distances in whole steps
    borders = (numbers[1:, 1:] != numbers[1:, :-1]) | (numbers[1:, 1:] != numbers[:-1, 1:])
    assert (far[1:, 1:][borders] == 0).all()


def test_border_distance_is_that_to_the_nearest_change() -> None:
    numbers = np.zeros((20, 30), np.int32)
    numbers[:, 12:] = 1
    numbers[15:, 12:] = 2
    rows, columns = np.mgrid[:20, :30]
    edge = (columns == 12) | ((rows == 15) & (columns >= 12))
    places = np.argwhere(edge)
    plain = np.sqrt(((np.argwhere(np.ones_like(edge))[:, None] - places[None]) ** 2).sum(-1)).min(1).reshape(edge.shape)
    np.testing.assert_allclose(planes.border_distance(numbers), plain, atol=0.6)
    assert (planes.border_distance(np.zeros((4, 5), np.int32)) == 9).all()


def test_relief_is_the_slope_towards_the_light() -> None:
    rows, columns = np.mgrid[:9, :9].astype(np.float32)
    surface = 2 * columns + 5 * rows
    inner = (slice(1, -1), slice(1, -1))
    np.testing.assert_allclose(planes.relief(surface, light_degrees=0)[inner], -2, atol=1e-5)
    np.testing.assert_allclose(planes.relief(surface, light_degrees=270)[inner], 5, atol=1e-5)


def test_colours_lie_between_the_ends_and_stay_at_them_beyond() -> None:
    level = np.array([[-3.0, 0.0, 0.25, 0.5, 1.0, 7.0]], np.float32)
    found = planes.coloured(level, [(0, 0, 0), (100, 50, 0), (200, 50, 250)])
    expected = [(0, 0, 0), (0, 0, 0), (50, 25, 0), (100, 50, 0), (200, 50, 250), (200, 50, 250)]
    np.testing.assert_allclose(found[0], expected, atol=1)


def test_lighter_is_added_to_the_colours() -> None:
    level, lighter = np.array([[0.0, 0.5, 1.0]], np.float32), np.array([[3.0, -20.0, 500.0]], np.float32)
    assert planes.coloured(level, [(10, 20, 30), (110, 20, 30)], lighter=lighter)[0].tolist() == [
        [13, 23, 33],
        [40, 0, 10],
        [255, 255, 255],
    ]


def test_blended_is_the_sum_of_shares_of_colours() -> None:
    one, other = np.array([[0.0, 0.25, 2.0]], np.float32), np.array([[1.0, 0.5, -1.0]], np.float32)
    found = planes.blended([((100, 200, 10), one), ((40, 80, 60), other)])
    assert found[0].tolist() == [[40, 80, 60], [45, 90, 32], [160, 255, 0]]
    assert one.tolist() == [[0.0, 0.25, 2.0]]


@pytest.mark.parametrize("colours", [False, True])
def test_mixed_and_multiplied_are_rounded_to_the_nearest(colours: bool) -> None:
    grey, other = np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8))
    upper = np.repeat(other[..., None], 3, axis=2) if colours else other
    share = grey.astype(float)[..., None] if colours else grey.astype(float)
    expected = np.floor((upper * share + (255 - upper.astype(float)) * (255 - share)) / 255 + 0.5)
    np.testing.assert_array_equal(planes.mixed(upper, 255 - upper, grey), expected)
    if colours:
        np.testing.assert_array_equal(planes.multiplied(upper, grey), np.floor(upper * share / 255 + 0.5))


def test_grain_is_uniform_with_mean_0_and_standard_deviation_1() -> None:
    plane = planes.grain(300, 400, rng=np.random.default_rng(1))
    assert abs(plane.mean()) < 0.01
    assert plane.std() == pytest.approx(1, abs=0.01)
    assert -math.sqrt(3) <= plane.min() < -1.7 < 1.7 < plane.max() <= math.sqrt(3)


def test_levels_are_rounded_and_clipped() -> None:
    picture = np.array([[[-20.0, 0.4, 99.6]], [[254.7, 255.0, 900.0]]], np.float32)
    assert planes.levels(picture).tolist() == [[[0, 0, 100]], [[255, 255, 255]]]


@settings(max_examples=30, deadline=None)
@given(height=st.integers(1, 60), width=st.integers(1, 60), period=st.floats(0.2, 300), seed=st.integers(0, 9))
def test_any_size_gets_finite_planes_of_its_size(height: int, width: int, period: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = [
        planes.bumps(height, width, period_pixels=period, rng=rng),
        planes.clouds(height, width, period_pixels=period, octaves=4, rng=rng),
        planes.streaks(height, width, length_pixels=period, degrees=seed * 45, rng=rng),
        planes.streaks(height, width, length_pixels=period, degrees=33, rng=rng),
        planes.cells(height, width, spacing_pixels=max(1.0, period), bend_pixels=period / 4, rng=rng)[1],
    ]
    for plane in made:
        assert plane.shape == (height, width)
        assert plane.dtype == np.float32
        assert np.isfinite(plane).all()
