"""A folder with two versions of a dataset, another dataset, and six runs; and a server that shows it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from made_once import once
from program import run_here
from publishing_data import make_dataset

from inpaintbench.workbench.server import Server

RUNS = ("a", "b", "c", "d", "e", "f")


def _world(folder: Path) -> None:
    folder.mkdir()
    drawn = np.random.default_rng
    for name, changed in (("waves", ()), ("later", (2,)), ("other", (0, 1, 2))):
        with mock.patch("numpy.random.default_rng", lambda place, changed=changed: drawn(place + 50 * (place in changed))):
            made = make_dataset(folder / "made", name=name)
        shutil.move(made, folder / name)
        shutil.rmtree(folder / "made")
    for name, methods in (("a", ("telea", "blank")), ("b", ("telea,radius_pixels=9", "navier_stokes"))):
        words = [word for method in methods for word in ("--method", method)]
        done = run_here("eval", "run", folder / "waves", "--run", folder / "runs" / name, *words, "--report", "--workers", "0")
        assert done.returncode == 0, done.stderr
    for name in RUNS[2:]:
        shutil.copytree(folder / "runs" / "b", folder / "runs" / name)
    for name in ("later", "other"):
        done = run_here(
            "eval", "run", folder / name, "--run", folder / f"of_{name}", "--method", "telea", "--report", "--workers", "0"
        )
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def world(shared: Path) -> Path:
    """Runs ``runs/a`` (telea, blank) to ``runs/f`` (telea, navier_stokes) on ``waves``; ``of_later`` on ``later``, of which one
    item has other pixels, and ``of_other`` on ``other``, of which all have. Not to be written to."""
    return once(shared, "workbench", _world)


@pytest.fixture
def own(world: Path, tmp_path: Path) -> Path:
    """A copy that may be changed."""
    return Path(shutil.copytree(world, tmp_path / "world"))


@pytest.fixture(scope="module", params=["chromium", pytest.param("firefox", marks=pytest.mark.long)])
def browser(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Each of the two engines: what is tried in one is tried in the other."""
    started = request.getfixturevalue(request.param)
    yield started
    for context in started.contexts:
        context.close()


@pytest.fixture(scope="module")
def server(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from _served(Path(shutil.copytree(world, tmp_path_factory.mktemp("served") / "world")))


def _served(folder: Path) -> Iterator[Server]:
    listening = Server([folder])
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    yield listening
    listening.shutdown()
    listening.server_close()
    thread.join()
