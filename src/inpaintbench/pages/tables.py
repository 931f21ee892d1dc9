"""A table as plain data, drawn by one macro: sorted by its heads, with a first column that stays in sight."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal, NamedTuple

from inpaintbench.pages.panels import Stack
from inpaintbench.pages.words import DASH


class Tag(NamedTuple):
    """A small tag with a look of its own."""

    text: str
    kind: str
    """A class of the stylesheet: ``good``, ``warn``, ``high``, ``more``."""
    title: str = ""
    """Told where the pointer rests."""


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    label: str
    numeric: bool = False
    """Stands to the right."""
    wide: bool = False
    """Holds sentences, and keeps room for them where the window is narrow."""
    sorts: bool = False
    """A click on its head sorts the rows by it."""
    group: str = ""
    """Head above the columns that follow one another with the same one."""
    note: str = ""
    """Small print below the label."""
    method: str = ""
    """The method whose name the label is; drawn with its colour."""
    title: str = ""
    href: str = ""
    falling: bool = True
    """The first click puts the largest first."""
    sorted: Literal["none", "ascending", "descending"] = "none"
    """Order of the rows when the page opens."""
    ticks: tuple[tuple[float, str], ...] = ()
    """Places 0..1 on the scale of the column's whiskers, and what stands there; such a column takes the room that is left."""
    key: str = ""
    """Key by which scripts find it."""


@dataclass(frozen=True)
class Cell:
    """One cell: a text, and what may stand around it. Texts are escaped."""

    text: object = ""
    value: float | str | None = None
    """Value to sort by; None comes last."""
    note: object = ""
    """Small print beside the text."""
    below: object = ""
    """Small print below, on lines of its own."""
    kind: str = ""
    """A class of the stylesheet: ``warn``."""
    title: str = ""
    """Told where the pointer rests."""
    strong: bool = False
    """The best of its column, where a best may be claimed."""
    method: str = ""
    """The method whose name the text is, in its own words or another's."""
    reference: bool = False
    """That method does not compete."""
    href: str = ""
    tags: tuple[str | Tag, ...] = ()
    whisker: tuple[float, float | None, float | None] | None = None
    """A value and the ends of its interval, as shares 0..1 of a scale that the table's cells have in common."""
    band: tuple[float, float] | None = None
    """Ends of a part of the whisker's scale, such as what was asked for; shares 0..1."""
    bar: float | None = None
    """Length of a bar below the text, a share 0..1 of the longest."""
    stack: Stack | None = None
    """A bar of parts above the text."""
    picture: str = ""
    """Address of a picture above the text."""
    shade: float | None = None
    """-1..1: how dark the cell is, negative ones in the other hue."""
    method_colour: str = ""
    """The method whose colour the whisker and the tint of a strong cell have."""


@dataclass(frozen=True)
class Row:
    """One row; its first cell is its head."""

    cells: tuple[Cell, ...]
    kind: str = ""
    """A class of the stylesheet: ``floor`` for a reference method, ``total``."""
    key: str = ""
    """Key by which scripts find it."""


@dataclass(frozen=True)
class Table:
    """A whole table."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: object = ""
    foot: str = ""
    """Line below the rows that goes wherever the table is copied."""
    label: str = ""
    """Name for screen readers, where it has no caption."""
    kind: str = ""
    """A class of the stylesheet."""
    picks_columns: bool = False
    """The reader may hide columns."""
    picked: tuple[int, ...] = ()
    """Columns, from 0, that are seen beside the first one before the reader chose; () = all."""
    finds: bool = False
    """The reader may search for rows by text."""
    copies: bool = False
    """The reader may copy it as LaTeX and as CSV."""
    data: dict[str, str] = field(default_factory=dict)
    """Attributes ``data-NAME`` of its box."""

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Heads above the columns and how many each spans; empty where no column has one."""
        runs = [list(run) for _, run in groupby(self.columns, key=lambda column: column.group or object())]
        return [(run[0].group, len(run)) for run in runs] if any(column.group for column in self.columns) else []


def simple(
    heads: list[str] | tuple[str, ...],
    rows: list[list[object]],
    *,
    label: str,
    numeric: tuple[int, ...] = (),
    sorts: bool = False,
) -> Table:
    """A table of texts; ``numeric`` are the places of columns that stand to the right; ``sorts``: by cells' values."""
    return Table(
        tuple(Column(head, numeric=place in numeric, sorts=sorts, falling=not sorts) for place, head in enumerate(heads)),
        tuple(Row(tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in row)) for row in rows),
        label=label,
    )


