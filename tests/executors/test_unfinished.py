from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from inpaintbench.executors.unfinished import FOLDER, Plan, stopped
from inpaintbench.tables import rows_json
from inpaintbench.types import Attribute
from inpaintbench.workspace import Workspace

TABLE = "attributes"


def row(subject: str) -> Attribute:
    return Attribute(subject, "exposure", 0.5, None, "exposure", "1")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """One with a step that was stopped after one of two tasks."""
    made = Workspace(tmp_path / "w")
    tasks = pa.table({"key": ["k1", "k2"], "subject_id": ["s1", "s2"], "name": ["one.mp4", "two.mp4"]})
    Plan("measure", TABLE, Attribute, tasks, []).begin(made)
    ledger = made.ledger("measure")
    ledger.append({"key": "k1", "subject_id": "s1", "status": "done", "finished_at": 1.0}, rows_json([row("s1")]))
    ledger.close()
    return made


def test_what_a_stopped_step_had_done_becomes_its_table_whatever_others_wrote(workspace: Workspace) -> None:
    workspace.write_table(TABLE, "other", [row("a"), row("b"), row("c")], Attribute)
    [told] = stopped(workspace)
    assert str(told) == "measure was stopped after 1 of 2: what is done is used, the same command again does the rest"
    assert [record.subject_id for record in workspace.table(TABLE, Attribute, step="measure")] == ["s1"]


def test_what_names_a_blob_that_is_gone_is_not_done(workspace: Workspace) -> None:
    tasks = pa.table({key: ["a", "b", "c"] for key in ("key", "subject_id", "name")})
    Plan("texts", TABLE, Attribute, tasks, []).begin(workspace)
    ledger = workspace.ledger("texts")
    there, _ = workspace.blobs.put(".json", lambda path: path.write_text("[]"))
    for key, blob in (("a", there), ("b", "0" * 64), ("c", None)):
        entry = {"key": key, "subject_id": key, "status": "done", "finished_at": 1.0}
        ledger.append(entry, rows_json([replace(row(key), blob=blob)]))
    ledger.close()
    told = next(plan for plan in stopped(workspace) if plan.step == "texts")
    assert (told.done, told.tasks) == (2, 3)
    assert [record.subject_id for record in workspace.table(TABLE, Attribute, step="texts")] == ["a", "c"]


def test_more_rows_of_an_earlier_run_stay(workspace: Workspace) -> None:
    workspace.write_table(TABLE, "measure", [row("a"), row("b")], Attribute)
    [told] = stopped(workspace)
    assert told.kept_rows == 2
    assert [record.subject_id for record in workspace.table(TABLE, Attribute)] == ["a", "b"]


def test_a_step_that_another_run_ends_meanwhile_is_nobodys(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workspace.path / FOLDER / "measure.parquet"
    monkeypatch.setattr(Path, "glob", lambda *_: iter([path]))
    whole = path.read_bytes()
    path.unlink()
    assert stopped(workspace) == []
    path.write_bytes(whole[:-9])
    assert stopped(workspace) == []
    for facts in ({}, {"record": "inpaintbench.types:Nothing"}, {"record": "inpaintbench.nothing:Attribute"}, {"record": 3}):
        rows = pa.table({"key": ["k1"], "subject_id": ["s1"], "name": ["one.mp4"]})
        pq.write_table(rows.replace_schema_metadata({"plan": json.dumps({"table": TABLE, "rejected": [], **facts})}), path)
        assert stopped(workspace) == []


def test_a_plan_that_release_0_2_kept_is_taken_too(workspace: Workspace) -> None:
    path = workspace.path / FOLDER / "measure.parquet"
    path.unlink()
    tasks = [["k1", "s1", "one.mp4"], ["k2", "s2", "two.mp4"]]
    plan = {"table": TABLE, "record": "inpaintbench.types:Attribute", "tasks": tasks, "rejected": []}
    path.with_suffix(".json").write_text(json.dumps(plan))
    [told] = stopped(workspace)
    assert (told.done, told.tasks) == (1, 2)
    assert [record.subject_id for record in workspace.table(TABLE, Attribute)] == ["s1"]
    Plan("measure", TABLE, Attribute, pa.table({"key": [], "subject_id": [], "name": []}), []).end(workspace)
    assert stopped(workspace) == []
