"""Results laid out as the paper's Tables 1-3 and 6-14, from any runs or from the published numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from inpaintbench.pages.words import number

OBJECTIVE_HEADS = {"0-1": "Original-First", "0-2": "Original-Second", "1-2": "First-Second"}
HIGHER = {"psnr": True, "ssim": True, "lpips": False}


class Cell(NamedTuple):
    """What one number of the tables is of."""

    second: str
    """F2."""
    ratio: str
    """Second masks in words: ``40%``."""
    first: str
    """Bin of first masks in words: ``20-40%``."""
    method: str
    """F1."""
    objective: str
    submetric: str


@dataclass(frozen=True)
class Grid:
    """Means over items for every combination of some axes; a combination without a number is None."""

    seconds: tuple[str, ...]
    ratios: tuple[str, ...]
    firsts: tuple[str, ...]
    methods: tuple[str, ...]
    objectives: tuple[str, ...]
    submetrics: tuple[str, ...]
    values: Mapping[Cell, float | None]
    origin: str = ""
    """Where the numbers come from, for the head of a file."""
    unsure: str | None = None
    """Why no number stands out as the best; None where the best of a block is in bold."""
    left_out: Mapping[Cell, int] = field(default_factory=dict)
    """How many infinite values are in no mean, for the combinations that have any."""

    def value(self, cell: Cell) -> float | None:
        """The mean, or None."""
        return self.values.get(cell)


class Table(NamedTuple):
    """One table: heads, rows of names and numbers, and which of its columns are of what."""

    name: str
    title: str
    labels: tuple[str, ...]
    """Heads of the columns of names."""
    columns: tuple[tuple[str, str], ...]
    """Of each column of numbers the head and the sub-metric."""
    rows: tuple[tuple[tuple[str, ...], tuple[float | None, ...]], ...]
    blocks: int
    """How many of the names make a block, within which the best numbers stand out."""


def tables_of(grid: Grid, *, ratio: str | None = None, submetric: str | None = None) -> list[Table]:
    """All tables that a grid can fill: the paper's Tables 1, 2 and 3, and one for each bin and ratio (Tables 6-14).

    Args:
        grid: the numbers.
        ratio: the fixed one of Tables 1 and 3; the middle one by default, 40% in the paper.
        submetric: the one of Tables 1 and 2; the last by default, LPIPS in the paper.
    """
    fixed = ratio or grid.ratios[len(grid.ratios) // 2]
    chosen = submetric or grid.submetrics[-1]
    found = []
    for second in grid.seconds:
        suffix = "" if second == grid.seconds[0] else f"_{second}"
        found.append(_objectives(grid, second, fixed, chosen, name=f"table_1{suffix}"))
        if "1-2" in grid.objectives:
            found.append(_ratios(grid, second, chosen, name=f"table_2{suffix}"))
    if "1-2" in grid.objectives:
        found.append(_seconds(grid, fixed))
    return found + [_full(grid, first, one) for first, one in product(grid.firsts, grid.ratios)]


def _objectives(grid: Grid, second: str, ratio: str, submetric: str, *, name: str) -> Table:
    columns = tuple((objective.replace("-", "-to-"), submetric) for objective in grid.objectives)
    rows = tuple(
        ((first, method), tuple(grid.value(Cell(second, ratio, first, method, one, submetric)) for one in grid.objectives))
        for first, method in product(grid.firsts, grid.methods)
    )
    title = f"{submetric.upper()} by objective, second method {second}, second masks {ratio} (as Table 1)"
    return Table(name, title, ("First masks", "Method"), columns, rows, 1)


def _ratios(grid: Grid, second: str, submetric: str, *, name: str) -> Table:
    columns = tuple((ratio, submetric) for ratio in grid.ratios)
    rows = tuple(
        ((first, method), tuple(grid.value(Cell(second, ratio, first, method, "1-2", submetric)) for ratio in grid.ratios))
        for first, method in product(grid.firsts, grid.methods)
    )
    title = f"D with {submetric.upper()} by second masks, second method {second} (as Table 2)"
    return Table(name, title, ("First masks", "Method"), columns, rows, 1)


def _seconds(grid: Grid, ratio: str) -> Table:
    pairs = tuple(product(grid.firsts, grid.submetrics))
    rows = tuple(
        ((second, method), tuple(grid.value(Cell(second, ratio, first, method, "1-2", name)) for first, name in pairs))
        for second, method in product(grid.seconds, grid.methods)
    )
    columns = tuple((f"{first} {name.upper()}", name) for first, name in pairs)
    return Table("table_3", f"D by second method, second masks {ratio} (as Table 3)", ("Second", "Method"), columns, rows, 1)


def _full(grid: Grid, first: str, ratio: str) -> Table:
    pairs = tuple(product(grid.objectives, grid.submetrics))
    rows = tuple(
        ((second, method), tuple(grid.value(Cell(second, ratio, first, method, objective, name)) for objective, name in pairs))
        for second, method in product(grid.seconds, grid.methods)
    )
    columns = tuple((f"{OBJECTIVE_HEADS[objective]} {name.upper()}", name) for objective, name in pairs)
    title = f"First masks {first}, second masks {ratio} (as Tables 6-14)"
    return Table(f"full_{_safe(first)}_{_safe(ratio)}", title, ("Second", "Method"), columns, rows, 1)


def as_markdown(table: Table, *, bold: bool = True) -> str:
    """The table, with ``bold`` the best number of each block and column in bold; None is a dash."""
    heads = [*table.labels, *(head for head, _ in table.columns)]
    lines = [heads, [*["---"] * len(table.labels), *["---:"] * len(table.columns)]]
    for names, values in table.rows:
        block = [row for other, row in table.rows if other[: table.blocks] == names[: table.blocks]]
        cells = [
            _bold(value, submetric, [row[place] for row in block] if bold else [])
            for place, (value, (_, submetric)) in enumerate(zip(values, table.columns, strict=True))
        ]
        lines.append([*names, *cells])
    body = "\n".join(f"| {' | '.join(_escaped(cell) for cell in line)} |" for line in lines)
    return f"## {_escaped(table.title)}\n\n{body}\n"


def as_csv(table: Table) -> str:
    """One row for each row of the table; None is an empty cell, infinity is ``inf``."""
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow([*(label.lower().replace(" ", "_") for label in table.labels), *(head for head, _ in table.columns)])
    writer.writerows([*names, *("" if value is None else value for value in values)] for names, values in table.rows)
    return sink.getvalue()


def as_long_csv(grid: Grid) -> str:
    """Every number of the grid on a row of its own."""
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow([*Cell._fields, "value", "n_infinite"])
    axes = (grid.seconds, grid.ratios, grid.firsts, grid.methods, grid.objectives, grid.submetrics)
    for cell in map(Cell._make, product(*axes)):
        value = grid.value(cell)
        writer.writerow([*cell, "" if value is None else value, grid.left_out.get(cell, 0)])
    return sink.getvalue()


def _bold(value: float | None, submetric: str, column: Sequence[float | None]) -> str:
    words = number(value, 4)
    known = [one for one in column if one is not None]
    if value is None or len(known) < 2:
        return words
    best = max(known) if HIGHER[submetric] else min(known)
    return f"**{words}**" if value == best else words


def _escaped(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def _safe(words: str) -> str:
    return "".join(letter if letter.isalnum() or letter == "-" else "" for letter in words)
