"""Writing files and folders so that a crash leaves the old ones or the new ones whole."""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from inpaintbench.errors import WorkspaceError, is_disk_error


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
        sync(temporary)
        temporary.replace(path)
        sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Bring a file, or the names in a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Bring everything below ``folder`` to disk."""
    for path in [folder, *folder.rglob("*")]:
        sync(path)


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
