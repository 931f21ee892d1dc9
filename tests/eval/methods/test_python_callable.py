from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.eval.methods.contract import MethodContract, corrupted, inpaint, wandering_hole, world

from inpaintbench.errors import InputError
from inpaintbench.eval.adapters.fitting import Padding
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.methods.brought import PythonCallable
from inpaintbench.eval.scoring.predict import run
from inpaintbench.types import Prompts
from inpaintbench.view import ItemView

MODULE = """
def half(frames, hole, level=9):
    assert frames.flags.writeable and hole.dtype == bool
    frames[hole] = level
    return frames

def blind(frames, hole):
    assert hole is None
    return 255 - frames

def nothing(frames, hole):
    return None

def sides(frames, hole):
    assert frames.shape[1] % 32 == frames.shape[2] % 48 == 0, frames.shape
    return frames

sides.divisor = (48, 32)

class Loaded:
    made = 0
    divisor = 16
    def __init__(self, level=3):
        Loaded.made += 1
        if level == 13:
            raise OSError("no weights at level 13")
        self.level = level
    def __call__(self, frames, hole):
        assert frames.shape[1] % 16 == 0
        frames[hole] = self.level + Loaded.made
        return frames

class Inert:
    pass

def edit(frames, hole, *, target_prompt, object_mask):
    assert hole is None
    frames[object_mask] = (0, 0, 255) if "blue" in target_prompt else 0
    return frames

def told(frames, hole, *, target_prompt, instruction):
    assert (target_prompt, instruction) in ((None, "turn it black"), ("a black ball", None))
    return frames * 0
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the current folder."""
    (tmp_path / "callables_of_mine.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "callables_of_mine", raising=False)
    found = {"python_callable": "inpaintbench.eval.methods.brought:PythonCallable"}
    monkeypatch.setattr(METHODS, "_addresses", METHODS.addresses() | found)


class TestContract(MethodContract):
    name = "python_callable"

    @pytest.fixture
    def method(self, module: None) -> PythonCallable:
        return PythonCallable(address="callables_of_mine:half")

    test_no_mistake_shows_where_it_is_at_home = None  # type: ignore[assignment]  # `half` looks at the hole, and asks for none


@pytest.mark.parametrize("prompt", ["a blue ball", "a black ball"])
def test_of_an_edit_it_is_given_what_it_has_parameters_for(prompt: str) -> None:
    frames, inside = np.full((2, 20, 24, 3), 90, np.uint8), np.zeros((2, 20, 24), bool)
    inside[:, 5:9, 4:12] = True
    parts = {"input": frames, "object_mask": inside, "prompts": Prompts(None, prompt)}
    view = ItemView(
        item_id="item", frames=2, height=20, width=24, fps=9.0, parts={name: partial(parts.get, name) for name in parts}
    )
    found = run(PythonCallable(address="callables_of_mine:edit"), view)
    assert (found[~inside] == 90).all()
    assert (found[inside] == ((0, 0, 255) if "blue" in prompt else 0)).all()


@pytest.mark.parametrize("prompts", [Prompts("a ball", "", "turn it black"), Prompts("a ball", "a black ball")])
def test_of_an_edit_without_a_target_it_is_given_the_instruction(prompts: Prompts) -> None:
    view = ItemView.of_arrays(input=np.full((2, 20, 24, 3), 90, np.uint8))
    parts = {"input": lambda: view.input, "prompts": lambda: prompts}
    assert not run(PythonCallable(address="callables_of_mine:told"), view.having(parts)).any()


def test_gives_what_the_callable_gave_with_its_arguments() -> None:
    hole = wandering_hole()
    found = inpaint(PythonCallable(address="callables_of_mine:half", arguments={"level": 33}), corrupted(world(), hole), hole)
    assert set(found[hole].ravel()) == {33}


def test_a_hidden_hole_is_none() -> None:
    found = run(PythonCallable(address="callables_of_mine:blind"), ItemView.of_arrays(input=world()))
    np.testing.assert_array_equal(found, 255 - world())


def test_the_callables_divisor_is_kept() -> None:
    method = PythonCallable(address="callables_of_mine:sides")
    assert any(Padding.of(48, 64, method.divisor))
    np.testing.assert_array_equal(run(method, ItemView.of_arrays(input=world(), hole=wandering_hole())), world())


def test_what_is_no_array_is_an_error() -> None:
    with pytest.raises(InputError, match=r"gave None, wanted uint8\(7, 48, 64, 3\)"):
        run(PythonCallable(address="callables_of_mine:nothing"), ItemView.of_arrays(input=world(), hole=wandering_hole()))


def test_a_process_without_the_current_folder_on_its_path_finds_the_module() -> None:
    """Python's own switch leaves it out, as worker processes may."""
    program = """
        import sys
        from inpaintbench.eval.methods.brought import PythonCallable
        before = list(sys.path)
        PythonCallable(address="callables_of_mine:half")
        print(sys.path == [*before, __import__("os").getcwd()])
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [sys.executable, "-P", "-c", textwrap.dedent(program)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert done.stdout == "True\n", done.stderr


def test_a_class_is_made_once_and_called_for_every_item() -> None:
    hole = wandering_hole()
    clip = corrupted(world(), hole)
    view = ItemView.of_arrays(item_id="item", input=clip[:, :40], hole=hole[:, :40])

    def filled(**arguments: int) -> set[int]:
        made = run(PythonCallable(address="callables_of_mine:Loaded", arguments=arguments), view)
        return set(made[hole[:, :40]].ravel())

    assert [filled(level=20) for _ in range(3)] == [{21}] * 3  # as the step builds the method for every item
    assert filled() == {5}  # other arguments, another instance
    # What it loads is loaded by who fills holes, not by who asks for the method.
    leaf = PythonCallable(address="callables_of_mine:Loaded", arguments={"level": 13})
    with pytest.raises(InputError, match=r"^callables_of_mine:Loaded cannot be made: OSError: no weights at level 13$"):
        run(leaf, view)
    with pytest.raises(
        InputError, match=r"^callables_of_mine:Loaded cannot be made: got an unexpected keyword argument 'depth'$"
    ):
        PythonCallable(address="callables_of_mine:Loaded", arguments={"depth": 13})
    with pytest.raises(InputError, match=r"^callables_of_mine:Inert has no __call__ that takes frames and hole$"):
        PythonCallable(address="callables_of_mine:Inert")
