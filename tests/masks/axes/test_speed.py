"""Frames of another speed: their span stays inside that of the clip, and too few of them are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from axes_made import film, world

from inpaintbench.errors import Rejected
from inpaintbench.frozen import footage_of
from inpaintbench.masks.axes.clips import Speed


def test_the_hole_is_that_of_the_same_frames() -> None:
    hole = np.random.default_rng(0).random((49, 8, 8)) < 0.5
    for level, step in {"every_frame": 1, "every_second": 2, "every_fourth": 4}.items():
        np.testing.assert_array_equal(Speed().hole(level, hole, np.random.default_rng(0)), hole[::step])


def test_clips_of_fewer_than_45_frames_are_refused() -> None:
    frames = np.zeros((45, 8, 8, 3), np.uint8)
    assert len(Speed().clip("every_fourth", frames, 24.0)[0]) == 12
    for level in Speed.levels:
        with pytest.raises(Rejected, match="every fourth of 44 frames are 11, fewer than 12"):
            Speed().clip(level, frames[:44], 24.0)


def test_all_speeds_show_the_same_footage_and_that_of_the_next_clip_is_another(tmp_path: Path) -> None:
    """Spans of odd beginnings and lengths: as records of clips, those of one clip overlap, those of neighbours do not."""
    rows = []
    for start, count in ((7, 45), (52, 47), (99, 46)):
        made = world(tmp_path / str(start), film()[:count].copy() if count <= 48 else film(), start=start)
        rows += [made.clip, *made.vary("speed").clips]
    numbers = footage_of(lambda name: [getattr(row, name, None) for row in rows])
    assert [len(set(numbers[place : place + 3])) for place in (0, 3, 6)] == [1, 1, 1]
    assert len(set(numbers)) == 3
