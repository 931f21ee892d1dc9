"""Facts of rows that several documents need, words of others in Markdown, and numbers as people read them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from inpaintbench import frozen
from inpaintbench.export.layout import different
from inpaintbench.types import Plain

_MARKS = re.compile(r"([\\`*_\[\]<>|#~$!])")


def are_stills(rows: Sequence[Plain]) -> bool:
    """Return whether every clip is a single picture."""
    return all(row["frames"] == 1 for row in different(rows, "frames"))


def things(rows: Sequence[Plain]) -> str:
    """The noun for what the footage is cut into: clips or pictures."""
    return "pictures" if are_stills(rows) else "clips"


def sources(rows: Sequence[Plain]) -> dict[str, Plain]:
    """Id of each file that footage is from -> its first row; see ``n_sources`` for what counts as one source."""
    first: dict[str, Plain] = {}
    for row in different(rows, "source_id"):
        first.setdefault(str(row["source_id"]), row)
    return first


def n_sources(rows: Sequence[Plain]) -> int:
    """Return the number of independent sources, as scores count them."""
    return len({frozen.source_of(row) for row in different(rows, "source_id", frozen.GROUP)})


def plain(text: object) -> str:
    """One line in which nothing is Markdown or HTML, whatever somebody wrote."""
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in str(text)).split())
    # Some pages show the backslash before "<".
    line = line.replace("<=", "≤").replace(">=", "≥")
    return _MARKS.sub(r"\\\1", line.replace("&", "&amp;"))


def code(text: object) -> str:
    """A span of code that may stand in a cell of a table."""
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in str(text)).split())
    return f"`{line.replace('`', chr(39)).replace('|', chr(92) + '|')}`"


def counted(number: int, noun: str) -> str:
    """``1 item``, ``2 items``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def number(value: float) -> str:
    """Three significant digits, without an exponent."""
    text = f"{value:.3g}"
    return f"{value:,.0f}" if "e" in text and abs(value) >= 1 else f"{value:.4f}" if "e" in text else text


def listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, with a line break after it; cells are Markdown already."""
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *(f"| {' | '.join(row)} |" for row in rows), ""]
    return "\n".join(lines)
