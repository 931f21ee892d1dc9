"""Tables, blobs and the ledger of what is done: the only reader and writer of a workspace.

    WORKSPACE/
      workspace.json                   format version
      tables/<table>/<step>.parquet    what each step wrote, rows in the order of its tasks
      tables/rejected/<step>.parquet   what it refused, with the reason
      blobs/<ab>/<sha256><suffix>      pixels and other data, named by content
      ledger/<step>.jsonl              one line a finished task; clock times and durations live only here
      ledger/<step>@<i>-of-<N>.jsonl   the same, of one shard
      unfinished/<step>.json           the tasks of a step that runs, or that was stopped before its tables were written
      logs/*.jsonl                     what commands did, for people; no part of any result
      partial/                         downloads that can be gone on with
      scratch/                         files in the making; emptied at every start

A table is rebuilt from the ledger whenever its step runs, so it depends on the tasks alone and not on when or in which order
they were done. Every file except the ledger is written under another name, synced and renamed; the ledger is only ever
appended to, and a torn last line (from a crash) is ignored.

Shards are runs that share a workspace, on one machine or on many with one file system: each does the work of its own subjects
and writes its own ledgers, and no tables. A later run that is not a shard finds all of it done and writes the tables.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import hashlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from inpaintbench.errors import WorkspaceError
from inpaintbench.types import canonical_json

FORMAT_VERSION = 1
_SYNC_SECONDS = 1.0
Record = TypeVar("Record")
_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.ENOTDIR, errno.EFBIG}


def is_disk_error(error: BaseException) -> bool:
    """Whether ``error`` says that writing is impossible now, so that going on with other items is pointless."""
    return isinstance(error, OSError) and error.errno in _DISK_ERRORS


@dataclass(frozen=True)
class Shard:
    """Part ``number`` (from 1) of ``count`` of a run."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}-of-{self.count}"

    def takes(self, name: str) -> bool:
        """Whether the subject ``name`` is in this part."""
        return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) % self.count == self.number - 1


