"""The manifest of a dataset on the Hub, proved and safe to use, without its media."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from inpaintbench import manifest
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.export.publishing.client import Remote, Repository
from inpaintbench.export.publishing.part import check_names
from inpaintbench.files import file_sha256
from inpaintbench.manifest import MANIFEST, OWN_HASH
from inpaintbench.types import Dataset


@dataclass(frozen=True)
class Held:
    """A dataset as the Hub holds it at one commit."""

    commit: str
    listed: Mapping[str, Remote]
    """Path -> what the Hub states of every file."""
    dataset: Dataset


def held(hub: Repository, folder: Path, *, revision: str | None) -> Held:
    """The manifest of a dataset, its tables too, downloaded to ``folder``.

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
    dataset = manifest.load(folder)
    for name in names:  # those of the manifest come first
        if file_sha256(folder / name) != dataset.files.get(name):
            raise VerifyError(f"{name} of {hub.name!r} differs from the SHA-256 in its manifest; ask its publisher to push again")
    check_names(dataset)
    return Held(commit, listed, dataset)
