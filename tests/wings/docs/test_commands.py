"""Every command and every Python block of the documentation runs, page by page, in a folder where the names that it uses exist.

A page's commands run in its order and share that folder, as they do for who reads it. A block with a title is a file of that
name. Commands that take minutes, never end or need another machine stand in ``not_run.toml``, with the reason and the test that
covers them.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import runpy
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from hub_server import TOKEN, HubServer, Repository
from program import run_here
from tests.docs.pages import CLAIM, MADE, PAGES, PROGRAMS, ROOT, SHELLS, Block, blocks_of, check_shown, unproved, words_of
from tests.docs.things import GIVEN, site
from tests.docs.worlds import World
from tests.wings.docs.worlds_of_pages import DONE_BY_HAND, OF_PAGE

from inpaintbench.cli import app
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.export import second_decoder

NOT_RUN = tomllib.loads((ROOT / "tests" / "docs" / "not_run.toml").read_text())["command"]
LISTED = {(page, entry["command"]) for entry in NOT_RUN for page in entry["pages"]}
SECOND_DECODER = "docs/tutorials/builder.md"
"""Where ``export verify`` also asks a second decoder, whose start takes longer than all else that it does here."""
CUTTING = (["build", "devil"], ["curation", "clips"], ["masks", "preview"])
"""Commands that make pictures of full size where they are not told one, which takes twenty times as long as ``SMALL`` ones."""
SMALL = ["--size", "128x80"]
LONG = {
    "README.md",
    "docs/alignment.md",
    "docs/annotate.md",
    "docs/benchmark.md",
    "docs/chalearn.md",
    "docs/curation.md",
    "docs/devil_paper.md",
    "docs/editing.md",
    "docs/evaluation.md",
    "docs/growing.md",
    "docs/hold_back.md",
    "docs/how-to/recipes.md",
    "docs/how-to/write_a_paper.md",
    "docs/leaderboard.md",
    "docs/recipes.md",
    "docs/reinpainting.md",
    "docs/removal.md",
    "docs/tutorials/builder.md",
    "docs/tutorials/method_author.md",
    "docs/tutorials/reader.md",
    "docs/worked_example.md",
}
"""Pages whose commands take more than three seconds."""
OF_FULL_SIZE = "README.md"
"""The page whose commands are run as they stand."""
BENCH = (ROOT / "bench" / "README.md").read_text()
"""What was measured."""
WHOLE = "*"
"""In the place of a command: all of the page."""


def _has_something_to_run(page: str) -> bool:
    commands = [command for block in blocks_of(page) for command in block.commands() if (page, command) not in LISTED]
    return (page, WHOLE) not in LISTED and bool(commands or any(block.language in ("python", CLAIM) for block in blocks_of(page)))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The page's folder, with a Hub and a web site on this machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, value in {"COLUMNS": "200", "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    for name in ("INPAINTBENCH_WEIGHTS", "INPAINTBENCH_DATABASE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    # These libraries read their environment when they are imported.
    for module in ("datasets.config", "huggingface_hub.constants"):
        monkeypatch.setattr(f"{module}.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / ".hub"))
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / ".cache")
    modules = set(sys.modules)
    with HubServer() as hub, site(tmp_path, count=1):
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        hub.repositories["OWNER/MODEL"] = Repository(private=False)
        yield tmp_path
    for name in set(sys.modules) - modules:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", None)):
            del sys.modules[name]


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.long] * (page in LONG)) for page in PAGES if _has_something_to_run(page)]
)
def test_every_command_of_the_page_runs(page: str, place: Path, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(place, shared, {**GIVEN, **OF_PAGE.get(page, {})})
    if page == SECOND_DECODER:
        monkeypatch.setattr(second_decoder, "DECODERS", tuple(second_decoder._DECODERS))  # whose order `conftest` has changed
    else:
        monkeypatch.setattr("inpaintbench.export.verify.available", list)
    told, names = "", dict[str, object](__name__="__page__")
    for block in blocks_of(page):
        if block.title:
            (place / block.title).parent.mkdir(parents=True, exist_ok=True)
            (place / block.title).write_text(block.text)
        elif block.language == "python":
            world.provide(["python", *re.findall(r'"([^"\n]+)"', block.text)])
            told = _printed(block, names)
        elif commands := [command for command in block.commands() if (page, command) not in LISTED]:
            told = "".join(_run(page, command, world, monkeypatch) for command in commands)
        elif block.language == CLAIM:
            said = " ".join(re.sub(r"<!--.*?-->", "", PAGES[page].read_text(), flags=re.DOTALL).split())
            known = {"printed": told, "page": said, "bench": BENCH, "rows": _rows, "ROOT": ROOT}
            known |= {"module": import_module, "protocol": PROTOCOLS.get}
            assert eval(block.text, known), f"{page} says what is not so: {block.text}\n{told}"
        elif block.language == "text" and told:
            check_shown(block, told)


def test_what_a_page_says_in_numbers_is_compared_with_what_its_commands_and_the_code_give() -> None:
    assert {page: found for page in PAGES.keys() - MADE if (found := unproved(PAGES[page].read_text()))} == {}


def test_a_number_without_a_claim_is_found_below_a_heading_and_beside_code() -> None:
    said = "It makes three films.\n<!-- true: 1 + 2 == 3 -->"
    page = f"# Page\n\n{said}\n\n## Next\n\nIt makes `4` of them.\n\n```text\n5\n```\n\nIt beats all.\n"
    assert unproved(page) == ["It beats all.\n"]


def test_what_is_not_run_is_in_the_docs_and_covered_elsewhere() -> None:
    documented = {(page, command) for page in PAGES for block in blocks_of(page) for command in (*block.commands(), WHOLE)}
    assert documented >= LISTED, f"stale: {LISTED - documented}"
    assert len(LISTED) == sum(len(entry["pages"]) for entry in NOT_RUN)
    for entry in NOT_RUN:
        path, _, name = entry["covered_by"].partition("::")
        assert (ROOT / path).exists(), entry["covered_by"]
        assert not name or f"def {name}(" in (ROOT / path).read_text(), entry["covered_by"]
        assert len(entry["reason"].split()) >= 3


def test_no_line_of_a_shell_goes_unseen() -> None:
    """A command of a program that nobody looks for would never be run."""
    for page in PAGES:
        for block in blocks_of(page):
            if block.language in SHELLS[1:]:
                lines = re.sub(r"\\\n\s*", "", block.text).splitlines()
                seen = [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
                assert seen, page
                assert {line.split(" ")[0] for line in seen} <= set(PROGRAMS), f"{page}: {seen}"


def _run(page: str, command: str, world: World, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a command printed; it has to succeed."""
    words = words_of(command)
    world.provide(words)
    if words[0] == "export":
        monkeypatch.setenv(*words[1].split("=", 1))
        return ""
    assert words[0] in ("inpaintbench", "python"), f"{page}: {command}: neither run nor listed in not_run.toml"
    if words[0] == "python":
        return _script(words[1:])
    smaller = SMALL if page != OF_FULL_SIZE and words[1:3] in CUTTING and not {"--size", "--demo"} & set(words) else []
    done = run_here(*words[1:], *_added(words[1:]), *smaller)
    assert done.returncode == 0, f"{page}: {command}\n{done.stdout}\n{done.stderr}"
    world.after(words)
    if by_hand := DONE_BY_HAND.get((page, command)):
        by_hand(world.folder)
    return done.stdout + done.stderr


def _rows(path: str | Path) -> list[dict[str, str]]:
    """The rows of a CSV file that a command of the page wrote."""
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def _added(words: list[str]) -> list[str]:
    """What the tests add: servers of this machine have private addresses, and ``--workers 0`` changes nothing but the time."""
    command: Any = typer.main.get_command(app)
    while words and hasattr(command, "resolve_command") and command.get_command(None, words[0]):
        _, command, words = command.resolve_command(typer.Context(command), words)
    known = {name for parameter in command.params for name in parameter.opts}
    added = {"--allow-private": ["--allow-private"], "--workers": ["--workers", "0"]}
    return [word for name, more in added.items() if name in known and name not in words for word in more]


def _script(words: list[str]) -> str:
    out, before = io.StringIO(), sys.argv
    sys.argv = words
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_path(words[0], run_name="__main__")
    finally:
        sys.argv = before
    return out.getvalue()


def _printed(block: Block, names: dict[str, object]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block.text, f"a block of {block.page}", "exec"), names)
    return out.getvalue()
