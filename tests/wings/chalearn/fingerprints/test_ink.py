"""Ink: thickness in the direction of moisture and pressure, specks against a plain loop, thin scratches."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.wings.chalearn.fingerprints.impressions import (
    NEUTRAL_PRESSURE,
    Specks,
    random_specks,
    scratched,
    smoothed,
    speck_shape,
    stamped,
    thickened,
)

SHAPES = {
    1: ["1"],
    2: ["11", "11"],
    3: ["010", "111", "010"],
    4: ["0110", "1111", "1111", "0110"],
    5: ["00100", "01110", "11111", "01110", "00100"],
    6: ["011110", "111111", "111111", "111111", "111111", "011110"],
    7: ["0011100", "0111110", "1111111", "1111111", "1111111", "0111110", "0011100"],
}


def stripes(height: int = 120, width: int = 150, period: float = 8.6) -> np.ndarray:
    wave = np.cos(2 * np.pi * np.arange(height) / period)
    return np.broadcast_to(np.where(wave > 0.35, 0, 255).astype(np.uint8)[:, None], (height, width)).copy()


def printed(moisture: float, pressure: float = NEUTRAL_PRESSURE, edge_distance: float = 100.0) -> np.ndarray:
    master = stripes()
    inwards = np.full(master.shape, edge_distance, np.float32)
    rng = np.random.default_rng(3)
    return thickened(master, moisture=moisture, pressure=pressure, inwards=inwards, scale=1.0, rng=rng)


def ink(picture: np.ndarray) -> float:
    return float(1 - picture.mean() / 255)


def test_a_neutral_finger_prints_the_master_itself() -> None:
    assert np.array_equal(printed(0.0), stripes())


def test_wetter_and_heavier_prints_carry_more_ink() -> None:
    by_moisture = [ink(printed(moisture)) for moisture in (-1, -0.7, -0.4, -0.1, 0.1, 0.4, 0.7, 1)]
    assert by_moisture == sorted(by_moisture)
    assert by_moisture[0] < 0.7 * ink(stripes())
    assert by_moisture[-1] > 1.2 * ink(stripes())
    by_pressure = [ink(printed(0.1, pressure)) for pressure in (0, 0.2, 0.4, 0.6, 0.8, 1)]
    assert by_pressure == sorted(by_pressure)


def test_dry_ridges_break_and_light_ones_are_pale() -> None:
    ridge = stripes()[:, 0] == 0
    dry = printed(-1.0)[ridge]
    assert (dry > 200).mean() > 0.05
    assert (dry < 60).mean() > 0.3
    light = printed(0.0, 0.0)
    assert 40 < light.min() < 80
    assert printed(0.0, 1.0).min() == 0


def test_light_prints_fade_towards_the_edge() -> None:
    assert ink(printed(0.0, 0.2, 1.0)) < 0.8 * ink(printed(0.0, 0.2, 60.0))


@pytest.mark.parametrize("side", SHAPES)
def test_shapes_of_specks(side: int) -> None:
    assert ["".join(map(str, row)) for row in speck_shape(side)] == SHAPES[side]


@given(seed=st.integers(0, 1000), height=st.integers(1, 40), width=st.integers(1, 40))
@settings(max_examples=30, deadline=None)
def test_stamping_at_once_is_stamping_one_by_one(seed: int, height: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    specks = Specks(rng.uniform(-5, width + 5, 30), rng.uniform(-5, height + 5, 30), rng.integers(1, 8, 30).astype(float))
    expected = np.zeros((height + 40, width + 40), np.uint8)
    for x, y, side in zip(np.rint(specks.x).astype(int), np.rint(specks.y).astype(int), specks.sides.astype(int), strict=True):
        if 0 <= x < width and 0 <= y < height:
            # an even shape has its centre to the upper left of the place
            top, left = y + 20 - (side - 1) // 2, x + 20 - (side - 1) // 2
            expected[top : top + side, left : left + side] |= speck_shape(side)
    found = stamped(specks, height=height, width=width, scale=1.0, rng=rng)
    assert np.array_equal(found, expected[20 : 20 + height, 20 : 20 + width])


@pytest.mark.parametrize("scale", [0.4, 0.5, 1.0, 1.5, 2.0])
def test_specks_cover_the_same_share_at_any_resolution(scale: float) -> None:
    height, width = round(400 * scale), round(275 * scale)
    rng = np.random.default_rng(0)
    specks = random_specks(1.0, height=height, width=width, scale=scale, rng=rng)
    assert specks.x.size == pytest.approx(9000, rel=0.02)
    share = stamped(specks, height=height, width=width, scale=scale, rng=rng).mean()
    # 9,000 specks of 2.5 pixels on average, that may lie upon each other
    assert share == pytest.approx(1 - np.exp(-9000 * 2.5 / 110_000), rel=0.04)


def test_density_counts_specks() -> None:
    counts = [random_specks(d, height=400, width=275, scale=1.0, rng=np.random.default_rng(0)).x.size for d in (0, 5 / 9, 1)]
    assert counts == [0, 5000, 9000]


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_scratches_are_thin_white_and_in_the_middle(scale: float) -> None:
    height, width = round(400 * scale), round(275 * scale)
    black = np.zeros((height, width), np.uint8)
    for seed in range(30):
        one = scratched(black, 1, scale=scale, rng=np.random.default_rng(seed))
        white = (one > 127).astype(np.uint8)
        thickness = 2 * cv2.distanceTransform(np.pad(white, 1), cv2.DIST_L2, 5).max() - 1
        assert thickness <= 3.4 * scale + 1.5
        rows, columns = np.nonzero(one)
        length = np.hypot(np.ptp(rows), np.ptp(columns))
        assert 1 <= length <= 135 * scale + 3
        assert rows.min() > 0.02 * height
        assert columns.min() > 0.02 * width


def test_some_scratches_are_curved() -> None:
    black, bends = np.zeros((400, 275), np.uint8), []
    for seed in range(30):
        rows, columns = np.nonzero(scratched(black, 1, scale=1.0, rng=np.random.default_rng(seed)) > 127)
        points = np.stack([columns, rows]).astype(float)
        # the lesser principal extent of a straight line of these widths stays below 1
        bends.append(np.sqrt(max(0.0, np.linalg.eigvalsh(np.cov(points))[0])))
    assert np.mean(np.array(bends) > 1.2) > 0.3


def test_scratches_only_whiten_and_none_change_nothing() -> None:
    master = stripes(200, 200)
    assert np.array_equal(scratched(master, 0, scale=1.0, rng=np.random.default_rng(0)), master)
    several = scratched(master, 6, scale=1.0, rng=np.random.default_rng(0))
    assert np.all(several >= master)
    assert np.array_equal(master, stripes(200, 200))
    assert 0.002 < np.mean(several != master) < 0.05


def test_smoothing_is_binomial_and_never_darkens_what_is_kept() -> None:
    kept = stripes(30, 40)
    specked = kept.copy()
    specked[::3, ::5] = 255
    weights = np.outer([1, 2, 1], [1, 2, 1]) / 16
    around = np.pad(specked.astype(float), 1, mode="reflect")
    plain = sum(weights[i, j] * around[i : i + 30, j : j + 40] for i in range(3) for j in range(3))
    found = smoothed(specked, kept=kept)
    assert np.all(found[kept == 255] == 255)
    assert np.abs(found[kept == 0] - plain[kept == 0]).max() <= 1
