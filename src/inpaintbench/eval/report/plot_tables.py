"""The numbers behind the plots as tables, for readers without scripts or without sight."""

from __future__ import annotations

from inpaintbench.eval.report.labels import name_label, quantity_title, slice_label
from inpaintbench.eval.report.quantity import Quantity, metric_leaf
from inpaintbench.eval.report.tables import Results, in_reading_order, pair_slices, split_level
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.words import number, signed_percent


def difficulty_table(results: Results, quantity: Quantity) -> Table:
    """The mean over methods of every slice, with its standard error."""
    decimals = metric_leaf(quantity.metric).decimals
    rows = []
    for part in in_reading_order(results.slices):
        spread, level = results.difficulty(part, quantity), split_level(part.name)[1]
        numbers = (number(spread.mean, decimals), number(spread.standard_error, decimals), spread.n)
        rows.append(Row((Cell(slice_label(part.name), tags=(level,) if level else ()), *map(Cell, numbers))))
    heads = ("Mean over methods", "Standard error", "Methods")
    return Table(
        (Column("Slice"), *(Column(head, numeric=True) for head in heads)),
        tuple(rows),
        caption=f"{quantity_title(quantity)}, mean over methods",
    )


def improvement_table(results: Results, quantity: Quantity) -> Table:
    """The relative improvement of every method from low to high; a row for each method, a column for each attribute."""
    pairs = pair_slices(results.slices)
    rows = (
        Row(
            (
                Cell(method, method=method, reference=method in results.references),
                *(Cell(signed_percent(results.improvement(pair, method, quantity))) for pair in pairs),
            ),
            kind="floor" if method in results.references else "",
            key=method,
        )
        for method in results.methods
    )
    return Table(
        (Column("Method"), *(Column(name_label(pair.attribute), numeric=True) for pair in pairs)),
        tuple(rows),
        caption=f"{quantity_title(quantity)}, change from low to high",
    )
