from __future__ import annotations

import numpy as np
import pytest
from tests.eval.methods.contract import MethodContract, world

from inpaintbench.errors import InputError
from inpaintbench.eval.methods.edits import EditFlicker
from inpaintbench.view import ItemView


class TestContract(MethodContract):
    name = "edit_flicker"


def test_frames_are_brighter_and_darker_in_turn() -> None:
    frames = np.clip(world(), 20, 235)
    found = EditFlicker(levels=9).inpaint(ItemView.of_arrays(input=frames)).astype(int)
    for index, frame in enumerate(found):
        assert (frame - frames[index] == (9 if index % 2 == 0 else -9)).all()


def test_levels_end_at_black_and_white() -> None:
    frames = np.stack([np.full((4, 4, 3), 250, np.uint8), np.full((4, 4, 3), 5, np.uint8)])
    found = EditFlicker(levels=20).inpaint(ItemView.of_arrays(input=frames))
    assert (found[0] == 255).all()
    assert (found[1] == 0).all()


@pytest.mark.parametrize("levels", [-1, 128])
def test_levels_out_of_range_are_refused(levels: int) -> None:
    with pytest.raises(InputError, match=f"levels is {levels}"):
        EditFlicker(levels=levels)
