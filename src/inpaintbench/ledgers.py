"""Ledgers of a workspace: what a step has finished, as a log of lines and the columns that long logs become.

    ledger/<step>.jsonl              one line a finished task
    ledger/<step>/<number>.parquet   a part: the same of earlier lines, in columns

A log that has reached ``LOG_BYTES`` becomes the next part and begins anew. So a run that goes on reads the keys and states of
millions of entries and leaves their rows where they are, until a table is written from them.

A line ends with its own hash and a part has one beside it: a line that does not fit it counts as not done. Those of release 0.2
have none and are taken as they are.
"""

from __future__ import annotations

import glob
import hashlib
import io
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.json as pj

from inpaintbench.errors import WorkspaceError
from inpaintbench.files import write_atomically
from inpaintbench.lazily import lazily
from inpaintbench.tables import UNEXPECTED, UNREADABLE, columns_of, flat, last_places, prove, schema_of, write_rows

pc = lazily("pyarrow.compute")
pq = lazily("pyarrow.parquet")

# A log that is longer becomes a part.
LOG_BYTES = 64 << 20
_SYNC_SECONDS = 1.0
# Arrow reads JSON in such blocks; a line that is longer makes it give up.
_BLOCK_BYTES = 1 << 24
# Rows of about so many bytes are brought into order at once.
_BYTES_AT_ONCE = 64 << 20
_BLOB_FIELDS = ("blob", "hole", "alpha", "input", "object_mask", "effect_mask", "features", "truth_features")
# Before the hash that ends a line; in a text of JSON its quotes would be escaped.
_SEAL = b', "line_sha256": "'
# Bytes behind it; what has fewer is torn.
_SEAL_END = 18
# Of a line whose hash is called something else: what it is called was changed.
_LIKE_SEALED = re.compile(rb'[0-9a-f]{16}"\}$')
# What is read of every entry, whoever asks.
_STATE = ("key", "status", "reason", "finished_at", "lacks", "row_count")


class Ledger:
    """What a step has finished: key -> entry.

    Args:
        folder: of the ledgers.
        step: its name.
        own: name of the one log that this process writes; logs of other shards are read with it.
        record_type: of the rows; without, the log is never made a part.
        alone: nobody else writes logs of this step, so that those of shards may become parts too.
    """

    def __init__(self, folder: Path, step: str, *, own: str, record_type: type | None = None, alone: bool = False) -> None:
        self._folder, self._step, self._path = folder, step, folder / f"{own}.jsonl"
        self._record_type, self._alone = record_type, alone
        self._file: Any = None
        self._synced_at = 0.0

    def read(self) -> dict[str, dict[str, Any]]:
        """All entries by key; the one finished last wins, lines that are torn or ``damaged`` are skipped."""
        entries: list[dict[str, Any]] = []
        for path in self._paths():
            if path.suffix == ".jsonl":
                for block in _blocks(path):
                    entries += _parsed(block)
            else:  # a part, whose entries are as they were appended
                for entry in _read(path).drop_columns("row_count").to_pylist():
                    entries.append({name: value for name, value in entry.items() if value is not None})
        return {entry["key"]: entry for entry in sorted(entries, key=lambda entry: entry.get("finished_at", 0))}

    def columns(self, record_type: type) -> Entries:
        """``read`` as columns: of entries with one key, the one that was finished last."""
        for log in self._logs():
            if (self._alone or log == self._path) and log.stat().st_size >= LOG_BYTES:
                _make_parts(log, record_type)
        parts: list[Path | pa.Table] = []
        states = []
        for path in self._paths():
            blocks = (_entry_columns(block, record_type) for block in _blocks(path)) if path.suffix == ".jsonl" else [path]
            for held in blocks:
                if isinstance(held, Path):
                    state = _read(held, _STATE)
                else:
                    state = held.append_column("row_count", pc.list_value_length(held["rows"])).select(_STATE)
                count = state.num_rows
                state = state.append_column("part", pa.repeat(pa.scalar(len(parts), pa.int32()), count))
                states.append(state.append_column("place", pa.array(np.arange(count), pa.int32())))
                parts.append(held)
        schema = pa.schema([*(_schema(record_type).field(name) for name in _STATE), ("part", pa.int32()), ("place", pa.int32())])
        whole = pa.concat_tables([schema.empty_table(), *states]).combine_chunks()
        del states
        distinct = pc.unique(whole["key"])
        if len(distinct) < whole.num_rows:
            order = np.argsort(pc.fill_null(whole["finished_at"], 0.0).to_numpy(), kind="stable")
            places = last_places(flat(whole["key"]).take(pa.array(order)), distinct)
            whole = whole.take(pa.array(order[places])).combine_chunks()
        return Entries(whole, parts, record_type)

    def damaged(self) -> list[str]:
        """One sentence for each line that does not have its own hash."""
        return [
            f"line {number} of the ledger {str(log)!r} is damaged: it has another SHA-256 than it states"
            for log in self._logs() for number, line in enumerate(log.read_bytes().split(b"\n"), 1) if not is_whole(line)
        ]  # fmt: skip

    def drop_damaged(self) -> None:
        """Leave out of the logs the lines that ``damaged`` names."""
        for log in self._logs():
            lines = log.read_bytes().split(b"\n")
            if not all(map(is_whole, lines)):
                write_atomically(log, b"\n".join(line for line in lines if is_whole(line)))

    def _logs(self) -> list[Path]:
        shards = sorted(self._folder.glob(f"{glob.escape(self._step)}@*.jsonl"))
        return [path for path in (self._folder / f"{self._step}.jsonl", *shards) if path.exists()]

    def _paths(self) -> list[Path]:
        """Parts and logs: of each log its parts before it."""
        return [path for log in self._logs() for path in (*_parts(log), log)]

    def append(self, entry: Mapping[str, Any], rows: str | None = None) -> None:
        """Add one entry, with rows as ``rows_json`` gives them. It survives the end of this process at once, and of the machine a
        second later."""
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("ab")
            if self._file.tell():
                self._file.write(b"\n")  # ends a line that a crash may have torn
        line = json.dumps(entry, sort_keys=True)
        self._file.write(sealed((line if rows is None else f'{line[:-1]}, "rows": {rows}}}').encode()) + b"\n")
        self._file.flush()
        # Syncing every entry would let the disk decide how many workers one run can feed.
        if time.monotonic() - self._synced_at > _SYNC_SECONDS:
            self._sync()
        if self._record_type is not None and self._file.tell() >= LOG_BYTES:
            _make_parts(self._path, self._record_type)

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced_at = time.monotonic()

    def close(self) -> None:
        """Sync and close the file; appending opens it again."""
        if self._file is not None:
            self._sync()
            self._file.close()
            self._file = None


