"""Fixtures that many tests share."""

from __future__ import annotations

import os
from pathlib import Path

import cv2
import pytest

from inpaintbench.executors.local import LocalExecutor
from inpaintbench.workspace import Workspace

cv2.setNumThreads(1)


@pytest.fixture(scope="session")
def assets() -> Path:
    """Real files nobody here made; tests that need them skip where they are not."""
    folder = os.environ.get("INPAINTBENCH_TEST_ASSETS")
    if not folder:
        pytest.skip("INPAINTBENCH_TEST_ASSETS is not set")
    assert Path(folder).is_dir(), f"INPAINTBENCH_TEST_ASSETS names no folder: {folder}"
    return Path(folder)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "workspace")


@pytest.fixture
def executor(workspace: Workspace) -> LocalExecutor:
    """In this process: failures show their trace."""
    with LocalExecutor(workspace, workers=0) as local:
        yield local
