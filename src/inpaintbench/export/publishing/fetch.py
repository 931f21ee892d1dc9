"""Bring a frozen dataset from the Hub, whole or some slices of it, or prove it there: every byte against its manifest.

Some slices make a part: a frozen dataset itself that says what it is a part of.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from inpaintbench import manifest
from inpaintbench.catalogue import known_name
from inpaintbench.errors import InputError, VerifyError, WorkspaceError, is_disk_error
from inpaintbench.executors.base import Progress, unwatched
from inpaintbench.export import layout
from inpaintbench.export.card import strip_name
from inpaintbench.export.documents import CARD, sealed
from inpaintbench.export.publishing.client import Remote, Repository, opened
from inpaintbench.export.second_decoder import require
from inpaintbench.export.verify import Verification, is_ours, prove, sampled
from inpaintbench.files import file_sha256, sync_tree
from inpaintbench.frozen import UNLOADABLE
from inpaintbench.manifest import ALL, MANIFEST, ONE_FILE, OWN_HASH, is_table, load
from inpaintbench.types import Dataset

# What the part says of the whole: where it is, the hash of its manifest, and what is missing here.
ORIGIN = "part_of.json"
_AT_ONCE = 6
_OF_THE_LIBRARY = ".cache"
Result = TypeVar("Result")


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
    if bad := [pattern for pattern in UNLOADABLE if pattern in str(target.absolute())]:
        raise InputError(f"{str(target)!r} holds {bad[0]!r}, which `datasets` takes for a pattern; use another name")
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise InputError(f"{str(target)!r} is there already; give a new folder")
    try:
        with opened(repository) as hub:
            return _fetch(hub, target, slices, revision, progress or unwatched)
    except OSError as error:
        if not is_disk_error(error):
            raise
        raise WorkspaceError(f"{str(target)!r} cannot be written: {error.strerror}") from error


def _fetch(hub: Repository, target: Path, slices: Sequence[str], revision: str | None, progress: Progress) -> Fetched:
    beside = target.with_name(f".{target.name}.fetching")
    shutil.rmtree(beside / "whole", ignore_errors=True)
    there = held(hub, beside / "whole", revision=revision)
    whole, original, folder = there.dataset, beside / "whole" / MANIFEST, beside / "dataset"
    files = files_of(whole, slices) if slices else sorted(whole.files)
    if set(slices) == {part.name for part in whole.slices}:
        files, slices = sorted(whole.files), ()

    def bring(name: str) -> None:
        path = folder / name
        for _ in range(2):  # bytes that were spoilt on the way are asked for once more
            if path.is_file() and file_sha256(path) == whole.files[name]:
                return
            path.unlink(missing_ok=True)
            hub.download(name, commit=there.commit, folder=folder)
        if file_sha256(path) != whole.files[name]:
            path.unlink()
            raise VerifyError(f"{name} of {hub.name!r} differs from the SHA-256 in its manifest; nothing was kept of it")

    for done, _ in enumerate(_at_once(bring, files), start=1):
        progress("fetch", done, len(files))
    dataset = whole
    if slices:
        origin = {"repository": hub.name, "revision": revision, "commit": there.commit}
        sizes = {name: (folder / name).stat().st_size for name in files}
        dataset, changed = limited(whole, slices, sizes=sizes, whole_sha256=file_sha256(original), origin=origin)
        for name, data in changed.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
    else:
        shutil.copyfile(original, folder / MANIFEST)
    _remove_others(folder, {*dataset.files, MANIFEST})
    sync_tree(folder)
    folder.replace(target)  # an empty folder may be there
    shutil.rmtree(beside, ignore_errors=True)
    missing = tuple(part.name for part in whole.slices if slices and part.name not in slices)
    return Fetched(target, there.commit, load(target), missing)


def _at_once(call: Callable[[str], Result], names: Sequence[str]) -> Iterator[tuple[str, Result]]:
    """Yield each name with what the call gave for it, as they come; the first that fails ends the others."""
    threads = ThreadPoolExecutor(_AT_ONCE)
    try:
        running = {threads.submit(call, name): name for name in names}
        for done in as_completed(running):
            yield running[done], done.result()
    finally:
        threads.shutdown(cancel_futures=True)


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


@dataclass(frozen=True)
class Held:
    """A dataset as the Hub holds it at one commit."""

    commit: str
    listed: Mapping[str, Remote]
    """Path -> what the Hub states of every file."""
    dataset: Dataset


def held(hub: Repository, folder: Path, *, revision: str | None) -> Held:
    """The manifest of a dataset, its tables too, downloaded to ``folder``, proved and safe to use.

    Raises:
        InputError: the repository is no frozen dataset.
        NetworkError: the Hub refuses, or cannot be reached.
        VerifyError: the manifest is damaged, or names files outside of its folder.
    """
    commit = hub.commit_of(revision)
    listed = hub.files(commit)
    if MANIFEST not in listed:
        raise InputError(f"{hub.name!r} is not a frozen dataset (no {MANIFEST})")
    text = hub.download(MANIFEST, commit=commit, folder=folder).read_bytes()
    if OWN_HASH.encode() in text and not manifest.is_as_stated(text):
        raise VerifyError(f"{MANIFEST} of {hub.name!r} is not what its own SHA-256 says; ask its publisher to push again")
    names = manifest.table_names(text)
    for name in names:
        if name not in listed:
            raise VerifyError(f"{hub.name!r} lacks {name!r}, a table of its manifest; ask its publisher to push again")
        hub.download(name, commit=commit, folder=folder)
    dataset = load(folder)
    for name in names:  # those of the manifest come first
        if file_sha256(folder / name) != dataset.files.get(name):
            raise VerifyError(f"{name} of {hub.name!r} differs from the SHA-256 in its manifest; ask its publisher to push again")
    check_names(dataset)
    return Held(commit, listed, dataset)


def check_names(dataset: Dataset) -> None:
    """Raise ``VerifyError`` unless every file lies in the folder and the items' media are among them.

    A manifest from elsewhere must not name files outside of its folder, nor those that tools look for there.
    """
    for name in dataset.files:
        path = PurePosixPath(name)
        odd = any(part.startswith(".") or not part.isprintable() or set(part) & set('\\:*?"<>|') for part in path.parts)
        if path.is_absolute() or not path.parts or str(path) != name or odd:
            raise VerifyError(f"the manifest names a file {name!r}, which cannot lie in a dataset")
    wanted = {name for row in dataset.items for name in layout.media_names(row)} | {CARD, *layout.config_of_file(dataset)}
    if absent := sorted(wanted - set(dataset.files)):
        raise VerifyError(f"the manifest has no hash of {absent[0]!r}, which its slices need")


def files_of(dataset: Dataset, slices: Sequence[str]) -> list[str]:
    """The files that ``slices`` need: their media and rows, and everything that belongs to no slice or item.

    Raises:
        UnknownNameError: no such slice.
    """
    known = [part.name for part in dataset.slices]
    for name in slices:
        known_name("slice", name, known)
    rows = {row["item_id"]: row for row in dataset.items}
    wanted = {item for part in dataset.slices if part.name in slices for item in part.item_ids}
    media = {name for row in rows.values() for name in layout.media_names(row)}
    needed = {name for item in wanted for name in layout.media_names(rows[item])}
    others = {name for name, part in layout.config_of_file(dataset).items() if part not in slices}
    others |= {strip_name(name) for name in known if name not in slices}
    return sorted(name for name in dataset.files if name in needed or not (name in media or name in others or is_table(name)))


def limited(
    dataset: Dataset, slices: Sequence[str], *, sizes: Mapping[str, int], whole_sha256: str, origin: Mapping[str, Any]
) -> tuple[Dataset, dict[str, bytes]]:
    """The manifest of ``slices`` alone, and the bytes of the files that stand otherwise in the part than in the whole.

    Args:
        dataset: the whole.
        slices: names; the rest goes into ``left_out``.
        sizes: of the part's files, in bytes.
        whole_sha256: hash of the whole's manifest.
        origin: where the whole is.
    """
    in_parts = dataset.format_version > ONE_FILE
    remade: set[str] = set()  # the tables of the manifest and those of all items, which a part has with other rows
    if in_parts:
        remade = {name for name, part in layout.config_of_file(dataset).items() if part == ALL}
        remade |= {name for name in dataset.files if is_table(name)}
    files = files_of(dataset, slices)
    parts = tuple(part for part in dataset.slices if part.name in slices)
    missing = {part.name: len(part.item_ids) for part in dataset.slices if part.name not in slices}
    items = {item for part in parts for item in part.item_ids}
    fact = dict(origin) | {
        "dataset": dataset.name, "dataset_json_sha256": whole_sha256, "slices": [part.name for part in parts],
        "items": len(items), "items_of_the_whole": len(dataset.items), "missing_slices": missing,
        "missing_files": len(set(dataset.files) - set(files) - remade),
    }  # fmt: skip
    left_out = {name: f"not fetched: its {count} items are in the whole" for name, count in missing.items()}
    fragment = replace(
        dataset,
        items=tuple(row for row in dataset.items if row["item_id"] in items),
        slices=parts,
        left_out=dict(dataset.left_out) | left_out,
        facts=dict(dataset.facts) | {"part_of": fact},
    )
    new = {ORIGIN: json.dumps(fact, indent=1, sort_keys=True).encode() + b"\n"}
    if in_parts:
        new |= dict(layout.row_files(fragment, [part for part in layout.configs(fragment) if part.name == ALL]))
    hashes = {name: dataset.files[name] for name in files} | {
        name: hashlib.sha256(data).hexdigest() for name, data in new.items()
    }
    known = {**sizes, **{name: len(data) for name, data in new.items()}}
    fragment, written = sealed(replace(fragment, files=hashes), known)
    return fragment, new | written


def verify_hub(
    repository: str,
    *,
    decoder: str | None = None,
    sample: int | None = None,
    seed: int = 0,
    revision: str | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Download manifest, rows, documents and the media of a sample of items; then as ``verify``. Nothing is kept.

    What the Hub states of the other media, their SHA-256, must be what the manifest says; their bytes are not looked at.

    Args:
        repository: ``OWNER/NAME``.
        decoder: second decoder; by default the first that is installed.
        sample: items whose media are downloaded and decoded, drawn by ``seed``; None = all.
        seed: another one draws other items.
        revision: branch, tag or commit.
        progress: told (stage, done, total).

    Raises:
        InputError: not a frozen dataset; a sample of no items; unknown or missing decoder.
        NetworkError: the Hub refuses, or cannot be reached.
        VerifyError: the manifest is damaged.
    """
    if decoder:
        require(decoder)
    report = progress or unwatched
    result = Verification()
    with tempfile.TemporaryDirectory(prefix="inpaintbench-verify-") as place, opened(repository) as hub:
        root = Path(place) / "dataset"
        root.mkdir()
        there = held(hub, root, revision=revision)
        dataset, listed = there.dataset, there.listed
        rows = sampled(dataset, sample, seed=seed)
        media = {name for row in dataset.items for name in layout.media_names(row)}
        wanted = (set(dataset.files) - media) | {name for row in rows for name in layout.media_names(row)}
        problems = list(_listing_problems(there, brought=wanted))
        spoilt, names = [], sorted(wanted & set(listed))
        for name, path in _at_once(lambda name: hub.download(name, commit=there.commit, folder=root), names):
            if file_sha256(path) != dataset.files[name]:
                spoilt.append(f"{name}: changed (SHA-256 differs from the manifest)")
            result.files += 1
            report("files", result.files, len(names))
        problems += sorted(spoilt)
        result.problems += problems
        if others := sorted(media - wanted):
            stated = sum(1 for name in others if name in listed and listed[name].sha256)
            result.not_looked_at.append(f"the bytes of {len(others)} files, of which the Hub states {stated} hashes")
        for name in others:  # configs load by the names alone
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).touch()
        prove(root, dataset, result, rows=rows, whole=not problems, decoder=decoder, progress=report)
    return result


def _listing_problems(there: Held, *, brought: set[str]) -> Iterator[str]:
    stated = there.dataset.files
    present = {name for name in there.listed if is_ours(name)} - {MANIFEST}
    yield from (f"{name}: missing" for name in sorted(set(stated) - present))
    yield from (f"{name}: not in the manifest" for name in sorted(present - set(stated)))
    for name in sorted((present & set(stated)) - brought):
        if there.listed[name].sha256 not in (None, stated[name]):
            yield f"{name}: changed (the SHA-256 that the Hub states differs from the manifest)"
