"""Bring a frozen dataset from the Hub, whole or some slices of it, and check every byte against its manifest."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from inpaintbench.errors import InputError, VerifyError, WorkspaceError, is_disk_error
from inpaintbench.executors.base import Progress, unwatched
from inpaintbench.export.publishing.client import Repository, opened
from inpaintbench.export.publishing.part import files_of, limited
from inpaintbench.export.publishing.remote import held
from inpaintbench.files import file_sha256, sync_tree
from inpaintbench.frozen import MANIFEST, UNLOADABLE, load
from inpaintbench.types import Dataset

_AT_ONCE = 6
_OF_THE_LIBRARY = ".cache"


@dataclass(frozen=True)
class Fetched:
    """Result of a fetch."""

    folder: Path
    commit: str
    dataset: Dataset
    """As it lies in the folder: of a part, the part's manifest."""
    missing: tuple[str, ...]
    """Slices of the whole that were not asked for."""


def fetch(
    repository: str,
    folder: Path | str,
    *,
    slices: Sequence[str] = (),
    revision: str | None = None,
    progress: Progress | None = None,
) -> Fetched:
    """Download a dataset; of ``slices`` alone, their media, their rows and what belongs to no slice.

    The folder is there once everything in it has the hash that the manifest states; until then the files lie beside it, and
    the same call goes on with them. A part is a frozen dataset itself: ``verify`` proves it and methods can be scored on it.
    It names the missing slices in ``left_out``, and in ``part_of.json`` the whole with the hash of its manifest.

    Args:
        repository: ``OWNER/NAME``.
        folder: new, or empty.
        slices: names; none means the whole, byte for byte.
        revision: branch, tag or commit.
        progress: is told (stage, done, total) of files.

    Raises:
        InputError: the folder is in use; not a frozen dataset; no such slice.
        NetworkError: the Hub refuses, or cannot be reached after several tries.
        VerifyError: what the Hub holds differs from its manifest.
        WorkspaceError: the folder cannot be written.
    """
    target = Path(folder)
    _check_target(target)
    beside = target.with_name(f".{target.name}.fetching")
    try:
        with opened(repository) as hub:
            return _fetch(hub, target, beside, slices, revision, progress or unwatched)
    except OSError as error:
        if not is_disk_error(error):
            raise
        raise WorkspaceError(f"{str(target)!r} cannot be written: {error.strerror}") from error


def _check_target(target: Path) -> None:
    if bad := [pattern for pattern in UNLOADABLE if pattern in str(target.absolute())]:
        raise InputError(f"{str(target)!r} holds {bad[0]!r}, which `datasets` takes for a pattern; use another name")
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise InputError(f"{str(target)!r} is there already; give a new folder")


def _fetch(
    hub: Repository, target: Path, beside: Path, slices: Sequence[str], revision: str | None, progress: Progress
) -> Fetched:
    shutil.rmtree(beside / "whole", ignore_errors=True)
    remote = held(hub, beside / "whole", revision=revision)
    commit, whole, manifest = remote.commit, remote.dataset, beside / "whole" / MANIFEST
    files = files_of(whole, slices) if slices else sorted(whole.files)
    if set(slices) == {part.name for part in whole.slices}:
        files, slices = sorted(whole.files), ()
    folder = beside / "dataset"
    _download_all(hub, whole, files, commit, folder, progress)
    dataset = whole
    if slices:
        origin = {"repository": hub.name, "revision": revision, "commit": commit}
        sizes = {name: (folder / name).stat().st_size for name in files}
        dataset, changed = limited(whole, slices, sizes=sizes, whole_sha256=file_sha256(manifest), origin=origin)
        for name, data in changed.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
    else:
        shutil.copyfile(manifest, folder / MANIFEST)
    _remove_others(folder, {*dataset.files, MANIFEST})
    sync_tree(folder)
    folder.replace(target)  # an empty folder may be there
    shutil.rmtree(beside, ignore_errors=True)
    missing = tuple(part.name for part in whole.slices if slices and part.name not in slices)
    return Fetched(target, commit, load(target), missing)


def _download_all(hub: Repository, whole: Dataset, files: Sequence[str], commit: str, folder: Path, progress: Progress) -> None:
    threads = ThreadPoolExecutor(_AT_ONCE)
    try:
        running = [threads.submit(_bring, hub, name, whole.files[name], commit, folder) for name in files]
        for done, download in enumerate(as_completed(running), start=1):
            download.result()
            progress("fetch", done, len(files))
    finally:
        threads.shutdown(cancel_futures=True)


def _bring(hub: Repository, name: str, sha256: str, commit: str, folder: Path) -> None:
    path = folder / name
    for _ in range(2):  # bytes that were spoilt on the way are asked for once more
        if path.is_file() and file_sha256(path) == sha256:
            return
        path.unlink(missing_ok=True)
        hub.download(name, commit=commit, folder=folder)
    if file_sha256(path) != sha256:
        path.unlink()
        raise VerifyError(f"{name} of {hub.name!r} differs from the SHA-256 in its manifest; nothing was kept of it")


def _remove_others(folder: Path, wanted: set[str]) -> None:
    """Remove what the library left, and what an earlier call for other slices brought."""
    shutil.rmtree(folder / _OF_THE_LIBRARY, ignore_errors=True)
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
        elif path.is_file() and path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()
