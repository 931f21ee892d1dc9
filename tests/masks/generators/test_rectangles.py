"""Random rectangles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import InputError, Rejected
from inpaintbench.masks.generators.shapes import Rectangles
from inpaintbench.types import Hole
from inpaintbench.view import ItemView


def draw(leaf: Rectangles, seed: int = 0, *, height: int = 200, width: int = 300, frames: int = 1) -> Hole:
    view = ItemView(item_id="item", frames=frames, height=height, width=width, fps=30.0, parts={})
    drawn = leaf.generate(view, np.random.default_rng(seed))
    assert drawn.facts["area_fraction"] == pytest.approx(drawn.hole.mean())
    return drawn.hole


def box(hole: Hole) -> tuple[int, int, int, int]:
    """Top, left, height, width of the one rectangle of a hole."""
    rows, columns = np.flatnonzero(hole[0].any(axis=1)), np.flatnonzero(hole[0].any(axis=0))
    height, width = int(np.ptp(rows)) + 1, int(np.ptp(columns)) + 1
    assert hole[0].sum() == height * width
    return int(rows[0]), int(columns[0]), height, width


def test_areas_are_uniform_in_their_range_and_aspects_in_theirs() -> None:
    shapes = [box(draw(Rectangles(area=[0.1, 0.3], aspect=[0.5, 2]), seed)) for seed in range(400)]
    areas = np.array([height * width / (200 * 300) for _, _, height, width in shapes])
    assert areas.min() > 0.098
    assert areas.max() < 0.302
    assert abs(areas.mean() - 0.2) < 3 * 0.2 / math.sqrt(12 * 400)
    aspects = np.array([width / height for _, _, height, width in shapes])
    assert aspects.min() > 0.48
    assert aspects.max() < 2.08
    assert abs(np.log(aspects).mean()) < 3 * 2 * math.log(2) / math.sqrt(12 * 400)


@settings(max_examples=80, deadline=None)
@given(
    height=st.integers(1, 60),
    width=st.integers(1, 60),
    margin=st.integers(0, 6),
    count=st.integers(1, 4),
    low=st.floats(0.01, 0.9),
    frames=st.integers(1, 3),
    seed=st.integers(0, 50),
)
def test_any_frame_gets_rectangles_inside_the_margin_or_a_reason(
    height: int, width: int, margin: int, count: int, low: float, frames: int, seed: int
) -> None:
    leaf = Rectangles(count=count, area=[low, min(1, low + 0.1)], margin_pixels=margin)
    inner = max(0, height - 2 * margin) * max(0, width - 2 * margin)
    if inner == 0 or inner < low * height * width:
        with pytest.raises(Rejected, match=f"a frame of {width}x{height} with a margin of {margin} pixels has no room"):
            draw(leaf, seed, height=height, width=width)
        return
    hole = draw(leaf, seed, height=height, width=width, frames=frames)
    assert hole.shape == (frames, height, width)
    assert hole.any()
    assert (hole == hole[0]).all()
    assert hole[:, margin : height - margin, margin : width - margin].sum() == hole.sum()


def test_areas_hold_on_long_frames_where_one_side_is_cut() -> None:
    for seed in range(20):
        _, _, height, width = box(draw(Rectangles(area=0.3, aspect=[0.5, 0.5]), seed, height=40, width=900))
        assert height == 40
        assert width == pytest.approx(270, abs=1)


def test_sides_in_pixels_reach_both_ends() -> None:
    shapes = [box(draw(Rectangles(side_pixels=[3, 6]), seed, height=9, width=9)) for seed in range(200)]
    assert {height for _, _, height, _ in shapes} == {width for _, _, _, width in shapes} == {3, 4, 5, 6}
    assert {top for top, _, height, _ in shapes if height == 6} == {0, 1, 2, 3}


def test_bad_arguments_are_named() -> None:
    with pytest.raises(InputError, match="count is 0"):
        Rectangles(count=0)
    with pytest.raises(InputError, match="area is 0, give a share above 0"):
        Rectangles(area=0)
    with pytest.raises(InputError, match="aspect is"):
        Rectangles(aspect=[0, 1])
    with pytest.raises(InputError, match=r"side_pixels is \[9.0, 3.0\], which is empty"):
        Rectangles(side_pixels=[9, 3])
    with pytest.raises(InputError, match=r"side_pixels is .*, give whole numbers"):
        Rectangles(side_pixels=[1.5, 3])  # type: ignore[list-item]
    with pytest.raises(InputError, match="margin_pixels is -1"):
        Rectangles(margin_pixels=-1)
    with pytest.raises(Rejected, match="has no room for sides of 10 pixels"):
        draw(Rectangles(side_pixels=[10, 12]), height=9, width=90)
