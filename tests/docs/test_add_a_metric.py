"""The page that adds a metric, done to the letter: in a copy of this repository, and as a package that pip installs."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from old_format import write_one_file
from program import run_here
from scoring_probes import write_items
from tests.docs.pages import ROOT, Block, blocks_of, check_shown, words_of

PAGE = "docs/how-to/add_a_metric.md"
METRIC = "src/inpaintbench/eval/metrics/worst_frame.py"
LINES = {"py": '        "mse": ', "toml": '"devil/corrected".metrics]'}
"""Language of the blocks that are lines for a file that is there -> what stands last before the "mse" below which they go."""
INSTALL = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--target", "site")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with DATASET and RUN, in which nothing is scored yet."""
    dataset = write_items(tmp_path / "DATASET", count=2, frames=(2, 2))
    write_one_file(tmp_path / "DATASET", dataset)
    words = ("--run", tmp_path / "RUN", "--method", "telea", "--workers", "0")
    assert run_here("eval", "run", "--for=predictions", tmp_path / "DATASET", *words).returncode == 0
    return tmp_path


@pytest.mark.long
def test_in_the_repository_the_printed_lines_lead_to_a_number_and_are_clean(place: Path) -> None:
    for name in ("src", "scripts"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", place)
    (place / "docs").mkdir()
    inside, _ = _parts()
    for block in inside:
        if block.language in LINES:
            _insert(place / block.title, block.text, behind=LINES[block.language])
        elif block.title:
            (place / block.title).parent.mkdir(parents=True, exist_ok=True)
            (place / block.title).write_text(block.text)
    _follow(inside, place, {"PYTHONPATH": str(place / "src")})
    assert _reported(place) == {("worst_frame", "hole")}
    assert "`worst_frame`" in (place / "docs" / "leaves.md").read_text()
    changed = [block.title for block in inside if block.title]
    assert len(changed) == 4
    for check in (["check"], ["format", "--check"]):
        _process([sys.executable, "-m", "ruff", *check, *(name for name in changed if name.endswith(".py"))], place)


@pytest.mark.long
def test_pip_installs_the_printed_package(place: Path) -> None:
    mine = place / "mine"
    mine.mkdir()
    shown, outside = _parts()
    (mine / "worst_frame.py").write_text(next(block.text for block in shown if block.title == METRIC))
    for block in outside:
        if block.title:
            (mine / block.title).write_text(block.text)
    assert "pip install ." in _commands(outside)
    _process([sys.executable, "-m", "pip", "install", *INSTALL, "."], mine)
    _follow(outside, place, {"PYTHONPATH": str(mine / "site")})
    assert ("worst_frame", "hole") in _reported(place)


def _parts() -> tuple[list[Block], list[Block]]:
    """The blocks of both ways; the package begins with its protocol."""
    blocks = blocks_of(PAGE)
    begins = next(number for number, block in enumerate(blocks) if block.title == "worst_frame_protocol.py")
    return blocks[:begins], blocks[begins:]


def _commands(blocks: list[Block]) -> Iterator[str]:
    return (command for block in blocks for command in block.commands())


def _insert(path: Path, lines: str, *, behind: str) -> None:
    """Below the first "mse" from ``behind`` on, as deep as that."""
    text = path.read_text()
    at = text.index("mse", text.rindex(behind))
    deep, below = text[text.rindex("\n", 0, at) + 1 : at].replace('"', ""), text.index("\n", at) + 1
    path.write_text(f"{text[:below]}{deep}{lines}{text[below:]}")


def _follow(blocks: list[Block], place: Path, environment: dict[str, str]) -> None:
    """Run the commands but pip's, and look for what the page shows of them."""
    told = ""
    for block in blocks:
        if block.language == "text":
            check_shown(block, told)
        elif commands := [command for command in block.commands() if not command.startswith("pip ")]:
            told = "".join(_process(_called(words_of(command)), place, environment) for command in commands)


def _called(words: list[str]) -> list[str]:
    return [sys.executable, *(words[1:] if words[0] == "python" else ["-m", *words])]


def _process(words: list[str], place: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        words, cwd=place, capture_output=True, text=True, check=False, env={**os.environ, **(environment or {})}
    )  # fmt: skip
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def _reported(place: Path) -> set[tuple[str, str]]:
    """Metric and region of every number in the report."""
    with (place / "RUN" / "report" / "summary.csv").open(newline="") as file:
        return {(row["metric"], row["region"]) for row in csv.DictReader(file) if float(row["mean"]) > 0}
