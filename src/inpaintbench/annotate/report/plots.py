"""Plots of inline SVG and of boxes; colours come from the page's style."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from inpaintbench.annotate.report.facts import Estimate
from inpaintbench.annotate.report.markup import count, decimal, percent

_WIDTH, _HEIGHT, _TOP, _BASE, _GUTTER = 520, 150, 16, 126, 34
_TICKS = 5


def bars(rows: Sequence[tuple[str, int]], *, label: str) -> str:
    """A bar an answer with how often it was given; names are plain text."""
    total, most = sum(n for _, n in rows), max((n for _, n in rows), default=0) or 1
    items = "".join(
        f'<li><span>{escape(name)}</span><i><b style="width:{100 * n / most:.1f}%"></b></i>'
        f"<strong>{n:,}</strong><small>{percent(n / total if total else None)}</small></li>"
        for name, n in rows
    )
    return f'<ul class="bars" aria-label="{escape(label)}">{items}</ul>'


def stacked(parts: Sequence[tuple[str, int, str]], *, label: str) -> str:
    """One bar of parts: name, number, colour."""
    total = sum(n for _, n, _ in parts) or 1
    drawn = "".join(
        f'<i style="width:{100 * n / total:.2f}%;background:{colour}" title="{escape(name)}: {n:,} ({percent(n / total)})"></i>'
        for name, n, colour in parts
        if n
    )
    return f'<span class="stack" role="img" aria-label="{escape(label)}">{drawn}</span>'


def heat(
    rows: Sequence[str], columns: Sequence[str], numbers: npt.NDArray[np.float64], *,
    corner: str, label: str, written: Callable[[float], str] = lambda number: f"{number:,.0f}", share: bool = True,
    diagonal: bool = True,
) -> str:  # fmt: skip
    """A table whose cells are the darker the larger the number is, of its row with ``share``, else of 1.

    Negative ones have the other hue.

    ``rows``, ``columns`` and ``corner`` are finished HTML; NaN is an empty cell. ``diagonal`` frames equal rows and columns.
    """
    body = []
    for row, name in enumerate(rows):
        whole = float(np.nansum(numbers[row])) if share else 1.0
        cells = "".join(
            _cell(float(number), whole, written, same=diagonal and row == column) for column, number in enumerate(numbers[row])
        )
        body.append(f'<tr><th scope="row">{name}</th>{cells}</tr>')
    head = "".join(f'<th scope="col"><span>{name}</span></th>' for name in columns)
    return (
        f'<div class="scroll bare" tabindex="0" role="group" aria-label="{escape(label)}"><table class="heat">'
        f'<thead><tr><td class="corner">{corner}</td>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'
    )


def _cell(number: float, whole: float, written: Callable[[float], str], *, same: bool) -> str:
    if math.isnan(number):
        return '<td class="none"></td>'
    part = number / whole if whole else 0.0
    hue = "var(--against)" if number < 0 else "var(--fill)"
    strength = min(1.0, abs(part)) ** 0.8
    ink = ' class="dark"' if strength > 0.8 else ""
    frame = ";box-shadow:inset 0 0 0 1.5px var(--frame)" if same else ""
    style = f"background:color-mix(in srgb, {hue} {86 * strength:.0f}%, var(--panel)){frame}"
    return f'<td{ink} style="{style}">{written(number)}</td>'


def whisker(one: Estimate, *, low: float, high: float, marks: Sequence[float] = (), colour: str = "var(--fill)") -> str:
    """A dot with its interval between ``low`` and ``high``, and thin lines at ``marks``."""
    lines = "".join(f'<s style="left:{_place(mark, low, high):.2f}%"></s>' for mark in marks)
    bar = ""
    if one.low is not None and one.high is not None:
        left, right = _place(one.low, low, high), _place(one.high, low, high)
        bar = f'<i style="left:{left:.2f}%;width:{right - left:.2f}%"></i>'
    dot = f'<u style="left:{_place(one.value, low, high):.2f}%"></u>'
    return f'<span class="whisker" style="--method:{colour}" aria-hidden="true">{lines}{bar}{dot}</span>'


def axis(low: float, high: float, *, marks: Mapping[float, str]) -> str:
    """Words under whiskers: place -> what stands there, plain text."""
    told = "".join(f'<span style="left:{_place(mark, low, high):.2f}%">{escape(words)}</span>' for mark, words in marks.items())
    return f'<span class="axis" aria-hidden="true">{told}</span>'


def _place(value: float, low: float, high: float) -> float:
    return 100 * (min(max(value, low), high) - low) / (high - low) if high > low else 50.0


def round_marks(low: float, high: float) -> dict[float, str]:
    """About five round numbers from ``low`` to ``high``, and how they are written."""
    if not high > low:
        return {low: decimal(low)}
    rough = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next(part for part in (1, 2, 5, 10) if part * power >= 0.9 * rough)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    places = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return {place * step: decimal(place * step, decimals=decimals) for place in places}


def columns(heights: Sequence[int], *, label: str, edges: Sequence[str], unit: str, marks: Mapping[float, str]) -> str:
    """Columns side by side; ``edges`` name each column when pointed at, ``marks`` stand at shares (0..1) of the width."""
    tallest, step = max([1, *heights]), _WIDTH / max(1, len(heights))
    gap = min(1.2, step / 5)
    drawn = "".join(
        f'<g><title>{escape(edge)}: {count(n, unit)}</title><rect x="{place * step + gap / 2:.1f}" width="{step - gap:.1f}" '
        f'y="{_BASE - max(1.5, n / tallest * (_BASE - _TOP)):.1f}" height="{max(1.5, n / tallest * (_BASE - _TOP)):.1f}"/></g>'
        for place, (n, edge) in enumerate(zip(heights, edges, strict=True))
        if n
    )
    told = "".join(
        f'<line class="base" x1="{at * _WIDTH:.1f}" x2="{at * _WIDTH:.1f}" y1="{_BASE}" y2="{_BASE + 4}"/>'
        f'<text x="{at * _WIDTH:.1f}" y="{_HEIGHT - 5}" text-anchor="{_anchor(at)}">{escape(words)}</text>'
        for at, words in marks.items()
    )
    return (
        f'<svg class="columns" viewBox="{-_GUTTER} 0 {_WIDTH + _GUTTER + 4} {_HEIGHT}" role="img" aria-label="{escape(label)}">'
        f'<line class="grid" x1="0" x2="{_WIDTH}" y1="{_TOP}" y2="{_TOP}"/>{drawn}'
        f'<line class="base" x1="0" x2="{_WIDTH}" y1="{_BASE}" y2="{_BASE}"/>'
        f'<text x="-6" y="{_TOP + 4}" text-anchor="end">{tallest:,}</text><text x="-6" y="{_BASE}" text-anchor="end">0</text>'
        f"{told}</svg>"
    )


def _anchor(at: float) -> str:
    return "start" if at < 0.02 else "end" if at > 0.94 else "middle"
