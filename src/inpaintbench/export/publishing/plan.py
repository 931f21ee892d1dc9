"""What a push would bring to the Hub: the files of a frozen dataset, checked, and what their licences allow."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from inpaintbench import frozen
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.export.licences import NOT_STATED, is_known, why_refused
from inpaintbench.export.publishing.part import ORIGIN
from inpaintbench.export.publishing.restating import restated
from inpaintbench.export.verify import file_problems
from inpaintbench.frozen import MANIFEST
from inpaintbench.types import Dataset
from inpaintbench.workspace import file_sha256

_LISTED = 20
Told = Callable[[str, int, int], None]
"""Is told (stage, done, total)."""


@dataclass(frozen=True)
class Plan:
    """A frozen dataset on its way out."""

    folder: Path
    dataset: Dataset
    """As it will stand on the Hub, with the licences that were stated for this push."""
    rewritten: Mapping[str, bytes]
    """Files that stand otherwise on the Hub than in the folder, because they name licences: path -> bytes."""
    sha256: Mapping[str, str]
    """Every file that goes, the manifest too: path -> hash."""
    bytes: Mapping[str, int]
    """Their sizes."""
    stated: Mapping[str, str]
    """Source -> the licence that was stated for this push."""

    def licences(self) -> dict[str, int]:
        """Licence -> number of sources, in the order of the names."""
        per_source = {row["source_id"]: row["licence"] or NOT_STATED for row in self.dataset.items}
        return {name: list(per_source.values()).count(name) for name in sorted(set(per_source.values()))}

    def obstacles(self) -> list[str]:
        """Why the dataset may not be published, one sentence each with a list of sources; empty where it may."""
        sources = {row["source_id"]: row for row in self.dataset.items}.values()
        refused = [f"{_called(row)} ({row['licence']} {why})" for row in sources if (why := why_refused(row["licence"]))]
        unknown = [
            f"{_called(row)} ({row['licence'] or NOT_STATED})"
            for row in sources
            if not is_known(row["licence"]) and not why_refused(row["licence"])
        ]
        told = []
        if refused:
            told.append(
                f"{_listed(refused)} may not be published; export without them, or with the licence that they really have"
            )
        if unknown:
            told.append(f"nobody stated a known licence of {_listed(unknown)}; state it with --licence SPDX or --licences FILE")
        return told


def plan(folder: Path | str, *, licence: str | None = None, licences: Path | None = None) -> Plan:
    """Hash every file of a frozen dataset and find out what its licences allow; nothing is sent, nothing in the folder changes.

    Args:
        folder: the frozen dataset.
        licence: SPDX id of all sources whose licence is unknown.
        licences: CSV with the columns ``source`` (id or URI) and ``licence``, for single sources whose licence is unknown.

    Raises:
        InputError: not a frozen dataset, or a part of one; a licence that is not known, allows too little, or contradicts a
            source's own.
        VerifyError: files differ from the manifest.
    """
    root = Path(folder)
    dataset = frozen.load(root)
    if ORIGIN in dataset.files:
        raise InputError(f"{str(root)!r} is a part of a dataset, as its {ORIGIN} says; publish the whole")
    if wrong := file_problems(root):
        raise VerifyError(f"{str(root)!r} is not what was exported, and is not published: {_listed(wrong)}; export it again")
    stated = _stated(dataset, licence, _read(licences) if licences else {})
    rewritten: Mapping[str, bytes] = {}
    if stated:
        dataset, rewritten = restated(root, dataset, stated)
    sha256 = dict(dataset.files) | {MANIFEST: _manifest_sha256(root, rewritten)}
    sizes = {name: len(rewritten[name]) if name in rewritten else (root / name).stat().st_size for name in sha256}
    return Plan(root, dataset, rewritten, sha256, sizes, stated)


def _manifest_sha256(root: Path, rewritten: Mapping[str, bytes]) -> str:
    return hashlib.sha256(rewritten[MANIFEST]).hexdigest() if MANIFEST in rewritten else file_sha256(root / MANIFEST)


def _read(path: Path) -> dict[str, str]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"licences {str(path)!r} cannot be read: {error}") from error
    if not rows or not {"source", "licence"} <= set(rows[0]):
        raise InputError(f"licences {str(path)!r} needs rows with the columns source and licence")
    return {row["source"]: (row["licence"] or "").strip() for row in rows}


def _stated(dataset: Dataset, licence: str | None, single: Mapping[str, str]) -> dict[str, str]:
    """Source -> licence, of the sources that had no known one."""
    for name in [*([licence] if licence is not None else []), *single.values()]:
        _check_usable(name)
    sources = {row["source_id"]: row for row in dataset.items}
    uris = {row["source_uri"] for row in sources.values()}
    if strangers := sorted(name for name in single if name not in sources and name not in uris):
        raise InputError(f"the licences name sources that the dataset does not have: {_listed(strangers)}")
    stated = {}
    for source, row in sources.items():
        own, said = row["licence"], single.get(source, single.get(row["source_uri"]))
        if is_known(own) or why_refused(own):
            if said is not None and said.casefold() != str(own).casefold():
                raise InputError(
                    f"{_called(row)} has the licence {own!r} in the dataset, not {said!r}; correct the source and export"
                )
        elif (one := said or licence) is not None:
            stated[source] = one
    return stated


def _check_usable(licence: str) -> None:
    if why := why_refused(licence):
        raise InputError(f"the licence {licence!r} {why}: what is under it cannot be published")
    if not is_known(licence):
        raise InputError(f"{licence!r} is not a known SPDX id such as CC-BY-4.0; one's own terms are called LicenseRef-NAME")


def _called(row: Mapping[str, object]) -> str:
    return str(row["source_uri"] or row["source_id"])


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")