def sealed(line: bytes) -> bytes:
    """An object of JSON with its own hash, 16 hexadecimal digits of a SHA-256, as its last field."""
    return line[:-1] + _SEAL + hashlib.sha256(line).hexdigest()[:16].encode() + b'"}'


def is_sealed(line: bytes) -> bool:
    """True where a line ends with its own hash."""
    return line == sealed(line.rpartition(_SEAL)[0] + b"}")


def is_whole(line: bytes) -> bool:
    """False where a line was changed after it was written; a torn one states no hash, nor does one of an earlier release."""
    _, seal, end = line.rpartition(_SEAL)
    return is_sealed(line) if seal and len(end) >= _SEAL_END else not _LIKE_SEALED.search(line)


def _parts(log: Path) -> list[Path]:
    return sorted(log.with_suffix("").glob("*.parquet"))


def _make_parts(log: Path, record_type: type) -> None:
    """Turn a log into parts, and empty it. Whoever is stopped between the two has entries twice, of which one counts."""
    number = len(_parts(log))
    for block in _blocks(log):
        table = _entry_columns(block, record_type)
        counts = pc.list_value_length(table["rows"])
        write_rows(log.with_suffix("") / f"{number:06}.parquet", [table.append_column("row_count", counts)], proved=True)
        number += 1
    os.truncate(log, 0)


def _blocks(log: Path) -> Iterator[bytes]:
    """The bytes of a log, in blocks of whole lines, without those that are damaged."""
    with log.open("rb") as file:
        while block := file.read(LOG_BYTES):
            yield b"\n".join(line for line in (block + file.readline()).split(b"\n") if is_whole(line))


