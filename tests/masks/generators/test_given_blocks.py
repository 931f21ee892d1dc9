from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inpaintbench.errors import Rejected
from inpaintbench.masks.generators.given import GivenBlocks
from inpaintbench.view import ItemView


def view(height: int, width: int, frames: int = 1) -> ItemView:
    return ItemView(item_id="item", frames=frames, height=height, width=width, fps=1.0, parts={})


def test_blocks_cover_rows_then_columns() -> None:
    drawn = GivenBlocks(blocks=[[2, 30, 5], [10, 0, 3]]).generate(view(20, 40, 2), np.random.default_rng(0))
    expected = np.zeros((2, 20, 40), bool)
    expected[:, 2:7, 30:35] = True
    expected[:, 10:13, 0:3] = True
    assert (drawn.hole == expected).all()
    assert drawn.facts["area_fraction"] == pytest.approx(34 / 800)
    assert drawn.facts["block_triples"] == [[2, 30, 5], [10, 0, 3]]


@pytest.mark.parametrize(
    ("blocks", "reason"),
    [
        ([], "no blocks are given for it"),
        ([[18, 0, 5]], "reaches outside the image"),
        ([[-1, 0, 5]], "count from 0"),
        ([[1, 2]], "three whole"),
    ],
)
def test_what_is_no_block_of_this_picture_is_refused(blocks: Any, reason: str) -> None:
    with pytest.raises(Rejected, match=reason):
        GivenBlocks(blocks=blocks).generate(view(20, 40), np.random.default_rng(0))
