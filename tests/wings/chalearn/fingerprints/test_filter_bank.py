from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.wings.chalearn.fingerprints.stripes import rings, straight

from inpaintbench.wings.chalearn.methods.oriented_gabor import PERIODS_PIXELS, find_ridges

INNER = np.s_[30:-30, 30:-30]


def dark(picture: np.ndarray) -> np.ndarray:
    return ((127.5 - picture.astype(np.float32)) / 85).astype(np.float32)


def off_degrees(found: np.ndarray, true: np.ndarray | float) -> np.ndarray:
    return np.degrees(np.abs(np.mod(found - true + math.pi / 2, math.pi) - math.pi / 2))


@settings(max_examples=15, deadline=None)
@given(degrees=st.floats(0, 179.9), period=st.floats(6.6, 11.5))
def test_straight_ridges_give_their_angle_and_period(degrees: float, period: float) -> None:
    found = find_ridges(dark(straight(degrees, period=period)))
    assert off_degrees(found.theta, math.radians(degrees))[INNER].max() < 2
    np.testing.assert_allclose(found.period[INNER], period, rtol=0.07)
    assert found.quality[INNER].min() > 2


def test_heavy_noise_hardly_turns_the_field() -> None:
    noise = np.random.default_rng(0).normal(0, 1.5, (150, 170)).astype(np.float32)
    found = find_ridges(dark(straight(35)) + noise)
    assert off_degrees(found.theta, math.radians(35))[INNER].max() < 8


def test_a_coarser_texture_hardly_turns_the_field() -> None:
    boards = 2 * dark(straight(120, period=40))
    found = find_ridges(dark(straight(35)) + boards)
    assert off_degrees(found.theta, math.radians(35))[INNER].max() < 4


def test_a_gap_takes_its_direction_from_around() -> None:
    picture, true = rings()
    torn = dark(picture)
    torn[90:112, 150:172] = 0
    found = find_ridges(torn)
    assert off_degrees(found.theta, true)[90:112, 150:172].max() < 8


def test_noise_has_less_quality_than_ridges_and_blank_paper_none() -> None:
    noise = np.random.default_rng(1).normal(size=(150, 170)).astype(np.float32)
    ridges = find_ridges(dark(straight(80))).quality[INNER]
    assert np.percentile(find_ridges(noise).quality, 95) < 0.5 * np.percentile(ridges, 5)
    blank = find_ridges(np.zeros((150, 170), np.float32))
    assert not blank.quality.any()
    np.testing.assert_allclose(blank.period, PERIODS_PIXELS[2], rtol=1e-5)


def test_maps_have_the_size_of_the_picture_however_odd() -> None:
    for height, width in ((1, 1), (2, 7), (61, 33), (34, 101)):
        found = find_ridges(np.random.default_rng(2).normal(size=(height, width)).astype(np.float32))
        for one in found:
            assert one.shape == (height, width)
            assert one.dtype == np.float32
            assert np.isfinite(one).all()
        assert 0 <= found.theta.min() <= found.theta.max() < math.pi
