"""The window: what the measure of camera motion says of it, where it starts, and clips that are too narrow."""

from __future__ import annotations

import numpy as np
import pytest
from axes_made import film

from inpaintbench.curation.attributes.camera_motion import CameraMotionPerFrame
from inpaintbench.errors import Rejected
from inpaintbench.masks.axes.clips import CameraPath
from inpaintbench.recipes.benchmark import MOVING
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

LEAF = CameraPath()


def window(level: str, frames: Frames) -> Frames:
    return LEAF.clip(level, frames, 24.0)[0]


def test_still_is_measured_as_still_and_slow_and_fast_as_moving() -> None:
    clip = film(90, 300, 400)
    found = {}
    for level in LEAF.levels:
        view = ItemView.of_arrays(luma=window(level, clip).mean(axis=3).astype(np.uint8))
        found[level] = CameraMotionPerFrame().measure(view)
    assert found["still"] < MOVING / 2
    assert MOVING < found["slow"] < 2 * MOVING
    assert found["fast"] > 2 * found["slow"]


def test_all_levels_begin_with_one_frame_and_have_one_hole() -> None:
    first = [window(level, film())[0] for level in LEAF.levels]
    np.testing.assert_array_equal(first[0], first[1])
    np.testing.assert_array_equal(first[0], first[2])
    hole = np.zeros(film().shape[:3], np.bool_)
    hole[:, 100:140, 120:160] = True
    holes = [LEAF.hole(level, hole, np.random.default_rng(0)) for level in LEAF.levels]
    np.testing.assert_array_equal(holes[0], hole[:, 32:224, 34:238])
    np.testing.assert_array_equal(holes[0], holes[2])
    assert holes[0].shape == window("fast", film()).shape[:3]


@pytest.mark.parametrize(("height", "width"), [(270, 481), (97, 131), (64, 64)])
def test_sides_are_even_and_about_three_quarters(height: int, width: int) -> None:
    made = window("fast", np.zeros((5, height, width, 3), np.uint8))
    assert made.shape[1] % 2 == made.shape[2] % 2 == 0
    for side, whole in zip(made.shape[1:3], (height, width), strict=True):
        assert 0.75 * whole - 2 < side <= 0.75 * whole


def test_what_has_no_pixels_to_spare_is_refused() -> None:
    with pytest.raises(Rejected, match="a clip 56 pixels wide leaves 14 to pan over, a camera path takes 16"):
        window("still", np.zeros((5, 80, 56, 3), np.uint8))
    outside = np.zeros((5, 128, 128), np.bool_)
    outside[:, :8] = True
    with pytest.raises(Rejected, match="outside the middle"):
        LEAF.hole("still", outside, np.random.default_rng(0))


def test_the_speed_is_stated() -> None:
    facts = {level: LEAF.facts(level, frames=90, height=480, width=832) for level in LEAF.levels}
    assert facts["still"] == {"camera_pixels_per_frame": 0, "camera_widths_per_frame": 0}
    assert facts["fast"]["camera_pixels_per_frame"] == pytest.approx(208 / 36, rel=0.03)
    assert facts["slow"]["camera_widths_per_frame"] == pytest.approx(1 / 3 / 216, rel=0.03)
