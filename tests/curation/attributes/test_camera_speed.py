"""Speed of the camera against cameras that are known exactly."""

from __future__ import annotations

import numpy as np
import pytest
from worlds import camera_path, film, luma, pan_clip, photograph

from inpaintbench.curation.attributes.scene_motion import CameraSpeed
from inpaintbench.view import ItemView

WIDTH, HEIGHT = 256, 144


def speed(frames: np.ndarray, *, fps: float = 30.0) -> float:
    return CameraSpeed().measure(ItemView.of_arrays(luma=luma(frames), fps=fps))


@pytest.mark.parametrize(("pixels_per_frame", "fps"), [(0.5, 30.0), (2.0, 30.0), (-2.0, 24.0), (1.0, 60.0)])
def test_a_pan_has_its_speed_in_view_widths_a_second(pixels_per_frame: float, fps: float) -> None:
    clip = pan_clip("coffee", pixels_per_frame=pixels_per_frame, frames=30, width=WIDTH, height=HEIGHT)
    assert speed(clip, fps=fps) == pytest.approx(abs(pixels_per_frame) * fps / WIDTH, rel=0.05)


def test_every_second_frame_at_half_the_rate_has_the_same_speed() -> None:
    clip = pan_clip("rocket", pixels_per_frame=1.0, frames=60, width=WIDTH, height=HEIGHT)
    assert speed(clip[::2], fps=15.0) == pytest.approx(speed(clip, fps=30.0), rel=0.06)


def test_does_not_depend_on_the_size_of_the_view() -> None:
    small, large = (
        speed(pan_clip("coffee", pixels_per_frame=scale, frames=20, width=scale * WIDTH, height=scale * HEIGHT))
        for scale in (1, 2)
    )
    assert large == pytest.approx(small, rel=0.08)


def test_a_zoom_has_its_mean_displacement() -> None:
    path = camera_path(frames=24, width=WIDTH, height=HEIGHT, zoom=np.exp(0.01 * np.arange(24)))
    clip = film(photograph("astronaut", width=300, height=170), path, width=WIDTH, height=HEIGHT, noise_sigma=1.0)
    distances = [
        np.hypot(x - (WIDTH - 1) / 2, y - (HEIGHT - 1) / 2) * np.expm1(0.04) for y in range(HEIGHT) for x in range(WIDTH)
    ]
    assert speed(clip) == pytest.approx(np.mean(distances) / WIDTH / (4 / 30), rel=0.1)


def test_a_tripod_stands_still() -> None:
    clip = pan_clip("chelsea", pixels_per_frame=0, frames=20, width=WIDTH, height=HEIGHT, noise_sigma=2.0)
    assert speed(clip) < 0.003
