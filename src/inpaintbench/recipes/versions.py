"""Versions of a workspace's dataset: which one an export gets, whether it may take the place of another, and what each one held.

    WORKSPACE/export.json                the last version and its content
    WORKSPACE/published/<version>/       manifest of each version: `export diff` and a leaderboard compare with it

Whatever changes rows, slices or recipe asks for a version of its own: a minor one where items were only added, else a major one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from inpaintbench.errors import InpaintBenchError, InputError, WorkspaceError
from inpaintbench.export.growing import Published
from inpaintbench.files import copy_file, file_sha256, write_atomically
from inpaintbench.lazily import lazily
from inpaintbench.manifest import EARLIER, MANIFEST, content_of, dataset_id, load, table_names
from inpaintbench.types import Dataset, canonical_json
from inpaintbench.workspace import Workspace

if TYPE_CHECKING:
    from inpaintbench.export.diff import Difference

comparing = lazily("inpaintbench.export.diff")

_FILE = "export.json"
FOLDER = "published"
_SEMANTIC = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_SHOWN = 4


@dataclass(frozen=True)
class Exported:
    """The last export of a workspace."""

    version: str = "1.0.0"
    content: str | None = None
    """Hash of rows, slices and recipe; None before the first export."""
    near_duplicates_allowed: str | None = None
    """Reason why near-duplicates may be in two splits; of one export alone."""


@dataclass(frozen=True)
class Asked:
    """Wishes of whoever exports."""

    version: str | None = None
    """Three numbers with dots; None = that of the last export, or the next one where the content changed."""
    allow_near_duplicates: str | None = None
    """Why they may be in two splits."""
    replace: bool = False
    """Whether a published version may be replaced by one that lacks something of it."""
    besides: tuple[Path, ...] = ()
    """Further folders whose datasets are made of this one, and are replaced with it."""
    say: Callable[[str], object] | None = None
    """Is told what will change before anything is written."""


NOTHING_ASKED = Asked()
_ASKED: ContextVar[Asked] = ContextVar("_ASKED", default=NOTHING_ASKED)


def asked() -> Asked:
    """Wishes for the export that is being made."""
    return _ASKED.get()


def last(workspace: Workspace) -> Exported:
    """The last export of a workspace.

    Raises:
        WorkspaceError: the file is damaged.
    """
    path = workspace.path / _FILE
    if not path.exists():
        return Exported()
    try:
        return Exported(**json.loads(path.read_text()))
    except (ValueError, TypeError) as error:
        raise WorkspaceError(f"{str(path)!r} is damaged: {error}; delete it, and give the next export its --version") from error


@contextmanager
def exporting(workspace: Workspace, wanted: Asked) -> Iterator[list[tuple[Path, Dataset]]]:
    """Let an export know what is asked while the block runs, and remember it when the block has appended what it made.

    Raises:
        InputError: no such version, or one before the last.
    """
    before = last(workspace)
    if wanted.version is not None and _numbers(wanted.version) < _numbers(before.version) and before.content:
        raise InputError(f"version {wanted.version} comes before {before.version}, the last one; versions only go up")
    if wanted.allow_near_duplicates is not None and not wanted.allow_near_duplicates.strip():
        raise InputError("near-duplicates are allowed for a reason that is published; give one in words")
    made: list[tuple[Path, Dataset]] = []
    token = _ASKED.set(wanted)
    try:
        yield made
    finally:
        _ASKED.reset(token)
    for folder, dataset in made:
        _keep_manifest(workspace, folder, dataset)
        exported = Exported(dataset.version, content_of(dataset), wanted.allow_near_duplicates)
        write_atomically(workspace.path / _FILE, canonical_json(asdict(exported)).encode() + b"\n")


def manifest_folder(workspace: Workspace, version: str) -> Path:
    """Where the manifest of a version is kept."""
    return workspace.path / FOLDER / version


def _keep_manifest(workspace: Workspace, folder: Path, dataset: Dataset) -> None:
    """Copy the root and the tables of a manifest, which is read without any other file."""
    kept = manifest_folder(workspace, dataset.version)
    for name in (*table_names((folder / MANIFEST).read_bytes()), MANIFEST):
        (kept / name).parent.mkdir(parents=True, exist_ok=True)
        copy_file(folder / name, kept / name)


def versioned(workspace: Workspace, draft: Dataset, target: Path, *, published: Published | None) -> Dataset:
    """``draft`` with the version that its content asks for, and its earlier versions among its facts.

    Says what will change where there was a version before.

    Args:
        workspace: of the export.
        draft: what is to be written; ``files`` lacks its documents.
        target: where to.
        published: the dataset that it was made to add to.

    Raises:
        InputError: a version that is too low for what changed; or a dataset of other content lies in ``target``, which is not the
            one that this adds to, and nobody said that it may go.
    """
    wanted, there, content = asked(), _held(target), content_of(draft)
    before = _held(manifest_folder(workspace, last(workspace).version)) or there
    if published:
        before = _Held(published.folder / MANIFEST, published.dataset)
        _keep_manifest(workspace, published.folder, published.dataset)
    may_go = {content, *([before.content] if published and before else ())}
    for place in () if wanted.replace else (target, *wanted.besides):
        _check_may_go(place, draft, may_go, (before if place in wanted.besides else None) or _held(place))
    if before is None:
        return replace(draft, version=wanted.version or last(workspace).version)
    old = before.dataset
    if before.content == content:
        earlier = {EARLIER: old.facts[EARLIER]} if EARLIER in old.facts else {}
        return replace(draft, version=wanted.version or old.version, facts={**draft.facts, **earlier})
    diff = comparing.difference(old, draft)
    least = next_version(old.version, major=not comparing.only_adds(diff))
    if wanted.version is not None and _numbers(wanted.version) < _numbers(least):
        why = "only adds to" if comparing.only_adds(diff) else "changes more than it adds to"
        raise InputError(f"this export {why} {dataset_id(old)}, so version {wanted.version} is too low: {least} or more")
    version = wanted.version or least
    if wanted.say:
        wanted.say(f"{dataset_id(old)} -> version {version}: {'; '.join(_told(diff))}")
    step = {
        "id": dataset_id(old), "version": old.version, "manifest_sha256": file_sha256(before.manifest), "items": len(old.items),
        "kept": len(old.items) - len(diff.items_removed) - len(diff.items_changed),
    }  # fmt: skip
    return replace(draft, version=version, facts={**draft.facts, EARLIER: [*old.facts.get(EARLIER, ()), step]})


def _check_may_go(place: Path, draft: Dataset, may_go: set[str], there: _Held | None) -> None:
    """Raise ``InputError`` where ``place`` holds a dataset of other content than those that may go.

    ``there``: that dataset; of a part of it, such as the public one, the whole that it was made of.
    """
    if not (place / MANIFEST).exists() or (there and there.content in may_go):
        return
    way_out = (
        "Build or pair with --append to keep what is published and add to it, give --replace to publish this instead,"
        " or a new folder"
    )
    if there is None:
        raise InputError(f"{str(place)!r} holds a dataset that cannot be read. {way_out}")
    diff = comparing.difference(there.dataset, draft)
    changes = "; ".join(_told(diff))
    version = next_version(there.dataset.version, major=not comparing.only_adds(diff))
    now = f"what would take its place ({len(draft.items)} items, version {version}) differs"
    raise InputError(f"{str(place)!r} holds {dataset_id(there.dataset)}, and {now}: {changes}. {way_out}")


@dataclass(frozen=True)
class _Held:
    """A dataset that lies somewhere."""

    manifest: Path
    dataset: Dataset

    @cached_property
    def content(self) -> str:
        return content_of(self.dataset)


def _held(folder: Path) -> _Held | None:
    """The dataset in ``folder``; None where there is none that this program reads."""
    try:
        return _Held(folder / MANIFEST, load(folder))
    except InpaintBenchError:
        return None


def _told(diff: Difference) -> list[str]:
    told = comparing.summary(diff)
    return [*told[:_SHOWN], *([f"and {len(told) - _SHOWN} more changes"] if len(told) > _SHOWN else [])]


def next_version(version: str, *, major: bool) -> str:
    """The one that a change of content asks for: ``1.2.3`` -> ``2.0.0``, or ``1.3.0`` where items were only added."""
    first, second, _ = _numbers(version)
    return f"{first + 1}.0.0" if major else f"{first}.{second + 1}.0"


def _numbers(version: str) -> tuple[int, ...]:
    match = _SEMANTIC.fullmatch(version)
    if not match:
        raise InputError(f"version {version!r} is not MAJOR.MINOR.PATCH, such as 1.1.0")
    return tuple(map(int, match.groups()))
