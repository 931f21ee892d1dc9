"""How hard the items are: the main attributes over the whole and in each slice, with their pictures."""

from __future__ import annotations

import statistics as numbers
from collections.abc import Sequence

from inpaintbench.export.card.measures import Measure, present
from inpaintbench.export.card.plots import Plot
from inpaintbench.export.card.words import number, table
from inpaintbench.types import Dataset, Plain

_MOST_COLUMNS = 4
_UNFOLDED = 12


def statistics(dataset: Dataset, pictures: Sequence[Plot]) -> list[str]:
    """Pictures, then the numbers behind them; many slices are folded."""
    lines = ["## Statistics", ""]
    for one in pictures:
        lines += [f"![{one.alt}]({one.path})", ""]
    measures = present(dataset.items, most=_MOST_COLUMNS)
    if measures:
        lines += _of_slices(dataset, measures)
    return lines


def _of_slices(dataset: Dataset, measures: Sequence[Measure]) -> list[str]:
    rows = {row["item_id"]: row for row in dataset.items}
    columns = ["slice", *(f"{one.title}{f', {one.unit}' if one.unit else ''}" for one in measures)]
    whole = [["all items", *(_spread(one, dataset.items) for one in measures)]]
    of_slices = [
        [f"`{part.name}`", *(_spread(one, [rows[item] for item in part.item_ids]) for one in measures)] for part in dataset.slices
    ]
    told = ["Median, and in brackets the smallest and largest value; “-” where no item has one.", ""]
    if len(of_slices) <= _UNFOLDED:
        return [*told, *table(columns, whole + of_slices)]
    folded = ["<details><summary>Of each slice</summary>", "", *table(columns, of_slices), "</details>", ""]
    return [*told, *table(columns, whole), *folded]


def _spread(measure: Measure, rows: Sequence[Plain]) -> str:
    values = [measure.scale * value for row in rows if (value := measure.of(row)) is not None]
    if not values:
        return "-"
    missing = f", {len(rows) - len(values)} without" if len(values) < len(rows) else ""
    return f"{number(numbers.median(values))} ({number(min(values))} to {number(max(values))}{missing})"
