"""Tables of the pages as text that goes elsewhere: LaTeX with the rules of booktabs, and CSV."""

from __future__ import annotations

import csv
import io
import re

from inpaintbench.pages.tables import Cell, Table
from inpaintbench.pages.words import DASH

_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "→": r"$\rightarrow$",
    "±": r"$\pm$",
    "−": "$-$", "–": "--", "∞": r"$\infty$", "≈": r"$\approx$", "≤": r"$\leq$", "≥": r"$\geq$", "×": r"$\times$", "·": r"$\cdot$",
}  # fmt: skip
# What a spreadsheet would take for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[-+]?[0-9.,]+(e[-+]?[0-9]+)?")


def latex(table: Table, *, comment: str = "") -> str:
    """A ``tabular`` for the package booktabs: no vertical rules, numbers to the right, the best bold, small print small.

    Args:
        table: as the pages draw it.
        comment: stands before it, line by line.
    """
    columns = "".join("r" if column.numeric else "l" for column in table.columns)
    lines = [*(f"% {line}" for line in comment.splitlines()), rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    if table.groups:
        lines += _group_lines(table)
    lines += [_line([escaped(column.label) + _small(column.note) for column in table.columns]), r"\midrule"]
    for place, row in enumerate(table.rows):
        # References do not compete, so a rule stands between them and the others.
        if row.kind == "floor" and place and table.rows[place - 1].kind != "floor":
            lines.append(r"\midrule")
        lines.append(_line([_latex_cell(cell) for cell in row.cells]))
    lines.append(r"\bottomrule")
    if table.foot:
        words = rf"\multicolumn{{{len(columns)}}}{{@{{}}p{{\linewidth}}@{{}}}}{{\scriptsize {escaped(table.foot)}}}"
        lines.append(_line([words]))
    return "\n".join([*lines, r"\end{tabular}", ""])


def _group_lines(table: Table) -> list[str]:
    cells, rules, place = [], [], 1
    for label, span in table.groups:
        cells.append(rf"\multicolumn{{{span}}}{{c}}{{{escaped(label)}}}" if label else "&".join([" "] * span))
        if label:
            rules.append(rf"\cmidrule(lr){{{place}-{place + span - 1}}}")
        place += span
    return [_line(cells), "".join(rules)]


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_cell(cell: Cell) -> str:
    text = str(cell.text)
    words = "--" if text in (DASH, "") else escaped(text)
    words = rf"\textbf{{{words}}}" if cell.strong else words
    return words + _small(cell.note, cell.below)


def _small(*notes: object) -> str:
    words = "; ".join(escaped(str(note)) for note in notes if note)
    return rf" {{\scriptsize {words}}}" if words else ""


def escaped(text: str) -> str:
    """Text in which nothing is a command of LaTeX."""
    return "".join(_ESCAPES.get(letter, letter) for letter in text)


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
    writer.writerows([map(_guarded, row) for row in zip(*(texts for _, texts in columns), strict=True)])
    return out.getvalue()


def _guarded(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text
