"""Ledgers whose logs became parts say what they said as logs, however they were written."""

from __future__ import annotations

import gc
import json
import os
import shutil
import weakref
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from inpaintbench import ledgers
from inpaintbench.errors import WorkspaceError
from inpaintbench.ledgers import Ledger
from inpaintbench.tables import rows_json, to_records
from inpaintbench.types import Attribute, Corruption

ROWS = {
    subject: [Attribute(subject, name, place / 7, None, "m", "1") for name in "ab"[: place % 3]]
    for place, subject in enumerate(f"s{number}" for number in range(40))
}
ALL = [row for of_subject in ROWS.values() for row in of_subject]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where logs of more than a thousand bytes become parts."""
    monkeypatch.setattr(ledgers, "LOG_BYTES", 1000)
    return tmp_path


def append(ledger: Ledger, *subjects: str, finished_at: float = 1.0) -> None:
    for subject in subjects:
        entry = {"key": f"k{subject}", "subject_id": subject, "status": "done", "seconds": 0.5, "finished_at": finished_at}
        ledger.append(entry, rows_json(ROWS[subject]))
    ledger.close()


def rows_of(ledger: Ledger, *subjects: str) -> list[Attribute]:
    entries = ledger.columns(Attribute)
    found = entries.rows(entries.of(pa.array([f"k{subject}" for subject in subjects])))
    return [record for table in found for record in to_records(table, Attribute)]


def parts(folder: Path, name: str = "step") -> list[str]:
    return sorted(path.name for path in (folder / name).glob("*.parquet"))


def test_a_long_log_becomes_parts_which_hold_what_it_held(folder: Path) -> None:
    ledger = Ledger(folder, "step", own="step", record_type=Attribute)
    append(ledger, *ROWS)
    assert len(parts(folder)) > 3
    assert (folder / "step.jsonl").stat().st_size < 1000
    told = ledger.read()
    assert list(told) == [f"k{subject}" for subject in ROWS]
    assert told["ks4"] == {
        "key": "ks4", "subject_id": "s4", "status": "done", "seconds": 0.5, "finished_at": 1.0,
        "rows": json.loads(rows_json(ROWS["s4"])) and [{**asdict(row), "value_text": None} for row in ROWS["s4"]],
    }  # fmt: skip
    turned = list(reversed(ROWS))
    assert rows_of(ledger, *turned) == [row for subject in turned for row in ROWS[subject]]
    assert ledger.columns(Attribute).of(pa.array(["ks4", "nothing", "ks5"]))["row_count"].to_pylist() == [1, 2]


def test_entries_that_nobody_needs_any_more_are_gone_at_once(folder: Path) -> None:
    ledger = Ledger(folder, "step", own="step", record_type=Attribute)
    append(ledger, *ROWS)
    gc.disable()  # of a million clips they take a gigabyte, which no collection may come for
    try:
        entries = ledger.columns(Attribute)
        assert sum(table.num_rows for table in entries.rows(entries.columns)) == sum(map(len, ROWS.values()))
        kept = weakref.ref(entries)
        del entries
        assert kept() is None
    finally:
        gc.enable()


def test_a_ledger_without_the_type_of_its_rows_stays_a_log_until_it_is_read(folder: Path) -> None:
    ledger = Ledger(folder, "step", own="step", alone=True)
    append(ledger, *ROWS)
    assert parts(folder) == []
    assert rows_of(ledger, "s5", "s1") == [*ROWS["s5"], *ROWS["s1"]]
    assert parts(folder)
    assert rows_of(ledger, "s5", "s1") == [*ROWS["s5"], *ROWS["s1"]]


def test_the_entry_finished_last_counts_wherever_it_lies(folder: Path) -> None:
    ledger = Ledger(folder, "step", own="step", record_type=Attribute)
    append(ledger, *ROWS, finished_at=2.0)
    ledger.append({"key": "ks1", "status": "failed", "reason": "later", "finished_at": 3.0})
    ledger.append({"key": "ks2", "status": "failed", "reason": "earlier", "finished_at": 1.0})
    ledger.close()
    found = ledger.columns(Attribute).of(pa.array(["ks1", "ks2"]))
    assert found["status"].to_pylist() == ["failed", "done"]
    assert found["row_count"].to_pylist() == [None, 2]
    assert {key: ledger.read()[key]["status"] for key in ("ks1", "ks2")} == {"ks1": "failed", "ks2": "done"}


def test_a_run_killed_between_a_part_and_the_end_of_its_log_has_entries_twice_and_counts_them_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(folder, "step", own="step", record_type=Attribute)

    def kill(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "truncate", kill)
        with pytest.raises(KeyboardInterrupt):
            append(ledger, *ROWS)
    ledger.close()
    before = ledger.columns(Attribute).columns["key"].to_pylist()
    assert len(before) == len(set(before)) > 3
    append(ledger, *ROWS)
    assert rows_of(ledger, *ROWS) == ALL


def test_shards_read_the_parts_of_others_and_make_none_of_their_logs(folder: Path) -> None:
    names = list(ROWS)
    for number in (1, 2):
        append(Ledger(folder, "step", own=f"step@{number}-of-2", record_type=Attribute), *names[number - 1 :: 2])
    assert parts(folder, "step@1-of-2")
    long = Ledger(folder, "step", own="step@2-of-2")
    append(long, *names)  # not a part, as an earlier release left it
    held = parts(folder, "step@2-of-2")
    assert rows_of(Ledger(folder, "step", own="step@1-of-2"), *names) == ALL
    assert parts(folder, "step@2-of-2") == held
    assert rows_of(Ledger(folder, "step", own="step", alone=True), *names) == ALL
    assert len(parts(folder, "step@2-of-2")) > len(held)


def test_torn_lines_and_rows_that_are_not_flat_become_parts_too(folder: Path) -> None:
    ledger = Ledger(folder, "step", own="step", record_type=Corruption)
    hole = Corruption("c", "clip", "blobs", {"preset": "x", "index": 3}, 7, None, "ab.mp4", "f00")
    old = {"key": "old", "status": "done", "finished_at": 1.0, "rows": [asdict(hole)]}
    with (folder / "step.jsonl").open("w") as log:
        for _ in range(20):
            log.write(f'{json.dumps(old)}\n{{"key": "torn\n')
    entries = Ledger(folder, "step", own="step", alone=True).columns(Corruption)
    assert parts(folder)
    assert entries.columns["key"].to_pylist() == ["old"]
    [rows] = entries.rows(entries.columns)
    assert to_records(rows, Corruption) == [hole]
    assert entries.lost(entries.columns, lambda name: (folder / name).exists()).tolist() == [True]
    (folder / "ab.mp4").touch()
    assert entries.lost(entries.columns, lambda name: (folder / name).exists()).tolist() == [False]
    ledger.close()


@dataclass(frozen=True)
class Longer(Attribute):
    """Rows of a later version, with a column that parts do not have yet."""

    unit: str = ""


def test_parts_of_an_earlier_version_lack_columns_which_are_empty(folder: Path) -> None:
    append(Ledger(folder, "step", own="step", record_type=Attribute), *ROWS)
    later = Ledger(folder, "step", own="step", record_type=Longer)
    later.append(
        {"key": "new", "status": "done", "finished_at": 2.0}, rows_json([Longer("n", "a", 0.5, None, "m", "2", None, "m")])
    )
    later.close()
    entries = later.columns(Longer)
    [rows] = entries.rows(entries.of(pa.array(["ks4", "new"])))
    assert rows["unit"].to_pylist() == [None, "m"]
    assert rows["subject_id"].to_pylist() == ["s4", "n"]


def test_many_rows_come_in_several_tables(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(folder, "step", own="step", record_type=Attribute)
    append(ledger, *ROWS)
    monkeypatch.setattr(ledgers, "_BYTES_AT_ONCE", 300)
    entries = ledger.columns(Attribute)
    found = list(entries.rows(entries.columns))
    assert [record for table in found for record in to_records(table, Attribute)] == ALL
    assert 5 < len(found) < 12
    assert max(table.num_rows for table in found) < 8


def test_states_are_read_without_the_rows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(folder, "step", own="step", record_type=Attribute)
    append(ledger, *ROWS)
    read: list[list[str]] = []
    whole = pq.ParquetFile.read
    monkeypatch.setattr(pq.ParquetFile, "read", lambda file, columns: read.append(columns) or whole(file, columns=columns))
    entries = ledger.columns(Attribute)
    entries.lost(entries.columns, lambda name: (folder / name).exists())
    assert read
    assert {column for columns in read for column in columns if column.startswith("rows")} == {"rows.list.element.blob"}


def test_a_damaged_part_is_one_clear_sentence(folder: Path) -> None:
    ledger = Ledger(folder, "step", own="step", record_type=Attribute)
    append(ledger, *ROWS)
    part = folder / "step" / parts(folder)[0]
    part.write_bytes(part.read_bytes()[:-9])
    for read in (ledger.read, lambda: ledger.columns(Attribute)):
        with pytest.raises(WorkspaceError, match=r"000000.parquet' is damaged: delete it, and what it held is done again"):
            read()


def test_a_copy_of_a_ledger_goes_on(folder: Path, tmp_path: Path) -> None:
    append(Ledger(folder, "step", own="step", record_type=Attribute), *ROWS)
    shutil.copytree(folder, tmp_path / "copy", ignore=shutil.ignore_patterns("copy"))
    assert rows_of(Ledger(tmp_path / "copy", "step", own="step"), *ROWS) == ALL


def test_a_bit_of_a_line_leaves_that_line_out_or_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledgers, "LOG_BYTES", 1 << 20)
    ledger = Ledger(folder, "step", own="step")
    append(ledger, "s1", "s4", "s5")
    log, wanted = folder / "step.jsonl", {subject: rows_of(ledger, subject) for subject in ("s1", "s4", "s5")}
    before = log.read_bytes()
    for place in range(0, 8 * len(before), 7):
        data = bytearray(before)
        data[place // 8] ^= 1 << place % 8
        log.write_bytes(data)
        entries = Ledger(folder, "step", own="step").columns(Attribute)
        found = {key: [row for rows in entries.rows(entries.of(pa.array([key]))) for row in to_records(rows, Attribute)]
                 for key in entries.columns["key"].to_pylist()}  # fmt: skip
        assert len(found) >= 1
        assert all(rows == wanted.get(key[1:]) for key, rows in found.items()), place
        assert len(found) == len(wanted) or ledger.damaged()
    ledger.drop_damaged()
    assert ledger.damaged() == []
    assert rows_of(ledger, "s1", "s4", "s5") == [row for key in found for row in wanted[key[1:]]]


def test_a_bit_of_a_part_is_noticed(folder: Path) -> None:
    ledger = Ledger(folder, "step", own="step", record_type=Attribute)
    append(ledger, *ROWS)
    part = folder / "step" / parts(folder)[0]
    before = part.read_bytes()
    for place in range(0, 8 * len(before), 301):
        data = bytearray(before)
        data[place // 8] ^= 1 << place % 8
        part.write_bytes(data)
        with pytest.raises(WorkspaceError, match=r"000000.parquet' is damaged"):
            Ledger(folder, "step", own="step").columns(Attribute)
