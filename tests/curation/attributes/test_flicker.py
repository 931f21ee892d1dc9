"""Flicker of known size over moving views."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from worlds import luma, pan_clip

from inpaintbench.curation.attributes.levels import Flicker, deviation_from_trend
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Luma
from inpaintbench.view import ItemView

FPS = 30.0
TIMES = np.arange(90) / FPS
TREMBLING = np.random.default_rng(8).normal(size=90)


def flicker(plane: Luma) -> float:
    return Flicker().measure(ItemView.of_arrays(luma=plane, fps=FPS))


@pytest.fixture(scope="module", params=["coffee", "motorcycle"])
def pan(request: pytest.FixtureRequest) -> npt.NDArray[np.float64]:
    """A fast pan with noise, ``float64[90, 180, 320]``."""
    return luma(pan_clip(request.param, pixels_per_frame=3, frames=90, width=320, height=180)).astype(np.float64)


def stored(levels: npt.NDArray[np.float64]) -> Luma:
    return np.clip(np.rint(levels + np.random.default_rng(1).uniform(-0.5, 0.5, levels.shape)), 0, 255).astype(np.uint8)


def over_time(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return values[:, None, None]


@pytest.mark.parametrize("amplitude", [1.5, 6.0])
@pytest.mark.parametrize("per_second", [5.0, 8.0, 13.0])
def test_a_sinusoid_gives_its_deviation(pan: npt.NDArray[np.float64], amplitude: float, per_second: float) -> None:
    clip = stored(pan + over_time(amplitude * np.sin(2 * np.pi * per_second * TIMES)))
    assert flicker(clip) == pytest.approx(amplitude / np.sqrt(2), rel=0.12, abs=0.2)  # the pan adds a little of its own


@pytest.mark.parametrize("gain", [0.02, 0.05])
def test_random_gain_gives_its_deviation_times_the_level(pan: npt.NDArray[np.float64], gain: float) -> None:
    clip = stored(pan * over_time(1 + gain * TREMBLING))
    assert flicker(clip) == pytest.approx(gain * TREMBLING.std() * pan.mean(), rel=0.2)


def test_pans_and_fades_hardly_count(pan: npt.NDArray[np.float64]) -> None:
    assert flicker(stored(pan)) < 0.3
    assert flicker(stored(16 + (pan - 16) * over_time(np.clip(TIMES, 0, 1)))) < 0.6
    assert flicker(stored(pan * over_time(1 + 0.1 * np.sin(2 * np.pi * 0.4 * TIMES)))) < 0.4


def test_a_dark_thing_that_comes_and_goes_hardly_counts(pan: npt.NDArray[np.float64]) -> None:
    clip = stored(pan)
    clip[30:50, 60:120, 100:180] = 20
    assert flicker(clip) < 0.3


@pytest.mark.parametrize("fps", [10.0, 24.0, 60.0])
def test_independent_changes_give_their_deviation_at_any_rate(fps: float) -> None:
    found = [deviation_from_trend(np.random.default_rng(seed).normal(size=int(4 * fps)), fps=fps) for seed in range(20)]
    assert np.mean(found) == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("frames", [5, 6, 9, 20])
def test_short_clips(frames: int) -> None:
    levels = 100 + 40 * (np.arange(frames) % 2)
    clip = np.broadcast_to(levels[:, None, None], (frames, 16, 16)).astype(np.uint8)
    assert 18 < flicker(clip) < 40  # 20, and up to twice as much in clips shorter than the trend
    assert flicker(np.full((frames, 16, 16), 90, np.uint8)) < 1e-9


def test_too_few_frames_have_a_reason() -> None:
    with pytest.raises(NotMeasurable, match="the clip has 4 frames, flicker needs at least 5"):
        flicker(np.zeros((4, 16, 16), np.uint8))
