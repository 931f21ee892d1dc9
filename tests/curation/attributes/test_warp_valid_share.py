"""The share of a clip that its optical flow explains."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from worlds import pan_clip

from inpaintbench import video
from inpaintbench.curation.attributes.changes import WarpValidShare
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


def share(frames: Frames) -> float:
    return WarpValidShare().measure(ItemView.of_arrays(truth=frames))


def rolled(pixels: int) -> Frames:
    """Blurred noise of 512x512, and the same moved to the right."""
    noise = gaussian_filter(np.random.default_rng(0).normal(size=(512, 512)), 3)
    grey = np.rint(np.interp(noise, (noise.min(), noise.max()), (0, 255))).astype(np.uint8)
    picture = np.repeat(grey[..., None], 3, axis=2)
    return np.stack([picture, np.roll(picture, pixels, axis=1)])


def test_flow_follows_small_movements_and_loses_large_ones() -> None:
    assert share(rolled(2)) == pytest.approx(0.995, abs=0.01)
    assert share(rolled(30)) < 0.5


def test_what_stands_still_is_explained_and_noise_is_not() -> None:
    still = np.repeat(rolled(0)[:1], 3, axis=0)
    assert share(still) > 0.999
    assert share(np.random.default_rng(1).integers(0, 256, (3, 64, 64, 3), np.uint8)) < 0.2


def test_the_share_is_of_the_pixels_of_the_clip_whatever_its_size() -> None:
    pan = pan_clip("coffee", pixels_per_frame=1, frames=3, width=160, height=90)
    assert 0.7 < share(pan) <= 1


def test_one_frame_has_no_flow() -> None:
    with pytest.raises(NotMeasurable, match="at least 2 frames"):
        share(rolled(0)[:1])


@pytest.mark.real
def test_the_sample_of_editboard(assets: Path) -> None:
    folder = assets / "edited" / "edited-editboard-bear" / "sample" / "bear"
    assert share(video.read_image_folder(folder)) == pytest.approx(0.7898, abs=0.001)
