"""Place of a study's journal, and connections that keep its promises: SQLite, or PostgreSQL by pg8000.

It lies in the study's folder, or where a URL says; a study remembers that its answers lie elsewhere.
"""

from __future__ import annotations

import io
import json
import os
import re
import sqlite3
import ssl
import time
import uuid
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, exc, make_url

from inpaintbench.errors import InputError, MissingExtraError, WorkspaceError
from inpaintbench.files import sync, write_atomically

# SQLite files on disk: made private, warned about on network file systems, copied while others write.

# First bytes of every SQLite database (https://www.sqlite.org/fileformat.html).
_MAGIC = b"SQLite format 3\x00"
_MOUNTS = Path("/proc/mounts")
# Types of file systems in /proc/mounts that other machines write too: SQLite's locks do not hold there.
_NETWORK = frozenset({"afs", "beegfs", "ceph", "cifs", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs"})
_NETWORK_IN_USER_SPACE = frozenset({"ceph", "gcsfuse", "glusterfs", "rclone", "s3fs", "smbnetfs", "sshfs"})


def make_private(path: Path) -> None:
    """Make an empty file that its owner alone may read, unless there is one; SQLite gives ``-wal`` and ``-shm`` the same mode.

    Raises:
        InputError: its folder does not exist or cannot be written, or it is a folder itself.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise InputError(f"journal {str(path)!r} cannot be opened: {error.strerror}") from error


def file_system(path: Path, *, mounts: str) -> str | None:
    """The type of the file system that holds ``path`` (absolute), by the text of ``/proc/mounts``; None where none does."""
    held: tuple[int, str | None] = (-1, None)
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        # Blanks, tabs and backslashes in names are written as octal numbers.
        point = Path(re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields[1]))
        # Of two mounts on one point the later one is seen.
        if path.is_relative_to(point) and len(point.parts) >= held[0]:
            held = (len(point.parts), fields[2])
    return held[1]


def is_network(kind: str | None) -> bool:
    """Return whether a file system of this type is shared over a network."""
    return kind is not None and (kind in _NETWORK or kind.removeprefix("fuse.") in _NETWORK_IN_USER_SPACE)


def snapshot(source: Path, target: Path, *, replace: bool = False) -> None:
    """Copy the database ``source`` as of one moment to ``target``, checked, while others go on writing.

    The copy is one file: it needs no ``-wal`` beside it.

    Raises:
        InputError: ``target`` exists and is not to be replaced, or a database that is in use.
        WorkspaceError: the source is damaged, or the copy cannot be written.
    """
    with written_whole(target, replace=replace) as temporary:
        try:
            with closing(sqlite3.connect(source, timeout=30)) as read, closing(sqlite3.connect(temporary)) as copy:
                # All pages in one step: a reader of SQLite's log sees one moment and holds up no writer.
                read.backup(copy, pages=-1)
        except sqlite3.Error as error:
            raise WorkspaceError(f"{str(source)!r} cannot be copied to {str(target)!r}: {error}") from error
        seal(temporary)


def seal(path: Path) -> None:
    """Make one whole file of a database that nobody has open, and check it.

    Raises:
        WorkspaceError: it is damaged.
    """
    try:
        with closing(sqlite3.connect(path)) as connection:
            # Without a log beside it, it can be read where nothing can be written.
            connection.execute("PRAGMA journal_mode=DELETE")
            check(connection, name=str(path))
    except sqlite3.Error as error:
        raise WorkspaceError(f"database {str(path)!r} is damaged: {error}") from error


def check(connection: sqlite3.Connection, *, name: str) -> None:
    """Check every page, index and reference of a database.

    Raises:
        WorkspaceError: it is damaged.
    """
    said = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    if said != ["ok"]:
        raise WorkspaceError(f"database {name!r} is damaged: {said[0]}")
    lost = connection.execute("PRAGMA foreign_key_check").fetchone()
    if lost:
        raise WorkspaceError(f"database {name!r} is damaged: a row of {lost[0]} refers to a missing row of {lost[2]}")


@contextmanager
def written_whole(target: Path, *, replace: bool) -> Iterator[Path]:
    """A private file to be filled, which becomes ``target`` when nothing was raised; otherwise it vanishes.

    Raises:
        InputError: ``target`` exists and is not to be replaced, or is a database that is in use, or its folder cannot be written.
    """
    _may_be_written(target, replace=replace)
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.tmp")
    make_private(temporary)
    try:
        yield temporary
        sync(temporary)
        _may_be_written(target, replace=replace)
        temporary.replace(target)
        sync(target.parent)
    except OSError as error:
        raise WorkspaceError(f"{str(target)!r} cannot be written: {error.strerror or error}") from error
    finally:
        for path in (temporary, *_beside(temporary)):
            path.unlink(missing_ok=True)


def _may_be_written(target: Path, *, replace: bool) -> None:
    if target.is_dir():
        raise InputError(f"{str(target)!r} is a folder; name a file")
    if target.exists() and not replace:
        raise InputError(f"{str(target)!r} exists; name another file, or allow it to be replaced")
    # What is left of a log would be played into the new file and damage it.
    if any(path.exists() for path in _beside(target)):
        raise InputError(f"{str(target)!r} is a database that is in use; name another file")


def _beside(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in ("-wal", "-shm", "-journal")]


# So long a writer waits for the writers of other processes.
PATIENCE_SECONDS = 30
# After so long PostgreSQL ends the transaction of a server that has vanished, and a server gives up a database that has.
_SILENCE_SECONDS = 60
_WAY_OUT = "write PATH, sqlite:///PATH or postgresql://user:password@host:port/database"
# Two letters or more before the colon: `C:` begins a path of Windows.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+]+:")
_SQLITE, _POSTGRES = "sqlite+pysqlite", "postgresql+pg8000"


def parse_url(url: str | Path | URL) -> URL:
    """The URL with its driver; a path of SQLite made absolute. Text without a scheme is a path.

    Raises:
        InputError: not a URL, or of a database that no journal can lie in. The sentence never holds a password.
    """
    if isinstance(url, str) and not url.strip():
        raise InputError(f"the journal's URL is empty; {_WAY_OUT}")
    if isinstance(url, Path) or (isinstance(url, str) and not _SCHEME.match(url)):
        return URL.create("sqlite", database=str(Path(url).absolute()))
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
    except (exc.ArgumentError, ValueError) as error:
        # What cannot be parsed may hold a password all the same, and so may what was raised.
        text = str(url)
        raise InputError(f"the journal's URL, which begins with {text.partition(':')[0][:20]!r}, is not one; {_WAY_OUT}") from (
            None if "@" in text else error
        )
    if parsed.drivername in ("sqlite", _SQLITE):
        if parsed.query or parsed.host or not parsed.database or parsed.database.startswith((":memory:", "file:")):
            raise InputError(f"a journal needs a plain SQLite file, not {parsed.render_as_string()!r}; {_WAY_OUT}")
        return URL.create("sqlite", database=str(Path(parsed.database).absolute()))
    if backend != "postgresql" or not parsed.database:
        raise InputError(f"the journal's URL ({parsed.drivername}) names no database that this program can use; {_WAY_OUT}")
    return parsed.set(drivername=_POSTGRES) if parsed.drivername == "postgresql" else parsed


def name_of(url: URL) -> str:
    """Name in messages of the database of a parsed URL: its file, or host, port and name; never user and password."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    return f"{url.host or 'localhost'}:{url.port or 5432}/{url.database}"


def open_sqlite(path: Path) -> Engine:
    """Connections to a SQLite file, which is made when it is not there.

    Raises:
        InputError: it cannot be made or opened, or is something else.
    """
    make_private(path)
    try:
        is_file = path.is_file()
        with path.open("rb") if is_file else io.BytesIO() as file:
            begins = file.read(len(_MAGIC))
    except OSError as error:
        raise InputError(f"journal {str(path)!r} cannot be read: {error.strerror}") from error
    if not is_file or begins not in (b"", _MAGIC):
        raise InputError(f"{str(path)!r} is no journal but something else (not a database); name another file")
    with suppress(OSError):  # only Linux tells
        kind = file_system(path.resolve(), mounts=_MOUNTS.read_text(errors="replace"))
        if is_network(kind):
            warnings.warn(
                f"journal {str(path)!r} lies on a network file system ({kind}), where SQLite can lose answers: "
                "put it on a local disk, or use PostgreSQL",
                stacklevel=2,
            )
    engine = create_engine(
        URL.create("sqlite", database=str(path)), hide_parameters=True, pool_size=8, max_overflow=-1,
        connect_args={"timeout": PATIENCE_SECONDS},
    )  # fmt: skip

    @event.listens_for(engine, "connect")
    def set_up(connection: sqlite3.Connection, _record: Any) -> None:
        # Transactions are begun and ended by statements; the driver would begin them by rules of its own.
        connection.isolation_level = None
        _log_ahead(connection)
        # FULL: a commit waits for the disk. fullfsync: on macOS too. recursive_triggers: REPLACE counts as a deletion.
        # secure_delete: what is erased is overwritten.
        for setting in ("synchronous=FULL", "fullfsync=ON", "foreign_keys=ON", "recursive_triggers=ON", "secure_delete=ON"):
            connection.execute(f"PRAGMA {setting}")

    return engine


def _log_ahead(connection: sqlite3.Connection) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            # While another process makes the same change, SQLite refuses at once, whatever its time-out.
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
            continue
        if mode != "wal":
            raise sqlite3.OperationalError(f"this file system allows no write-ahead log (SQLite stays in mode {mode!r})")
        return


def open_postgres(url: URL) -> Engine:
    """Connections to a PostgreSQL database; the first is made later.

    Raises:
        InputError: a parameter of the URL is not known, or its driver is not installed.
        MissingExtraError: pg8000 is not installed.
    """
    is_pg8000, arguments = url.get_driver_name() == "pg8000", dict[str, Any]()
    if is_pg8000:
        if strange := sorted(set(url.query) - {"sslmode", "unix_sock"}):
            raise InputError(f"the journal's URL has a parameter {strange[0]!r}; known are sslmode and unix_sock")
        mode = str(url.query.get("sslmode", "prefer"))
        # Unless told otherwise the connection is encrypted when the server can.
        modes: dict[str, Any] = {"disable": False, "prefer": None, "require": True, "verify-full": True}
        if mode not in modes:
            raise InputError(f"sslmode {mode!r} of the journal's URL is not one of {', '.join(modes)}")
        encryption = ssl.create_default_context() if mode == "verify-full" else modes[mode]
        arguments = {"ssl_context": encryption, "timeout": _SILENCE_SECONDS}
        arguments |= {"unix_sock": url.query["unix_sock"]} if "unix_sock" in url.query else {}
    try:
        # AUTOCOMMIT: transactions are begun and ended by statements, which takes pg8000 a third of the messages.
        engine = create_engine(
            url.set(query={}) if is_pg8000 else url, hide_parameters=True, pool_pre_ping=True, isolation_level="AUTOCOMMIT",
            pool_size=8, max_overflow=32, pool_timeout=PATIENCE_SECONDS, connect_args=arguments,
        )  # fmt: skip
    except ModuleNotFoundError as error:
        if is_pg8000:
            raise MissingExtraError("a journal in PostgreSQL", "postgres") from error
        raise InputError(f"the driver of {url.drivername} is not installed; postgresql:// uses pg8000") from error

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute(f"SET lock_timeout = '{PATIENCE_SECONDS}s'")
        cursor.execute(f"SET idle_in_transaction_session_timeout = '{_SILENCE_SECONDS}s'")
        # Where the server's default is off, a commit would not wait for the disk.
        off = "current_setting('synchronous_commit') = 'off'"
        cursor.execute(f"SELECT set_config('synchronous_commit', 'on', false) WHERE {off}")  # nosec B608 - our own text
        cursor.close()

    return engine


# Files in the study's folder: its journal, or where its answers lie instead.
JOURNAL, NOTE = "journal.sqlite", "journal.json"


def place(database: str | Path | None, folder: Path) -> URL:
    """The URL of a study's journal, which means the same from every working directory.

    Args:
        database: a path, ``sqlite:///PATH`` or ``postgresql://...``; None = the one in the study's folder.
        folder: of the study.

    Raises:
        InputError: no URL that a journal can have; or none is given and the study's answers are known to lie elsewhere.
    """
    if database is not None:
        return parse_url(database)
    known = noted(folder)
    if known is not None:
        raise InputError(f"the answers of study {str(folder)!r} lie in {known!r}; {_way_out(folder)}")
    return _own(folder)


def places_of_answers(database: str | Path | None, folder: Path) -> list[URL]:
    """Every journal that may hold answers of the study in ``folder``, before that study is replaced; none that must be made.

    Raises:
        InputError: as ``place``; or ``database`` is not where the answers are known to lie.
    """
    given, known = place(database, folder), noted(folder)
    if known is not None and not _same(name_of(given), known):
        raise InputError(f"the answers of study {str(folder)!r} lie in {known!r}, not in {name_of(given)!r}; {_way_out(folder)}")
    # A study whose journal moved may still have answers in its folder.
    own = [_own(folder)] if (folder / JOURNAL).exists() else []
    return own if _same(name_of(given), name_of(_own(folder))) else [given, *own]


def note(folder: Path, url: URL) -> None:
    """Keep in the study's folder where its answers lie, without user and password; nothing where they lie in the folder."""
    if _same(name_of(url), name_of(_own(folder))):
        (folder / NOTE).unlink(missing_ok=True)
    elif noted(folder) != name_of(url) and os.access(folder, os.W_OK):  # a study that nobody can write cannot be replaced
        write_atomically(folder / NOTE, json.dumps({"database": name_of(url)}, ensure_ascii=False).encode() + b"\n")


def noted(folder: Path) -> str | None:
    """Place that ``note`` kept: a path, or host, port and name of a database.

    Raises:
        InputError: it cannot be read.
    """
    path = folder / NOTE
    try:
        known = json.loads(path.read_text())["database"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{str(path)!r} cannot be read; delete it if the answers lie in {JOURNAL!r} beside it") from error
    return str(known)


def _own(folder: Path) -> URL:
    return parse_url(folder / JOURNAL)


def _same(name: str, other: str) -> bool:
    """Return whether two names of databases mean one: files by where links lead."""
    return name == other or (name.startswith("/") and os.path.realpath(name) == os.path.realpath(other))


def _way_out(folder: Path) -> str:
    return f"give it with --database, or delete {str(folder / NOTE)!r} if they are no longer there"
