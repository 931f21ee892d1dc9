"""The small benchmark of re-inpainting."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.wings.reinpaint.again_world import World, built_once


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> World:
    """With a run folder of its own."""
    return built_once(tmp_path_factory.getbasetemp() / "again").copied(tmp_path)
