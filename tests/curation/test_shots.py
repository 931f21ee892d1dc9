"""Cuts and gradual transitions of films whose transitions are known."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from cut_films import KINDS, Truth, cut_film, matched
from worlds import pan_clip

from inpaintbench import video
from inpaintbench.curation.splitters.shots import BLOCK_FRAMES, Transition, transitions
from inpaintbench.types import Frames

REAL_CUTS = Path(__file__).with_name("real_cuts.csv")


def places(found: list[Transition]) -> list[tuple[str, int, int]]:
    return [(one.kind, one.start_frame, one.end_frame) for one in found]


@pytest.fixture(scope="module")
def coffee() -> Frames:
    return pan_clip("coffee", pixels_per_frame=1, frames=30, width=160, height=90)


@pytest.fixture(scope="module")
def rocket() -> Frames:
    return pan_clip("rocket", pixels_per_frame=1, frames=30, width=160, height=90)


@pytest.mark.parametrize("seed", range(2002, 2002 + len(KINDS)))
def test_generated_films_are_taken_apart_where_they_were_joined(seed: int) -> None:
    film = cut_film(seed)
    found = transitions(iter(film.frames))
    for kind in ("cut", "gradual"):
        assert matched(film.transitions, found, kind=kind)[1:] == (0, 0), (film.name, film.transitions, found)
    assert all(0 <= one.score <= 1 for one in found)


def test_a_cut_lies_before_the_first_frame_of_the_new_shot(coffee: Frames, rocket: Frames) -> None:
    assert places(transitions(np.concatenate([coffee, rocket]))) == [("cut", 30, 30)]
    luma = np.concatenate([coffee, rocket])[..., 1]
    assert places(transitions(luma)) == [("cut", 30, 30)]


def test_a_flash_or_a_few_foreign_frames_are_no_cut(coffee: Frames, rocket: Frames) -> None:
    white = np.full_like(coffee[:3], 255)
    for inserted in (white, rocket[:1], rocket[:5]):
        film = np.concatenate([coffee[:15], inserted, coffee[15:]])
        assert transitions(film) == []
    assert len(transitions(np.concatenate([coffee[:15], rocket[:9], coffee[15:]]))) == 2


def test_black_between_hard_cuts_makes_two_and_between_fades_one(coffee: Frames, rocket: Frames) -> None:
    black = np.zeros_like(coffee[:10])
    assert places(transitions(np.concatenate([coffee, black, rocket]))) == [("cut", 30, 30), ("cut", 40, 40)]
    weight = np.linspace(1, 0, 10, endpoint=False)[:, None, None, None]
    out, back = (coffee[20:] * weight).astype(np.uint8), (rocket[:10] * weight[::-1]).astype(np.uint8)
    (fade,) = transitions(np.concatenate([coffee[:20], out, black, back, rocket[10:]]))
    assert fade.kind == "gradual"
    assert 20 <= fade.start_frame <= 24
    assert 46 <= fade.end_frame <= 50


def test_bars_are_no_likeness_of_scenes(coffee: Frames, rocket: Frames) -> None:
    film = np.concatenate([coffee, rocket])
    film[:, :12] = film[:, -12:] = 0
    assert places(transitions(film)) == [("cut", 30, 30)]


def test_one_mixed_frame_between_two_shots_is_a_cut(coffee: Frames, rocket: Frames) -> None:
    mixed = (coffee[-1:].astype(np.uint16) + rocket[:1]) // 2
    (cut,) = transitions(np.concatenate([coffee, mixed.astype(np.uint8), rocket]))
    assert cut.kind == "cut"
    assert cut.start_frame in (30, 31)


def test_a_few_black_frames_are_no_flash(coffee: Frames) -> None:
    film = np.concatenate([coffee[:15], np.zeros_like(coffee[:3]), coffee[15:]])
    assert places(transitions(film)) == [("cut", 15, 15), ("cut", 18, 18)]


def test_a_plain_picture_that_turns_black_fades() -> None:
    level = np.concatenate([np.full(20, 200), np.linspace(200, 0, 25), np.zeros(10)]).astype(np.uint8)
    (fade,) = transitions(np.broadcast_to(level[:, None, None, None], (55, 48, 64, 3)))
    assert fade.kind == "gradual"
    assert fade.start_frame <= 24
    assert fade.end_frame >= 40


def test_what_passes_a_bare_wall_is_no_fade_whatever_the_exposure_does(coffee: Frames, rocket: Frames) -> None:
    """Contrast grows as it comes into view, and goes as it leaves; levels do not grow by one factor."""
    wall = np.repeat(120 + (coffee[:1].astype(np.float32) - coffee[0].mean()) / 20, 60, axis=0)
    for at in range(60):
        left = 4 * (at - 30) + 50
        start, end = max(0, left), min(160, left + 60)
        if start < end:
            wall[at, 10:80, start:end] = np.clip((rocket[0, 10:80, start - left : end - left] - 100.0) * 2.5 + 128, 0, 255)
    light = 1 - 0.5 / (1 + np.exp(-(np.arange(60) - 30) / 3.0))[:, None, None, None]
    assert transitions(wall.clip(0, 255).astype(np.uint8)) == []
    assert transitions((wall * light).clip(0, 255).astype(np.uint8)) == []


def test_a_bare_wall_in_the_shade_is_no_fade_and_one_that_turns_black_is() -> None:
    shade = 180 - 90 / (1 + np.exp(-(np.arange(60) - 30) / 4.0))
    assert transitions(np.broadcast_to(shade.astype(np.uint8)[:, None, None, None], (60, 48, 64, 3))) == []
    black = np.clip(180 - 6.0 * np.arange(60), 0, 255).astype(np.uint8)
    assert [one.kind for one in transitions(np.broadcast_to(black[:, None, None, None], (60, 48, 64, 3)))] == ["gradual"]


def test_blocks_leave_no_seams(coffee: Frames, rocket: Frames) -> None:
    one = np.concatenate([coffee, coffee[::-1]])
    other = np.concatenate([rocket, rocket[::-1]])
    film = np.concatenate([one, one, other, other, one, one, other])
    assert len(film) > 3 * BLOCK_FRAMES
    cuts = [("cut", frame, frame) for frame in (120, 240, 360)]
    assert places(transitions(film)) == cuts
    shift = 17
    assert places(transitions(film[shift:])) == [(kind, start - shift, end - shift) for kind, start, end in cuts]


def test_a_change_of_size_is_a_cut(coffee: Frames) -> None:
    assert places(transitions([*coffee[:10], *coffee[10:, :60]])) == [("cut", 10, 10)]


@pytest.mark.parametrize("frames", [0, 1, 2, 7])
def test_short_and_still_films_have_none(frames: int) -> None:
    assert transitions(np.full((frames, 16, 16, 3), 90, np.uint8)) == []


@pytest.mark.long
@pytest.mark.real
def test_real_films_are_cut_where_the_eye_cut_them(assets: Path) -> None:
    wanted = ("bikes.mp4", "nasa_13013.mp4", "fire2.mp4", "example3.mp4")
    marked: dict[str, list[Truth]] = defaultdict(list)
    for row in csv.DictReader(REAL_CUTS.read_text().splitlines()):
        if row["file"].endswith(wanted):
            own = marked[row["file"]]
            own += [Truth(int(row["start_frame"]), int(row["end_frame"]), row["kind"])] if row["start_frame"] else []
    assert len(marked) == len(wanted)
    for file, truth in marked.items():
        found = transitions((frame for frame, _ in video.upright_frames(assets / file)))
        for kind in ("cut", "gradual"):
            assert matched(truth, found, kind=kind)[1:] == (0, 0), (file, found)
