"""The documentation is that of the whole program: its tables, commands and options."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

from inpaintbench.cli import app

ROOT = Path(__file__).parents[2]


def test_the_leaf_tables_are_up_to_date() -> None:
    script = [sys.executable, str(ROOT / "scripts" / "tables.py"), "--check"]
    # in a process of its own: tables are those of the program as it is installed, not of what other tests made of it
    end = subprocess.run(script, capture_output=True, text=True, check=False)
    assert end.returncode == 0, f"run `make docs`: {end.stderr}"


@pytest.mark.long
def test_the_loop_of_the_readme_is_what_its_script_draws(tmp_path: Path) -> None:
    main = runpy.run_path(str(ROOT / "scripts" / "loop.py"))["main"]
    main.__globals__["PLACE"] = tmp_path / "loop.webp"
    main()
    drawn, shown = (Image.open(path) for path in (tmp_path / "loop.webp", ROOT / "docs" / "pictures" / "loop.webp"))
    assert (drawn.size, drawn.n_frames) == (shown.size, shown.n_frames)
    for frame in (0, drawn.n_frames - 1):
        ours, theirs = (seen.seek(frame) or np.asarray(seen.convert("RGB"), float) for seen in (drawn, shown))
        assert np.abs(ours - theirs).mean() < 1


def test_every_command_in_the_docs_exists() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    commands = {
        match
        for page in pages
        for match in re.findall(r"inpaintbench ([a-z]+(?: [a-z]+)?)(?= |$|`)", page.read_text(), re.MULTILINE)
    }
    groups = {"build", "curation", "masks", "annotate", "export", "eval"}
    named = {words for words in commands if words.split()[0] in groups | {"demo", "doctor"}}
    assert len(named) >= 8
    for words in sorted(named):
        parts = words.split() if words.split()[0] in groups else words.split()[:1]
        assert CliRunner().invoke(app, [*parts, "--help"]).exit_code == 0, f"`inpaintbench {words}` is not a command"


def test_every_option_beside_a_command_in_the_text_is_one_of_its_options() -> None:
    """Commands in blocks are run by ``tests/wings/docs``; those in text lack what they need, so their options are looked up."""
    root = typer.main.get_command(app)
    seen = 0
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for text in re.findall(r"`inpaintbench ([^`\n]+)`", page.read_text()):
            command: Any = root
            words = text.replace("RECIPE", "devil").split()
            while words and hasattr(command, "get_command") and command.get_command(None, words[0]):
                command = command.get_command(None, words.pop(0))
            known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)} | {"--help"}
            given = {word.partition("=")[0] for word in words if word.startswith("--")}
            assert given <= known, f"{page.name}: {text}"
            seen += bool(given)
    assert seen >= 5
