"""Part of a frozen dataset: a frozen dataset itself, of some slices alone, that says what it is a part of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import UnknownNameError, VerifyError
from inpaintbench.export import layout
from inpaintbench.export.card.strips import strip_name
from inpaintbench.export.documents import CARD, sealed
from inpaintbench.manifest import ALL, ONE_FILE, is_table
from inpaintbench.types import Dataset

# What the part says of the whole: where it is, the hash of its manifest, and what is missing here.
ORIGIN = "part_of.json"


def check_names(dataset: Dataset) -> None:
    """Raise ``VerifyError`` unless every file lies in the folder and the items' media are among them.

    A manifest from elsewhere must not name files outside of its folder, nor those that tools look for there.
    """
    for name in dataset.files:
        path = PurePosixPath(name)
        if path.is_absolute() or not path.parts or str(path) != name or any(_is_odd(part) for part in path.parts):
            raise VerifyError(f"the manifest names a file {name!r}, which cannot lie in a dataset")
    wanted = {name for row in dataset.items for name in layout.media_names(row)} | {CARD, *layout.config_of_file(dataset)}
    if absent := sorted(wanted - set(dataset.files)):
        raise VerifyError(f"the manifest has no hash of {absent[0]!r}, which its slices need")


def _is_odd(part: str) -> bool:
    return part in ("..", ".") or part.startswith(".") or not part.isprintable() or bool(set(part) & set('\\:*?"<>|'))


def files_of(dataset: Dataset, slices: Sequence[str]) -> list[str]:
    """The files that ``slices`` need: their media and rows, and everything that belongs to no slice or item.

    Raises:
        UnknownNameError: no such slice.
    """
    known = [part.name for part in dataset.slices]
    for name in slices:
        if name not in known:
            raise UnknownNameError(unknown_name("slice", name, known))
    rows = {row["item_id"]: row for row in dataset.items}
    wanted = {item for part in dataset.slices if part.name in slices for item in part.item_ids}
    media = {name for row in rows.values() for name in layout.media_names(row)}
    needed = {name for item in wanted for name in layout.media_names(rows[item])}
    others = {name for name, part in layout.config_of_file(dataset).items() if part not in slices}
    others |= {strip_name(name) for name in known if name not in slices}
    return sorted(name for name in dataset.files if name in needed or not (name in media or name in others or is_table(name)))


def _remade(dataset: Dataset) -> set[str]:
    """Files that a part has with other rows: the tables of the manifest and those of all items."""
    if dataset.format_version == ONE_FILE:
        return set()
    items = {name for name, part in layout.config_of_file(dataset).items() if part == ALL}
    return items | {name for name in dataset.files if is_table(name)}


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
    files = files_of(dataset, slices)
    parts = tuple(part for part in dataset.slices if part.name in slices)
    missing = {part.name: len(part.item_ids) for part in dataset.slices if part.name not in slices}
    items = {item for part in parts for item in part.item_ids}
    fact = dict(origin) | {
        "dataset": dataset.name, "dataset_json_sha256": whole_sha256, "slices": [part.name for part in parts],
        "items": len(items), "items_of_the_whole": len(dataset.items), "missing_slices": missing,
        "missing_files": len(set(dataset.files) - set(files) - _remade(dataset)),
    }  # fmt: skip
    named = json.dumps(fact, indent=1, sort_keys=True).encode() + b"\n"
    fragment = replace(
        dataset,
        items=tuple(row for row in dataset.items if row["item_id"] in items),
        slices=parts,
        left_out=dict(dataset.left_out)
        | {name: f"not fetched: its {count} items are in the whole" for name, count in missing.items()},
        files={name: dataset.files[name] for name in files} | {ORIGIN: hashlib.sha256(named).hexdigest()},
        facts=dict(dataset.facts) | {"part_of": fact},
    )
    rows: dict[str, bytes] = {}
    if dataset.format_version > ONE_FILE:
        rows = dict(layout.row_files(fragment, [part for part in layout.configs(fragment) if part.name == ALL]))
    hashes = dict(fragment.files) | {name: hashlib.sha256(data).hexdigest() for name, data in rows.items()}
    known = {**sizes, ORIGIN: len(named), **{name: len(data) for name, data in rows.items()}}
    fragment, written = sealed(replace(fragment, files=hashes), known)
    return fragment, {ORIGIN: named, **rows, **written}
