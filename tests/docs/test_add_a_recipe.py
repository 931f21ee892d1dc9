"""docs/how-to/add_a_recipe.md, done to the letter: the recipe, its test, and the line that gives it a command."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.docs.pages import Block, blocks_of
from typer.testing import CliRunner

from inpaintbench.cli.build import folders
from inpaintbench.cli.commands import Command
from inpaintbench.cli.options import expanded
from inpaintbench.recipes import RECIPES


def _loaded(block: Block, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    path = folder / block.title.replace("/", ".")
    path.write_text(block.text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


def test_the_page_leads_to_a_recipe_with_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe, test, line = (block for block in blocks_of("docs/how-to/add_a_recipe.md") if block.title)
    joins = _loaded(line, "inpaintbench.wings.one_hole", tmp_path, monkeypatch).JOINS["recipe"]
    [(name, address)] = joins.items()
    assert recipe.title == f"src/{address.partition(':')[0].replace('.', '/')}.py"
    _loaded(recipe, address.partition(":")[0], tmp_path, monkeypatch)
    monkeypatch.setattr(RECIPES, "_addresses", RECIPES.addresses() | joins)
    printed = _loaded(test, "test_of_the_page", tmp_path, monkeypatch)
    [(_, function)] = [(one, value) for one, value in vars(printed).items() if one.startswith("test_")]
    function(tmp_path)
    program = typer.Typer(rich_markup_mode=None)
    program.command(name, cls=Command)(expanded(getattr(folders, f"build_{name}")))
    shown = " ".join(CliRunner().invoke(program, ["--help"], env={"COLUMNS": "300"}).stdout.split())
    assert "Largest share of a picture that is missing. [default: (0.2); x<=0.6]" in shown
    assert json.loads((tmp_path / "workspace" / "recipe.json").read_text())["most"] == 0.3
