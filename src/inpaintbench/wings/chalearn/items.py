"""Items of the challenges' benchmarks: one for each corruption, with slices by what is known of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inpaintbench.export import slices
from inpaintbench.recipes import levels, stages
from inpaintbench.types import Corruption, Item, Slice, content_id
from inpaintbench.workspace import Workspace

# Slices of one attribute, and those without items with the reason.
Sliced = tuple[list[Slice], dict[str, str]]


def write_items(
    recipe: Any,
    workspace: Workspace,
    made: Sequence[Corruption],
    *,
    groups: Mapping[str, str],
    sliced: Callable[[Mapping[str, Corruption]], list[Sliced]],
    axis: levels.LevelsOf,
    pairs: Mapping[str, Mapping[str, Corruption]],
    empty: str,
) -> None:
    """Write items and slices, each item in the split of its clip's group.

    Args:
        recipe: with ``splits`` and ``seed``.
        workspace: with the clips.
        made: the corruptions.
        groups: clip id -> what has to stay in one split.
        sliced: slices from item id -> corruption.
        axis: what items of one clip differ in where the design is paired.
        pairs: clip id -> level of ``axis`` -> corruption; nothing in other designs.
        empty: why there may be no items, for an error.

    Raises:
        RunError: no items at all.
    """
    split_of = stages.split_of(recipe, workspace, groups)
    rows = {row.corruption_id: row for row in made}
    items = [Item(content_id(row.clip_id, key), row.clip_id, key, split_of[row.clip_id]) for key, row in rows.items()]
    row_of = {item.item_id: rows[item.corruption_id] for item in items}
    found = sliced(row_of)
    parts = [slices.everything(list(row_of)), *(part for several, _ in found for part in several)]
    left_out = {name: why for _, missing in found for name, why in missing.items()}
    parts += levels.write(workspace, axis, pairs, items)
    stages.write_items(workspace, items, parts, left_out, empty=empty)
