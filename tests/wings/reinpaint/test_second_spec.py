"""`--second METHOD`: what fills the patches of the second pass."""

from __future__ import annotations

import pytest

from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.wings.reinpaint.commands.options import second_spec


def test_a_callable_is_called_as_for_a_first_pass() -> None:
    given = second_spec("mine:fill,level=9")
    assert (given.leaf, given.constants) == ("python_callable", {"address": "mine:fill", "arguments": {"level": 9}})


def test_second_methods_are_typed_the_same_way_and_their_labels_say_all() -> None:
    assert second_spec("telea") == MethodSpec("telea", "telea")
    assert second_spec("telea,radius_pixels=5") == MethodSpec("telea radius_pixels=5", "telea", {"radius_pixels": 5})
    with pytest.raises(UnknownNameError, match="did you mean 'telea'"):
        second_spec("tela")