_ESCAPES = str.maketrans({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "→": r"$\rightarrow$",
    "±": r"$\pm$",
    "−": "$-$", "–": "--", "∞": r"$\infty$", "≈": r"$\approx$", "≤": r"$\leq$", "≥": r"$\geq$", "×": r"$\times$", "·": r"$\cdot$",
    "†": r"$\dagger$",
})  # fmt: skip
# What a spreadsheet would take for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[-+]?[0-9.,]+(e[-+]?[0-9]+)?")


def latex(table: Table, *, comment: str = "", stacked: bool = False) -> str:
    """A ``tabular`` for the package booktabs: no vertical rules, numbers to the right, the best bold, small print small.

    Args:
        table: as the pages draw it.
        comment: stands before it, line by line.
        stacked: small print of cells below their numbers, not beside them.
    """
    columns = "".join("r" if column.numeric else "l" for column in table.columns)
    lines = [*(f"% {line}" for line in comment.splitlines()), rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    if table.groups:
        heads, rules, place = [], "", 1
        for label, span in table.groups:
            heads.append(rf"\multicolumn{{{span}}}{{c}}{{{escaped(label)}}}" if label else "&".join([" "] * span))
            rules += rf"\cmidrule(lr){{{place}-{place + span - 1}}}" if label else ""
            place += span
        lines += [_line(heads), rules]
    lines += [_line([escaped(column.label) + _small(column.note) for column in table.columns]), r"\midrule"]
    for place, row in enumerate(table.rows):
        # References do not compete, and measured rows are no printed ones: a rule stands between them and the others.
        if row.kind in ("floor", "total") and place and table.rows[place - 1].kind != row.kind:
            lines.append(r"\midrule")
        cells = []
        for cell in row.cells:
            words = "--" if str(cell.text) in (DASH, "") else escaped(str(cell.text))
            words, small = rf"\textbf{{{words}}}" if cell.strong else words, _small(cell.note, cell.below)
            two = rf"\begin{{tabular}}[t]{{@{{}}r@{{}}}}{words}\\[-2pt]{small.lstrip()}\end{{tabular}}"
            cells.append(two if stacked and small else words + small)
        lines.append(_line(cells))
    lines.append(r"\bottomrule")
    if table.foot:
        words = rf"\multicolumn{{{len(columns)}}}{{@{{}}p{{\linewidth}}@{{}}}}{{\scriptsize {escaped(table.foot)}}}"
        lines.append(_line([words]))
    return "\n".join([*lines, r"\end{tabular}", ""])


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _small(*notes: object) -> str:
    words = "; ".join(escaped(str(note)) for note in notes if note)
    return rf" {{\scriptsize {words}}}" if words else ""


def escaped(text: str) -> str:
    """Text in which nothing is a command of LaTeX."""
    return text.translate(_ESCAPES)


def comma_separated(table: Table) -> str:
    """CSV: a head, and a row for each of the table; full values where cells have them.

    A column with small print below its numbers, such as what a mean leaves out, is followed by one with that; one with bold
    numbers by one that says which they are. The line below the table is the first of a last column, ``Note``.
    """
    columns: list[tuple[str, list[str]]] = []
    for place, column in enumerate(table.columns):
        head, cells = ": ".join(filter(None, (column.group, column.label))), [row.cells[place] for row in table.rows]
        texts = [str(cell.text) if isinstance(cell.value, str | None) else repr(cell.value) for cell in cells]
        columns.append((head, texts))
        if any(cell.below for cell in cells):
            columns.append((f"{head}: note", [str(cell.below) for cell in cells]))
        if any(cell.strong for cell in cells):
            columns.append((f"{head}: bold", ["bold" if cell.strong else "" for cell in cells]))
    if table.foot and table.rows:
        columns.append(("Note", [table.foot, *[""] * (len(table.rows) - 1)]))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([head for head, _ in columns])
    for row in zip(*(texts for _, texts in columns), strict=True):
        formulas = (text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) for text in row)
        writer.writerow([f"'{text}" if formula else text for text, formula in zip(row, formulas, strict=True)])
    return out.getvalue()
