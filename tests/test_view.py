from __future__ import annotations

import numpy as np
import pytest

from inpaintbench.errors import MissingPartError, UndeclaredNeedError
from inpaintbench.view import ItemView, composite

FRAMES = np.zeros((2, 4, 6, 3), np.uint8)
HOLE = np.zeros((2, 4, 6), bool)


def test_a_leaf_gets_what_it_declares_and_nothing_else() -> None:
    view = ItemView.of_arrays(input=FRAMES, hole=HOLE, item_id="i7").declaring("telea", ("input",))
    assert view.input is FRAMES
    assert (view.item_id, view.frames, view.height, view.width) == ("i7", 2, 4, 6)
    with pytest.raises(UndeclaredNeedError, match="telea asked for 'hole' but declares"):
        _ = view.hole
    assert not view.has("hole")


def test_a_part_that_the_item_lacks_is_named() -> None:
    with pytest.raises(MissingPartError, match="this item has no 'truth', only input"):
        _ = ItemView.of_arrays(input=FRAMES).truth


def test_a_part_is_loaded_once_and_shared() -> None:
    calls = []
    view = ItemView(item_id="i", frames=2, height=4, width=6, fps=30.0, parts={"truth": lambda: calls.append(1) or FRAMES})
    assert view.declaring("a", ("truth",)).truth is view.declaring("b", ("truth",)).truth
    assert calls == [1]


def test_a_composite_keeps_known_pixels() -> None:
    hole = HOLE.copy()
    hole[:, 1, 2] = True
    made = composite(FRAMES, hole, np.full_like(FRAMES, 9))
    assert (made[hole] == 9).all()
    assert (made[~hole] == 0).all()


def test_parts_of_an_item_cannot_be_set() -> None:
    frames = np.zeros((1, 4, 4, 3), np.uint8)
    view = ItemView.of_arrays(truth=frames)
    with pytest.raises(AttributeError, match="'truth' is a part of the item"):
        view.truth = frames + 1
    assert view.truth is frames
