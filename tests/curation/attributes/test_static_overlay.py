"""Generated logos and watermarks over cameras that move, and over some that do not."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageDraw, ImageFont
from worlds import camera_path, film, luma, photograph

from inpaintbench.curation.attributes import overlays as static_overlay
from inpaintbench.curation.attributes.overlays import StaticOverlay
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Luma
from inpaintbench.view import ItemView

WIDTH, HEIGHT, FRAMES = 416, 240, 40
STEPS = np.arange(FRAMES) - (FRAMES - 1) / 2
CAMERAS = {
    "pan": {"pan": np.outer(STEPS, [1.5, 0.45])},
    "tilt": {"pan": np.outer(STEPS, [0.5, -1.1])},
    "zoom": {"zoom": np.exp(0.012 * (STEPS - STEPS[0]))},
    "turning pan": {"pan": np.outer(STEPS, [-2, 0]), "turn_radians": 0.004 * STEPS},
}
SCENES = {"coffee": "pan", "rocket": "turning pan", "chelsea": "tilt", "astronaut": "pan", "motorcycle": "zoom", "retina": "tilt"}
Coverage = npt.NDArray[np.float32]


@pytest.fixture(scope="module", params=SCENES)
def clean(request: pytest.FixtureRequest) -> Luma:
    return filmed(request.param, SCENES[request.param])


@lru_cache(maxsize=2)
def filmed(scene: str, camera: str) -> Luma:
    path = camera_path(frames=FRAMES, width=WIDTH, height=HEIGHT, **CAMERAS[camera])
    frames = film(photograph(scene, width=550, height=320), path, width=WIDTH, height=HEIGHT, noise_sigma=2.0)
    return luma(frames)


def logo(*, left: int, top: int) -> Coverage:
    """A word, a ring and a disc, 0..1."""
    ink = Image.new("L", (WIDTH, HEIGHT))
    draw = ImageDraw.Draw(ink)
    draw.text((left, top), "tv7 news", font=ImageFont.load_default(20), fill=255)
    draw.ellipse((left + 90, top, left + 110, top + 20), outline=255, width=3)
    return np.asarray(ink, np.float32) / 255


def laid_over(clip: Luma, ink: Coverage, *, opacity: float, level: float = 235.0) -> Luma:
    alpha = opacity * ink
    return np.rint(clip * (1 - alpha) + level * alpha).astype(np.uint8)


def measured(clip: Luma) -> float:
    return StaticOverlay().measure(ItemView.of_arrays(luma=clip))


def test_clean_clips_have_none(clean: Luma) -> None:
    assert measured(clean) < 0.001


@pytest.mark.parametrize("opacity", [0.3, 0.6, 1.0])
def test_a_watermark_is_found_where_it_is(clean: Luma, opacity: float) -> None:
    ink = logo(left=280, top=195)
    clip = laid_over(clean, ink, opacity=opacity)
    found = static_overlay._joined(static_overlay._edges(clip))
    there = cv2.resize(found.astype(np.uint8), (WIDTH, HEIGHT), interpolation=cv2.INTER_NEAREST) > 0
    near = cv2.dilate((ink > 0.1).astype(np.uint8), np.ones((11, 11), np.uint8)) > 0
    share = found.mean()
    assert opacity < 1 or measured(clip) == share
    assert there[ink > 0.5].mean() > 0.6
    assert (there & ~near).mean() < 0.001
    assert 0.004 < share < near.mean()


@pytest.mark.parametrize("place", [(5, 2), (300, 4), (4, 215)])
def test_in_every_corner(place: tuple[int, int]) -> None:
    clip = laid_over(filmed("astronaut", "pan"), logo(left=place[0], top=place[1]), opacity=0.8)
    assert 0.004 < measured(clip) < 0.04


def test_a_dark_watermark_is_found_too() -> None:
    clip = laid_over(filmed("chelsea", "tilt"), logo(left=30, top=20), opacity=0.7, level=16)
    assert 0.004 < measured(clip) < 0.04


def test_a_border_all_round_counts() -> None:
    ink = np.zeros((HEIGHT, WIDTH), np.float32)
    ink[:12], ink[-12:], ink[:, :12], ink[:, -12:] = 1, 1, 1, 1
    assert measured(laid_over(filmed("coffee", "tilt"), ink, opacity=1, level=40)) > 0.005


def test_a_camera_that_pauses_is_not_fooled() -> None:
    clip = filmed("astronaut", "pan")
    paused = np.concatenate([np.repeat(clip[:1], FRAMES, axis=0), clip])
    assert measured(paused) < 0.002


def test_a_tripod_clip_has_a_reason() -> None:
    still = np.repeat(filmed("coffee", "pan")[:1], FRAMES, axis=0)
    with pytest.raises(
        NotMeasurable, match="the camera moves 0% of the view far enough to tell overlays from the scene, 50% are"
    ):
        measured(laid_over(still, logo(left=30, top=20), opacity=1))


def test_frames_that_do_not_align_have_their_reason() -> None:
    with pytest.raises(NotMeasurable, match="90 of 90 alignments failed"):
        measured(np.full((20, 48, 64), 99, np.uint8))


def test_small_views() -> None:
    clip = filmed("coffee", "pan")
    small = np.stack([cv2.resize(frame, (256, 148), interpolation=cv2.INTER_AREA) for frame in clip])
    marked = laid_over(clip, logo(left=280, top=195), opacity=1)
    small_marked = np.stack([cv2.resize(frame, (256, 148), interpolation=cv2.INTER_AREA) for frame in marked])
    assert measured(small) < 0.002
    assert 0.004 < measured(small_marked) < 0.04
