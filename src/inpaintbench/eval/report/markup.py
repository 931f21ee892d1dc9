"""Small pieces of HTML that several parts of the page share. Everything that comes from data is escaped here or by the caller."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from html import escape
from typing import Any

from inpaintbench.eval.report.labels import slice_label
from inpaintbench.eval.report.quantity import Quantity, metric_leaf
from inpaintbench.eval.report.tables import split_level
from inpaintbench.eval.statistics import Summary

# On what may be wider than the window: keys scroll it too.
SCROLLS = ' tabindex="0"'


def number(value: float | None, *, decimals: int) -> str:
    """A number with its decimals and a true minus sign, ``∞``, or a dash for None."""
    if value is None:
        return "–"
    if math.isinf(value):
        return "∞"
    return f"{value:.{decimals}f}".replace("-", "−")


def signed(value: float, *, decimals: int) -> str:
    """A difference with its sign: ``+1.20``, ``−0.30``; ``0.00`` where nothing is left of it."""
    words = f"{value:+.{decimals}f}"
    return words[1:] if float(words) == 0 else words.replace("-", "−")


def with_unit(value: float | None, metric: str) -> str:
    """A value of ``metric`` as printed, with its unit."""
    leaf = metric_leaf(metric)
    words = number(value, decimals=leaf.decimals)
    return f"{words} {leaf.unit}" if leaf.unit and value is not None and math.isfinite(value) else words


def percent(share: float) -> str:
    """A signed share in per cent, with one decimal below ten."""
    decimals = 1 if abs(share) < 0.0995 else 0
    return f"{share * 100:+.{decimals}f}".replace("-", "−") + "%"


def count(n: int, word: str) -> str:
    """``1 item``, ``12 items``."""
    plural = word[:-1] + "ies" if word.endswith("y") else word + "s"
    return f"{n:,} {word if n == 1 else plural}"


def counts(summary: Summary) -> str:
    """How many values a mean holds and what it leaves out: ``n 10 · 1 ∞ · 2 missing``."""
    parts = [f"n {summary.n}"]
    parts += [f"{summary.n_infinite} ∞"] if summary.n_infinite else []
    parts += [f"{summary.n_missing} missing"] if summary.n_missing else []
    return " · ".join(parts)


def scrolling_table(heads: Sequence[str], rows: Sequence[str]) -> str:
    """A plain table around finished rows; a head "Items" is a column of numbers."""
    head = "".join(
        f"<th scope='col' class='n'>{name}</th>" if name == "Items" else f"<th scope='col'>{name}</th>" for name in heads
    )
    body = "\n".join(rows)
    return (
        f'<div class="scroll"{SCROLLS}><table class="plain"><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'
    )


def breakable(name: str) -> str:
    """An escaped name that may break after underscores and slashes."""
    escaped = escape(name)
    for mark in "_/":
        escaped = escaped.replace(mark, f"{mark}<wbr>")
    return escaped


def method_name(method: str, colour: str) -> str:
    """A method's name behind a dot of its colour."""
    # Its letters stand in one box of their own, so that it breaks after underscores and slashes only.
    name = f'<span class="name">{breakable(method)}</span>'
    return f'<span class="method" style="--method:{colour}" title="{escape(method)}"><i class="dot"></i>{name}</span>'


def named_method(method: str, colour: str, *, reference: bool) -> str:
    """A method's name where methods are introduced: a reference says that it is one."""
    tag = ' <span class="reference" title="a floor to see others against; it does not compete">reference</span>'
    return method_name(method, colour) + (tag if reference else "")


def slice_name(name: str) -> str:
    """A slice as words, its level as a small tag."""
    level = split_level(name)[1]
    tag = f' <span class="level {level}">{level}</span>' if level else ""
    return f"{breakable(slice_label(name))}{tag}"


def only_for(quantity: Quantity) -> str:
    """Attributes by which the page shows an element for one choice of metric and region only."""
    return f'data-metric="{escape(quantity.metric)}" data-region="{escape(quantity.region)}"'


def json_script(element_id: str, value: Any) -> str:
    """``value`` as JSON that a script can read and that no text inside can end."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return f'<script type="application/json" id="{element_id}">{text}</script>'


def data_uri(data: bytes, media_type: str) -> str:
    """``data`` inside an address."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"
