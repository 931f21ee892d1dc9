"""How hard the items are: the main attributes over the whole and in each slice, with their pictures."""

from __future__ import annotations

import statistics as numbers
from collections.abc import Sequence

from inpaintbench.export.card import content
from inpaintbench.export.card.measures import Measure, present
from inpaintbench.export.card.plots import Plot
from inpaintbench.export.card.words import number, table
from inpaintbench.frozen import has_truth
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
    columns = ["slice", *(_column(one, dataset.items) for one in measures)]
    whole = [["all items", *(_spread(one, dataset.items) for one in measures)]]
    of_slices = [
        [f"`{part.name}`", *(_spread(one, [rows[item] for item in part.item_ids]) for one in measures)] for part in dataset.slices
    ]
    told = [_legend(dataset.items, measures), ""]
    if len(of_slices) <= _UNFOLDED:
        return [*told, *table(columns, whole + of_slices)]
    folded = ["<details><summary>Of each slice</summary>", "", *table(columns, of_slices), "</details>", ""]
    return [*told, *table(columns, whole), *folded]


def _spread(measure: Measure, rows: Sequence[Plain]) -> str:
    counting = measure.counting(rows)
    values = [measure.scale * value for row in counting if (value := measure.of(row)) is not None]
    if not values:
        return "-"
    low, high = number(min(values)), number(max(values))
    brackets = [*([f"{low} to {high}"] if low != high else []), *_missing(measure, counting)]
    return number(numbers.median(values)) + (f" ({', '.join(brackets)})" if brackets else "")


def _missing(measure: Measure, counting: Sequence[Plain]) -> list[str]:
    """How many have no number; what is held back apart."""
    without = [row for row in counting if measure.of(row) is None]
    hidden = sum(not has_truth(row) for row in without)
    counts = {"held back": hidden, "unknown": len(without) - hidden}
    return [f"{count} {words}" for words, count in counts.items() if count]


def _column(measure: Measure, rows: Sequence[Plain]) -> str:
    unit = f", {measure.unit}" if measure.unit else ""
    return f"{measure.title}{unit} (of {content.things(rows)})" if measure.of_clips else f"{measure.title}{unit}"


def _legend(rows: Sequence[Plain], measures: Sequence[Measure]) -> str:
    things = content.things(rows)
    told = "Median, and in brackets the smallest and largest value where they differ; “-” where there is none."
    if any(one.of_clips for one in measures):
        told += f" A column of {things} counts each of them once, however many items it has; others count items."
    without = " ".join(word for one in measures for word in _missing(one, one.counting(rows)))
    if "unknown" in without:
        told += " “Unknown”: so many have no value, since nobody labelled them or it could not be measured on them."
    if "held back" in without:
        told += " “Held back”: of so many the truth is not here, and nothing measured on it is told."
    return told
