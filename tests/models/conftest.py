"""The weights among the test assets."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def own_weights(assets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(assets / "weights"))
