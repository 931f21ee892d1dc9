"""Fixtures that many tests share."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import abrupt_end  # noqa: F401 - first of all
import cv2
import pictures_recipe
import pytest
import whole_frames
from footage import build_command, write_labels, write_sources
from hypothesis import settings
from kept_apart import kept_apart
from lanes import default_signals, hold_to_fast
from made_once import once

from inpaintbench.executors import default_workers
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.export import second_decoder
from inpaintbench.workspace import Workspace

cv2.setNumThreads(1)
default_signals()
# What a worker grows to, most of it parameters of networks that tests share.
WORKER_BYTES = 2_500_000_000
# Nothing that a test writes has to outlive a loss of power; a killed process loses nothing without it.
os.fsync = lambda descriptor: None
# What is known of truths must not come from another state of the program.
kept_apart()
settings.load_profile("fast")
# A second decoder that starts sooner than torchcodec comes first; `test_verify` tries each, and which one users get.
second_decoder.DECODERS = tuple(sorted(second_decoder.DECODERS, key=lambda name: name != "ffmpeg"))
# Collecting imports all and makes ten thousand tests, which all stay: to look for rubbish among them took a third of its time.
gc.disable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """One more than cores, since tests wait for pages, servers and programs a sixth of the time; fewer for little memory."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None  # pytest-xdist reads it
    memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(default_workers() + 1, memory_bytes // WORKER_BYTES))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        hold_to_fast(getattr(item, "obj", None))


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def assets() -> Path:
    """Real files nobody here made; tests that need them skip where they are not."""
    folder = os.environ.get("INPAINTBENCH_TEST_ASSETS")
    if not folder:
        pytest.skip("INPAINTBENCH_TEST_ASSETS is not set")
    assert Path(folder).is_dir(), f"INPAINTBENCH_TEST_ASSETS names no folder: {folder}"
    return Path(folder)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all processes of a test run, of what was made once."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def playwright() -> Iterator[Any]:
    """The one Playwright of this process: it cannot be started twice in one thread."""
    module = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    driver = Path(__file__).parent / "helpers" / "firefox_driver.cjs"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NODE_OPTIONS", f'--require "{driver}"')
        started = module.sync_playwright()
        engine = started.start()
    yield engine
    engine.stop()


@pytest.fixture(scope="session")
def chromium(playwright: Any) -> Iterator[Any]:
    """The one Chromium of this process."""
    # The shell first: it draws no window of its own, and opens a page for a quarter of the work.
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    program = next((path for name in names if (path := shutil.which(name))), None)
    if program is None:
        assert "CI" not in os.environ, "CI has to have a Chromium"
        pytest.skip("no chromium on this machine")
    started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
    yield started
    started.close()


@pytest.fixture(scope="session")
def firefox(playwright: Any) -> Iterator[Any]:
    """The one Firefox of this process, as it is released: light, without motion, and it plays films without sound of a device."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        assert "CI" not in os.environ, "CI has to have a Firefox"
        pytest.skip("no firefox on this machine")
    settings = {"ui.prefersReducedMotion": 1, "layout.css.prefers-color-scheme.content-override": 1}
    started = playwright.firefox.launch(channel="moz-firefox", executable_path=program, firefox_user_prefs=settings)
    yield started
    started.close()


@pytest.fixture(scope="module")
def browser(chromium: Any) -> Iterator[Any]:
    """The browser for the tests of one file: pages that they leave open would go on playing beside those of the next."""
    yield chromium
    for context in chromium.contexts:
        context.close()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "workspace")


@pytest.fixture
def executor(workspace: Workspace) -> LocalExecutor:
    """In this process: failures show their trace."""
    with LocalExecutor(workspace, workers=0) as local:
        yield local


@pytest.fixture
def pictures_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small recipe of ``pictures_recipe`` is found by its name."""
    pictures_recipe.is_known(monkeypatch)


@pytest.fixture
def whole_frames_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The protocols of ``whole_frames`` are found by their names."""
    whole_frames.are_known(monkeypatch)


@pytest.fixture(scope="session")
def benchmark(shared: Path) -> Path:
    """The workspace of a small benchmark, built once by the command line; treat it as read-only."""

    def build(folder: Path) -> None:
        write_sources(folder / "sources")
        write_labels(folder / "labels.csv")
        done = subprocess.run(build_command(folder, "workspace", workers=2), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    return once(shared, "benchmark", build) / "workspace"


@pytest.fixture
def dataset(benchmark: Path, tmp_path: Path) -> Path:
    """A copy of the small benchmark's frozen dataset, to be spoilt."""
    return Path(shutil.copytree(benchmark / "exports" / "devil", tmp_path / "devil"))
