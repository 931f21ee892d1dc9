"""Tables, blobs and the ledger of what is done: the only reader and writer of a workspace.

    WORKSPACE/
      workspace.json                   format version
      tables/<table>/<step>.parquet    what each step wrote, rows in the order of its tasks
      tables/rejected/<step>.parquet   what it refused, with the reason
      tables/<table>/*.parquet.sha256  hashes of tables of results
      tables/attributes/alike.json     what groups of near-duplicates were found from
      blobs/<ab>/<sha256><suffix>      pixels and other data, named by content
      ledger/<step>.jsonl              one line a finished task; clock times and durations live only here
      ledger/<step>@<i>-of-<N>.jsonl   the same, of one shard
      ledger/<step>/<number>.parquet   what a log that grew long held (``ledgers``)
      doubted/<sha256><suffix>         no bytes: of a blob that was found missing or damaged at the address of a workspace
      unfinished/<step>.parquet        the tasks of a step that runs, or that was stopped before its tables were written
      logs/*.jsonl                     what commands did, for people; no part of any result
      partial/                         downloads that can be gone on with
      scratch/                         files in the making; emptied at every start

The ledger is the store, and a table is a view of it: the rows of its lines, in the order of the step's tasks, made anew whenever
the step runs. So it depends on the tasks alone and not on when or in which order they were done. Rows have the columns of their
table in both. Every file except the log of a ledger is written under another name, synced and renamed; a log is only appended to,
until it is emptied into a part, and a torn last line (from a crash) is ignored.

Shards are runs that share a workspace, on one machine or on many with one file system: each does the work of its own subjects
and writes its own ledgers, and no tables. A later run that is not a shard finds all of it done and writes the tables.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from inpaintbench import storage
from inpaintbench.errors import Gone, VerifyError, WorkspaceError
from inpaintbench.files import file_sha256, measured_sha256, sync, write_atomically
from inpaintbench.mirrors import Mirror, root_of
from inpaintbench.storage import Place
from inpaintbench.types import canonical_json

if TYPE_CHECKING:
    import pyarrow as pa

    from inpaintbench.ledgers import Ledger

FORMAT_VERSION = 1
_DOUBTED = "doubted"
# A stranger's table may lead elsewhere.
_BLOB_NAME = re.compile(r"[^/\\\0.][^/\\\0]*")
# So long after it was written, a blob of a mirror counts as used again, when it is asked for; room is made from an hour on.
_TOUCH_SECONDS = 1200
Record = TypeVar("Record")


@dataclass(frozen=True)
class Shard:
    """Part ``number`` (from 1) of ``count`` of a run."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}-of-{self.count}"

    def takes(self, name: str) -> bool:
        """Return whether the subject ``name`` is in this part."""
        return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) % self.count == self.number - 1


class Workspace:
    """A folder of tables, blobs and ledgers.

    Args:
        path: the folder; made when ``create`` is true. An address stands for its mirror, which is brought up to date.
        shard: work on this part alone; tables are then not written.

    Raises:
        WorkspaceError: not there, not writable, or of another format version. UsageError: an address of another kind.
        InputError: an address that may not be read. NetworkError: for now.
    """

    path: Path

    def __init__(self, path: Path | str, *, create: bool = True, shard: Shard | None = None) -> None:
        self.path, self.address = root_of(path, shard)
        self.shard = shard
        self._mirror = Mirror(self.path, self.address, str(shard or "")) if self.address else None
        try:
            if self._mirror:
                self._mirror.update()
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
            names = [path.name for path in self.path.iterdir()] if self.path.is_dir() else []
            ours = ("workspace.json", ".workspace.json.*.tmp")  # the second of a run that crashed
            strange = any(not any(fnmatchcase(name, pattern) for pattern in ours) for name in names)
            if strange and not self.address and not marker.exists():  # another shard may just have made it
                raise WorkspaceError(f"{str(self.path)!r} is not empty and not a workspace; choose another folder")
            self.path.mkdir(parents=True, exist_ok=True)
            # Shards may begin at once; all write the same bytes.
            write_atomically(marker, canonical_json({"format_version": FORMAT_VERSION}).encode() + b"\n")
        try:
            version = json.loads(marker.read_text())["format_version"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
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
            with self._mirror.alone() if self._mirror else nullcontext():
                self._lock(held, ".lock", alone=self.shard is None or self._mirror is not None)
                if self._mirror:
                    held.enter_context(self._mirror.held())
            if self.shard:
                self._lock(held, f".lock@{self.shard}", alone=True)
            else:
                shutil.rmtree(self.path / "scratch", ignore_errors=True)
                for folder in ("tables", "ledger"):
                    for leftover in (self.path / folder).rglob(".*.tmp"):  # of a run that was killed while it wrote
                        leftover.unlink(missing_ok=True)
            (self.path / "scratch").mkdir(exist_ok=True)
            yield

    def _lock(self, held: ExitStack, name: str, *, alone: bool) -> None:
        lock = held.enter_context((self.path / name).open("a"))
        try:
            fcntl.flock(lock, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except OSError as error:
            machine = " on this machine" if self._mirror else ""
            raise WorkspaceError(f"workspace {str(self.path)!r} is in use by another run{machine}") from error

    def commit_if_due(self) -> None:
        """Bring all but datasets to the address of the workspace, if it has one, once in a while."""
        if self._mirror:
            self._mirror.commit_if_due()

    def doubt(self, blob: str) -> None:
        """Remember, if ``blob`` names one, that a blob was found missing or damaged at the address, until it is made anew.

        The next run, on whatever machine, does so, and looks which others are there.
        """
        if self.address and blob:
            write_atomically(self.path / _DOUBTED / blob, b"")

    def trust(self, made: Iterable[str]) -> None:
        """Doubt these blobs no more, which were made anew, perhaps elsewhere."""
        for name in made:
            (self.path / _DOUBTED / name).unlink(missing_ok=True)

    def takes(self, name: str) -> bool:
        """Return whether this run does the work of the subject ``name``: always, unless it is a shard."""
        return self.shard is None or self.shard.takes(name)

    @property
    def blobs(self) -> Blobs:
        """The blob store."""
        return Blobs(self.path)

    def write_table(self, table: str, step: str, records: Sequence[Any], record_type: type) -> None:
        """Replace what ``step`` wrote to ``table``; byte-identical for equal records. Shards leave tables alone."""
        from inpaintbench.tables import to_columns

        self.write_columns(table, step, to_columns(records, record_type))

    def write_columns(self, table: str, step: str, rows: pa.Table) -> None:
        """``write_table`` for rows of the schema of their records; a table without rows is no file."""
        if not self.shard:
            self.write_rows(table, step, [rows])

    def write_rows(self, table: str, step: str, tables: Iterable[pa.Table]) -> Path:
        """``write_columns`` for rows that come in tables, at least one; return the file, which shards write into ``scratch``."""
        from inpaintbench.tables import PROVED, hash_file, write_rows

        path = self._table(table, step)
        if self.shard:
            path = self.path / "scratch" / f"{table}.{step}@{self.shard}.parquet"
        if not write_rows(path, tables, proved=table in PROVED and self.shard is None):
            path.unlink(missing_ok=True)
            hash_file(path).unlink(missing_ok=True)
        return path

    def table(self, table: str, record_type: type[Record], *, step: str | None = None) -> list[Record]:
        """All records of ``table`` (of one step, or of all steps in name order). Raises what ``columns`` raises."""
        from inpaintbench.tables import UNREADABLE, to_records, unreadable

        rows = self.columns(table, record_type, step=step)
        try:
            return to_records(rows, record_type)
        except UNREADABLE as error:  # texts in it that are no JSON
            raise WorkspaceError(unreadable(self._table(table, step or (self.steps(table) or ["*"])[0]), error)) from error

    def columns(
        self, table: str, record_type: type, *, step: str | None = None, columns: Sequence[str] | None = None,
        where: tuple[str, Collection[str]] | None = None, steps: Sequence[str] | None = None, together: bool = False,
    ) -> pa.Table:  # fmt: skip
        """The rows of ``table`` as columns, which a million rows are read with in a second.

        Args:
            table: its name; a table that is not there has no rows.
            record_type: what its rows are.
            step: that wrote them; all steps in name order by default.
            columns: all by default.
            where: a column and the values that it must have.
            steps: those that wrote them, where some did.
            together: the rows with one of the values of ``where`` lie together in what a step wrote, at about the same place in
                each: then little of it is read.

        Raises:
            WorkspaceError: not readable, or written by another version.
        """
        from inpaintbench import tables

        names = steps if steps is not None else [step] if step else self.steps(table)
        paths = [self._table(table, name) for name in names]
        return tables.read(paths, record_type, columns=columns, where=where, together=together)

    def batches(
        self, table: str, record_type: type, *, steps: Sequence[str] | None = None, columns: Sequence[str] | None = None
    ) -> Iterator[pa.Table]:
        """Yield the rows of ``table`` as columns, some thousands at a time; of ``steps``, in their order, by default of all.

        ``columns`` are those that are read, by default all.

        Raises:
            WorkspaceError: not readable, or written by another version.
        """
        from inpaintbench import tables

        for step in self.steps(table) if steps is None else steps:
            yield from tables.batches(self._table(table, step), record_type, columns=columns)

    def _table(self, table: str, step: str) -> Path:
        return self.path / "tables" / table / f"{step}.parquet"

    def steps(self, table: str) -> list[str]:
        """The steps that wrote to ``table``, in the order of their files: `a.b.parquet` comes before `a.parquet`."""
        return [path.stem for path in sorted((self.path / "tables" / table).glob("*.parquet"))]

    def ledger(self, step: str, record_type: type | None = None) -> Ledger:
        """The ledger of ``step``, whose rows have this type; it may only be appended to where that is given, or for little."""
        from inpaintbench.ledgers import Ledger

        own = f"{step}@{self.shard}" if self.shard else step
        return Ledger(self.path / "ledger", step, own=own, record_type=record_type, alone=self.shard is None)


def proved_path(path: Path | str) -> Path:
    """``Blobs.proved`` of a blob by its path. Raises what that raises."""
    return Blobs(Path(path).parents[2]).proved(Path(path).name)


class Blobs:
    """Data files named by the SHA-256 of their bytes; those of a workspace at an address come when they are asked for."""

    def __init__(self, workspace: Path | str) -> None:
        self._root, self._address = root_of(workspace)
        self.sent: list[str] = []
        """Blobs that were put at the address of the workspace."""

    def path(self, name: str) -> Path:
        """Return where the blob ``name`` lies, or would; what reads it takes ``proved``.

        Raises:
            VerifyError: no blob can have that name, which a damaged table may hold. InputError: it may not be read at the
                address. NetworkError: for now.
        """
        path = self._local(name)
        if self._address:
            try:
                if time.time() - path.stat().st_mtime > _TOUCH_SECONDS:
                    os.utime(path)
            except FileNotFoundError:
                with suppress(Gone):
                    storage.fetch(self._address / self._below(name), path)
        return path

    def has(self, name: str) -> bool:
        """Return whether there is a blob of that name; at an address the ledger's word is taken for it, unless some were found
        missing or damaged there."""
        if self._address is None:
            return self._local(name).exists()
        return not self._doubted or (name not in self._doubted and f"{name[:2]}/{name}" in self._listed)

    @cached_property
    def _doubted(self) -> set[str]:
        return {path.name for path in (self._root / _DOUBTED).glob("*")}

    @cached_property
    def _listed(self) -> set[str]:
        return {one.name for one in storage.listed(self._address / "blobs")} if self._address else set()

    def names(self) -> list[str]:
        """All blobs."""
        below = self._listed if self._address else [path.name for path in (self._root / "blobs").glob("*/*")]
        return sorted(name.rpartition("/")[2] for name in below)

    def place(self, name: str) -> Place:
        """Return where the blob lies for all machines: at the address of the workspace, or in its folder."""
        local = self._local(name).absolute()
        return self._address / self._below(name) if self._address else local

    def _local(self, name: str) -> Path:
        if not _BLOB_NAME.fullmatch(name):
            raise VerifyError(f"{name!r} in {str(self._root)!r} is no name of a blob: the table that names it is damaged")
        return self._root / self._below(name)

    @staticmethod
    def _below(name: str) -> str:
        return f"blobs/{name[:2]}/{name}"

    def proved(self, name: str, *, of: str = "") -> Path:
        """``path`` of a blob whose bytes have the hash in its name, which is the SHA-256 that was measured of them.

        A process reads them for it once, and again when the file was written. ``of`` begins the sentence of its errors.

        Raises:
            VerifyError: the blob is missing, or holds other bytes; the item that needs it fails, and is tried again by the next
                run.
        """
        path = self.path(name)
        try:
            whole = name.startswith(measured_sha256(path))
        except OSError as error:
            what = "is missing" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
            way = "run the command again, which makes it anew"
        else:
            if whole:
                return path
            what = "is damaged: its bytes have another SHA-256 than its name"
            way = f"{'' if self._address else 'delete it and '}run the command that made it again"
            if self._address:
                path.unlink(missing_ok=True)  # it comes anew
        told = VerifyError(f"{of}the blob {str(path)!r} {what}; {way}")
        told.blob = name
        raise told

    def beside(self, folder: str) -> Path:
        """A folder of the workspace for files that can be made again."""
        return self._root / folder

    def partial(self, key: str) -> Path:
        """Return where a file in the making lies that a later run can go on with; its folder exists."""
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
            target = self._local(name)
            target.parent.mkdir(parents=True, exist_ok=True)
            if self._address:
                storage.write(self._address / self._below(name), made)
                self.sent.append(name)
                (self._root / _DOUBTED / name).unlink(missing_ok=True)
            sync(made)
            made.replace(target)
            sync(target.parent)
        return name, result
