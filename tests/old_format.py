"""Datasets as release 0.2 wrote them, with the whole manifest in one file, for tests that read them or change a fact by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inpaintbench import manifest
from inpaintbench.types import Dataset


def write_one_file(folder: Path, dataset: Dataset) -> None:
    """The manifest of format 3 for a folder."""
    (folder / manifest.MANIFEST).write_bytes(manifest.one_file(dataset))


def one_file(folder: Path) -> dict[str, Any]:
    """The manifest of any folder as that of format 3: to be changed, and written as ``dataset.json``."""
    fields: dict[str, Any] = json.loads(manifest.one_file(manifest.load(folder)))
    return fields