class Workspace:
    """A folder of tables, blobs and ledgers.

    Args:
        path: the folder; made when ``create`` is true.
        shard: work on this part alone; tables are then not written.

    Raises:
        WorkspaceError: not there, not writable, or of another format version.
    """

    def __init__(self, path: Path | str, *, create: bool = True, shard: Shard | None = None) -> None:
        self.path = Path(path)
        self.shard = shard
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
            strange = self.path.is_dir() and any(map(_not_left_by_a_crash, self.path.iterdir()))
            if strange and not marker.exists():  # another shard may just have made it
                raise WorkspaceError(f"{str(self.path)!r} is not empty and not a workspace; choose another folder")
            self.path.mkdir(parents=True, exist_ok=True)
            # Shards may begin at once; all write the same bytes.
            write_atomically(marker, canonical_json({"format_version": FORMAT_VERSION}).encode() + b"\n")
        try:
            version = json.loads(marker.read_text())["format_version"]
        except (ValueError, KeyError, TypeError) as error:
            raise WorkspaceError(f"{str(marker)!r} is damaged: {error}") from error
        if version != FORMAT_VERSION:
            raise WorkspaceError(f"workspace {str(self.path)!r} has format {version}, this program reads {FORMAT_VERSION}")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the workspace for writing; a second writer gets one clear sentence. What a killed run left
        half written goes away, and scratch is emptied.

        Different shards may hold it together; scratch is then left to the next run that has it alone.
        """
        with ExitStack() as held:
            self._lock(held, ".lock", alone=self.shard is None)
            if self.shard:
                self._lock(held, f".lock@{self.shard}", alone=True)
            else:
                shutil.rmtree(self.path / "scratch", ignore_errors=True)
                for leftover in (self.path / "tables").rglob(".*.tmp"):  # of a run that was killed while it wrote
                    leftover.unlink(missing_ok=True)
            (self.path / "scratch").mkdir(exist_ok=True)
            yield

    def _lock(self, held: ExitStack, name: str, *, alone: bool) -> None:
        lock = held.enter_context((self.path / name).open("a"))
        try:
            fcntl.flock(lock, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except OSError as error:
            raise WorkspaceError(f"workspace {str(self.path)!r} is in use by another run") from error

    def takes(self, name: str) -> bool:
        """Whether this run does the work of the subject ``name``: always, unless it is a shard."""
        return self.shard is None or self.shard.takes(name)

    @property
    def blobs(self) -> Blobs:
        """The blob store."""
        return Blobs(self.path)

    def write_table(self, table: str, step: str, records: Sequence[Any], record_type: type) -> None:
        """Replace what ``step`` wrote to ``table``; byte-identical for equal records. Shards leave tables alone."""
        if self.shard:
            return
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

    def steps(self, table: str) -> list[str]:
        """The steps that wrote to ``table``, by name."""
        return sorted(path.stem for path in (self.path / "tables" / table).glob("*.parquet"))

    def ledger(self, step: str) -> Ledger:
        """The ledger of ``step``."""
        return Ledger(self.path / "ledger", step, own=f"{step}@{self.shard}" if self.shard else step)


def _not_left_by_a_crash(path: Path) -> bool:
    return not (path.name == "workspace.json" or (path.name.startswith(".workspace.json.") and path.name.endswith(".tmp")))


class Blobs:
    """Data files named by the SHA-256 of their bytes."""

    def __init__(self, workspace: Path | str) -> None:
        self._root = Path(workspace)

    def path(self, name: str) -> Path:
        """Where the blob ``name`` lies."""
        return self._root / "blobs" / name[:2] / name

    def beside(self, folder: str) -> Path:
        """A folder of the workspace for files that can be made again."""
        return self._root / folder

    def partial(self, key: str) -> Path:
        """Where a file in the making lies that a later run can go on with; its folder exists."""
        folder = self._root / "partial"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / key

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
    """What a step has finished: key -> entry. One process writes the file ``own``; the files of shards are read with it."""

    def __init__(self, folder: Path, step: str, *, own: str) -> None:
        self._folder, self._step, self._path = folder, step, folder / f"{own}.jsonl"
        self._file: Any = None
        self._synced_at = 0.0

    def read(self) -> dict[str, dict[str, Any]]:
        """All entries by key; the one finished last wins, damaged lines are skipped."""
        entries: dict[str, dict[str, Any]] = {}
        for path in [self._folder / f"{self._step}.jsonl", *sorted(self._folder.glob(f"{glob.escape(self._step)}@*.jsonl"))]:
            if path.exists():
                for entry in _entries(path):
                    before = entries.get(entry["key"])
                    if before is None or entry.get("finished_at", 0) >= before.get("finished_at", 0):
                        entries[entry["key"]] = entry
        return entries

    def append(self, entry: Mapping[str, Any]) -> None:
        """Add one entry. It survives the end of this process at once, and of the machine a second later."""
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("ab")
            if self._file.tell():
                self._file.write(b"\n")  # ends a line that a crash may have torn
        # Unlike tables and ids, entries may hold infinite scores, which JSON proper cannot say.
        self._file.write(json.dumps(entry, sort_keys=True).encode() + b"\n")
        self._file.flush()
        # Syncing every entry would let the disk decide how many workers one run can feed.
        if time.monotonic() - self._synced_at > _SYNC_SECONDS:
            self._sync()

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced_at = time.monotonic()

    def close(self) -> None:
        """Sync and close the file; appending opens it again."""
        if self._file is not None:
            self._sync()
            self._file.close()
            self._file = None


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and "key" in entry:
            yield entry


_BLOB_FIELDS = ("blob", "hole", "alpha", "input", "features", "truth_features")


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
        raise WorkspaceError(unreadable(path, error)) from error
    return rows


# The beginning of TABLE/STEP -> the command that writes it; the first that fits counts. What is refused has the step's name.
_WRITTEN_BY = (
    ("/annotate.", "annotate resolve"),
    ("downloads/", "curation fetch"), ("/fetch.", "curation fetch"), ("licence_checks/", "curation recheck"),
    ("/measure.masks", "masks render"), ("/measure.", "curation measure"), ("/labels", "curation label"),
    ("/duplicates", "curation duplicates"), ("/levels", "curation select"), ("selection/", "curation select"),
    ("answers/", "curation answers"), ("/render", "masks render"), ("/mask_levels", "masks pair"), ("/pair", "masks pair"),
    ("scores/", "eval score"), ("predictions/", "eval predict"),
    ("sources/", "curation clips"), ("clips/", "curation clips"), ("attributes/", "curation clips"),
    ("rejected/", "curation clips"),
)  # fmt: skip


def unreadable(path: Path, error: Exception) -> str:
    """One sentence about a Parquet file that ``error`` kept from being read: which table it is, and what makes it anew."""
    if isinstance(error, OSError) and error.strerror and error.errno:
        return f"{str(path)!r} cannot be read: {os.strerror(error.errno)}"
    table = path.parent.name
    if path.parent.parent.name != "tables":
        return f"{str(path)!r} cannot be read: it is damaged"
    written_by = next((command for part, command in _WRITTEN_BY if part in f"{table}/{path.stem}"), None)
    anew = f"`inpaintbench {written_by}`" if written_by else f"the step {path.stem!r}"
    return f"the table {table!r} is damaged or was written by another version: delete {str(path)!r}, then {anew} makes it anew"


# Records as rows. Mappings become JSON text; an attribute's value, which is a number or a text, takes two columns.

_COLUMNS: dict[str, pa.DataType] = {"str": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}


@cache  # asked for every row of every table, and reading annotations takes longer than the row
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
    names = schema_of(type(record)).names  # type: ignore[arg-type]
    row: dict[str, Any] = {}
    for name, value in asdict(record).items():  # type: ignore[arg-type]
        if f"{name}_text" in names:
            row[name] = None if isinstance(value, str) else value
            row[f"{name}_text"] = value if isinstance(value, str) else None
        else:
            row[name] = canonical_json(value) if isinstance(value, dict | list | tuple) else value
    return row


@cache
def _written_as_json(record_type: type) -> dict[str, bool]:
    """The fields that hold mappings or tuples -> whether it is a tuple."""
    plain = {name: str(hint) for name, hint in get_type_hints(record_type).items()}
    return {name: "Mapping" not in hint for name, hint in plain.items() if "Mapping" in hint or "tuple" in hint}


def from_row(row: Mapping[str, Any], record_type: type[Record]) -> Record:
    """The record that ``to_row`` made the row of."""
    tuples = _written_as_json(record_type)  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for field in fields(record_type):  # type: ignore[arg-type]
        if field.name not in row:
            raise WorkspaceError(
                f"a table of {record_type.__name__} has no column {field.name!r}: another version wrote it; run again"
            )
        value = row[field.name]
        if value is None:
            value = row.get(f"{field.name}_text")
        if isinstance(value, str) and field.name in tuples:
            value = json.loads(value)
            value = tuple(value) if tuples[field.name] else value
        values[field.name] = value
    return record_type(**values)


@contextmanager
def replacing(target: Path, *, what: str = "") -> Iterator[Path]:
    """A new folder that takes the place of ``target`` when the block ends well, or leaves no trace; ``what`` begins the sentence
    of its error.

    Raises:
        WorkspaceError: the disk is full, or the folder cannot be written.
    """
    made = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.tmp")
    old = made.with_suffix(".old.tmp")
    try:
        for leftover in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):  # of a run that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        made.mkdir(parents=True)
        yield made
        sync_tree(made)
        if target.exists():
            target.rename(old)
        try:
            made.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise
    except OSError as error:
        if not is_disk_error(error):
            raise
        raise WorkspaceError(f"{what}{str(target)!r} cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)
        if target.exists():
            shutil.rmtree(old, ignore_errors=True)
