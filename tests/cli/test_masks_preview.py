"""`masks preview` of a generator that degrades prints, in this process with a generator of the test's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from inpaintbench.cli.masks import app
from inpaintbench.masks.generators import GENERATORS
from inpaintbench.masks.generators.base import Drawn, Generator


class Faded(Generator):
    """Halves the darkness of prints."""

    name, version, needs = "faded", "1", ("undistorted", "print")

    def __init__(self, *, backgrounds: str = "none", folder: str | None = None) -> None:
        self.facts = {"on": f"{backgrounds} of {folder and Path(folder).name}"}

    def generate(self, view: Any, rng: np.random.Generator) -> Drawn:
        return Drawn(None, self.facts, input=128 + view.undistorted // 2)


@pytest.fixture(autouse=True)
def faded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GENERATORS, "_addresses", {**GENERATORS.addresses(), "faded": f"{__name__}:Faded"})


def preview(*arguments: str) -> Result:
    done = CliRunner().invoke(app, ["preview", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done


def test_masks_are_still_masks(tmp_path: Path) -> None:
    done = preview("patches", "--count", "1", "--out", str(tmp_path / "x.html"))
    assert "1 mask:" in done.output
    page = (tmp_path / "x.html").read_text()
    assert "Masks of patches" in page
    assert "1 mask in 1 panel · 256×256 · still images" in page
