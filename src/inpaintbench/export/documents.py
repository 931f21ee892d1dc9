"""What is written about a dataset, from its manifest alone: card and manifest itself. The same manifest gives the same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from inpaintbench.export.card import card
from inpaintbench.frozen import MANIFEST, manifest_bytes
from inpaintbench.types import Dataset

CARD = "README.md"


def is_document(name: str) -> bool:
    """Whether a file of a dataset is made from its manifest; all others are data."""
    return name == CARD


def sealed(dataset: Dataset, sizes: Mapping[str, int]) -> tuple[Dataset, dict[str, bytes]]:
    """The manifest with the hashes of its documents, and the documents with ``dataset.json``: path -> bytes.

    Args:
        dataset: ``files`` has the hash of every data file; documents in it are made anew.
        sizes: of the data files, in bytes.
    """
    data = {name: sha256 for name, sha256 in dataset.files.items() if not is_document(name)}
    dataset = replace(dataset, files=data)
    written = _documents(dataset, sizes)
    hashes = {name: hashlib.sha256(text).hexdigest() for name, text in written.items()}
    dataset = replace(dataset, files=dict(sorted((data | hashes).items())))
    return dataset, written | {MANIFEST: manifest_bytes(dataset)}


def _documents(dataset: Dataset, sizes: Mapping[str, int]) -> dict[str, bytes]:
    del sizes
    return {CARD: card(dataset).encode()}
