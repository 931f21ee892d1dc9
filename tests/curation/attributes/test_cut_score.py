"""The cut score against FFmpeg's definition, FFmpeg's own program, and real photographs."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from worlds import luma, pan_clip, photograph, sensor_noise

from inpaintbench import video
from inpaintbench.curation.attributes.changes import CutScore, scene_scores
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Frames, Luma
from inpaintbench.view import ItemView

WIDTH, HEIGHT = 208, 120


def score(plane: Luma) -> float:
    return CutScore().measure(ItemView.of_arrays(luma=plane))


def two_shots() -> Frames:
    """A cut from one photograph to another after the twelfth frame, with sensor noise."""
    shots = [np.repeat(photograph(name, width=WIDTH, height=HEIGHT)[None], 12, axis=0) for name in ("rocket", "coffee")]
    return sensor_noise(np.concatenate(shots), sigma=2.0, seed=0)


def by_definition(plane: Luma) -> list[float]:
    """The smaller of the mean difference to the frame before and of that difference's change, in levels, over 100."""
    before, scores = 0.0, []
    for one, other in pairwise(plane):
        difference = np.abs(one.astype(float) - other).mean()
        scores.append(min(difference, abs(difference - before), 100) / 100)
        before = difference
    return scores


def test_equals_its_definition() -> None:
    plane = luma(two_shots())
    np.testing.assert_allclose(list(scene_scores(plane)), by_definition(plane), atol=2e-6)


def test_a_cut_between_photographs_is_far_above_noise_within_a_shot() -> None:
    plane = luma(two_shots())
    assert score(plane) > 0.4
    assert score(plane[:12]) < 0.02
    assert score(plane[12:]) < 0.02


def test_the_largest_score_is_one() -> None:
    assert score(np.stack([np.full((48, 64), level, np.uint8) for level in (0, 255)])) == 1.0


def test_a_steady_pan_is_below_a_cut() -> None:
    assert score(luma(pan_clip("coffee", pixels_per_frame=1, frames=12, width=WIDTH, height=HEIGHT))) < score(luma(two_shots()))


def test_identical_frames_score_zero() -> None:
    assert score(np.full((10, 48, 64), 90, np.uint8)) == 0.0


@pytest.mark.parametrize("width", [17, 40, 104, 208])
def test_equal_frames_of_any_width_score_zero_whatever_was_scored_before(width: int) -> None:
    rng = np.random.default_rng(width)
    for level in range(0, 250, 50):
        assert max(scene_scores(rng.integers(0, 256, (4, 24, width), dtype=np.uint8))) > 0
        assert score(np.full((6, 24, width), level, np.uint8)) == 0.0


def test_one_frame_has_a_reason() -> None:
    with pytest.raises(NotMeasurable, match="the clip has one frame"):
        score(np.zeros((1, 48, 64), np.uint8))


def test_odd_sizes_and_views_of_larger_arrays() -> None:
    plane = luma(two_shots())[8:16, 1:112:2, 3:100]
    assert score(plane) == pytest.approx(max(by_definition(plane)), abs=2e-6)


@pytest.mark.skipif(shutil.which("ffprobe") is None, reason="the ffprobe program is not installed")
def test_equals_ffprobe_on_a_file(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    video.write_browser(path, two_shots(), fps=30)
    graph = f"movie={path.name},select=gt(scene\\,0)"
    command = ["ffprobe", "-v", "error", "-f", "lavfi", graph, "-show_entries", "frame_tags=lavfi.scene_score", "-of", "csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    theirs = [float(found) for found in re.findall(r"[0-9]+\.[0-9]+", done.stdout)]
    np.testing.assert_allclose(list(scene_scores(video.read_luma(path))), theirs, atol=2e-6)
    assert len(theirs) > 1
