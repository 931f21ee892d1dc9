"""Download or import of network weights into the cache folder.

Nothing is downloaded unless requested, and nothing at all while ``INPAINTBENCH_OFFLINE`` is set.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from inpaintbench.download import Limits, download, forget, without_query
from inpaintbench.errors import InputError, NetworkError
from inpaintbench.files import file_sha256
from inpaintbench.models.weights import Weights, cache_folder, is_whole, known, located, state


def fetch(weights: Weights, *, limits: Limits | None = None, mirror: str | None = None) -> Path:
    """Download the file into the cache folder unless a valid one lies there or in ``INPAINTBENCH_WEIGHTS``.

    Args:
        weights: an entry of the table.
        limits: on bytes, time and addresses; by default no more bytes than the file has.
        mirror: another address of the same file.

    Raises:
        InputError: downloads are switched off, no address is known, or the downloaded file has another hash.
        NetworkError, Gone, Rejected: as ``download``.
    """
    if state(weights) == "ready":
        return located(weights)
    address = mirror or weights.origin
    if os.environ.get("INPAINTBENCH_OFFLINE", "0") not in ("", "0"):
        raise InputError(f"INPAINTBENCH_OFFLINE is set, so {weights.file} is not fetched; {_import_line(weights)}")
    if address is None:
        raise InputError(f"no address is known for {weights.file}; {_import_line(weights)}")
    path = cache_folder() / weights.file
    with _locked(path):
        if not is_whole(path, weights):  # another process may have downloaded it while this one waited
            part = path.with_name(f"{path.name}.part")
            try:
                received = download(address, part, limits=limits or Limits(most_bytes=weights.bytes))
            except NetworkError as error:
                raise NetworkError(f"{error}; or {_import_line(weights)}") from error
            if received.sha256 != weights.sha256:
                forget(part)
                raise InputError(
                    f"{without_query(address)} gave {received.bytes} bytes with SHA-256 {received.sha256}, which are not the "
                    f"{weights.bytes} of {weights.file} with {weights.sha256}; nothing was kept"
                )
            part.replace(path)
            forget(part)
    return path


def import_file(path: Path) -> Weights:
    """Copy a file into the cache folder under its known name, recognised by its bytes alone.

    Raises:
        InputError: the file cannot be read, or matches no entry of the table.
    """
    try:
        digest, size = file_sha256(path), path.stat().st_size
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}") from error
    for weights in known().values():
        if weights.sha256 == digest:
            target = cache_folder() / weights.file
            with _locked(target):
                # A copy that is cut short must never bear the known name.
                temporary = target.with_name(f".{target.name}.tmp")
                try:
                    shutil.copyfile(path, temporary)
                    temporary.replace(target)
                finally:
                    temporary.unlink(missing_ok=True)
            return weights
    similar = [weights for weights in known().values() if weights.bytes == size or weights.file == path.name]
    hint = f"; it should be {similar[0].file} with {similar[0].bytes} bytes and SHA-256 {similar[0].sha256}" if similar else ""
    raise InputError(
        f"{str(path)!r} ({size} bytes, SHA-256 {digest}) is none of the known weights{hint}; see `inpaintbench models list`"
    )


def _import_line(weights: Weights) -> str:
    return f"get it elsewhere and run `inpaintbench models import {weights.file}`"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock ``path`` against other processes, which wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f".{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
