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

The ledger is the store, and a table is a view of it: the rows of its lines, in the order of the step's tasks, made anew whenever
the step runs. So it depends on the tasks alone and not on when or in which order they were done. Rows have the columns of their
table in both. Every file except the ledger is written under another name, synced and renamed; the ledger is only ever appended
to, and a torn last line (from a crash) is ignored.

Shards are runs that share a workspace, on one machine or on many with one file system: each does the work of its own subjects
and writes its own ledgers, and no tables. A later run that is not a shard finds all of it done and writes the tables.
"""

from __future__ import annotations

import fcntl
import glob
import hashlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_type_hints

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj
import pyarrow.parquet as pq

from inpaintbench.errors import WorkspaceError, is_disk_error
from inpaintbench.types import canonical_json

FORMAT_VERSION = 1
_SYNC_SECONDS = 1.0
Record = TypeVar("Record")


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
        self.write_columns(table, step, to_columns(records, record_type))

    def write_columns(self, table: str, step: str, rows: pa.Table) -> None:
        """``write_table`` for rows of the schema of their records; a table without rows is no file."""
        path = self._table(table, step)
        if self.shard:
            return
        if not rows.num_rows:
            path.unlink(missing_ok=True)
            return
        write_parquet(path, rows)

    def table(self, table: str, record_type: type[Record], *, step: str | None = None) -> list[Record]:
        """All records of ``table`` (of one step, or of all steps in name order). Raises what ``columns`` raises."""
        return to_records(self.columns(table, record_type, step=step), record_type)

    def columns(
        self, table: str, record_type: type, *, step: str | None = None, columns: Sequence[str] | None = None,
        where: tuple[str, Collection[str]] | None = None,
    ) -> pa.Table:  # fmt: skip
        """The rows of ``table`` as columns, which a million rows are read with in a second.

        Args:
            table: its name; a table that is not there has no rows.
            record_type: what its rows are.
            step: that wrote them; all steps in name order by default.
            columns: all by default.
            where: a column and the values that it must have.

        Raises:
            WorkspaceError: not readable, or written by another version.
        """
        schema = schema_of(record_type)
        names = list(columns or schema.names)
        wanted = pa.schema([schema.field(name) for name in names])
        keep = None if where is None else pc.field(where[0]).isin(pa.array(sorted(where[1]), pa.string()))
        parts = [wanted.empty_table()]
        for path in [self._table(table, name) for name in ([step] if step else self.steps(table))]:
            try:
                parts.append(pq.read_table(path, columns=names, filters=keep).select(names).cast(wanted))
            except FileNotFoundError:
                continue
            except (pa.ArrowInvalid, pa.ArrowKeyError, KeyError, ValueError, OSError) as error:
                raise WorkspaceError(unreadable(path, error)) from error
        return pa.concat_tables(parts).combine_chunks()

    def _table(self, table: str, step: str) -> Path:
        return self.path / "tables" / table / f"{step}.parquet"

    def steps(self, table: str) -> list[str]:
        """The steps that wrote to ``table``, in the order of their files: `a.b.parquet` comes before `a.parquet`."""
        return [path.stem for path in sorted((self.path / "tables" / table).glob("*.parquet"))]

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

    def lost(self, entries: pa.Table) -> npt.NDArray[np.bool_]:
        """Which of ``N`` entries of a ledger have rows that name a blob that is not there, ``bool[N]``."""
        lists = entries["rows"].combine_chunks()
        rows, parents, lost = lists.flatten(), pc.list_parent_indices(lists), np.zeros(len(lists), np.bool_)
        for field in (name for name in _BLOB_FIELDS if rows.type.get_field_index(name) >= 0):
            names = pc.struct_field(rows, field)
            gone = [name for name in names.unique().to_pylist() if name and not self.path(name).exists()]
            lost[parents.filter(pc.is_in(names, pa.array(gone, pa.string()))).to_numpy()] = True
        return lost

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


class Entries(NamedTuple):
    """What a ledger holds."""

    columns: pa.Table
    place: Mapping[str, int]
    """Key -> row of the entry that was finished last."""

    def of(self, keys: Iterable[str]) -> pa.Table:
        """Those of ``keys``, in that order, that are there."""
        places = pa.array((self.place[key] for key in keys if key in self.place), pa.int64())
        return self.columns.take(places).combine_chunks()


class Ledger:
    """What a step has finished: key -> entry. One process writes the file ``own``; the files of shards are read with it."""

    def __init__(self, folder: Path, step: str, *, own: str) -> None:
        self._folder, self._step, self._path = folder, step, folder / f"{own}.jsonl"
        self._file: Any = None
        self._synced_at = 0.0

    def read(self) -> dict[str, dict[str, Any]]:
        """All entries by key; the one finished last wins, damaged lines are skipped."""
        entries = [entry for path in self._paths() for entry in _entries(path)]
        return {entry["key"]: entry for entry in sorted(entries, key=lambda entry: entry.get("finished_at", 0))}

    def columns(self, record_type: type) -> Entries:
        """``read`` as columns: ``rows`` holds the rows of each entry as a list."""
        rows = pa.list_(pa.struct(list(schema_of(record_type))))
        schema = pa.schema([*_ENTRY, pa.field("rows", rows)])
        parts = [_entry_columns(path, schema, record_type) for path in self._paths()]
        whole = pa.concat_tables([schema.empty_table(), *parts]).combine_chunks()
        keys, order = whole["key"].to_pylist(), np.argsort(pc.fill_null(whole["finished_at"], 0.0).to_numpy(), kind="stable")
        return Entries(whole, {keys[place]: place for place in order.tolist()})

    def _paths(self) -> list[Path]:
        shards = sorted(self._folder.glob(f"{glob.escape(self._step)}@*.jsonl"))
        return [path for path in (self._folder / f"{self._step}.jsonl", *shards) if path.exists()]

    def append(self, entry: Mapping[str, Any], rows: str | None = None) -> None:
        """Add one entry, with rows as ``rows_json`` gives them. It survives the end of this process at once, and of the machine a
        second later."""
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("ab")
            if self._file.tell():
                self._file.write(b"\n")  # ends a line that a crash may have torn
        line = json.dumps(entry, sort_keys=True)
        self._file.write((line if rows is None else f'{line[:-1]}, "rows": {rows}}}').encode() + b"\n")
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


# Of an entry, as columns; its rows come last, in the schema of the step's records.
_ENTRY = pa.schema([
    ("key", pa.string()), ("subject_id", pa.string()), ("status", pa.string()), ("reason", pa.string()),
    ("finished_at", pa.float64()), ("lacks", pa.list_(pa.string())),
])  # fmt: skip
# Arrow reads JSON in such blocks; a line that is longer makes it give up.
_BLOCK_BYTES = 1 << 24


def _entry_columns(path: Path, schema: pa.Schema, record_type: type) -> pa.Table:
    """The entries of one file of a ledger."""
    parsing = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        whole = pj.read_json(path, pj.ReadOptions(block_size=_BLOCK_BYTES), parsing)
        if not whole["key"].null_count:
            return whole
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    # A line that a crash tore, or rows as release 0.2 wrote them, which are not flat.
    return pa.Table.from_pylist([_flat_entry(entry, record_type) for entry in _entries(path)], schema=schema)


# In the details of a row: kind of the error, the program's or the machine's, that kept it from a value; tried in every run.
UNEXPECTED = "unexpected_error"
_BLOB_FIELDS = ("blob", "hole", "alpha", "input", "features", "truth_features")


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


def write_parquet(path: Path, table: pa.Table) -> None:
    """Write a table with pyarrow alone, so that the bytes depend on the rows only."""
    sink = pa.BufferOutputStream()
    pq.write_table(table.combine_chunks(), sink, compression="zstd")
    write_atomically(path, sink.getvalue().to_pybytes())


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
    """One sentence about the file of a table that ``error`` kept from being read: which table it is, and what makes it anew."""
    if isinstance(error, OSError) and error.strerror and error.errno:
        return f"{str(path)!r} cannot be read: {os.strerror(error.errno)}"
    table = path.parent.name
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


def to_columns(records: Sequence[Any], record_type: type) -> pa.Table:
    """Records as columns of their schema."""
    return pa.table(_cells(records, record_type), schema=schema_of(record_type))


def rows_json(records: Sequence[Any]) -> str:
    """Records of one type as rows of a ledger, which may hold infinite scores: JSON proper, as in tables, cannot say them."""
    cells = _cells(records, type(records[0])) if records else {}
    return json.dumps([dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)])


def _cells(records: Sequence[Any], record_type: type) -> dict[str, list[Any]]:
    names = schema_of(record_type).names
    cells: dict[str, list[Any]] = {}
    for field in fields(record_type):
        cells |= _columns_of(field.name, [getattr(record, field.name) for record in records], names)
    return cells


def _columns_of(name: str, values: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]]:
    if f"{name}_text" not in names:
        return {name: [canonical_json(value) if isinstance(value, dict | list | tuple) else value for value in values]}
    texts = [value if isinstance(value, str) else None for value in values]
    return {name: [None if isinstance(value, str) else value for value in values], f"{name}_text": texts}


@cache
def _written_as_json(record_type: type) -> dict[str, bool]:
    """The fields that hold mappings or tuples -> whether it is a tuple."""
    plain = {name: str(hint) for name, hint in get_type_hints(record_type).items()}
    return {name: "Mapping" not in hint for name, hint in plain.items() if "Mapping" in hint or "tuple" in hint}


def to_records(rows: pa.Table, record_type: type[Record]) -> list[Record]:
    """The records that ``to_columns`` made the columns of."""
    tuples = _written_as_json(record_type)  # type: ignore[arg-type]
    columns = []
    for name in (field.name for field in fields(record_type)):  # type: ignore[arg-type]
        values = rows[name].to_pylist()
        if f"{name}_text" in rows.column_names:
            texts = rows[f"{name}_text"].to_pylist()
            values = [text if value is None else value for value, text in zip(values, texts, strict=True)]
        if name in tuples:
            values = [json.loads(value) if isinstance(value, str) else value for value in values]
            values = [tuple(value) if isinstance(value, list) and tuples[name] else value for value in values]
        columns.append(values)
    return list(map(record_type, *columns))


def _flat_entry(entry: Mapping[str, Any], record_type: type) -> dict[str, Any]:
    """An entry with rows of the schema, whichever release wrote it: 0.2 kept mappings, tuples and values as they are."""
    names, rows = schema_of(record_type).names, []
    for row in entry.get("rows") or ():
        flat: dict[str, Any] = {}
        for field in fields(record_type):
            default = field.default_factory() if field.default_factory is not MISSING else field.default
            value = row.get(field.name, None if default is MISSING else default)
            flat |= {name: one for name, (one,) in _columns_of(field.name, [value], names).items()}
        rows.append({**flat, **{name: value for name, value in row.items() if name.endswith("_text") and value is not None}})
    spoilt = any(UNEXPECTED in (row.get("details") or ()) for row in rows)
    status = "spoilt" if spoilt and entry.get("status") == "done" else entry.get("status")
    return {**entry, "status": status, "rows": rows if "rows" in entry else None}


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
