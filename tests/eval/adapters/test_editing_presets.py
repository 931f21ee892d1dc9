"""Programs that edit by prompts: both texts and the seed arrive as they are, and every frame comes back in its place."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.eval.adapters.programs import EDITORS
from tests.eval.adapters.test_presets import item, method

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.adapters.checking import FLIP, SHIFT, TIME, UNCHANGED, findings
from inpaintbench.eval.methods.command import Command
from inpaintbench.eval.scoring.check import made_view, tried
from inpaintbench.eval.scoring.predict import run
from inpaintbench.types import Frames, Prompts
from inpaintbench.view import ItemView

SIZES = {"tokenflow": (150, 106), "fatezero": (512, 512)}
SOURCE = """a "silver" jeep: {seed}, it's 50% #1"""
TARGET = """a wooden jeep / 'boat' & more {output} ../.. öé"""


def edited(
    name: str, folder: Path, *, source: str | None = SOURCE, target: str = TARGET, **constants: Any
) -> tuple[Frames, Frames, str]:
    """What the program gave, what it was given, and its log."""
    frames, _ = item(*SIZES[name], frames=5)
    leaf = method(name, folder / "clone", **constants)
    leaf.log = folder / "log.txt"
    view = ItemView.of_arrays(input=frames, fps=24.0)
    view = view.having({"input": lambda: frames, "prompts": lambda: Prompts(source, target)})
    return run(leaf, view), frames, leaf.log.read_text() if leaf.log.exists() else ""


@pytest.mark.parametrize("name", EDITORS)
def test_an_edit_is_read_where_its_program_writes(name: str, tmp_path: Path) -> None:
    made, frames, said = edited(name, tmp_path, seed=41)
    np.testing.assert_array_equal(made, 255 - frames)
    if name == "tokenflow":
        # The target names a folder there, which stays below the one for results.
        assert "\n42 a wooden jeep   'boat' & more {output} .. .. öé without ugly, blurry, low res" in said
        assert SOURCE in said.replace("""'"'"'""", "'")
    else:
        assert f"\n42 {SOURCE} becomes {TARGET}" in said


def test_a_long_prompt_is_cut_where_it_names_a_folder(tmp_path: Path) -> None:
    made, frames, said = edited("tokenflow", tmp_path, target="ü" * 300, negative_prompt="noise")
    np.testing.assert_array_equal(made, 255 - frames)
    assert f"\n1 {'ü' * 120} without noise" in said


def test_square_frames_are_brought_to_the_size_that_they_get(tmp_path: Path) -> None:
    frames = np.full((3, 128, 128, 3), 90, np.uint8)
    view = ItemView.of_arrays(input=frames, fps=24.0)
    view = view.having({"input": lambda: frames, "prompts": lambda: Prompts(SOURCE, TARGET)})
    np.testing.assert_array_equal(run(method("tokenflow", tmp_path), view), 255 - frames)


def test_a_program_that_takes_a_hole_edits_the_object(tmp_path: Path) -> None:
    frames, hole = item(150, 106, frames=5)
    parts = {"input": lambda: frames, "prompts": lambda: Prompts(None, "a cat")}
    view = ItemView.of_arrays(input=frames, fps=24.0)
    leaf = method("vace", tmp_path)
    made = run(leaf, view.having({**parts, "object_mask": lambda: hole}))
    inside = np.median(made[hole].astype(int), axis=0)
    assert (abs(inside[1:] - [37, 91]) <= 4).all()
    with pytest.raises(NotMeasurable, match="takes a hole, and of this item neither that nor the mask of an object is given"):
        run(leaf, view.having(parts))


def test_a_program_of_ones_own_gets_the_instruction(tmp_path: Path) -> None:
    (tmp_path / "edit.py").write_text(
        "import json, pathlib, shutil, sys\n"
        "source, target, asked = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]\n"
        "print('asked:', asked, json.loads((source / 'prompts.json').read_text()))\n"
        "for path in source.glob('frame_*.png'): shutil.copy(path, target / path.name)\n"
    )
    frames, _ = item(150, 106, frames=2)
    view = ItemView.of_arrays(input=frames, fps=24.0)
    leaf = Command(command=f"{sys.executable} {tmp_path / 'edit.py'} {{input}} {{output}} {{instruction}}")
    leaf.log = tmp_path / "log.txt"
    prompts = Prompts("a jeep", "", "make it {output} red")
    np.testing.assert_array_equal(run(leaf, view.having({"input": lambda: frames, "prompts": lambda: prompts})), frames)
    told = {"source": "a jeep", "target": None, "instruction": "make it {output} red"}
    assert f"asked: make it {{output}} red {told}" in leaf.log.read_text()
    with pytest.raises(NotMeasurable, match="takes an instruction, and this item has none"):
        run(leaf, view.having({"input": lambda: frames, "prompts": lambda: Prompts("a jeep", "a red jeep")}))


@pytest.mark.parametrize("name", EDITORS)
def test_an_item_that_lacks_a_prompt_says_so(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotMeasurable, match="takes a prompt for the result, and this item has an instruction alone"):
        edited(name, tmp_path / "c", target="")
    with pytest.raises(NotMeasurable, match="takes a prompt for the source, and nobody knows one of this item"):
        edited(name, tmp_path / "a", source=None)
    frames, hole = item(*SIZES[name], frames=5)
    with pytest.raises(NotMeasurable, match="edits by prompts, which this benchmark does not give"):
        run(method(name, tmp_path / "b"), ItemView.of_arrays(input=frames, hole=hole))


@pytest.mark.parametrize(("change", "told"), [
    pytest.param("", {}, marks=pytest.mark.long),
    pytest.param("255 - frames[:, :, ::-1]", {FLIP: "mirrored left to right"}, marks=pytest.mark.long),
    pytest.param("np.roll(255 - frames, 1, axis=0)", {TIME: "one frame late"}, marks=pytest.mark.long),
    pytest.param("frames", {UNCHANGED: "gives the input back unchanged"}, marks=pytest.mark.long),
    ("np.roll(255 - frames, 2, axis=2)", {SHIFT: "2 px to the right off their place"}),
])  # fmt: skip
def test_a_check_of_an_editor_looks_at_edges(change: str, told: dict[str, str], tmp_path: Path) -> None:
    changed = change and f"\nif 'out' in globals(): save(out + '/img_ode', '{{:05d}}.png', {change})"
    looked = tried(method("tokenflow", tmp_path, changed=changed), partial(made_view, "edit"))
    assert looked.mistakes.keys() == told.keys()
    assert all(words in looked.mistakes[mistake] for mistake, words in told.items())
    # An edit may mean any of it.
    assert {finding.weight for finding in findings([looked])} <= {"warned"}
