"""Datasets as release 0.2 wrote them, with the whole manifest in one file, for tests that read them or change a fact by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inpaintbench import manifest
from inpaintbench.export.layout import media_names
from inpaintbench.files import file_sha256
from inpaintbench.types import Dataset


def write_one_file(folder: Path, dataset: Dataset) -> None:
    """The manifest of format 3 for a folder."""
    write_fields(folder, json.loads(manifest.one_file(dataset)))


def write_fields(folder: Path, fields: dict[str, Any]) -> None:
    """The manifest of format 3 for a folder, with the hashes of media that ``fields`` has none of, and of itself."""
    there = {name for row in fields["items"] for name in media_names(row) if (folder / name).is_file()}
    files = {name: file_sha256(folder / name) for name in there} | fields["files"]
    own = {name: inner for name, inner in fields.items() if name != manifest.OWN_HASH}
    (folder / manifest.MANIFEST).write_bytes(manifest._signed({**own, "files": files}))


def one_file(folder: Path) -> dict[str, Any]:
    """The manifest of any folder as that of format 3: to be changed, and written as ``dataset.json``."""
    fields: dict[str, Any] = json.loads(manifest.one_file(manifest.load(folder)))
    return fields
