"""What looks like running water, on filmed photographs with painted water and on real clips."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import cv2
import numpy as np
import pytest
from worlds import luma, pan_clip, photograph

from inpaintbench import video
from inpaintbench.curation.attributes.scene_motion import WaterSuggestion
from inpaintbench.curation.sources.embedded import Shot, film
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

WIDTH, HEIGHT, FRAMES = 256, 144, 20


def suggestion(frames: Frames, *, fps: float = 30.0, **constants: float) -> float:
    return WaterSuggestion(**constants).measure(ItemView.of_arrays(luma=luma(frames), fps=fps))


def shot(share: float, *, motion: str = "tripod", speed: float = 0.0) -> Frames:
    made = Shot(f"{share}", "coffee", motion, speed, 24, water_share=share)
    return film(made, width=320, height=180).frames


def test_follows_the_share_of_painted_water() -> None:
    suggested = [suggestion(shot(share)) for share in (0.0, 0.25, 0.6)]
    assert suggested[0] < 0.01
    assert suggested[1] > 0.05
    assert suggested[2] > suggested[1] + 0.1


def test_a_pan_over_a_still_scene_suggests_none() -> None:
    assert suggestion(shot(0.0, motion="pan_right", speed=0.1)) < 0.01


def test_a_solid_thing_that_moves_is_no_water() -> None:
    frames = pan_clip("coffee", pixels_per_frame=0, frames=FRAMES, width=WIDTH, height=HEIGHT, noise_sigma=1.0)
    thing = photograph("chelsea", width=90, height=90)
    for index, frame in enumerate(frames):
        frame[30:120, 40 + 2 * index : 130 + 2 * index] = thing
    assert suggestion(frames) < 0.05


def test_a_small_body_counts_only_when_small_bodies_are_asked_for() -> None:
    frames = pan_clip("coffee", pixels_per_frame=0, frames=FRAMES, width=WIDTH, height=HEIGHT, noise_sigma=1.0)
    rng = np.random.default_rng(0)
    for frame in frames:
        boiling = cv2.GaussianBlur(rng.normal(size=(50, 60)).astype(np.float32), (0, 0), 1.5)
        frame[60:110, 100:160] = np.clip(120 + 400 * boiling, 0, 255)[..., None]
    assert suggestion(frames) > 0.02
    assert suggestion(frames, smallest_region=0.3) == 0


@pytest.mark.real
@pytest.mark.parametrize(
    ("pattern", "least", "most"),
    [
        ("**/boats_input.mp4", 0.3, 0.7),
        ("**/brink_loop_512.mp4", 0.2, 0.7),
        ("**/palmtrees_loop_512.mp4", 0.0, 0.05),
        ("**/dog_eating_854132.mp4", 0.0, 0.05),
    ],
)
def test_real_rivers_are_told_from_real_scenes_without_one(assets: Path, pattern: str, least: float, most: float) -> None:
    path = next(assets.glob(pattern))
    frames = np.stack([video.upright(frame) for frame in islice(video.Decoder(path), 60)])
    assert least <= suggestion(frames, fps=float(video.probe(path).fps)) <= most
