from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.ndimage
import skimage.filters
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.wings.chalearn.fingerprints.stripes import rings, straight

from inpaintbench.wings.chalearn.fingerprints.estimation import (
    DERIVATIVE_SIGMA_PIXELS,
    TENSOR_SIGMA_PIXELS,
    estimate_field,
    estimate_orientation,
    measure_periods,
    wrapped,
)

INNER = np.s_[30:-30, 30:-30]


def off_degrees(found: np.ndarray, true: np.ndarray | float) -> np.ndarray:
    return np.degrees(np.abs(np.mod(found - true + math.pi / 2, math.pi) - math.pi / 2))


@settings(max_examples=20, deadline=None)
@given(degrees=st.floats(0, 179.9), period=st.floats(6.5, 12))
def test_straight_ridges_give_their_angle_and_period(degrees: float, period: float) -> None:
    picture = straight(degrees, period=period)
    field = estimate_field(picture)
    assert off_degrees(field.theta, math.radians(degrees))[INNER].max() < 1.5
    assert field.coherence[INNER].min() > 0.95
    height, width = picture.shape
    points = np.argwhere(np.ones((height - 80, width - 80)))[::97, ::-1] + 40
    assert np.median(measure_periods(picture, field.theta, points=points)) == pytest.approx(period, rel=0.02)


def test_angles_are_counter_clockwise_as_seen_from_horizontal() -> None:
    assert off_degrees(estimate_orientation(straight(0)), 0).max() < 0.1
    rising = straight(30)
    assert off_degrees(estimate_orientation(rising)[INNER], math.radians(30)).max() < 1
    # Seen in a mirror, what rises to the right falls to the right.
    assert off_degrees(estimate_orientation(np.ascontiguousarray(rising[:, ::-1]))[INNER], math.radians(150)).max() < 1


def test_equals_the_structure_tensor_of_scipy() -> None:
    picture = np.random.default_rng(3).integers(0, 256, (90, 80), dtype=np.uint8)
    smooth = scipy.ndimage.gaussian_filter(picture.astype(float), DERIVATIVE_SIGMA_PIXELS, mode="nearest", truncate=6)
    down, across = skimage.filters.sobel_h(smooth), skimage.filters.sobel_v(smooth)
    xx, yy, xy = (
        scipy.ndimage.gaussian_filter(product, TENSOR_SIGMA_PIXELS, mode="nearest", truncate=6)
        for product in (across * across, down * down, across * down)
    )
    expected = 0.5 * np.arctan2(-2 * xy, xx - yy) + math.pi / 2
    field = estimate_field(picture)
    # At the border the two gradients differ.
    inner = np.s_[40:-40, 35:-35]
    assert off_degrees(field.theta, expected)[inner].max() < 1.5
    np.testing.assert_allclose(field.coherence[inner], (np.hypot(xx - yy, 2 * xy) / (xx + yy))[inner], atol=0.02)


def test_rings_are_normal_to_their_radius_and_keep_their_period() -> None:
    picture, true = rings()
    theta = estimate_orientation(picture)
    y, x = np.mgrid[: picture.shape[0], : picture.shape[1]] - 100
    away = (np.hypot(x, y) > 25) & (np.hypot(x, y) < 80)
    assert off_degrees(theta, true)[away].max() < 3
    points = np.argwhere(away)[::97, ::-1]
    assert np.median(measure_periods(picture, true, points=points)) == pytest.approx(8.6, rel=0.02)


def test_both_follow_the_resolution() -> None:
    picture = straight(60, period=17.2, height=300, width=340)
    field = estimate_field(picture, pixels_per_inch=1000)
    assert off_degrees(field.theta, math.radians(60))[60:-60, 60:-60].max() < 1
    points = np.argwhere(np.ones((180, 220)))[::997, ::-1] + 60
    found = measure_periods(picture, field.theta, points=points, pixels_per_inch=1000)
    np.testing.assert_allclose(found, 17.2, rtol=0.05)


def test_a_blank_picture_has_no_direction_and_no_period() -> None:
    blank = np.full((60, 50), 255, np.uint8)
    field = estimate_field(blank)
    assert not field.theta.any()
    assert not field.coherence.any()
    assert np.isnan(measure_periods(blank, field.theta, points=np.array([[25, 30], [10, 10]]))).all()


def test_a_point_too_near_to_the_edge_has_no_period() -> None:
    picture, theta = straight(0, height=20), np.zeros((20, 170), np.float32)
    assert np.isnan(measure_periods(picture[:9], theta[:9], points=np.array([[80, 4]]))).all()


def test_more_points_than_one_map_can_hold() -> None:
    picture = straight(0)
    found = measure_periods(picture, np.zeros(picture.shape, np.float32), points=np.tile([[80, 70]], (33_000, 1)))
    assert len(found) == 33_000
    assert np.ptp(found) == 0


@given(angle=st.floats(-100, 100))
def test_wrapped_angles_are_in_range_and_the_same_line(angle: float) -> None:
    inside = float(wrapped(np.array([angle]))[0])
    assert 0 <= inside < math.pi
    assert off_degrees(np.array(inside), angle) < 1e-3
