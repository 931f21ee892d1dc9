from __future__ import annotations

import numpy as np
import pytest
from tests.eval.methods.contract import MethodContract, wandering_hole, world

from inpaintbench.errors import InputError
from inpaintbench.eval.methods.edits import EditRecolour
from inpaintbench.types import Frames, Prompts
from inpaintbench.view import ItemView


class TestContract(MethodContract):
    name = "edit_recolour"


def edited(target: str, *, strength: float = 1.0) -> Frames:
    parts = {"input": lambda: world(), "object_mask": wandering_hole, "prompts": lambda: Prompts(None, target)}
    frames, height, width = wandering_hole().shape
    view = ItemView(item_id="item", frames=frames, height=height, width=width, fps=30, parts=parts)
    return EditRecolour(strength=strength).inpaint(view.declaring("edit_recolour", ("input", *EditRecolour.uses)))


@pytest.mark.parametrize(("target", "channel"), [("A RED cup", 0), ("the green one of two blue cups", 1), ("a cup", 2)])
def test_the_object_takes_the_first_colour_that_is_asked_for(target: str, channel: int) -> None:
    inside = edited(target)[wandering_hole()].mean(axis=0)
    assert inside.argmax() == channel
    assert inside[channel] > 1.5 * np.delete(inside, channel).max()


def test_nothing_else_changes_and_nothing_at_all_at_strength_0() -> None:
    np.testing.assert_array_equal(edited("a red cup")[~wandering_hole()], world()[~wandering_hole()])
    np.testing.assert_array_equal(edited("a red cup", strength=0), world())


def test_without_a_mask_whole_frames_change() -> None:
    found = EditRecolour(strength=1).inpaint(ItemView.of_arrays(input=world()))
    assert (found != world()).any(axis=3).mean() > 0.9


@pytest.mark.parametrize("strength", [-0.1, 1.1, float("nan")])
def test_a_strength_that_is_no_share_is_refused(strength: float) -> None:
    with pytest.raises(InputError, match=f"strength is {strength}"):
        EditRecolour(strength=strength)
