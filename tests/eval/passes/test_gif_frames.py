"""What a GIF leaves of an edit, as EditBoard's released code looks at it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inpaintbench import video
from inpaintbench.eval.metrics.edits import through_gif
from inpaintbench.types import Frames
from inpaintbench.video.images import gif_frames
from inpaintbench.view import ItemView


def noise(count: int) -> Frames:
    return np.random.default_rng(2).integers(0, 256, (count, 24, 32, 3), np.uint8)


def test_equal_frames_in_a_row_become_one() -> None:
    one, other = noise(2)
    assert len(gif_frames(np.stack([one] * 5))) == 1
    assert len(gif_frames(np.stack([one, one, other, other, one]))) == 3


def test_few_colours_stay_as_they_are_and_the_rest_of_the_view_is_gone() -> None:
    frames = np.random.default_rng(3).choice(np.array([[0, 0, 0], [250, 10, 10], [9, 9, 200]], np.uint8), (4, 24, 32))
    view = through_gif(ItemView.of_arrays(prediction=frames, truth=frames, fps=12.0))
    np.testing.assert_array_equal(view.prediction, frames)
    assert (view.frames, view.fps, view.has("truth")) == (4, 12.0, False)
    assert through_gif(ItemView.of_arrays(prediction=frames, shared=view.shared)).prediction is view.prediction


@pytest.mark.real
def test_the_sample_loses_what_was_measured_of_it_elsewhere(assets: Path) -> None:
    sample = assets / "edited" / "edited-editboard-bear" / "sample"
    bear = video.read_image_folder(sample / "bear", pattern="*.jpg")
    difference = np.abs(gif_frames(bear).astype(int) - bear)
    assert difference.mean() == pytest.approx(1.65, abs=0.01)
    assert difference.max() == 50
    assert 10 * np.log10(255**2 / (difference**2).mean()) == pytest.approx(40, abs=0.1)
    white = video.read_image_folder(sample / "bear_white")  # went through a GIF before it was published
    np.testing.assert_array_equal(gif_frames(white), white)
