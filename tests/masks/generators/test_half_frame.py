"""Halves of the frame."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inpaintbench.errors import Rejected, UnknownNameError
from inpaintbench.masks.generators.base import Drawn
from inpaintbench.masks.generators.shapes import SIDES, HalfFrame
from inpaintbench.view import ItemView


def draw(leaf: HalfFrame, *, height: int, width: int, frames: int = 1, seed: int = 0) -> Drawn:
    view = ItemView(item_id="item", frames=frames, height=height, width=width, fps=30.0, parts={})
    return leaf.generate(view, np.random.default_rng(seed))


@given(height=st.integers(2, 30), width=st.integers(2, 30))
def test_the_two_halves_of_a_frame_are_mirror_images_apart(height: int, width: int) -> None:
    for one, other, axis in (("left", "right", 2), ("top", "bottom", 1)):
        first, second = (draw(HalfFrame(side=side), height=height, width=width, frames=2) for side in (one, other))  # type: ignore[arg-type]
        np.testing.assert_array_equal(first.hole, np.flip(second.hole, axis))
        assert not (first.hole & second.hole).any()
        length = (height, width)[axis - 1]
        assert first.hole.sum() == 2 * (length // 2) * (height * width // length)
        assert first.facts["area_fraction"] == pytest.approx(first.hole.mean())


def test_each_side_lies_where_it_says() -> None:
    corners = {"left": (0, 0, 1, 0), "top": (0, 0, 0, 1), "right": (0, 1, 1, 1), "bottom": (1, 0, 1, 1)}
    for side, (row, column, other_row, other_column) in corners.items():
        hole = draw(HalfFrame(side=side), height=2, width=2).hole[0]  # type: ignore[arg-type]
        assert hole[row, column]
        assert hole[other_row, other_column]
        assert hole.sum() == 2


def test_random_sides_are_all_as_likely_and_stated() -> None:
    sides = [draw(HalfFrame(), height=4, width=4, seed=seed).facts["side"] for seed in range(400)]
    assert all(abs(sides.count(side) - 100) < 3.5 * np.sqrt(400 * 0.25 * 0.75) for side in SIDES)


def test_a_line_has_no_halves_across_and_names_are_checked() -> None:
    with pytest.raises(Rejected, match="a frame of 9x1 has no top half"):
        draw(HalfFrame(side="top"), height=1, width=9)
    with pytest.raises(UnknownNameError, match="unknown side 'lefft', did you mean 'left'"):
        HalfFrame(side="lefft")  # type: ignore[arg-type]
