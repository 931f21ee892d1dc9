"""How masks of one frame become tracks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.masks.generators.base import Drawn
from inpaintbench.masks.generators.shapes import DrawFrame, Motion

HEIGHT, WIDTH = 24, 40


def dots(rng: np.random.Generator) -> DrawFrame:
    def draw() -> tuple[np.ndarray, dict[str, object]]:
        hole = rng.random((HEIGHT, WIDTH)) < 0.1
        return hole, {"kind": "dots", "dots": int(hole.sum()), "area_fraction": float(hole.mean())}

    return draw


def track(motion: Motion, frames: int, seed: int = 0) -> Drawn:
    rng = np.random.default_rng(seed)
    return motion.track(dots(rng), frames=frames, rng=rng)


@settings(max_examples=30, deadline=None)
@given(frames=st.integers(1, 20), speed=st.floats(0.1, 90), seed=st.integers(0, 50))
def test_drifting_moves_at_the_stated_speed_and_direction_around_the_frame(frames: int, speed: float, seed: int) -> None:
    drawn = track(Motion("drifting", speed), frames, seed)
    angle = math.radians(drawn.facts.get("drift_degrees", 0.0))
    rows, columns = np.nonzero(drawn.hole[0])
    for index, frame in enumerate(drawn.hole):
        expected = np.zeros_like(frame)
        down, right = round(index * (speed * math.sin(angle))), round(index * (speed * math.cos(angle)))
        expected[(rows + down) % HEIGHT, (columns + right) % WIDTH] = True
        np.testing.assert_array_equal(frame, expected)


def test_drift_directions_are_all_around() -> None:
    degrees = np.array([track(Motion("drifting"), 2, seed).facts["drift_degrees"] for seed in range(200)])
    assert set(np.digitize(degrees, range(0, 360, 45))) == set(range(1, 9))


@given(frames=st.integers(1, 30), tube_frames=st.integers(1, 12))
def test_tubes_change_every_so_many_frames_and_facts_add_up(frames: int, tube_frames: int) -> None:
    drawn = track(Motion("tube", tube_frames=tube_frames), frames)
    starts = range(0, frames, tube_frames)
    for frame in range(1, frames):
        changed = not np.array_equal(drawn.hole[frame], drawn.hole[frame - 1])
        assert changed == (frame in starts)
    assert drawn.facts["dots"] == sum(int(drawn.hole[start].sum()) for start in starts)
    assert drawn.facts["area_fraction"] == pytest.approx(drawn.hole.mean())
    assert drawn.facts["kind"] == "dots"
    assert drawn.facts.get("tubes", 1) == len(starts)


def test_static_stays() -> None:
    hole = track(Motion("static"), 5).hole
    assert hole.shape == (5, HEIGHT, WIDTH)
    assert (hole == hole[0]).all()


def test_bad_arguments_are_named() -> None:
    with pytest.raises(UnknownNameError, match="unknown mask motion 'drift', did you mean 'drifting'"):
        Motion("drift")
    for speed in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InputError, match="speed_pixels_per_frame is"):
            Motion("drifting", speed)
    with pytest.raises(InputError, match="tube_frames is 0, give a whole number from 1 upwards"):
        Motion("tube", tube_frames=0)
