"""Measurements stay when the weights they were made with are gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from selection_world import fill

from inpaintbench.curation.measuring import measure
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Attribute, Clip
from inpaintbench.workspace import Workspace

LEAF = "foreground_fraction"


def values(workspace: Workspace, clips: list[Clip]) -> dict[str, Attribute]:
    """What the run returns, which is what the table then holds."""
    with LocalExecutor(workspace, workers=0) as executor:
        records = measure(executor, clips, leaf=LEAF).records
    assert workspace.table("attributes", Attribute, step=f"measure.{LEAF}") == records
    return {row.subject_id: row for row in records}


def test_values_outlive_the_weights(workspace: Workspace, assets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clips = fill(workspace, count=4).table("clips", Clip)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "nothing"))
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    unmeasured = values(workspace, clips[:1])
    assert "weights missing" in str(unmeasured["c00"].reason)
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(assets / "weights"))
    measured = values(workspace, clips[:3])
    assert all(row.value is not None for row in measured.values())
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS")
    for _ in range(2):
        after = values(workspace, clips)
        assert {name: after[name] for name in measured} == measured
        assert "weights missing" in str(after["c03"].reason)
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(assets / "weights"))
    assert values(workspace, clips)["c03"].value is not None
