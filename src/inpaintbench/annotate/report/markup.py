"""Small pieces of HTML. Everything that comes from data is escaped here or by the caller."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

from inpaintbench.annotate.report.facts import Proportion

_BREAK = re.compile(r"([_/]|\.(?=[A-Za-z]))(?![^<>]*>)")
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8C6BB1", "#A6A02B", "#7F5A3C", "#7A8793")
"""Okabe and Ito's colours for all kinds of colour vision, without black and yellow, and four more."""


def count(n: int, word: str) -> str:
    """``1 vote``, ``12 votes``."""
    return f"{n:,} {word if n == 1 else word + 's'}"


def percent(share: float | None) -> str:
    """A share in per cent, one decimal below ten: ``4.2 %``; a dash for None."""
    if share is None:
        return "–"
    hundredfold = 100 * share
    return f"{hundredfold:.{1 if 0 < abs(hundredfold) < 9.95 else 0}f} %".replace("-", "−")


def decimal(value: float | None, *, decimals: int = 2) -> str:
    """A number with a true minus sign, or a dash for None."""
    if value is None:
        return "–"
    text = f"{value:.{decimals}f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", "−")


def proportion(one: Proportion) -> str:
    """``92 % of 24``; a dash of nothing."""
    return f"{percent(one.value)} <small>of {one.whole:,}</small>" if one.whole else "–"


def duration(seconds: float | None) -> str:
    """``4.2 s``, ``12 min``, ``3 h 05 min``, ``4 days``."""
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours < 48 else f"{hours / 24:.0f} days"


def moment(at: float) -> str:
    """``2026-01-31 14:05``, UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")


def breakable(name: str) -> str:
    """An escaped name that may break after underscores, slashes, and dots before a letter."""
    return _BREAK.sub(r"\1<wbr>", escape(name))


def method_name(method: str, methods: Sequence[str]) -> str:
    """A method's name behind a dot of its colour, which is by its place in ``methods``."""
    return f'<span class="method" style="--method:{colour(method, methods)}"><i class="dot"></i>{breakable(method)}</span>'


def colour(method: str, methods: Sequence[str]) -> str:
    """The colour of a method."""
    return PALETTE[list(methods).index(method) % len(PALETTE)] if method in methods else "var(--soft)"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, label: str, numeric: Sequence[int] = ()) -> str:
    """A table that scrolls sideways where it must; heads and cells are finished HTML, columns in ``numeric`` right."""
    mark = [' class="n"' if place in numeric else "" for place in range(len(heads))]
    head = "".join(f"<th scope='col'{mark[place]}>{cell}</th>" for place, cell in enumerate(heads))
    body = "\n".join(
        "<tr>"
        + "".join(
            f"<th scope='row'{mark[0]}>{cell}</th>" if place == 0 else f"<td{mark[place]}>{cell}</td>"
            for place, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(label)}"><table class="list"><thead><tr>{head}</tr>'
        f"</thead><tbody>\n{body}\n</tbody></table></div>"
    )


def panel(title: str, inside: str, *, note: str = "", wide: bool = False) -> str:
    """A titled part; ``title``, ``inside`` and ``note`` are finished HTML."""
    below = f'<p class="note">{note}</p>' if note else ""
    return f'<section class="panel{" wide" if wide else ""}"><h3>{title}</h3>{inside}{below}</section>'


def folded(summary: str, inside: str) -> str:
    """Something to open; both are finished HTML."""
    return f"<details><summary>{summary}</summary>{inside}</details>"
