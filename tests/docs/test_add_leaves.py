"""The pages that add leaves, done to the letter: the file, its test, the line, and the commands."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from program import run_here
from tests.docs.pages import Block, blocks_of, check_shown, words_of
from tests.docs.things import GIVEN
from tests.docs.worlds import World

from inpaintbench.catalogue import Catalogue, attribute_at
from inpaintbench.cli.leaf import CATALOGUES

PAGES = {
    "docs/how-to/add_a_method.md": "method",
    "docs/how-to/add_an_attribute.md": "attribute",
    "docs/how-to/add_a_mask_generator.md": "mask generator",
    "docs/how-to/add_an_axis.md": "axis",
    "docs/how-to/add_a_question.md": "question",
    "docs/how-to/add_a_layout.md": "layout",
    "docs/how-to/add_a_splitter.md": "splitter",
}
FILE, LINE = "src/", "__init__.py"


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_what_the_page_prints_leads_to_a_leaf_that_works(
    page: str, tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = blocks_of(page)
    (file,), (test,), (line,) = (
        [block for block in blocks if block.title.startswith(begin) and block.title.endswith(LINE) == is_line]
        for begin, is_line in ((FILE, False), ("tests/", False), (FILE, True))
    )
    monkeypatch.chdir(tmp_path)
    name, address = re.fullmatch(r'"(\w+)": "([\w.:]+)",\n', line.text).groups()  # type: ignore[union-attr]
    assert file.title == f"src/{address.partition(':')[0].replace('.', '/')}.py"
    assert line.title == str(Path(file.title).with_name(LINE))
    catalogue: Catalogue[Any] = attribute_at(CATALOGUES[PAGES[page]])
    assert catalogue.base is not None
    assert catalogue.base.startswith(address.rpartition(".")[0])
    _module(address.partition(":")[0], file, tmp_path, monkeypatch)
    monkeypatch.setattr(catalogue, "_addresses", {**catalogue.addresses(), name: address})
    _run_test(_module("test_of_the_page", test, tmp_path, monkeypatch))
    _follow(blocks, World(tmp_path, shared, GIVEN))


def _module(name: str, block: Block, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of a printed file, as if it lay in the package."""
    path = folder / "printed" / Path(block.title).name
    path.parent.mkdir(exist_ok=True)
    path.write_text(block.text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


def _run_test(module: Any) -> None:
    tests = [value for name, value in vars(module).items() if name.startswith("test_")]
    assert tests
    for test in tests:
        test()


def _follow(blocks: list[Block], world: World) -> None:
    told = ""
    for block in blocks:
        if block.language == "text" and told:
            check_shown(block, told)
        elif commands := block.commands():
            told = "".join(_called(words_of(command), world) for command in commands)
    assert told


def _called(words: list[str], world: World) -> str:
    world.provide(words)
    workers = ["--workers", "0"] if words[1:3] in (["eval", "run"], ["curation", "measure"], ["curation", "clips"]) else []
    size = ["--size", "128x80"] if words[1:3] == ["curation", "clips"] else []
    done = run_here(*words[1:], *workers, *size)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr
