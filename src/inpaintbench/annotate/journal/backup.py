"""A journal as one file: made while people answer, checked, and read by ``Journal`` like any other; and put back again."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from sqlalchemy import URL, func, select, text

from inpaintbench.annotate.journal.database import Database, Transaction
from inpaintbench.annotate.journal.engines import check, parse_url, seal, snapshot, written_whole
from inpaintbench.annotate.journal.schema import CONTENTS
from inpaintbench.annotate.journal.store import Journal
from inpaintbench.errors import InputError, WorkspaceError


def backup(journal: Journal, target: Path, *, replace: bool = False) -> None:
    """Write everything committed so far to one SQLite file, while others go on writing; its owner alone may read it.

    The file holds the state of one moment and was checked; it appears under its name when it is complete.

    Raises:
        InputError: ``target`` exists and is not to be replaced, or is a database in use.
        WorkspaceError: the journal is damaged, or the file cannot be written.
        JournalUnavailable: the database does not answer.
    """
    source = journal.database
    if source.path:
        snapshot(source.path, target, replace=replace)
        return
    with written_whole(target, replace=replace) as temporary:
        with Journal(temporary) as copy, source.reading(one_moment=True) as read, copy.database.writing("backup") as write:
            _copy_all(read, write)
        seal(temporary)


def restore(path: Path, url: str | Path | URL, *, study_id: str | None = None) -> None:
    """Put everything of a backup into an empty database, in one transaction; the backup is not changed.

    With ``study_id`` a backup without that study is refused.

    Raises:
        InputError: no backup there, not of the study, or the database is not empty.
        WorkspaceError: the backup is damaged.
        JournalUnavailable: the database does not answer.
    """
    _check_backup(path)
    if parse_url(url) == parse_url(path):
        raise InputError(f"{str(path)!r} cannot be restored into itself; name another database")
    # A backup of an older version is migrated, and that is no reason to change it.
    with tempfile.TemporaryDirectory(prefix="inpaintbench-restore-") as folder:
        snapshot(path, Path(folder) / "journal.sqlite")
        with Journal(Path(folder) / "journal.sqlite") as old:
            held = old.studies()
        if study_id is not None and study_id not in held:
            others = ", ".join(map(repr, held.values())) or "none"
            raise InputError(f"backup {str(path)!r} does not hold this study; the studies in it: {others}")
        with Journal(Path(folder) / "journal.sqlite") as old, Journal(url) as new:
            _fill(old.database, new.database)


def _fill(old: Database, new: Database) -> None:
    with old.reading() as read, new.writing("restore") as write:
        if write.is_postgres:
            # Writers of studies hold locks of their own; nothing is written before its study is there.
            write.change(text("LOCK TABLE studies IN SHARE ROW EXCLUSIVE MODE"))
        for table in CONTENTS:
            if rows := write.rows(select(func.count()).select_from(table))[0][0]:
                raise InputError(f"database {new.name!r} is not empty ({table.name}: {rows} rows); restore into a new one")
        _copy_all(read, write)


def _copy_all(read: Transaction, write: Transaction) -> None:
    for table in CONTENTS:
        for portion in read.portions(table):
            write.insert_all(table, portion)


def _check_backup(path: Path) -> None:
    if not path.is_file():
        raise InputError(f"there is no backup {str(path)!r}")
    try:
        with closing(sqlite3.connect(path)) as connection:
            check(connection, name=str(path))
            is_journal = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'schema_version'").fetchone()
    except sqlite3.Error as error:
        raise WorkspaceError(f"backup {str(path)!r} cannot be read: {error}") from error
    if not is_journal:
        raise InputError(f"{str(path)!r} is no backup of a journal")
