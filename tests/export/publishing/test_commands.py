from __future__ import annotations

from pathlib import Path

import pytest
import typer
from hub_server import TOKEN, HubServer
from publishing_data import contents, make_dataset
from typer.testing import CliRunner, Result

from inpaintbench import frozen
from inpaintbench.cli.publishing import fetch, push
from inpaintbench.errors import InputError


@pytest.fixture
def run() -> object:
    app = typer.Typer()
    app.command("push")(push)
    app.command("fetch")(fetch)

    def ran(*words: object) -> Result:
        return CliRunner().invoke(app, [str(word) for word in words])

    return ran


def test_a_dry_run_prints_what_would_go_and_asks_nobody(run: object, hub: HubServer, small: Path) -> None:
    done = run("push", small, "--repo", "somebody/clips", "--licence", "CC-BY-4.0", "--dry-run")
    assert done.exit_code == 0, done.output
    sizes = {name: len(data) for name, data in contents(small).items()}
    truths = sum(size for name, size in sizes.items() if name.startswith("truth/"))
    assert "To somebody/clips, private" in done.output
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in done.output.splitlines() if line.startswith("│")]
    assert ["truth/", "3", str(truths)] in cells
    assert [row for row in cells if row[0] in ("low", "high", "alone")] == [["low", "2"], ["high", "2"], ["alone", "1"]]
    assert ["CC-BY-4.0", "3"] in cells
    assert "14 files, " in done.output
    assert not hub.seen


def test_a_dry_run_prints_obstacles_as_well(run: object, hub: HubServer, tmp_path: Path) -> None:
    done = run("push", make_dataset(tmp_path, licences=("CC-BY-ND-4.0", None, "MIT")), "--repo", "somebody/clips", "--dry-run")
    assert isinstance(done.exception, InputError)
    assert "CC-BY-ND-4.0 forbids derivatives" in str(done.exception)
    assert "film%201.mp4 (not stated)" in str(done.exception)
    assert "CC-BY-ND-4.0" in done.output
    assert not hub.seen


def test_there_and_back_again(run: object, hub: HubServer, small: Path, tmp_path: Path) -> None:
    sent = run("push", small, "--repo", "somebody/clips", "--licence", "CC-BY-4.0", "--revision", "v1")
    assert sent.exit_code == 0, sent.output
    assert sent.output.splitlines()[-1] == (
        f"{hub.url}/datasets/somebody/clips: private, 14 files sent, 0 there already, 0 old ones removed"
    )
    again = run("push", small, "--repo", "somebody/clips", "--licence", "CC-BY-4.0", "--revision", "v1", "--public")
    assert "It was private before and stays so" in again.output
    folder = tmp_path / "got"
    got = run("fetch", "somebody/clips", "--to", folder, "--slice", "alone", "--slice", "low", "--revision", "v1")
    assert got.exit_code == 0, got.output
    assert got.output.splitlines()[-2].startswith("3 items in 2 slices of somebody/clips at ")
    assert got.output.splitlines()[-1] == "Not fetched: high"
    assert [part.name for part in frozen.load(folder).slices] == ["low", "alone"]
    assert TOKEN not in sent.output + again.output + got.output
