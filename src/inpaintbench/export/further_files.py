"""Files that a recipe adds to its dataset: which of them, and how much of them, a part of the dataset has."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from pathlib import Path, PurePosixPath

from inpaintbench.export.documents import is_remade
from inpaintbench.export.layout import config_of_file, media_names
from inpaintbench.files import write_atomically
from inpaintbench.types import Dataset, canonical_json

# Holes as lists of blocks: item -> blocks.
HOLES_FILE = "maskdata.json"


def copy_further(
    root: Path, whole: Dataset, folder: Path, *, of: Callable[[str], Collection[str]], everybody: bool
) -> None:  # fmt: skip
    """Copy what is neither media nor rows nor a document, as far as it is of some items.

    A JSON object of items is limited to them, a file that has the name of an item or clip goes with it. What is of no item goes
    along unless ``everybody`` is to see it: then only what the text about the dataset shows.

    Args:
        root: folder of the whole dataset.
        whole: its manifest.
        folder: where copies go.
        of: name of a file -> ids of the items that it may be about.
        everybody: whether the copy is public.
    """
    owners: dict[str, set[str]] = {}
    for row in whole.items:
        for stem in (row["item_id"], row["clip_id"]):
            owners.setdefault(stem, set()).add(row["item_id"])
    for name in _further(whole):
        allowed, stem = of(name), PurePosixPath(name).stem
        of_none = not everybody or f"]({name})" in whole.about
        goes = bool(owners[stem].intersection(allowed)) if stem in owners else of_none
        if (data := _of_items(root / name, whole, allowed)) is None and goes:
            data = (root / name).read_bytes()
        if data:
            (folder / name).parent.mkdir(exist_ok=True)
            write_atomically(folder / name, data)


def _further(whole: Dataset) -> list[str]:
    """Files that are neither media nor rows nor documents: what a recipe adds."""
    media = {name for row in whole.items for name in media_names(row)}
    metadata = config_of_file(whole)
    return [name for name in sorted(whole.files) if name not in media and name not in metadata and not is_remade(name)]


def _of_items(path: Path, whole: Dataset, items: Collection[str]) -> bytes | None:
    """A JSON object of items limited to ``items``, no bytes where it has none of them; None for any other file."""
    if path.suffix != ".json":
        return None
    whole_object, known = json.loads(path.read_bytes()), {row["item_id"] for row in whole.items}
    if not isinstance(whole_object, dict) or not whole_object or not {PurePosixPath(key).stem for key in whole_object} <= known:
        return None
    limited = {key: value for key, value in whole_object.items() if PurePosixPath(key).stem in items}
    return canonical_json(limited).encode() + b"\n" if limited else b""
