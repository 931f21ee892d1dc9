"""A run over good and poisoned sources, whose workers and which itself are killed at random: nothing lost, nothing twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from disturbed import run_disturbed
from footage import contents
from poisoned import write_many
from typer.testing import CliRunner

from inpaintbench.cli import app
from inpaintbench.executors.base import Rejection
from inpaintbench.types import Attribute, Clip
from inpaintbench.workspace import Workspace


def commands(sources: Path, out: Path) -> list[list[str]]:
    return [
        ["curation", "clips", "--sources", str(sources), "--out", str(out), "--size", "128x80", "--workers", "2"],
        ["curation", "measure", str(out), "--attribute", "cut_score", "--attribute", "sharpness", "--workers", "2"],
    ]


@pytest.mark.long
def test_a_disturbed_run_ends_with_the_bytes_of_a_peaceful_one(tmp_path: Path) -> None:
    sources = write_many(tmp_path / "sources", good=10, poisoned=4)
    for command in commands(sources, tmp_path / "peaceful"):
        assert CliRunner().invoke(app, [*command[:-1], "0"]).exit_code == 0
    killed = 0
    for place, command in enumerate(commands(sources, tmp_path / "disturbed")):
        done = run_disturbed(command, seed=place, parent_kills=1, worker_kills=2, pause_seconds=(0.1, 0.8))
        killed += done.workers_killed + done.parents_killed
    assert killed >= 3
    assert contents(tmp_path / "disturbed") == contents(tmp_path / "peaceful")
    workspace = Workspace(tmp_path / "disturbed", create=False)
    clips = workspace.table("clips", Clip)
    assert len({clip.source_id for clip in clips}) == len(clips) == 10
    rows = [
        (row.subject_id, row.name) for row in workspace.table("attributes", Attribute) if row.name in ("cut_score", "sharpness")
    ]
    assert len(rows) == len(set(rows)) == 20
    assert len({row.name for row in workspace.table("rejected", Rejection)}) == 4
