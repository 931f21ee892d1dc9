from __future__ import annotations

import numpy as np
import pytest
from tests.eval.methods.contract import MethodContract, world

from inpaintbench.errors import InputError
from inpaintbench.eval.methods.edits import EditShift
from inpaintbench.types import Hole
from inpaintbench.view import ItemView


class TestContract(MethodContract):
    name = "edit_shift"


def box() -> Hole:
    mask = np.zeros(world().shape[:3], np.bool_)
    mask[:, 10:20, 30:50] = True
    mask[:, 30:40, 58:] = True  # at the right edge
    return mask


def test_a_copy_of_the_object_lies_beside_it() -> None:
    frames = world()
    found = EditShift(pixels=8).inpaint(ItemView.of_arrays(input=frames, object_mask=box()))
    np.testing.assert_array_equal(found[:, 10:20, 38:58], frames[:, 10:20, 30:50])
    moved = np.zeros_like(box())
    moved[:, 10:20, 38:58] = True
    np.testing.assert_array_equal(found[~moved], frames[~moved])


def test_without_a_mask_the_frame_moves() -> None:
    found = EditShift(pixels=5).inpaint(ItemView.of_arrays(input=world()))
    np.testing.assert_array_equal(found[:, :, 5:], world()[:, :, :-5])
    np.testing.assert_array_equal(found[:, :, :5], np.repeat(world()[:, :, :1], 5, axis=2))


def test_no_distance_changes_nothing_and_one_below_0_is_refused() -> None:
    view = ItemView.of_arrays(input=world(), object_mask=box())
    np.testing.assert_array_equal(EditShift(pixels=0).inpaint(view), world())
    with pytest.raises(InputError, match="pixels is -1"):
        EditShift(pixels=-1)
