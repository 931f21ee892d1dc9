"""The table of all items: what its filters offer, and its first rows for readers without scripts."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from inpaintbench.eval.report.item_records import Attribute, attributes_of, held_quantities, source_names
from inpaintbench.eval.report.labels import metric_label, quantity_label, quantity_title
from inpaintbench.eval.report.quantity import Quantity, metric_leaf
from inpaintbench.eval.report.standouts import finite_values, spread
from inpaintbench.eval.report.tables import Results, in_reading_order
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.words import count, number

# Of the scatter plot, where items have it; else the first number.
_FIRST_ATTRIBUTE = "hole.hole_fraction"
# Rows that are there without scripts.
STATIC_ROWS = 50


def items_part(results: Results, shown: Mapping[str, str], *, default: Quantity) -> dict[str, Any] | None:
    """What the section of items takes; None where no metric has values of items.

    Args:
        results: the scores.
        shown: item -> id of the element that plays it.
        default: what the rows are ordered by without scripts.
    """
    held = held_quantities(results, default)
    if not held or default not in held:
        return None
    attributes = attributes_of(results.dataset.items)
    return {
        "quantities": [(f"{one.metric}/{one.region}", quantity_label(one)) for one in held],
        "chosen": f"{default.metric}/{default.region}",
        "slices": [(str(index), part.name) for index, part in enumerate(in_reading_order(results.slices))],
        "numbers": _choices(attributes, numeric=True),
        "words": _choices(attributes, numeric=False),
        "first": next((str(index) for index, one in enumerate(attributes) if one.name == _FIRST_ATTRIBUTE), None),
        "table": _table(results, shown, default),
        "n_items": len(results.sources),
        "left_out": _left_out(results, held),
    }


def _choices(attributes: Sequence[Attribute], *, numeric: bool) -> list[tuple[str, str]]:
    return [(str(index), one.label) for index, one in enumerate(attributes) if one.numeric == numeric]


def _table(results: Results, shown: Mapping[str, str], default: Quantity) -> Table:
    """The first items, worst first, with the value of every method."""
    values = {item_id: finite_values(results, item_id, default) for item_id in results.sources}
    known = [item_id for item_id, finite in values.items() if finite]
    known.sort(key=lambda item_id: statistics.fmean(values[item_id]), reverse=not default.higher_is_better)
    rest = [item_id for item_id in values if not values[item_id]]
    names = source_names(results)
    rows = [_row(results, item_id, shown.get(item_id), names[item_id], default) for item_id in (known + rest)[:STATIC_ROWS]]
    first = f"The first {STATIC_ROWS} of {len(results.sources):,} items" if len(results.sources) > STATIC_ROWS else "All items"
    return Table(
        columns=(
            Column("Item"),
            Column("Slices"),
            *(Column(method, numeric=True, method=method) for method in results.methods),
            Column("Mean", numeric=True),
            Column("Spread", numeric=True),
        ),
        rows=tuple(rows),
        caption=f"{first} by {quantity_title(default)}, worst first.",
        label="Table of items",
        kind="items",
    )


def _row(results: Results, item_id: str, element: str | None, source: str | None, default: Quantity) -> Row:
    decimals = metric_leaf(default.metric).decimals
    finite = finite_values(results, item_id, default)
    values = [results.value(method, item_id, default) for method in results.methods]
    values += [statistics.fmean(finite) if finite else None, spread(finite)]
    slices = ", ".join(part.name for part in results.slices if item_id in part.item_ids)
    name = Cell(item_id, href=f"#{element}" if element else "", below=source or "")
    return Row((name, Cell(slices), *(Cell(number(value, decimals)) for value in values)))


def _left_out(results: Results, held: Sequence[Quantity]) -> list[str]:
    of_sets = [one for one in results.quantities if one.of_sets]
    too_many = [one for one in results.quantities if not one.of_sets and one not in held]
    sentences = []
    if of_sets:
        names = ", ".join(dict.fromkeys(metric_label(one.metric) for one in of_sets))
        sentences.append(f"{names} compare sets of items: no item has a value of its own.")
    if too_many:
        further = count(len(too_many), "further quantity")
        sentences.append(f"{further} of items are too much for a page: they are in scores.csv.")
    return sentences
