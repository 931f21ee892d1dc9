"""Noise of the stated strength, the same at every level."""

from __future__ import annotations

import numpy as np
import pytest

from inpaintbench.masks.axes.spoiling import NOISE_LEVELS, KnownNoise


def test_the_noise_is_normal_of_the_stated_deviation_and_the_same_times_the_strength() -> None:
    truth = np.full((4, 64, 96, 3), 128, np.uint8)
    hole = np.zeros(truth.shape[:3], np.bool_)
    made = {
        level: KnownNoise().input(level, truth, hole, 24.0, np.random.default_rng(3)).astype(float) - 128
        for level in NOISE_LEVELS
    }
    assert not made["none"].any()
    for level in ("weak", "strong"):
        assert made[level].std() == pytest.approx(NOISE_LEVELS[level], rel=0.02)
        assert abs(made[level].mean()) < NOISE_LEVELS[level] / 50
    assert np.corrcoef(made["weak"].ravel(), made["strong"].ravel())[0, 1] > 0.99
    frames = made["strong"].reshape(4, -1)
    assert abs(np.corrcoef(frames)[0, 1]) < 0.05  # each frame has its own
