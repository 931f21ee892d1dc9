from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.wings.chalearn.fingerprints.classes import (
    SingularPoint,
    class_of,
    opening,
    poincare_index,
    recovered_class,
    reliable_points,
    singular_points,
)
from tests.wings.chalearn.fingerprints.stripes import grown, zero_pole

from inpaintbench.wings.chalearn.fingerprints.estimation import Field, orientation_rmsd, print_area, shrunk
from inpaintbench.wings.chalearn.fingerprints.fingers import draw_finger
from inpaintbench.wings.chalearn.fingerprints.master import master, orientation
from inpaintbench.wings.chalearn.fingerprints.records import CLASSES

places = st.tuples(st.integers(2, 90).map(lambda x: x + 0.4), st.integers(2, 110).map(lambda y: y + 0.7))


@settings(max_examples=30, deadline=None)
@given(points=st.lists(places, min_size=1, max_size=4, unique=True), number=st.integers(0, 4))
def test_the_index_stands_in_the_cells_of_the_points_and_nowhere_else(points: list[tuple[float, float]], number: int) -> None:
    near = any(math.dist(a, b) < 3 for i, a in enumerate(points) for b in points[:i])
    cores, deltas = points[:number], points[number:]
    if near:
        return
    expected = np.zeros((119, 99), np.int8)
    for sign, group in ((1, cores), (-1, deltas)):
        for x, y in group:
            expected[int(y), int(x)] = sign
    np.testing.assert_array_equal(poincare_index(zero_pole(cores, deltas)), expected)


def test_points_have_places_and_signs_and_stay_inside_the_mask() -> None:
    theta = zero_pole([(40.2, 30.6)], [(60.3, 80.9)])
    assert singular_points(theta) == (SingularPoint(40.5, 30.5, 1), SingularPoint(60.5, 80.5, -1))
    mask = np.ones(theta.shape, np.bool_)
    mask[31, 40] = False
    assert singular_points(theta, mask=mask) == (SingularPoint(60.5, 80.5, -1),)


def test_rmsd_wraps_and_counts_only_the_mask() -> None:
    one, other = np.full((4, 5), 0.05, np.float32), np.full((4, 5), math.pi - 0.05, np.float32)
    assert orientation_rmsd(one, other) == pytest.approx(math.degrees(0.1), rel=1e-5)
    one[0] = 1.0
    mask = np.ones(one.shape, np.bool_)
    mask[0] = False
    assert orientation_rmsd(one, other, mask=mask) == pytest.approx(math.degrees(0.1), rel=1e-5)
    assert orientation_rmsd(one, other) > 20
    assert math.isnan(orientation_rmsd(one, other, mask=~mask & mask))


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ((), "arch"),
        (((50, 60, 1), (52, 90, -1)), "tented_arch"),
        (((50, 60, 1), (20, 90, -1)), "right_loop"),
        (((50, 60, 1), (80, 90, -1)), "left_loop"),
        (((50, 60, 1), (52, 80, 1), (20, 90, -1), (80, 95, -1)), "whorl"),
        (((45, 60, 1), (65, 80, 1), (20, 90, -1)), "double_loop"),
    ],
)
def test_points_make_classes(points: tuple[tuple[float, float, int], ...], expected: str) -> None:
    assert class_of([SingularPoint(*point) for point in points], np.zeros((120, 100), np.float32)) == expected


@pytest.mark.parametrize(("delta_x", "expected"), [(15.0, "right_loop"), (85.0, "left_loop")])
def test_a_core_tells_its_loop_without_its_delta(delta_x: float, expected: str) -> None:
    core = SingularPoint(50.5, 50.5, 1)
    theta = zero_pole([(50.5, 50.5)], [(delta_x, 110.0)])
    # A loop opens away from its delta: left and down, or right and down.
    right, down = opening(core, theta, radius_pixels=16)
    assert (right > 0) == (expected == "right_loop")
    assert down > 0
    assert class_of([core], theta) == expected


def test_wrinkles_are_dropped_in_pairs() -> None:
    theta = zero_pole([(50.5, 40.5), (20.5, 80.5)], [(26.5, 84.5)])
    field, mask = Field(theta, np.ones_like(theta)), np.ones(theta.shape, np.bool_)
    assert [point[:2] for point in reliable_points(field, mask)] == [(50.5, 40.5)]
    assert len(reliable_points(field, mask, scale=0.4)) == 3


def test_a_grown_loop_is_recovered_and_so_is_its_mirror_image() -> None:
    theta = zero_pole([(60.5, 70.5)], [(110.5, 130.5)], height=190, width=150)
    picture, mask = grown(theta), np.ones(theta.shape, np.bool_)
    assert recovered_class(picture, mask) == "left_loop"
    assert recovered_class(np.ascontiguousarray(picture[:, ::-1]), mask) == "right_loop"


@pytest.mark.parametrize("name", CLASSES)
def test_classes_are_recovered_from_synthetic_prints(name: str) -> None:
    finger = draw_finger(np.random.default_rng(11), finger_class=name, seed=4)
    theta = orientation(finger)
    assert class_of(singular_points(theta), theta) == name
    mask = np.zeros(theta.shape, np.bool_)
    mask[15:-15, 15:-15] = True
    assert recovered_class(master(finger), mask) == name


def test_the_area_of_a_print_is_its_largest_piece_and_shrinks() -> None:
    picture = np.full((120, 140), 255, np.uint8)
    picture[20:100, 30:110] = grown(np.zeros((80, 80), np.float32))
    picture[4:8, 4:8] = 0
    true = np.zeros(picture.shape, np.bool_)
    true[20:100, 30:110] = True
    area = print_area(picture)
    assert (area != true).mean() < 0.06
    assert not area[:10, :10].any()
    inner = shrunk(true, 10)
    assert inner[30:90, 40:100].all()
    assert inner.sum() == 60 * 60
    assert not print_area(np.full((30, 30), 255, np.uint8)).any()
    assert shrunk(np.ones((40, 40), np.bool_), 5)[5:-5, 5:-5].all()
