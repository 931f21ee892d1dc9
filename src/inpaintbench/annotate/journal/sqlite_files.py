"""SQLite files on disk: made private, warned about on network file systems, copied while others write."""

from __future__ import annotations

import io
import os
import re
import sqlite3
import uuid
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.files import sync

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


def expect_sqlite(path: Path) -> None:
    """Make sure that a file is empty or a SQLite database, before anything is written to it.

    Raises:
        InputError: it is something else, or cannot be read.
    """
    try:
        is_file = path.is_file()
        with path.open("rb") if is_file else io.BytesIO() as file:
            begins = file.read(len(_MAGIC))
    except OSError as error:
        raise InputError(f"journal {str(path)!r} cannot be read: {error.strerror}") from error
    if not is_file or begins not in (b"", _MAGIC):
        raise InputError(f"{str(path)!r} is no journal but something else (not a database); name another file")


def warn_of_network(path: Path) -> None:
    """Warn where ``path`` lies on a file system that other machines write too, as far as Linux tells."""
    with suppress(OSError):
        kind = file_system(path.resolve(), mounts=_MOUNTS.read_text(errors="replace"))
        if is_network(kind):
            warnings.warn(
                f"journal {str(path)!r} lies on a network file system ({kind}), where SQLite can lose answers: "
                "put it on a local disk, or use PostgreSQL",
                stacklevel=2,
            )


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
