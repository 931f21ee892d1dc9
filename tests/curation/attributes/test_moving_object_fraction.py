"""Moving objects found by motion alone."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from worlds import luma, moving_texture, pan_clip, photograph, sensor_noise

from inpaintbench.curation.attributes.scene_motion import MovingObjectFraction
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

WIDTH, HEIGHT, FRAMES = 256, 144, 20


def fraction(frames: Frames, **constants: float) -> float:
    return MovingObjectFraction(**constants).measure(ItemView.of_arrays(luma=luma(frames), fps=30.0))


def with_disc(*, radius: int, pan: float, speed: float = 2.0) -> Frames:
    """A disc of another photograph that crosses the view of a panning camera."""
    frames = pan_clip("coffee", pixels_per_frame=pan, frames=FRAMES, width=WIDTH, height=HEIGHT, noise_sigma=0)
    look = photograph("chelsea", width=2 * radius, height=2 * radius)
    disc = cv2.circle(np.zeros((2 * radius, 2 * radius), np.uint8), (radius, radius), radius, 1, -1).astype(bool)
    for index, frame in enumerate(frames):
        left, top = round(60 + speed * index), HEIGHT // 2 - radius
        frame[top : top + 2 * radius, left : left + 2 * radius][disc] = look[disc]
    return sensor_noise(frames, sigma=1.0, seed=0)


@pytest.mark.parametrize("pan", [0.0, 1.0])
@pytest.mark.parametrize("radius", [20, 35])
def test_a_disc_is_found_at_its_size_under_a_still_and_a_panning_camera(radius: int, pan: float) -> None:
    assert fraction(with_disc(radius=radius, pan=pan)) == pytest.approx(np.pi * radius**2 / (WIDTH * HEIGHT), rel=0.5)


def test_a_larger_disc_scores_more() -> None:
    scores = [fraction(with_disc(radius=radius, pan=0.5)) for radius in (14, 24, 40)]
    assert scores == sorted(scores)
    assert scores[0] > 0


@pytest.mark.parametrize("pixels_per_frame", [0, 2])
def test_a_still_scene_has_none(pixels_per_frame: float) -> None:
    clip = pan_clip("rocket", pixels_per_frame=pixels_per_frame, frames=FRAMES, width=WIDTH, height=HEIGHT)
    assert fraction(clip) < 0.005


def test_half_a_view_of_moving_texture_is_no_object() -> None:
    clip = pan_clip("coffee", pixels_per_frame=0.5, frames=FRAMES, width=WIDTH, height=HEIGHT)
    assert fraction(moving_texture(clip, share=0.5, seed=2)) < 0.1


def test_what_is_larger_than_an_object_may_be_is_left_out() -> None:
    clip = with_disc(radius=35, pan=0.0)
    assert fraction(clip, largest_fraction=0.03) < 0.02 < fraction(clip)
