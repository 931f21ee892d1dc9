"""Memory of a workspace's exports: the version of the dataset, its content, and what was allowed for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace

from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.files import write_atomically
from inpaintbench.frozen import content_of
from inpaintbench.types import Dataset, canonical_json
from inpaintbench.workspace import Workspace

_FILE = "export.json"
_SEMANTIC = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


@dataclass(frozen=True)
class Exported:
    """The export of a workspace that is being made, or else the last one."""

    version: str = "1.0.0"
    content: str | None = None
    """Hash of rows, slices and recipe; None before the first export."""
    near_duplicates_allowed: str | None = None
    """Reason why near-duplicates may be in two splits; of one export alone."""


def last(workspace: Workspace) -> Exported:
    """The last export of a workspace, or that which is being made.

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
def exporting(workspace: Workspace, *, version: str | None, allow_near_duplicates: str | None) -> Iterator[list[Dataset]]:
    """Let an export know its version while the block runs, and remember it when the block has appended what it made.

    Args:
        workspace: of the export.
        version: three numbers with dots; None = that of the last export.
        allow_near_duplicates: why they may be in two splits.

    Raises:
        InputError: no such version, or one before the last.
    """
    before = last(workspace)
    if version is not None and _numbers(version) < _numbers(before.version) and before.content:
        raise InputError(f"version {version} comes before {before.version}, the last one; versions only go up")
    if allow_near_duplicates is not None and not allow_near_duplicates.strip():
        raise InputError("near-duplicates are allowed for a reason that is published; give one in words")
    wanted = Exported(version or before.version, before.content, allow_near_duplicates)
    made: list[Dataset] = []
    try:
        _write(workspace, wanted)
        yield made
    finally:
        _write(workspace, replace(wanted, content=content_of(made[-1])) if made else before)


def next_version(version: str) -> str:
    """The one that a change of content asks for: ``1.0.0`` -> ``1.1.0``."""
    major, minor, _ = _numbers(version)
    return f"{major}.{minor + 1}.0"


def _numbers(version: str) -> tuple[int, ...]:
    match = _SEMANTIC.fullmatch(version)
    if not match:
        raise InputError(f"version {version!r} is not MAJOR.MINOR.PATCH, such as 1.1.0")
    return tuple(map(int, match.groups()))


def _write(workspace: Workspace, exported: Exported) -> None:
    path = workspace.path / _FILE
    if exported == Exported():
        path.unlink(missing_ok=True)
    else:
        write_atomically(path, canonical_json(asdict(exported)).encode() + b"\n")
