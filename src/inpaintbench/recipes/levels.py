"""Items of one clip that differ in the level of one property, of recipes that make them by themselves.

They are told as the axes of DEVIL's paired designs are (``paired``): by attributes, slices and a fact of the dataset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from inpaintbench.recipes.paired import FACT
from inpaintbench.steps import AXES_OF_ITEMS, LEVEL_OF, PAIR_OF
from inpaintbench.types import Attribute, Corruption, Item, Slice
from inpaintbench.workspace import Workspace


class LevelsOf(NamedTuple):
    """A property and its levels, the least first."""

    name: str
    levels: tuple[str, ...]
    property: str
    """In words."""
    truth: str
    """What items of every level are scored against, in words."""


def write(
    workspace: Workspace, axis: LevelsOf, groups: Mapping[str, Mapping[str, Corruption]], items: Sequence[Item]
) -> list[Slice]:
    """Write the places of items and return a slice for each level.

    Args:
        workspace: gets the attributes; those of an earlier run go.
        axis: what differs.
        groups: what shares all else -> level -> its corruption, the same levels in each.
        items: all items.
    """
    item_of = {item.corruption_id: item.item_id for item in items}
    places, members = [], dict[str, list[str]]()
    for group, of_levels in groups.items():
        for level, row in of_levels.items():
            places.append(Attribute(row.corruption_id, f"{LEVEL_OF}{axis.name}", level, None, "axis", "1"))
            places.append(Attribute(row.corruption_id, f"{PAIR_OF}{axis.name}", group, None, "axis", "1"))
            members.setdefault(level, []).append(item_of[row.corruption_id])
    workspace.write_table("attributes", AXES_OF_ITEMS, places, Attribute)
    rule = f"{LEVEL_OF}{axis.name}"
    return [
        Slice(f"{axis.name}-{level}", f"{rule} == '{level}'", tuple(members[level])) for level in axis.levels if level in members
    ]


def facts(workspace: Workspace, axis: LevelsOf) -> dict[str, Any]:
    """What a dataset says of the axis, with the levels that are there; nothing where no item has a place on it."""
    places = workspace.columns("attributes", Attribute, step=AXES_OF_ITEMS, where=("name", [f"{LEVEL_OF}{axis.name}"]))
    there = set(places["value_text"].to_pylist())
    levels = [level for level in axis.levels if level in there]
    return {FACT: [{**axis._asdict(), "levels": levels}]} if levels else {}
