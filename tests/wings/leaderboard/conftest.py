"""One real run that all tests of submissions share; treat it as read-only."""

from __future__ import annotations

from pathlib import Path

import pytest
from methods_run import METHODS, run_methods
from tests.wings.leaderboard.made import submit, write_dataset

from inpaintbench.workspace import Workspace


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``data``, ``run`` and ``submissions`` of three methods; the one called ``smooth`` brings no predictions."""
    folder = tmp_path_factory.mktemp("leaderboard")
    write_dataset(folder / "data")
    workspace = run_methods(folder / "data", folder / "run")
    for label in METHODS:
        submit(workspace, folder / "data", label, folder / "submissions" / f"{label}.zip", predictions=label != "smooth")
    return folder


@pytest.fixture
def run(world: Path) -> Workspace:
    return Workspace(world / "run", create=False)
