"""`eval diagnose`, in this process."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from click.testing import Result
from old_format import write_one_file
from tests.eval.diagnosis.made import AXES, noise, paired_items, with_attributes
from tests.eval.report.hand_made import scores
from typer.testing import CliRunner

from inpaintbench import frozen
from inpaintbench.cli.options import expanded
from inpaintbench.cli.table import diagnose_command
from inpaintbench.errors import UsageError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.files import file_sha256
from inpaintbench.steps import score_step
from inpaintbench.types import Score
from inpaintbench.workspace import Workspace

CORRECTED = PROTOCOLS.get("devil/corrected")
app = typer.Typer()
app.command()(expanded(diagnose_command))


@pytest.fixture
def places(tmp_path: Path) -> list[Path | str]:
    """A dataset of pairs and a run in which one of two methods loses 3 dB where the hole is large."""
    root, run = tmp_path / "dataset", Workspace(tmp_path / "run")
    root.mkdir()
    items = paired_items()
    write_one_file(root, with_attributes(items, axes=AXES))
    (run.path / "dataset.sha256").write_text(file_sha256(root / frozen.MANIFEST))
    values = noise(np.random.default_rng(0), items, ["steady", "frail"])
    values["frail"] -= 3 * np.array([name.endswith("size") for name in sorted(items)])
    for method, own in values.items():
        rows = scores({method: dict(zip(sorted(items), own.tolist(), strict=True))})
        run.write_table("scores", score_step(CORRECTED.name, method), rows, Score)
    return [root, "--run", run.path, "--protocol", CORRECTED.name]


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def test_what_is_told_is_a_sentence_with_its_interval_and_its_pairs(places: list[Path | str]) -> None:
    words = " ".join(call(*places).output.replace("│", " ").split())
    assert "frail loses 2." in words
    assert "when size of the hole goes from low to high" in words
    assert "24 pairs of 12 sources" in words
    assert "steady loses" not in words
    assert "2 of 9 effects by it more than chance" in words
    assert "left out: hole.hole_fraction: changed by the axis size, whose pairs tell what that does" in words
    every = call(*places, "--all").output
    assert every.count(" of 12 sources") == 9
    words = " ".join(every.replace("│", " ").split())
    assert words.count("could be chance") == 7  # and nobody gains or loses by these
    assert sum(words.count(f" {verb} ") for verb in ("gains", "loses")) == 2


def test_the_same_as_data(places: list[Path | str], tmp_path: Path) -> None:
    found = json.loads(call(*places, "--json").output)
    told = [row for row in found["effects"] if row["told"]]
    assert {(row["factor"], row["method"], row["other"]) for row in told} == {
        ("size", "frail", None), ("size", "frail", "steady"),
    }  # fmt: skip
    lines = call(*places, "--csv").output
    assert "wrote" in call(*places, "--out", tmp_path / "all.csv").output
    assert (tmp_path / "all.csv").read_text() == lines
    call(*places, "--out", tmp_path / "all.json")
    assert json.loads((tmp_path / "all.json").read_text()) == found


def test_one_form_and_a_name_that_tells_it(places: list[Path | str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not both"):
        call(*places, "--json", "--csv")
    with pytest.raises(UsageError, match="has to end in"):
        call(*places, "--out", tmp_path / "all.txt")
