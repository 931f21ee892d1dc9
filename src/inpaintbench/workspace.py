"""Tables, blobs and the ledger of what is done: the only reader and writer of a workspace.

    WORKSPACE/
      workspace.json                   format version
      tables/<table>/<step>.parquet    what each step wrote, rows in the order of its tasks
      tables/rejected/<step>.parquet   what it refused, with the reason
      blobs/<ab>/<sha256><suffix>      pixels and other data, named by content
      ledger/<step>.jsonl              one line a finished task; clock times and durations live only here
      scratch/                         files in the making; emptied at every start

A table is rebuilt from the ledger whenever its step runs, so it depends on the tasks alone and not on when or in which order
they were done. Every file except the ledger is written under another name, synced and renamed; the ledger is only ever
appended to, and a torn last line (from a crash) is ignored.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from inpaintbench.errors import WorkspaceError
from inpaintbench.types import canonical_json

FORMAT_VERSION = 1
Record = TypeVar("Record")
_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.ENOTDIR, errno.EFBIG}


def is_disk_error(error: BaseException) -> bool:
    """Whether ``error`` says that writing is impossible now, so that going on with other items is pointless."""
    return isinstance(error, OSError) and error.errno in _DISK_ERRORS


class Workspace:
    """A folder of tables, blobs and ledgers.

    Args:
        path: the folder; made when ``create`` is true.

    Raises:
        WorkspaceError: not there, not writable, or of another format version.
    """

    def __init__(self, path: Path | str, *, create: bool = True) -> None:
        self.path = Path(path)
        try:
            self._open(create)
        except OSError as error:
            raise WorkspaceError(f"workspace {str(self.path)!r} cannot be written: {error.strerror}") from error

    def _open(self, create: bool) -> None:
        marker = self.path / "workspace.json"
        if not marker.exists():
            if not create:
                raise WorkspaceError(f"{str(self.path)!r} is not a workspace (no workspace.json)")
            if self.path.exists() and not self.path.is_dir():
                raise WorkspaceError(f"workspace {str(self.path)!r} is a file, not a folder")
            if self.path.is_dir() and any(map(_not_left_by_a_crash, self.path.iterdir())):
                raise WorkspaceError(f"{str(self.path)!r} is not empty and not a workspace; choose another folder")
            self.path.mkdir(parents=True, exist_ok=True)
            write_atomically(marker, canonical_json({"format_version": FORMAT_VERSION}).encode() + b"\n")
        try:
            version = json.loads(marker.read_text())["format_version"]
        except (ValueError, KeyError, TypeError) as error:
            raise WorkspaceError(f"{str(marker)!r} is damaged: {error}") from error
        if version != FORMAT_VERSION:
            raise WorkspaceError(f"workspace {str(self.path)!r} has format {version}, this program reads {FORMAT_VERSION}")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the workspace for writing; a second writer gets one clear sentence, and scratch is emptied."""
        with (self.path / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise WorkspaceError(f"workspace {str(self.path)!r} is in use by another run") from error
            shutil.rmtree(self.path / "scratch", ignore_errors=True)
            (self.path / "scratch").mkdir()
            yield

    @property
    def blobs(self) -> Blobs:
        """The blob store."""
        return Blobs(self.path)

    def write_table(self, table: str, step: str, records: Sequence[Any], record_type: type) -> None:
        """Replace what ``step`` wrote to ``table``; byte-identical for equal records."""
        path = self.path / "tables" / table / f"{step}.parquet"
        if not records:
            path.unlink(missing_ok=True)
            return
        write_parquet(path, [to_row(record) for record in records], schema_of(record_type))

    def table(self, table: str, record_type: type[Record], *, step: str | None = None) -> list[Record]:
        """All records of ``table`` (of one step, or of all steps in name order)."""
        folder = self.path / "tables" / table
        paths = [folder / f"{step}.parquet"] if step else sorted(folder.glob("*.parquet"))
        return [from_row(row, record_type) for path in paths if path.exists() for row in read_parquet(path)]

    def ledger(self, step: str) -> Ledger:
        """The ledger of ``step``."""
        return Ledger(self.path / "ledger" / f"{step}.jsonl")


def _not_left_by_a_crash(path: Path) -> bool:
    return not (path.name.startswith(".workspace.json.") and path.name.endswith(".tmp"))


class Blobs:
    """Data files named by the SHA-256 of their bytes."""

    def __init__(self, workspace: Path | str) -> None:
        self._root = Path(workspace)

    def path(self, name: str) -> Path:
        """Where the blob ``name`` lies."""
        return self._root / "blobs" / name[:2] / name

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder of one's own for files in the making, removed afterwards."""
        folder = self._root / "scratch" / uuid.uuid4().hex
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def put(self, suffix: str, write: Callable[[Path], Any]) -> tuple[str, Any]:
        """Let ``write`` make a file, then keep it under its hash.

        Returns:
            The blob name and whatever ``write`` returned.
        """
        with self.scratch() as folder:
            made = folder / f"blob{suffix}"
            result = write(made)
            name = file_sha256(made) + suffix
            target = self.path(name)
            target.parent.mkdir(parents=True, exist_ok=True)
            _sync(made)
            made.replace(target)
            _sync(target.parent)
        return name, result


class Ledger:
    """What a step has finished: key -> entry. One process writes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: Any = None

    def read(self) -> dict[str, dict[str, Any]]:
        """All entries by key; the last one wins, damaged lines are skipped."""
        entries: dict[str, dict[str, Any]] = {}
        if self._path.exists():
            for line in self._path.read_bytes().splitlines():
                try:
                    entry = json.loads(line)
                    entries[entry["key"]] = entry
                except (ValueError, KeyError, TypeError):
                    continue
        return entries

    def append(self, entry: Mapping[str, Any]) -> None:
        """Add one entry and sync it to disk."""
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("ab")
            if self._file.tell():
                self._file.write(b"\n")  # ends a line that a crash may have torn
        # Unlike tables and ids, entries may hold infinite scores, which JSON proper cannot say.
        self._file.write(json.dumps(entry, sort_keys=True).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file; appending opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None


_BLOB_FIELDS = ("blob", "hole", "alpha", "input")


def blob_names(row: Mapping[str, Any]) -> list[str]:
    """The blobs that a record, as a mapping, refers to."""
    return [row[field] for field in _BLOB_FIELDS if row.get(field)]


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``path`` so that it holds either the old bytes or all the new ones."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        temporary.write_bytes(data)
        _sync(temporary)
        temporary.replace(path)
        _sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Bring everything below ``folder`` to disk."""
    for path in [folder, *folder.rglob("*")]:
        _sync(path)


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> None:
    """Write rows with pyarrow alone, so that the bytes depend on the rows only."""
    table = pa.Table.from_pylist([dict(row) for row in rows], schema=schema)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    write_atomically(path, sink.getvalue().to_pybytes())


def read_parquet(path: Path) -> list[dict[str, Any]]:
    """The rows of a Parquet file.

    Raises:
        WorkspaceError: not readable as Parquet.
    """
    try:
        rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    except (pa.ArrowInvalid, OSError) as error:
        raise WorkspaceError(f"{str(path)!r} cannot be read: {error}") from error
    return rows


# Records as rows. Mappings become JSON text; an attribute's value, which is a number or a text, takes two columns.

_COLUMNS: dict[str, pa.DataType] = {"str": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}


def schema_of(record_type: type) -> pa.Schema:
    """The Arrow schema of a record type."""
    hints = get_type_hints(record_type)
    columns: list[tuple[str, pa.DataType]] = []
    for field in fields(record_type):
        kinds = {kind.__name__ for kind in getattr(hints[field.name], "__args__", ()) if isinstance(kind, type)}
        if {"float", "str"} <= kinds:
            columns += [(field.name, pa.float64()), (f"{field.name}_text", pa.string())]
        else:
            name = next((kind for kind in kinds - {"NoneType"} if kind in _COLUMNS), getattr(hints[field.name], "__name__", ""))
            columns.append((field.name, _COLUMNS.get(name, pa.string())))
    return pa.schema(columns)


def to_row(record: Any) -> dict[str, Any]:
    """A record as one flat row of its schema."""
    if not is_dataclass(record):
        raise TypeError(f"{record!r} is not a record")
    names = schema_of(type(record)).names
    row: dict[str, Any] = {}
    for name, value in asdict(record).items():  # type: ignore[arg-type]
        if f"{name}_text" in names:
            row[name] = None if isinstance(value, str) else value
            row[f"{name}_text"] = value if isinstance(value, str) else None
        else:
            row[name] = canonical_json(value) if isinstance(value, dict | list | tuple) else value
    return row


def from_row(row: Mapping[str, Any], record_type: type[Record]) -> Record:
    """The record that ``to_row`` made the row of."""
    hints = get_type_hints(record_type)
    values: dict[str, Any] = {}
    for field in fields(record_type):  # type: ignore[arg-type]
        if field.name not in row:
            raise WorkspaceError(
                f"a table of {record_type.__name__} has no column {field.name!r}: another version wrote it; run again"
            )
        value = row[field.name]
        if value is None:
            value = row.get(f"{field.name}_text")
        plain = str(hints[field.name])
        if isinstance(value, str) and ("Mapping" in plain or "tuple" in plain):
            value = json.loads(value)
            value = tuple(value) if "tuple" in plain and "Mapping" not in plain else value
        values[field.name] = value
    return record_type(**values)
