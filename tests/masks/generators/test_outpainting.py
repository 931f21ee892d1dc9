"""Margins as holes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import InputError, Rejected, UnknownNameError
from inpaintbench.masks.generators.base import Drawn
from inpaintbench.masks.generators.shapes import SIDES, Outpainting
from inpaintbench.view import ItemView


def draw(leaf: Outpainting, seed: int = 0, *, height: int = 400, width: int = 400, frames: int = 1) -> Drawn:
    view = ItemView(item_id="item", frames=frames, height=height, width=width, fps=30.0, parts={})
    return leaf.generate(view, np.random.default_rng(seed))


def test_margins_follow_the_law_of_lama() -> None:
    facts = [draw(Outpainting(), seed).facts for seed in range(800)]
    pixels = np.array([[fact[f"{side}_pixels"] for side in SIDES] for fact in facts])
    shares = pixels[pixels > 0] / 400
    assert shares.min() >= 0.04
    assert shares.max() <= 0.25
    assert abs(shares.mean() - 0.145) < 3 * 0.21 / math.sqrt(12 * len(shares))
    # Of the 16 ways to choose sides, the one without any is drawn again.
    assert (pixels > 0).any(axis=1).all()
    chance = 8 / 15
    assert (np.abs((pixels > 0).mean(axis=0) - chance) < 3.5 * math.sqrt(chance * (1 - chance) / 800)).all()


@settings(max_examples=60, deadline=None)
@given(height=st.integers(1, 50), width=st.integers(1, 50), frames=st.integers(1, 3), seed=st.integers(0, 50))
def test_the_known_part_is_a_rectangle_of_any_frame_or_there_is_a_reason(height: int, width: int, frames: int, seed: int) -> None:
    if min(height, width) <= 2:
        with pytest.raises(Rejected, match="leave nothing known"):
            # Margins of one pixel at all four sides take all of such a frame.
            draw(Outpainting(side_probability=1), seed, height=height, width=width, frames=frames)
        return
    drawn = draw(Outpainting(), seed, height=height, width=width, frames=frames)
    facts = drawn.facts
    known = ~drawn.hole[0]
    assert drawn.hole.shape == (frames, height, width)
    assert (drawn.hole == drawn.hole[0]).all()
    assert drawn.hole.any()
    rows, columns = np.flatnonzero(known.any(axis=1)), np.flatnonzero(known.any(axis=0))
    assert (rows[0], columns[0]) == (facts["top_pixels"], facts["left_pixels"])
    assert (height - 1 - rows[-1], width - 1 - columns[-1]) == (facts["bottom_pixels"], facts["right_pixels"])
    assert known.sum() == len(rows) * len(columns)
    assert facts["area_fraction"] == pytest.approx(drawn.hole.mean())


def test_fixed_margins_are_exact() -> None:
    drawn = draw(Outpainting(margins={"left": 0.1, "bottom": 0.25}), height=80, width=60)
    expected = np.zeros((80, 60), dtype=np.bool_)
    expected[:, :6] = expected[60:] = True
    np.testing.assert_array_equal(drawn.hole[0], expected)


def test_one_pixel_cannot_be_outpainted() -> None:
    with pytest.raises(Rejected, match="leave nothing known of a frame of 1x1"):
        draw(Outpainting(), height=1, width=1)


def test_bad_arguments_are_named() -> None:
    with pytest.raises(UnknownNameError, match="unknown side 'lef', did you mean 'left'"):
        Outpainting(margins={"lef": 0.1})
    with pytest.raises(InputError, match=r"margin left is 1.5"):
        Outpainting(margins={"left": 1.5})
    with pytest.raises(InputError, match="leave nothing of the frame: opposite shares must sum to less than 1"):
        Outpainting(margins={"left": 0.5, "right": 0.5})
    for empty in ({}, {"left": 0.0}):
        with pytest.raises(InputError, match="margins names no side with a margin"):
            Outpainting(margins=empty)
    with pytest.raises(InputError, match="side_probability is 0"):
        Outpainting(side_probability=0)
    with pytest.raises(InputError, match="share_range is"):
        Outpainting(share_range=[0.0, 0.2])
