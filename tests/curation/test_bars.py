"""Bars are found where they are, and dark pictures are left alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import pan_clip

from inpaintbench import video
from inpaintbench.curation.bars import Bars, find_bars, find_one
from inpaintbench.types import Frames
from inpaintbench.workspace import Blobs


def boxed(frames: Frames, *, top: int = 0, bottom: int = 0, left: int = 0, right: int = 0, level: int = 0) -> Frames:
    return np.pad(frames, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=level)


@pytest.fixture(scope="module")
def pan() -> Frames:
    return pan_clip("coffee", pixels_per_frame=2, frames=6, width=160, height=90)


@settings(max_examples=15)
@given(top=st.integers(3, 40), bottom=st.integers(3, 40), left=st.integers(3, 60), right=st.integers(3, 60))
def test_bars_of_any_width_are_found_with_their_soft_edge(top: int, bottom: int, left: int, right: int) -> None:
    frames = boxed(np.full((3, 90, 160, 3), 120, np.uint8), top=top, bottom=bottom, left=left, right=right)
    assert find_bars(list(frames)) == Bars(top + 2, bottom + 2, left + 2, right + 2)


def test_bars_survive_coding(pan: Frames, tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    (tmp_path / "scratch").mkdir()
    made = boxed(pan, top=20, bottom=22)
    blob, _ = blobs.put(".mp4", lambda path: video.write_browser(path, made, fps=25.0, crf=28))
    rows = find_one({"source_id": "s", "where": {"blob": blob}, "frames": 6}, parameters={}, blobs=blobs)
    found = {row.name: row.value for row in rows}
    assert found["bars.left"] == found["bars.right"] == 0
    assert 20 <= found["bars.top"] <= 24
    assert 22 <= found["bars.bottom"] <= 26
    assert Bars.of(found).cut(made[0]).min(axis=(1, 2)).max() > 0


def test_a_film_without_bars_a_night_scene_and_a_fade_are_left_alone(pan: Frames) -> None:
    assert find_bars(list(pan)) == Bars()
    night = (pan // 12).astype(np.uint8)
    night[:, 20:26, 30:36] = 250  # one lamp
    assert find_bars(list(night)) == Bars()
    black = np.zeros_like(pan)
    assert find_bars(list(black)) == Bars()
    letterboxed = boxed(pan, top=20, bottom=20)
    faded = np.concatenate([np.zeros_like(letterboxed), letterboxed])
    assert find_bars(list(faded)) == Bars(22, 22, 0, 0)


def test_bars_that_are_there_only_now_and_then_are_no_bars(pan: Frames) -> None:
    tall = np.pad(pan, ((0, 0), (20, 20), (0, 0), (0, 0)), mode="edge")
    assert find_bars([*boxed(pan, top=20, bottom=20), *tall]) == Bars()
