from __future__ import annotations

import numpy as np
import pytest
from tests.eval.methods.contract import MethodContract, world

from inpaintbench.errors import InputError
from inpaintbench.eval.methods.edits import EditStyle
from inpaintbench.view import ItemView


class TestContract(MethodContract):
    name = "edit_style"


def test_the_change_grows_with_the_strength_from_nothing() -> None:
    view = ItemView.of_arrays(input=world())
    changes = [np.abs(EditStyle(strength=one).inpaint(view) - world().astype(int)).mean() for one in (0, 0.3, 0.6, 1)]
    assert changes[0] == 0
    assert changes == sorted(changes)
    assert changes[1] > 2


def test_every_frame_is_drawn_alike() -> None:
    still = np.repeat(world()[:1], 3, axis=0)
    found = EditStyle(strength=1).inpaint(ItemView.of_arrays(input=still))
    np.testing.assert_array_equal(found[0], found[2])


def test_flat_parts_become_a_level_of_the_poster() -> None:
    flat = np.full((1, 8, 8, 3), 100, np.uint8)
    found = EditStyle(strength=1).inpaint(ItemView.of_arrays(input=flat))
    assert (found == round((int(100 / 256 * 6) + 0.5) * 256 / 6)).all()


def test_a_strength_that_is_no_share_is_refused() -> None:
    with pytest.raises(InputError, match=r"strength is 1\.5, choose a number from 0"):
        EditStyle(strength=1.5)
