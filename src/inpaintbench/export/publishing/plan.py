"""Plan of a push to the Hub: the files of a frozen dataset, checked, and what their licences allow."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from inpaintbench import frozen
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.export.licences import NOT_STATED, is_known, is_unstated, why_refused
from inpaintbench.export.publishing.part import ORIGIN
from inpaintbench.export.publishing.stating import OVER, called, listed, read_licences, restated, stated
from inpaintbench.export.verify import file_problems
from inpaintbench.files import file_sha256
from inpaintbench.frozen import MANIFEST
from inpaintbench.types import Dataset


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

    def stated_over(self) -> dict[str, dict[str, int]]:
        """Words of the dataset that are no known licence -> the licence that its publisher states -> number of sources."""
        counts: dict[str, dict[str, int]] = self.dataset.facts.get(OVER, {})
        return counts

    def obstacles(self) -> list[str]:
        """Return why the dataset may not be published, one sentence each with a list of sources; empty where it may."""
        refused, silent, words = [], [], []
        for row in {row["source_id"]: row for row in self.dataset.items}.values():
            licence = row["licence"]
            if why := why_refused(licence):
                refused.append(f"{called(row)} ({licence} {why})")
            elif is_unstated(licence):
                silent.append(f"{called(row)} ({licence or NOT_STATED})")
            elif not is_known(licence):
                words.append(f"{called(row)} ({licence})")
        reasons = []
        if refused:
            reasons.append(
                f"{listed(refused)} may not be published; export without them, or with the licence that they really have"
            )
        if silent:
            reasons.append(f"nobody stated a known licence of {listed(silent)}; state it with --licence SPDX or --licences FILE")
        if words:
            reasons.append(
                f"the licence of {listed(words)} is no known one, and --licence does not replace it; read what it allows, and "
                "give each of these sources a line of its own in --licences FILE"
            )
        return reasons


def plan(folder: Path | str, *, licence: str | None = None, licences: Path | None = None) -> Plan:
    """Hash every file of a frozen dataset and find out what its licences allow; nothing is sent, nothing in the folder changes.

    Args:
        folder: the frozen dataset.
        licence: SPDX id of all sources that say nothing of theirs.
        licences: CSV with the columns ``source`` (id, URI or name) and ``licence``, for single sources without a known licence.

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
        raise VerifyError(f"{str(root)!r} is not what was exported, and is not published: {listed(wrong)}; export it again")
    said = stated(dataset, licence, read_licences(licences) if licences else {})
    rewritten: Mapping[str, bytes] = {}
    if said:
        dataset, rewritten = restated(root, dataset, said)
    sha256 = dict(dataset.files) | {MANIFEST: _manifest_sha256(root, rewritten)}
    sizes = {name: len(rewritten[name]) if name in rewritten else (root / name).stat().st_size for name in sha256}
    return Plan(root, dataset, rewritten, sha256, sizes, said)


def _manifest_sha256(root: Path, rewritten: Mapping[str, bytes]) -> str:
    return hashlib.sha256(rewritten[MANIFEST]).hexdigest() if MANIFEST in rewritten else file_sha256(root / MANIFEST)
