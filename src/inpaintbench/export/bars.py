"""Horizontal bars as one small SVG file, in the style of ``histogram``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from inpaintbench.errors import InputError
from inpaintbench.export.histogram import ONE_GROUP, colour, svg_text
from inpaintbench.pages import render

_WIDTH = 640
_TOP, _BOTTOM, _RIGHT = 62, 16, 64
# Pixels of a row.
_LINE = 22
# Pixels of a mean letter.
_LETTER = 6.9
_LONGEST = 34


class _Bar(NamedTuple):
    x: float
    width: float
    fill: str
    words: str


class _Row(NamedTuple):
    name: str
    y: int
    bars: list[_Bar]
    end: float
    """End of the bars, in pixels."""
    total: str


def bars_svg(counts: Mapping[str, Mapping[str, int]], *, title: str, unit: str) -> str:
    """Bars of counts, one a name and stacked by group, as the text of an SVG file 640 wide and as high as there are names.

    It brings its own light ground, so that it reads on white and on dark pages.

    Args:
        counts: name -> group -> count, at least 0; one group draws one colour and no legend.
        title: of the plot.
        unit: what is counted, in the plural.

    Raises:
        InputError: no names, or a count below 0.
    """
    if not counts or any(count < 0 for groups in counts.values() for count in groups.values()):
        raise InputError(f"bars need names with counts of 0 or more, not {dict(counts)}")
    groups = list(dict.fromkeys(group for of in counts.values() for group in of))
    fills = {group: colour(place) if len(groups) > 1 else ONE_GROUP for place, group in enumerate(groups)}
    left = 30 + _LETTER * min(_LONGEST, max(map(len, counts)))
    step = (_WIDTH - left - _RIGHT) / max(max(sum(of.values()) for of in counts.values()), 1)
    keys, x = [], 20.0
    for group in groups if len(groups) > 1 else ():
        keys.append((x, svg_text(group), fills[group]))
        x += 30 + 7.2 * len(group)
    rows = [
        _row(name, of, fills, y=_TOP + _LINE * place, left=left, step=step) for place, (name, of) in enumerate(counts.items())
    ]
    height = _TOP + _LINE * len(counts) + _BOTTOM
    parts = {"title": svg_text(title), "unit": svg_text(unit), "width": _WIDTH, "height": height, "left": left}
    return f"{render('export/bars.svg', keys=keys, rows=rows, **parts)}\n"


def _row(name: str, of: Mapping[str, int], fills: Mapping[str, str], *, y: int, left: float, step: float) -> _Row:
    shown = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    bars, x = [], left
    for group, fill in fills.items():
        if count := of.get(group, 0):
            bars.append(_Bar(x, count * step, fill, svg_text(f"{name}: {count:,} {group}".strip())))
            x += count * step
    return _Row(svg_text(shown), y, bars, x, f"{sum(of.values()):,}")
