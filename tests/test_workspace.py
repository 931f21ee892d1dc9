from __future__ import annotations

import errno
import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from inpaintbench import tables
from inpaintbench.errors import WorkspaceError
from inpaintbench.files import write_atomically
from inpaintbench.ledgers import Ledger
from inpaintbench.tables import rows_json, to_columns, to_records
from inpaintbench.types import Attribute, Corruption, Score, Slice
from inpaintbench.workspace import Workspace

RECORDS: list[Any] = [
    Attribute("a", "share", 0.25, None, "measured", "1"),
    Attribute("a", "level", "high", None, "known", "1"),
    Attribute("b", "share", None, "too dark", "measured", "1"),
    Corruption("c", "clip", "blobs", {"preset": "x", "index": 3, "reverse": True}, 7, None, "ab.mp4", "f00"),
    Slice("size-low", "size_level == 'low'", ("i2", "i1")),
    Score("telea", "i1", "psnr", "hole", "p", "f", math.inf, None, {"frames": 3}),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_survives_its_row(record: Any, workspace: Workspace) -> None:
    assert to_records(to_columns([record, record], type(record)), type(record)) == [record, record]
    workspace.write_table("things", "step", [record], type(record))
    assert workspace.table("things", type(record)) == [record]


def test_texts_that_rows_share_are_one_text(workspace: Workspace) -> None:
    rows = [Score("telea", f"i{place}", "psnr", "hole", "p", "f", 1.0, None, {"frames": place // 2}) for place in range(4)]
    workspace.write_table("scores", "score", rows, Score)
    read = workspace.table("scores", Score)
    assert read == rows
    assert len({id(row.method) for row in read}) == 1
    assert len({id(row.details) for row in read}) == 2


def test_a_few_rows_are_found_without_reading_the_columns_of_the_others(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_ROWS_OF_GROUP", 4)
    rows = [Attribute(f"{place * 7 % 20:02}", "share", place / 20, None, "measured", "1") for place in range(20)]
    workspace.write_table("attributes", "measure.share", rows, Attribute)
    read: list[list[str]] = []
    group = pq.ParquetFile.read_row_group
    monkeypatch.setattr(pq.ParquetFile, "read_row_group", lambda *given, columns: read.append(columns) or group(*given, columns))
    wanted = {"03", "05", "33"}
    found = workspace.columns("attributes", Attribute, where=("subject_id", wanted))
    assert to_records(found, Attribute) == [row for row in rows if row.subject_id in wanted]
    whole = [columns for columns in read if len(columns) > 1]
    assert len(whole) == len({place // 4 for place, row in enumerate(rows) if row.subject_id in wanted}) < 5
    read.clear()
    assert not workspace.columns("attributes", Attribute, where=("value_text", wanted)).num_rows  # a column without values
    assert not workspace.columns("attributes", Attribute, where=("subject_id", ())).num_rows
    assert not read


def test_rows_that_lie_together_are_found_where_those_of_the_table_before_lay(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_ROWS_OF_GROUP", 4)
    counts = {"longer": [1, 9, 3, 4, 0, 2, 1, 1], "one": [1] * 8, "reversed": [3, 1, 4, 1, 5, 9, 2, 6]}
    for step, of_clips in counts.items():
        places = [place for place, count in enumerate(of_clips) for _ in range(count)]
        rows = [Attribute(f"c{place}", step, at, None, "measured", "1") for at, place in enumerate(places)]
        rows = rows[::-1] if step == "reversed" else rows
        workspace.write_table("attributes", f"measure.{step}", rows, Attribute)
    for clip in [*(f"c{place}" for place in range(8)), "nobody"]:
        where = ("subject_id", {clip})
        plain = workspace.columns("attributes", Attribute, where=where)
        assert workspace.columns("attributes", Attribute, where=where, together=True) == plain
    for step in range(5):
        rows = [Attribute(f"c{place}", f"sharp{step}", 0.0, None, "measured", "1") for place in range(20)]
        workspace.write_table("attributes", f"same.{step}", rows, Attribute)
    read: list[int] = []
    group = pq.ParquetFile.read_row_group
    monkeypatch.setattr(pq.ParquetFile, "read_row_group", lambda *given, columns: read.append(1) or group(*given, columns))
    steps = [f"same.{step}" for step in range(5)]
    found = workspace.columns("attributes", Attribute, steps=steps, where=("subject_id", {"c18"}), together=True)
    assert found.num_rows == 5
    assert len(read) == 5 + 1 + 4 * 2  # all groups of the first, then of each the one that has it: ids, and the other columns


def test_a_table_of_another_version_is_one_clear_sentence(workspace: Workspace) -> None:
    rows = to_columns(RECORDS[:1], Attribute).drop_columns("producer")
    workspace.write_columns("attributes", "measure.share", rows)
    with pytest.raises(WorkspaceError, match="the table 'attributes' is damaged or was written by another version"):
        workspace.table("attributes", Attribute)


def test_equal_tables_have_equal_bytes_and_an_empty_one_leaves_no_file(workspace: Workspace) -> None:
    path = workspace.path / "tables" / "attributes" / "one.parquet"
    workspace.write_table("attributes", "one", RECORDS[:3], Attribute)
    first = path.read_bytes()
    workspace.write_table("attributes", "one", RECORDS[:3], Attribute)
    assert path.read_bytes() == first
    workspace.write_table("attributes", "one", [], Attribute)
    assert not path.exists()
    assert workspace.table("attributes", Attribute) == []


def test_blobs_are_named_by_content_and_scratch_is_left_clean(workspace: Workspace) -> None:
    name, result = workspace.blobs.put(".txt", lambda path: path.write_text("hello"))
    again, _ = workspace.blobs.put(".txt", lambda path: path.write_text("hello"))
    assert name == again == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824.txt"
    assert result == 5
    assert workspace.blobs.path(name).read_text() == "hello"
    assert list((workspace.path / "scratch").iterdir()) == []


def test_a_failing_writer_leaves_nothing(workspace: Workspace) -> None:
    def fail(path: Path) -> None:
        path.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        workspace.blobs.put(".txt", fail)
    assert not (workspace.path / "blobs").exists()
    assert list((workspace.path / "scratch").iterdir()) == []


def test_an_interrupted_replacement_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "table"
    write_atomically(target, b"old")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("inpaintbench.files.os.fsync", refuse)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["table"]


def test_a_torn_ledger_line_loses_only_itself(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, "step", own="step")
    rows = rows_json(RECORDS[:1])
    ledger.append({"key": "a"}, rows)
    ledger.append({"key": "b"}, rows)
    ledger.close()
    whole = (tmp_path / "step.jsonl").read_bytes()
    for cut in range(len(whole) - 30, len(whole)):
        (tmp_path / "step.jsonl").write_bytes(whole[:cut])
        torn = Ledger(tmp_path, "step", own="step")
        assert torn.read()["a"] == {"key": "a", "rows": json.loads(rows)}
        torn.append({"key": "c"}, "[]")
        torn.close()
        found = torn.columns(Attribute)
        assert {"a", "c"} <= set(torn.read()) == set(found.columns["key"].to_pylist())
        [held] = found.rows(found.of(pa.array(["nothing", "a"])))
        assert held.to_pylist() == json.loads(rows)


def test_of_several_entries_of_a_key_the_one_finished_last_counts_whichever_shard_wrote_it(tmp_path: Path) -> None:
    for own, times in (("step", (1.0, 5.0, 3.0)), ("step@1-of-2", (4.0, None)), ("step@2-of-2", (6.0,)), ("other", (9.0,))):
        ledger = Ledger(tmp_path, "step", own=own)
        for time in times:
            ledger.append({"key": "k", "reason": f"{own} {time}", **({} if time is None else {"finished_at": time})})
        ledger.close()
    ledger = Ledger(tmp_path, "step", own="step")
    assert ledger.read()["k"]["reason"] == "step@2-of-2 6.0"
    assert ledger.columns(Attribute).of(pa.array(["k", "k"]))["reason"].to_pylist() == ["step@2-of-2 6.0"] * 2


def test_what_a_killed_run_left_half_written_goes_away(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "w")
    folder = tmp_path / "w" / "tables" / "attributes"
    folder.mkdir(parents=True)
    (folder / ".probe.parquet.82b5c1d6.tmp").write_bytes(b"half")
    (folder / "probe.parquet").write_bytes(b"whole")
    with workspace.locked():
        assert [path.name for path in folder.iterdir()] == ["probe.parquet"]


def test_a_folder_with_other_things_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(WorkspaceError, match="not empty and not a workspace"):
        Workspace(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_missing_workspace_is_not_made_when_reading(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="is not a workspace"):
        Workspace(tmp_path / "typo", create=False)
    assert not (tmp_path / "typo").exists()


def test_a_path_through_a_file_is_one_clear_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkspaceError, match="cannot be written: Not a directory"):
        Workspace(tmp_path / "file" / "workspace")


def test_a_file_is_no_workspace(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkspaceError, match=r"is a file, not a folder$"):
        Workspace(tmp_path / "file")


@pytest.mark.parametrize("text", ["{}", "[]", "{"])
def test_a_damaged_marker_is_told(text: str, tmp_path: Path) -> None:
    Workspace(tmp_path / "w")
    (tmp_path / "w" / "workspace.json").write_text(text)
    with pytest.raises(WorkspaceError, match=r"workspace.json' is damaged: "):
        Workspace(tmp_path / "w")


def test_files_in_the_making_and_those_that_can_be_made_again_lie_in_the_workspace(workspace: Workspace) -> None:
    assert workspace.blobs.beside("features") == workspace.path / "features"
    assert workspace.blobs.partial("key") == workspace.path / "partial" / "key"
    assert (workspace.path / "partial").is_dir()


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    Workspace(tmp_path / "w")
    (tmp_path / "w" / "workspace.json").write_text('{"format_version": 99}')
    with pytest.raises(WorkspaceError, match="has format 99"):
        Workspace(tmp_path / "w")


def test_two_writers_exclude_each_other(workspace: Workspace) -> None:
    with (
        workspace.locked(),
        pytest.raises(WorkspaceError, match="in use by another run"),
        Workspace(workspace.path).locked(),
    ):
        pytest.fail("both hold the lock")


def test_a_crash_while_the_workspace_is_made_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / ".workspace.json.0123abcd.tmp").write_text("{")
    Workspace(tmp_path)
    assert (tmp_path / "workspace.json").is_file()


def test_equal_ledger_entries_have_equal_bytes(tmp_path: Path) -> None:
    for name, entry in (("a", {"key": "k", "name": "n"}), ("b", {"name": "n", "key": "k"})):
        ledger = Ledger(tmp_path, name, own=name)
        ledger.append(entry)
        ledger.close()
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
