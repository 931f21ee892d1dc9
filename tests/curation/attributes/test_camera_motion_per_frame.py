"""Camera motion per frame: the same motion scores the same in clips of any length."""

from __future__ import annotations

import numpy as np
import pytest
from worlds import camera_path, luma, pan_clip

from inpaintbench.curation.attributes import alignment
from inpaintbench.curation.attributes.camera_motion import (
    CameraMotion,
    CameraMotionPerFrame,
    loss_per_frame,
    per_frame_from_transforms,
    score_from_transforms,
)
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Luma
from inpaintbench.view import ItemView

WIDTH, HEIGHT = 427, 240


def view(plane: Luma) -> ItemView:
    return ItemView.of_arrays(luma=plane)


@pytest.fixture(scope="module")
def pan() -> Luma:
    return luma(pan_clip("coffee", pixels_per_frame=1, frames=90, width=WIDTH, height=HEIGHT))


def test_a_pan_scores_the_same_in_a_clip_of_half_the_length(pan: Luma) -> None:
    long, short = (CameraMotionPerFrame().measure(view(pan[:frames])) for frames in (90, 45))
    assert long == pytest.approx(1 / WIDTH, rel=0.02)
    assert short == pytest.approx(1 / WIDTH, rel=0.02)


def test_a_tripod_scores_next_to_nothing() -> None:
    still = luma(pan_clip("astronaut", pixels_per_frame=0, frames=45, width=WIDTH, height=HEIGHT, noise_sigma=3.0))
    assert CameraMotionPerFrame().measure(view(still)) < 0.02 / WIDTH


def test_shares_the_alignments_of_camera_motion(pan: Luma) -> None:
    alignment._joined.cache_clear()
    CameraMotion().measure(view(pan))
    CameraMotionPerFrame().measure(view(pan))
    assert alignment._joined.cache_info().misses == 1


def test_a_textureless_clip_has_the_same_reason() -> None:
    with pytest.raises(NotMeasurable, match="90 of 90 alignments failed"):
        CameraMotionPerFrame().measure(view(np.full((45, 48, 64), 80, np.uint8)))


@pytest.mark.parametrize("frames", [10, 20, 37, 45, 60, 77, 90, 300])
def test_an_exact_pan_scores_its_speed_at_any_length(frames: int) -> None:
    path = camera_path(frames=frames, width=854, height=480, pan=np.outer(np.arange(frames), [1.0, 0.0]))
    assert per_frame_from_transforms(path, width=854, height=480) == pytest.approx(1 / 854)


def test_zooming_out_scores_as_zooming_in_does() -> None:
    zoom = np.exp(0.003 * np.arange(60))
    inwards, outwards = (camera_path(frames=60, width=854, height=480, zoom=way) for way in (zoom, zoom[::-1]))
    score = per_frame_from_transforms(inwards, width=854, height=480)
    assert score == pytest.approx((1 - np.exp(-0.006 * 36)) / 36)
    assert per_frame_from_transforms(outwards, width=854, height=480) == pytest.approx(score)


def test_shake_scores_alike_in_short_and_long_clips_where_a_rate_over_any_lag_would_not() -> None:
    rng = np.random.default_rng(0)
    scores: dict[int, list[float]] = {45: [], 90: []}
    for _ in range(60):
        shake = camera_path(frames=90, width=854, height=480, pan=rng.normal(0, 8, size=(90, 2)))
        for frames, found in scores.items():
            found.append(per_frame_from_transforms(shake[:frames], width=854, height=480))
    assert np.mean(scores[45]) == pytest.approx(np.mean(scores[90]), rel=0.15)


def test_camera_motion_itself_follows_the_length_of_the_clip() -> None:
    path = camera_path(frames=90, width=854, height=480, pan=np.outer(np.arange(90), [1.0, 0.0]))
    assert score_from_transforms(path, width=854, height=480) == pytest.approx(72 / 854)
    assert score_from_transforms(path[:45], width=854, height=480) == pytest.approx(32 / 854)


def test_the_worse_direction_of_the_pairs_at_the_reach_on_a_hand_made_matrix() -> None:
    losses = np.full((10, 10), 0.99)
    for place in range(6):  # 4 x 9 = 36 frames apart
        losses[place, place + 4], losses[place + 4, place] = 0.1 * place, 0.18
    expected = np.mean([0.18, 0.18, 0.2, 0.3, 0.4, 0.5]) / 36
    assert loss_per_frame(losses, frames=90) == pytest.approx(expected)
