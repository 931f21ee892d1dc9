"""What stands in a table of the page, by names instead of places."""

from __future__ import annotations

from inpaintbench.pages import Cell, Row, Table


def row_of(table: Table, key: str) -> Row:
    """The row that scripts find by ``key``, mostly the name of a method."""
    return next(row for row in table.rows if row.key == key)


def cell(table: Table, row: str, column: str) -> Cell:
    """The cell of a row and a column, each by its key."""
    return row_of(table, row).cells[[one.key for one in table.columns].index(column)]


def column(table: Table, key: str) -> dict[str, Cell]:
    """The cells of a column by the keys of their rows."""
    return {row.key: cell(table, row.key, key) for row in table.rows}


def strong(table: Table, key: str) -> list[object]:
    """The texts of a column that are claimed to be best."""
    return [one.text for one in column(table, key).values() if one.strong]
