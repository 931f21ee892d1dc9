"""What stands outside the wings works without them: the folder deleted, the rest makes the same numbers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import inpaintbench
from inpaintbench.catalogue import attribute_at, joined

PROGRAM = "import sys; from inpaintbench.cli import main; sys.argv[0] = 'inpaintbench'; main()"
KINDS = ("metric", "protocol", "command of eval", "sentences beside scores", "place of footage", "command of curation")


@pytest.mark.parametrize("kind", KINDS)
def test_what_wings_join_can_be_imported(kind: str) -> None:
    addresses = joined(kind)
    assert addresses
    for address in addresses.values():
        assert address.startswith("inpaintbench.wings.")
        attribute_at(address)


def run(package: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=package.parent,
        env={"PYTHONPATH": str(package.parent), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_without_wings_the_demo_makes_the_same_dataset_and_summary(tmp_path: Path) -> None:
    """Twice: with the package as it is, and with a copy that lacks the wings' folders."""
    for name in ("whole", "bare"):
        package = tmp_path / name / "inpaintbench"
        shutil.copytree(Path(inpaintbench.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
        if name == "bare":
            shutil.rmtree(package / "wings")
        run(package, "demo")
        assert ("align" in run(package, "eval", "--help")) == (name == "whole")
    for file in ("dataset.json", "summary.csv"):
        whole, bare = (next((tmp_path / name).rglob(file)) for name in ("whole", "bare"))
        assert whole.read_bytes() == bare.read_bytes(), file
