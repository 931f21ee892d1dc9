"""Spans of each splitter: within bounds, in order, and where the film allows."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from cut_films import cut_film
from hypothesis import given
from hypothesis import strategies as st

from inpaintbench import video
from inpaintbench.curation.splitters import SPLITTERS
from inpaintbench.curation.splitters.shots import Transition, shots_between
from inpaintbench.errors import InputError, Rejected

Windows, Seconds, Shots, Samples = (SPLITTERS.get(name) for name in ("windows", "seconds", "shots", "samples"))


@given(frames=st.integers(1, 500), length=st.integers(1, 120), shortest=st.integers(1, 120), fps=st.sampled_from([10.0, 29.97]))
def test_windows_follow_each_other(frames: int, length: int, shortest: int, fps: float) -> None:
    shortest = min(shortest, length)
    if frames < shortest:
        with pytest.raises(Rejected, match=f"{frames} frames decode"):
            list(Windows(length=length, shortest=shortest).spans("", frames=frames, fps=fps))
        return
    spans = list(Windows(length=length, shortest=shortest).spans("", frames=frames, fps=fps))
    rest = frames % length
    assert len(spans) == frames // length + (rest >= shortest)
    assert all(start == index * length for index, (start, _) in enumerate(spans))
    assert all(end - start == length for start, end in spans[:-1])


def test_seconds_count_frames_at_the_rate_of_the_clips() -> None:
    assert list(Seconds(length_seconds=5).spans("", frames=300, fps=25)) == [(0, 125), (125, 250)]
    assert list(Seconds(length_seconds=2, shortest_seconds=1).spans("", frames=100, fps=29.97)) == [(0, 60), (60, 100)]
    assert list(Seconds(length_seconds=1, stride_seconds=3).spans("", frames=100, fps=10)) == [
        (0, 10),
        (30, 40),
        (60, 70),
        (90, 100),
    ]
    assert list(Samples(length_seconds=2, stride_seconds=4).spans("", frames=100, fps=10)) == [(0, 20), (40, 60), (80, 100)]
    with pytest.raises(Rejected, match=r"0\.80 s long \(20 frames\), a clip needs at least 3 s"):
        list(Seconds().spans("", frames=20, fps=25))
    with pytest.raises(InputError, match="got 5, 3 and 3"):
        Seconds(length_seconds=3, shortest_seconds=5)


def test_shots_lie_between_transitions() -> None:
    found = [Transition(50, 50, "cut", 1), Transition(53, 53, "cut", 1), Transition(100, 120, "gradual", 1)]
    assert list(shots_between(found, frames=200, margin=2)) == [(0, 48), (55, 93), (127, 200)]
    assert list(shots_between([], frames=10, margin=2)) == [(0, 10)]
    assert list(shots_between([Transition(0, 9, "gradual", 1)], frames=10, margin=2)) == []


def test_shots_of_a_film_hold_no_transition(tmp_path: Path) -> None:
    film = cut_film(17)
    path = tmp_path / "film.mp4"
    video.write_browser(path, film.frames, fps=25)
    spans = list(Shots(length=40, shortest=20, margin=2).spans(str(path), frames=len(film.frames), fps=25))
    assert all(20 <= end - start <= 40 for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    covered = np.zeros(len(film.frames), bool)
    for start, end in spans:
        covered[start:end] = True
        for transition in film.transitions:
            assert end <= transition.start_frame - 1 or start >= transition.end_frame + 1
    assert covered.mean() > 0.6
    with pytest.raises(Rejected, match="no shot of 120 frames or more between 3 transitions and 2 frames beside each"):
        list(Shots(length=120, shortest=120).spans(str(path), frames=len(film.frames), fps=25))


def test_shots_of_a_retimed_film_are_counted_at_its_new_rate(tmp_path: Path) -> None:
    film = cut_film(7)
    path = tmp_path / "film.mp4"
    video.write_browser(path, film.frames, fps=25)
    frames = video.frames_at(len(film.frames) / 25, 12.5)
    spans = list(Shots(length=90, shortest=5, margin=0).spans(str(path), frames=frames, fps=12.5, retimed=True))
    assert spans == [(0, 25), (25, 69)]


def test_impossible_constants_are_refused() -> None:
    with pytest.raises(InputError, match="got shortest 50 and length 40"):
        Shots(length=40, shortest=50)
    with pytest.raises(InputError, match="margin is -1"):
        Shots(margin=-1)
