"""Parts that several sections share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.panels import Bar, Bars
from inpaintbench.pages.words import percent


def count_bars(rows: Sequence[tuple[str, int]], *, label: str) -> Bars:
    """Return how often each answer was given, with its share of all; the longest bar is that of the most."""
    total, most = sum(n for _, n in rows), max((n for _, n in rows), default=0) or 1
    return Bars(label, tuple(Bar(name, n / most, f"{n:,}", percent(n / total if total else None)) for name, n in rows))


def per_hundred(share: float) -> str:
    """A share 0..1 as a whole number of hundredths."""
    return f"{100 * share:.0f}"


def heat(
    rows: Sequence[str], columns: Sequence[str], shades: npt.NDArray[np.float64], *,
    corner: str, label: str, written: Callable[[float], str], caption: str = "", framed: bool = False,
) -> Table:  # fmt: skip
    """A table whose cells are the darker the larger a number is, negative ones in the other hue.

    Args:
        rows: their heads; what follows a line break is small print.
        columns: their heads.
        shades: -1..1, of shape (rows, columns); NaN is an empty cell.
        corner: what the rows are, in the corner.
        label: for screen readers.
        written: a shade -> the cell's text.
        caption: stands above.
        framed: the diagonal is, where rows and columns are the same things.
    """
    lines = []
    for place, head in enumerate(rows):
        name, _, note = head.partition("\n")
        cells = [
            Cell() if np.isnan(shade) else Cell(written(shade), shade=float(shade), strong=framed and place == column)
            for column, shade in enumerate(shades[place])
        ]
        lines.append(Row((Cell(name, note=note), *cells)))
    return Table((Column(corner), *map(Column, columns)), tuple(lines), label=label, caption=caption, kind="heat")