class Entries:
    """Entries of a ledger, one a key: the one that was finished last."""

    columns: pa.Table
    """``key``, ``status``, ``reason``, ``finished_at``, ``lacks``, ``row_count`` (null where rows were not kept), ``part`` and
    ``place`` there."""

    def __init__(self, columns: pa.Table, parts: Sequence[Path | pa.Table], record_type: type) -> None:
        self.columns, self._parts, self._record_type = columns, parts, record_type
        # Of a function, as a method of its own would hold this until some collection: half of what a million clips had in memory.
        self._lists = lru_cache(maxsize=3)(partial(_lists_of, parts, record_type))

    def of(self, keys: pa.Array) -> pa.Table:
        """Those of ``keys``, in that order, that are there."""
        own = flat(self.columns["key"])
        if keys.equals(own):
            return self.columns
        return self.columns.take(pc.drop_null(pc.index_in(keys, value_set=own))).combine_chunks()

    def rows(self, some: pa.Table) -> Iterator[pa.Table]:
        """The rows of some entries, in their order, in tables of the schema of their records that fit into memory."""
        schema = schema_of(self._record_type)
        parts, places = (some[name].to_numpy() for name in ("part", "place"))
        if not len(parts):
            return
        like = self._lists(int(parts[0]))
        at_once = max(_BYTES_AT_ONCE * len(like.flatten()) // max(like.nbytes, 1), 1)
        before = np.cumsum(pc.fill_null(some["row_count"], 0).to_numpy()) // at_once
        edges = [0, *(np.flatnonzero(np.diff(before)) + 1).tolist(), len(before)]
        for begin, end in pairwise(edges):
            of_part, of_place = parts[begin:end], places[begin:end]
            used = np.unique(of_part)
            taken = [self._lists(part).take(pa.array(of_place[of_part == part])) for part in used.tolist()]
            if len(used) > 1:
                turned = np.argsort(np.argsort(of_part, kind="stable"), kind="stable")
                taken = [pa.concat_arrays(taken).take(pa.array(turned))]
            yield pa.Table.from_arrays(taken[0].flatten().flatten(), schema=schema)

    def lost(self, some: pa.Table, has: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
        """Return which of ``N`` entries have rows that name a blob that is not there, ``bool[N]``."""
        parts, places = (some[name].to_numpy() for name in ("part", "place"))
        lost = np.zeros(len(parts), np.bool_)
        names = [name for name in schema_of(self._record_type).names if name in _BLOB_FIELDS]
        for part in np.unique(parts).tolist() if names else ():
            held, own = self._parts[part], parts == part
            if not isinstance(held, pa.Table):
                held = _read(held, [f"rows.list.element.{name}" for name in names])
            if held.num_columns:
                lists = flat(held["rows"])
                rows, parents, of_entry = lists.flatten(), pc.list_parent_indices(lists), np.zeros(len(lists), np.bool_)
                for field in (name for name in _BLOB_FIELDS if rows.type.get_field_index(name) >= 0):
                    blobs = pc.struct_field(rows, field)
                    gone = [name for name in blobs.unique().to_pylist() if name and not has(name)]
                    of_entry[parents.filter(pc.is_in(blobs, pa.array(gone, pa.string()))).to_numpy()] = True
                lost[own] = of_entry[places[own]]
        return lost


def _lists_of(parts: Sequence[Path | pa.Table], record_type: type, part: int) -> pa.Array:
    """The rows of each entry of a part, ``list<struct>``."""
    held = parts[part]
    # The rows of entries in the schema of their records: columns that another version did not write are empty.
    rows = held["rows"] if isinstance(held, pa.Table) else _read(held, ["rows"])["rows"]
    lists, wanted = flat(rows), list(schema_of(record_type))
    own = lists.flatten()
    if list(own.type) == wanted:
        return lists
    there = {field.name for field in own.type}
    columns = [
        pc.struct_field(own, field.name).cast(field.type) if field.name in there else pa.nulls(len(own), field.type)
        for field in wanted
    ]
    counts = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(columns, fields=wanted))


def _read(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Some columns of a part, or all."""
    try:
        prove(path)
        with pq.ParquetFile(path) as file:
            return file.read(columns=columns and list(columns))
    except UNREADABLE as error:
        if isinstance(error, OSError) and error.errno:
            raise
        told = f"the part of a ledger {str(path)!r} is damaged: delete it, and what it held is done again"
        raise WorkspaceError(told) from error


def _schema(record_type: type) -> pa.Schema:
    """Of the columns of a part."""
    text, number = pa.string(), pa.float64()
    return pa.schema([
        ("key", text), ("subject_id", text), ("name", text), ("status", text), ("reason", text), ("failure", pa.bool_()),
        ("trace", text), ("finished_at", number), ("seconds", number), ("peak_mebibytes", number), ("lacks", pa.list_(text)),
        ("card_mebibytes", number), ("machine", text),
        ("rows", pa.list_(pa.struct(list(schema_of(record_type))))), ("row_count", pa.int32()),
    ])  # fmt: skip


def _entry_columns(lines: bytes, record_type: type) -> pa.Table:
    """The entries of some lines of a log."""
    schema = _schema(record_type)
    schema = schema.remove(schema.get_field_index("row_count"))
    parsing = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        whole = pj.read_json(io.BytesIO(lines), pj.ReadOptions(block_size=_BLOCK_BYTES), parsing)
        if not whole["key"].null_count:
            return whole.combine_chunks()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    # A line that a crash tore, or rows as release 0.2 wrote them, which are not flat.
    return pa.Table.from_pylist([_flat_entry(entry, record_type) for entry in _parsed(lines)], schema=schema).combine_chunks()


def _parsed(lines: bytes) -> Iterator[dict[str, Any]]:
    """Yield the entries of some lines of a log, but for damaged ones."""
    for line in lines.splitlines():
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and "key" in entry:
            entry.pop("line_sha256", None)
            yield entry


def _flat_entry(entry: Mapping[str, Any], record_type: type) -> dict[str, Any]:
    """An entry with rows of the schema, whichever release wrote it: 0.2 kept mappings, tuples and values as they are."""
    names, rows = schema_of(record_type).names, []
    for row in entry.get("rows") or ():
        cells: dict[str, Any] = {}
        for field in fields(record_type):
            default = field.default_factory() if field.default_factory is not MISSING else field.default
            value = row.get(field.name, None if default is MISSING else default)
            cells |= {name: one for name, (one,) in columns_of(field.name, [value], names).items()}
        rows.append({**cells, **{name: value for name, value in row.items() if name.endswith("_text") and value is not None}})
    spoilt = any(UNEXPECTED in (row.get("details") or ()) for row in rows)
    status = "spoilt" if spoilt and entry.get("status") == "done" else entry.get("status")
    return {**entry, "status": status, "rows": rows if "rows" in entry else None}
