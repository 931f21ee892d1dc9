"""The square in the middle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inpaintbench.errors import InputError, Rejected
from inpaintbench.masks.generators.shapes import CentreSquare
from inpaintbench.types import Hole
from inpaintbench.view import ItemView


def draw(leaf: CentreSquare, *, height: int, width: int, frames: int = 1) -> Hole:
    view = ItemView(item_id="item", frames=frames, height=height, width=width, fps=30.0, parts={})
    drawn = leaf.generate(view, np.random.default_rng(0))
    assert drawn.facts["area_fraction"] == pytest.approx(drawn.hole.mean())
    return drawn.hole


def test_the_square_of_lama_covers_its_share() -> None:
    hole = draw(CentreSquare(), height=512, width=512, frames=3)
    side = round(512 * math.sqrt(0.225))
    assert hole.shape == (3, 512, 512)
    assert (hole.sum(axis=(1, 2)) == side**2).all()
    assert hole.mean() == pytest.approx(0.225, abs=0.001)


@given(height=st.integers(1, 60), width=st.integers(1, 60))
def test_it_lies_in_the_middle_of_any_frame(height: int, width: int) -> None:
    if round(math.sqrt(0.1 * height * width)) > min(height, width):
        with pytest.raises(Rejected, match="does not fit"):
            draw(CentreSquare(area=0.1), height=height, width=width)
        return
    hole = draw(CentreSquare(area=0.1), height=height, width=width)[0]
    rows, columns = np.flatnonzero(hole.any(axis=1)), np.flatnonzero(hole.any(axis=0))
    assert len(rows) == len(columns)
    assert hole.sum() == len(rows) ** 2
    assert 0 <= (height - 1 - rows[-1]) - rows[0] <= 1
    assert 0 <= (width - 1 - columns[-1]) - columns[0] <= 1


def test_squares_that_do_not_fit_and_shares_that_cannot_be() -> None:
    with pytest.raises(Rejected, match=r"a square of 22.5% of the area does not fit into a frame of 1000x100"):
        draw(CentreSquare(), height=100, width=1000)
    with pytest.raises(InputError, match="area is 0"):
        CentreSquare(area=0)
