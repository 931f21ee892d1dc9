"""Motion of the scene itself, apart from the camera's, on clips where both are known."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from scipy.stats import spearmanr
from worlds import camera_path, film, luma, pan_clip, photograph, sensor_noise

from inpaintbench.curation.attributes.scene_motion import CameraSpeed, ResidualMotion
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

WIDTH, HEIGHT, FRAMES, FPS = 256, 144, 20, 30.0


def view(frames: Frames) -> ItemView:
    return ItemView.of_arrays(luma=luma(frames), fps=FPS)


def square_clip(*, pixels_per_frame: float, pan: float, side: int = 60) -> Frames:
    """A square of another photograph that crosses the view of a panning camera at its own speed in the view."""
    frames = pan_clip("coffee", pixels_per_frame=pan, frames=FRAMES, width=WIDTH, height=HEIGHT, noise_sigma=0)
    square = photograph("chelsea", width=side, height=side)
    for index, frame in enumerate(frames):
        left = round(40 + pixels_per_frame * index)
        frame[40 : 40 + side, left : left + side] = square
    return sensor_noise(frames, sigma=1.0, seed=0)


@pytest.mark.parametrize("pixels_per_frame", [1, 2, 3])
def test_a_square_has_its_share_times_its_speed(pixels_per_frame: int) -> None:
    share, speed = 60 * 60 / (WIDTH * HEIGHT), pixels_per_frame * FPS / WIDTH
    measured = ResidualMotion().measure(view(square_clip(pixels_per_frame=pixels_per_frame, pan=0.0)))
    # The neighbourhood that fills what cannot be read widens the square by a few pixels.
    assert measured == pytest.approx(share * speed, rel=0.4)


def test_a_camera_that_pans_takes_nothing_and_adds_nothing() -> None:
    still = ResidualMotion().measure(view(square_clip(pixels_per_frame=2, pan=0.0)))
    # The scene runs left by 1 pixel a frame in the view, the square right by 1: 2 pixels apart.
    panning = ResidualMotion().measure(view(square_clip(pixels_per_frame=1, pan=1.0)))
    assert panning == pytest.approx(still, rel=0.25)


@pytest.mark.parametrize("pixels_per_frame", [0, 0.7, 4])
def test_a_still_scene_has_next_to_none(pixels_per_frame: float) -> None:
    clip = pan_clip("astronaut", pixels_per_frame=pixels_per_frame, frames=FRAMES, width=WIDTH, height=HEIGHT)
    assert ResidualMotion().measure(view(clip)) < 0.003


def drifting(frames: Frames, *, share: float, seed: int) -> Frames:
    """``frames`` with their lowest ``share`` of rows under a texture that runs up and to the right, 1.8 pixels a frame."""
    grains = np.random.default_rng(seed).standard_normal((256, 512)).astype(np.float32)
    texture = np.clip(120 + 300 * cv2.GaussianBlur(grains, (0, 0), 2.0), 0, 255).astype(np.uint8)
    rows, flooded = round(share * HEIGHT), frames.copy()
    for index, frame in enumerate(flooded):
        frame[HEIGHT - rows :] = texture[index : index + rows, 60 - round(1.5 * index) :][:, :WIDTH, None]
    return flooded


@pytest.mark.long
def test_camera_and_scene_do_not_mix() -> None:
    known, measured = [], []
    for number, (pan, share) in enumerate((pan, share) for pan in (0.0, 0.3, 1.0, 2.5) for share in (0.0, 0.15, 0.4)):
        name = ("coffee", "rocket", "motorcycle", "hubble")[(number + number // 3) % 4]
        steps = np.arange(FRAMES) - (FRAMES - 1) / 2
        path = camera_path(frames=FRAMES, width=WIDTH, height=HEIGHT, pan=np.outer(steps, [pan, 0.2 * pan]))
        clip = film(photograph(name, width=420, height=240), path, width=WIDTH, height=HEIGHT)
        clip = sensor_noise(drifting(clip, share=share, seed=number), sigma=1.5, seed=number)
        known.append((pan, share))
        measured.append((CameraSpeed().measure(view(clip)), ResidualMotion().measure(view(clip))))
    (camera, residual), (pans, shares) = np.array(measured).T, np.array(known).T
    # The texture's own speed in the view less the camera's: a pan adds to the first exactly what it takes from the second.
    speeds = shares * np.hypot(1.5 + pans, 0.2 * pans - 1) * FPS / WIDTH
    np.testing.assert_allclose(camera, np.hypot(pans, 0.2 * pans) * FPS / WIDTH, rtol=0.05, atol=0.002)
    np.testing.assert_allclose(residual, speeds, rtol=0.25, atol=0.001)
    assert spearmanr(camera, pans).statistic >= 0.95
    assert spearmanr(residual, speeds).statistic >= 0.9
