"""Items whose truth is held back: what can be scored of a public dataset, and on which dataset the rest is scored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from inpaintbench import frozen
from inpaintbench.errors import InputError
from inpaintbench.types import Dataset
from inpaintbench.workspace import write_atomically

# Of a run folder: the inputs that predictions without truth are made from, item -> SHA-256.
_SEEN = "held_back_inputs.json"


def held_back_words(dataset: Dataset) -> str | None:
    """One sentence on the items that cannot be scored here, and where they can; None where all can."""
    if "held_back" not in dataset.facts:
        return None
    hidden = [row for row in dataset.items if not frozen.has_truth(row)]
    if not hidden:
        return None
    whose = "1 item is" if len(hidden) == 1 else f"{len(hidden)} items is"
    named = dataset.facts["held_back"]["truth_dataset"]
    return (
        f"the truth of {whose} held back: score them with the dataset {named!r}, for example FOLDER-truth, which `export freeze "
        "--hold-back` wrote beside it"
    )


def open_part(dataset: Dataset) -> Dataset:
    """The items whose truth is there, with what is left of the slices; the dataset itself where that is all.

    Raises:
        InputError: the truth of every item is held back.
    """
    words = held_back_words(dataset)
    if words is None:
        return dataset
    items = tuple(filter(frozen.has_truth, dataset.items))
    if not items:
        raise InputError(words)
    ids = {row["item_id"] for row in items}
    limited = (replace(one, item_ids=tuple(name for name in one.item_ids if name in ids)) for one in dataset.slices)
    return replace(dataset, items=items, slices=tuple(one for one in limited if one.item_ids))


def check_truths(dataset: Dataset) -> None:
    """Raise ``InputError`` unless every item has its truth."""
    if words := held_back_words(dataset):
        raise InputError(words)


def remember_inputs(run: Path, dataset: Dataset) -> None:
    """Keep in a run folder what its predictions of held-back items are made from."""
    if inputs := _inputs(dataset, held=True):
        write_atomically(run / _SEEN, json.dumps(inputs, indent=1, sort_keys=True).encode() + b"\n")


def is_truth_of(run: Path, dataset: Dataset, *, bound: str) -> bool:
    """Whether ``dataset`` holds the truth of the items that a run folder has predictions of.

    It does where it names the manifest ``bound`` (SHA-256) that the run is for; or where the items that both have, at least one,
    have the same inputs: a public dataset that was fetched in part, or with licences stated for it, has another manifest.
    """
    told: Mapping[str, Any] | None = dataset.facts.get("truth_of")
    if told is None:
        return False
    if told.get("manifest_sha256") == bound:
        return True
    try:
        seen: dict[str, str] = json.loads((run / _SEEN).read_text())
    except (OSError, ValueError):
        return False
    own = _inputs(dataset, held=False)
    both = set(seen) & set(own)
    return bool(both) and all(seen[name] == own[name] for name in both)


def _inputs(dataset: Dataset, *, held: bool) -> dict[str, str | None]:
    return {row["item_id"]: row.get("input_sha256") for row in dataset.items if not (held and frozen.has_truth(row))}
