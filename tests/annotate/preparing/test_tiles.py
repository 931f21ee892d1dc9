"""Grids and outlines against what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage import data

from inpaintbench.annotate.preparing.pictures import layout, outline
from inpaintbench.errors import InputError


@settings(max_examples=200, deadline=None)
@given(
    count=st.integers(1, 12), width=st.integers(16, 4096), height=st.integers(16, 4096), largest_side=st.integers(64, 2000)
)  # fmt: skip
def test_grids_hold_every_tile_apart_and_within_their_limits(count: int, width: int, height: int, largest_side: int) -> None:
    if max(width, height) > 20 * min(width, height):
        return  # pictures that are lines
    grid = layout(count, width=width, height=height, largest_side=largest_side)
    assert grid.size[0] <= 3840
    assert grid.size[1] <= 2160
    assert grid.tile[0] % 2 == grid.tile[1] % 2 == 0
    assert max(grid.tile) <= largest_side
    assert grid.picture[0] <= width
    assert grid.picture[1] <= height
    covered = np.zeros(grid.size[::-1], int)
    for index in range(count):
        x, y = grid.place(index)
        assert x % 16 == y % 16 == 0
        covered[y : y + grid.tile[1], x : x + grid.tile[0]] += 1
    assert covered.max() == 1
    assert covered.sum() == count * grid.tile[0] * grid.tile[1]
    stretched = (grid.picture[0] / width) / (grid.picture[1] / height)
    assert 1 - 3 / min(grid.picture) < stretched < 1 + 3 / min(grid.picture)


@pytest.mark.parametrize(
    ("count", "width", "height", "size"),
    [
        (1, 832, 480, (832, 480)),
        (4, 832, 480, (1664, 960)),
        (5, 832, 480, (2496, 960)),
        (6, 128, 80, (384, 160)),
        (5, 480, 832, (2400, 832)),
        (4, 1920, 1080, (1920, 1088)),
        (2, 101, 75, (224, 80)),
        (12, 3840, 2160, (3840, 1632)),
    ],
)
def test_the_whole_is_near_to_16_by_9_and_full_where_the_largest_pictures_allow(
    count: int, width: int, height: int, size: tuple[int, int]
) -> None:
    grid = layout(count, width=width, height=height, largest_side=960)
    assert grid.size == size
    for columns in range(1, count + 1):  # no other grid with pictures as large is nearer without more that is empty
        rows = math.ceil(count / columns)
        other = (grid.cell[0] * columns, grid.cell[1] * rows)
        if other[0] <= 3840 and other[1] <= 2160:
            here, there = (abs(math.log(wide / high * 9 / 16)) for wide, high in (grid.size, other))
            assert here <= there + math.log(columns * rows / grid.columns / grid.rows) + 1e-9


def test_a_sheet_shows_its_pictures_unchanged_and_repeats_their_edges() -> None:
    pictures = [data.coffee()[:75, 10 * place : 10 * place + 101] for place in range(3)]
    grid = layout(3, width=101, height=75, largest_side=960)
    sheet = grid.sheet(pictures)
    for index, picture in enumerate(pictures):
        x, y = grid.place(index)
        assert (sheet[y : y + 75, x : x + 101] == picture).all()
        assert (sheet[y : y + 75, x + 101] == picture[:, -1]).all()
        assert (sheet[y + 75, x : x + 101] == picture[-1]).all()


def test_larger_pictures_are_made_smaller_by_area() -> None:
    picture = data.coffee()[:400, :600]
    grid = layout(1, width=600, height=400, largest_side=300)
    assert grid.picture == (300, 200)
    wanted = picture.reshape(200, 2, 300, 2, 3).mean(axis=(1, 3))
    sheet = grid.sheet([picture])[:200, :300]
    assert np.abs(sheet - wanted).max() <= 0.5 + 1e-6


def test_too_many_players_are_an_error() -> None:
    with pytest.raises(InputError, match="40000 players of 832x480 do not fit into one picture of 3840x2160"):
        layout(40_000, width=832, height=480, largest_side=960)


def test_the_outline_has_a_pixel_on_both_sides_of_the_edge() -> None:
    rng = np.random.default_rng(3)
    hole = np.zeros((40, 60), bool)
    for _ in range(6):
        y, x = rng.integers(0, 34), rng.integers(0, 54)
        hole[y : y + 6, x : x + 6] = True
    drawn = outline(hole, size=(60, 40))
    padded = np.pad(hole, 1, mode="edge")
    around = np.stack([padded[1 + dy : 41 + dy, 1 + dx : 61 + dx] for dy in (-1, 0, 1) for dx in (-1, 0, 1)])
    wanted = around.any(axis=0) & ~around.all(axis=0)
    assert drawn.shape == (40, 60, 3)
    assert ((drawn == 255) == wanted[..., None]).all()
    assert ((drawn == 0) == ~wanted[..., None]).all()
    assert (wanted & hole).any()
    assert (wanted & ~hole).any()


def test_the_outline_of_a_smaller_picture_is_two_pixels_there_and_loses_no_hole() -> None:
    hole = np.zeros((800, 1200), bool)
    hole[200:600, 300:900] = True
    hole[50, 50] = True
    drawn = outline(hole, size=(300, 200))[..., 0] > 0
    assert drawn[100, 73:78].tolist() == [False, True, True, False, False]
    assert drawn[11:14, 11:14].all()
    assert not outline(np.ones((20, 30), bool), size=(30, 20)).any()
