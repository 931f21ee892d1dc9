"""What stands outside the wings works without them: the folder deleted, the rest makes the same numbers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

import inpaintbench
from inpaintbench.catalogue import attribute_at, joined, tables_at

PROGRAM = "import sys; from inpaintbench.cli import main; sys.argv[0] = 'inpaintbench'; main()"
ROOT = Path(__file__).parents[2]
KINDS = (
    "metric", "protocol", "command of eval", "sentences beside scores", "place of footage", "command of curation", "layout",
    "drawn footage", "questions of a judge", "options of eval run", "table of results", "optional package", "key",
)  # fmt: skip
# Of the core's tests, those of what asks the wings most; `make test-bare` runs all of them.
ASKING = (
    "tests/test_benchmarks.py", "tests/test_catalogue.py", "tests/test_layers.py", "tests/test_budgets.py",
    "tests/test_lazily.py",
    "tests/cli/test_commands.py", "tests/cli/test_next_commands.py", "tests/cli/test_listing.py", "tests/cli/test_doctor.py",
    "tests/cli/test_leaf.py", "tests/eval/metrics/test_facts.py", "tests/eval/protocols", "tests/eval/scoring/test_score.py",
    "tests/eval/judging", "tests/workbench", "tests/export/layouts", "tests/export/test_documents.py",
    "tests/recipes/test_evidence.py", "tests/annotate/test_shipped.py", "tests/pages/test_colours.py",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_what_wings_join_can_be_imported(kind: str) -> None:
    addresses = joined(kind)
    assert addresses
    for address in addresses.values():
        assert address.startswith("inpaintbench.wings.")
        assert tables_at(address) if address.endswith(".toml") else attribute_at(address)


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
    finding = re.search(r'<p class="sentence">(.*?)</p>', next((tmp_path / "whole").rglob("report.html")).read_text(), re.DOTALL)
    assert finding is not None
    told = re.sub(r"<[^>]+>|[\u200b\u00ad]", "", unescape(finding[1])).strip().rstrip(".")
    number = r"\d+\.\d+"
    written = re.search(re.sub(number, lambda _: f"({number})", rf"\*{told}\*"), (ROOT / "README.md").read_text())
    assert written is not None, told
    # Ends of intervals rest on the processor's linear algebra in the third decimal.
    here = [float(text) for text in re.findall(number, told)]
    assert [float(text) for text in written.groups()] == pytest.approx(here, abs=0.02)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout in which no wing's folder is left, nor its tests."""
    left_out = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "site", "demo")
    folder = Path(shutil.copytree(ROOT, tmp_path_factory.mktemp("bare") / "checkout", ignore=left_out))
    shutil.rmtree(folder / "tests" / "wings")
    for wing in (folder / "src" / "inpaintbench" / "wings").iterdir():
        if wing.is_dir():
            shutil.rmtree(wing)
    return folder


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.long
def test_without_wings_every_test_of_the_core_is_collected(bare: Path) -> None:
    done = pytest_in(bare, "--collect-only", "tests")
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.long
def test_without_wings_tests_of_the_core_pass(bare: Path) -> None:
    done = pytest_in(bare, "-m", "not long", *ASKING)
    assert done.returncode == 0, done.stdout[-4000:]
