"""Ridge periods: in range, wide at the tip and the base, scaled by resolution, never twice the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from inpaintbench.wings.chalearn.fingerprints.master import period_of_bin, ridge_period
from inpaintbench.wings.chalearn.fingerprints.records import Finger

FINGER = Finger("arch", 275, 400, 500.0, (), (), (), (2.0, 1.0, 1.0), 0)


def periods(seed: int) -> np.ndarray:
    return ridge_period(replace(FINGER, seed=seed))


def test_periods_are_those_of_the_bins_and_of_fingers() -> None:
    bins = period_of_bin(np.arange(1, 101), pixels_per_inch=500.0).astype(np.float32)
    medians = []
    for seed in range(20):
        period = periods(seed)
        assert period.shape == (400, 275)
        assert period.dtype == np.float32
        assert np.isin(period, bins).all()
        medians.append(float(np.median(period)))
    assert 7.5 < np.mean(medians) < 9.5  # 0.38 to 0.48 mm
    assert np.std(medians) > 0.05


def test_wideness_is_spread_like_that_of_the_published_maps() -> None:
    """Least .13-.30, largest .75-.78 for one map (an average of several is milder), mean .45-.57 up to patches."""
    for seed in range(10):
        bins = (1 / periods(seed).astype(np.float64) - 0.075) / 0.0008
        wideness = (101 - bins) / 100
        assert 0.10 < wideness.min() < 0.32
        assert 0.60 < wideness.max() < 0.80
        assert 0.42 < wideness.mean() < 0.58


def test_maps_are_as_wide_and_where_the_published_ones_are() -> None:
    """Of 2,000 published maps: mean .45-.57, widest near 1/5 and 5/6 of the height."""
    wideness = np.mean([(101 - (1 / periods(seed).astype(np.float64) - 0.075) / 0.0008) / 100 for seed in range(40)], axis=0)
    assert 0.45 < wideness.mean() < 0.57
    rows = wideness.mean(axis=1)
    assert 0.12 < rows[:200].argmax() / 400 < 0.24
    assert 0.78 < (200 + rows[200:].argmax()) / 400 < 0.88


def test_ridges_are_wide_at_the_tip_and_the_base() -> None:
    rows = np.mean([periods(seed).mean(axis=1) for seed in range(10)], axis=0)
    middle = rows[150:250].mean()
    assert rows[:60].mean() > 1.15 * middle
    assert rows[-60:].mean() > 1.15 * middle


def test_the_map_is_smooth() -> None:
    for seed in range(5):
        period = periods(seed)
        assert np.abs(np.diff(period, axis=0)).max() < 0.4
        assert np.abs(np.diff(period, axis=1)).max() < 0.4


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_periods_go_with_the_resolution(scale: float) -> None:
    other = replace(FINGER, width=round(275 * scale), height=round(400 * scale), pixels_per_inch=500 * scale)
    assert np.median(ridge_period(other)) == pytest.approx(scale * np.median(ridge_period(FINGER)), rel=0.01)


def test_one_seed_gives_one_map() -> None:
    assert np.array_equal(periods(1), periods(1))
    assert not np.array_equal(periods(1), periods(2))
    assert np.array_equal(ridge_period(replace(FINGER, finger_class="whorl", arch=None)), periods(0))
