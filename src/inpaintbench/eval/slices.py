"""What belongs together in a dataset: sources, and the slice of everything."""

from __future__ import annotations

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import UnknownNameError
from inpaintbench.types import Dataset, Plain, Slice

# Name of the slice that takes every item of the dataset once.
ALL_ITEMS = "all items"


def everything(dataset: Dataset) -> Slice:
    """All items of the dataset as a slice."""
    return Slice(name=ALL_ITEMS, rule="every item once", item_ids=tuple(row["item_id"] for row in dataset.items))


def source_of(row: Plain) -> str:
    """What an item comes from: the film, person or finger that its benchmark never splits, else the file."""
    group = row.get("attributes", {}).get("split_group")
    return str(row["source_id"] if group is None else group)


def named(dataset: Dataset, name: str) -> Slice:
    """A slice of the dataset, all its items by ``ALL_ITEMS``, or those of a split as ``split-test``.

    Raises:
        UnknownNameError: no such slice.
    """
    splits = {f"split-{split}": split for split in dict.fromkeys(row.get("split", "test") for row in dataset.items)}
    known = {one.name: one for one in dataset.slices}
    if name == ALL_ITEMS and name not in known:
        return everything(dataset)
    if name in splits and name not in known:
        ids = tuple(row["item_id"] for row in dataset.items if row.get("split", "test") == splits[name])
        return Slice(name, f"items of the split {splits[name]}", ids)
    if name not in known:
        raise UnknownNameError(unknown_name("slice", name, [*known, *splits, ALL_ITEMS]))
    return known[name]
