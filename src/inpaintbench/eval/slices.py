"""What belongs together in a dataset: sources, and the slice of everything."""

from __future__ import annotations

from inpaintbench.types import Dataset, Plain, Slice

ALL_ITEMS = "all items"
"""Name of the slice that takes every item of the dataset once."""


def everything(dataset: Dataset) -> Slice:
    """All items of the dataset as a slice."""
    return Slice(name=ALL_ITEMS, rule="every item once", item_ids=tuple(row["item_id"] for row in dataset.items))


def source_of(row: Plain) -> str:
    """What an item comes from: the film, person or finger that its benchmark never splits, else the file."""
    group = row.get("attributes", {}).get("split_group")
    return str(row["source_id"] if group is None else group)
