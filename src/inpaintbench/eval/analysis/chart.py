"""Panels of horizontal bars or dots as one standalone SVG: a row for each name, a panel for each scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from inpaintbench.eval.analysis import svg
from inpaintbench.eval.analysis.svg import line, text

_ROW, _DOTTED_ROW = 24, 34
"""Pixels: height of a row, and of one with single values below its bar."""
_PLOT, _GAP, _MARGIN = 200, 30, 20
"""Pixels: width of a plot, space between panels, around everything."""
_TOP, _BOTTOM = 30, 52
"""Pixels above and below the rows of a panel: its heading; ticks and the title of the axis."""
_LINE = 14
"""Pixels of the name of a reference."""
_LEAST_WIDTH = 560
_NAME, _VALUE = 12.5, 11.0
"""Sizes of fonts."""


class Mark(NamedTuple):
    """What stands in one row of one panel."""

    value: float | None
    """Finite; None draws nothing."""
    words: str
    """The value as printed, at the right."""
    colour: str
    error: float | None = None
    """Half the length of its whisker."""
    dots: tuple[tuple[float, str], ...] = ()
    """Single values below its bar, each with its colour."""
    told: str = ""
    """What a reader sees who points at it."""
    doubtful: bool = False
    """Drawn with a dashed outline."""
    few: bool = False
    """Rests on too few sources for a claim: drawn as a hollow point, where a filled bar would read as one."""


class Reference(NamedTuple):
    """What is drawn as dashed lines, row by row, and makes no scale; beyond it the line lies at the edge."""

    name: str
    values: tuple[float | None, ...]
    """One for each row."""
    words: tuple[str, ...]
    """The values as printed."""
    colour: str


class Panel(NamedTuple):
    """One scale and its marks, one for each row."""

    heading: str
    axis: str
    """Title of the axis, with unit and direction."""
    marks: tuple[Mark, ...]
    bars: bool = True
    """Bars from zero, else dots on a scale that need not hold zero."""
    percent: bool = False
    """Values are shares and written in per cent."""
    references: tuple[Reference, ...] = ()


class _Frame(NamedTuple):
    """Sizes of a chart in pixels."""

    names: float
    values: float
    row: int
    across: int
    width: float

    @property
    def step(self) -> float:
        """From panel to panel."""
        return _PLOT + self.values + _GAP


def chart(
    *,
    title: str,
    subtitle: str,
    rows: Sequence[str],
    panels: Sequence[Panel],
    legend: Sequence[tuple[str, str]] = (),
    notes: Sequence[str] = (),
    across: int = 3,
) -> str:
    """The picture as SVG text, on white; colours carry nothing alone.

    Args:
        title: what is shown.
        subtitle: how to read it.
        rows: names of the rows, the same in all panels.
        panels: laid out ``across`` in a line; at least one.
        legend: names and colours of dots.
        notes: sentences below.
        across: most panels side by side.
    """
    frame = _frame(rows, panels, across=across)
    inside = frame.width - 2 * _MARGIN
    parts = [text(_MARGIN, _MARGIN + 14, title, size=17, bold=True)]
    y = _MARGIN + 36.0
    found, height = svg.sentence(subtitle, x=_MARGIN, y=y, width=inside)
    parts, y = parts + found, y + height
    found, height = svg.legend(legend, x=_MARGIN, y=y + 2, width=inside)
    parts, y = parts + found, y + height + 2
    found, height = _panels(frame, rows, panels, y)
    parts, y = parts + found, y + height + 10
    for note in notes:
        found, height = svg.sentence(note, x=_MARGIN, y=y, width=inside)
        parts, y = parts + found, y + height + 3
    return svg.document(parts, width=frame.width, height=y + _MARGIN - 12, label=title)


def _frame(rows: Sequence[str], panels: Sequence[Panel], *, across: int) -> _Frame:
    marks = [mark for panel in panels for mark in panel.marks]
    names = max((svg.width_of(svg.shorten(name), size=_NAME) for name in rows), default=0) + 12
    values = max((svg.width_of(mark.words, size=_VALUE) for mark in marks), default=0) + 22
    count = min(across, len(panels))
    row = _DOTTED_ROW if any(mark.dots for mark in marks) else _ROW
    width = 2 * _MARGIN + names + count * (_PLOT + values + _GAP) - _GAP
    return _Frame(round(names), round(values), row, count, max(round(width), _LEAST_WIDTH))


def _panels(frame: _Frame, rows: Sequence[str], panels: Sequence[Panel], top: float) -> tuple[list[str], float]:
    """All panels with the names of the rows left of each line of them, and the height of them all."""
    tall = _TOP + frame.row * len(rows) + _BOTTOM + _LINE * max(len(panel.references) for panel in panels)
    parts = []
    for index, panel in enumerate(panels):
        down, right = divmod(index, frame.across)
        x, y = _MARGIN + frame.names + right * frame.step, top + down * tall
        if right == 0:
            parts += _row_names(frame, rows, y + _TOP)
        parts.append(f'<g transform="translate({x:g} {y:g})">{"".join(_panel(frame, panel))}</g>')
    return parts, tall * -(-len(panels) // frame.across)


def _row_names(frame: _Frame, rows: Sequence[str], top: float) -> list[str]:
    x = _MARGIN + frame.names - 10
    return [
        svg.told(name, text(x, top + frame.row * (index + 0.5) + 4, svg.shorten(name), size=_NAME, anchor="end"))
        for index, name in enumerate(rows)
    ]


def _panel(frame: _Frame, panel: Panel) -> Iterator[str]:
    ticks = svg.scale(list(_extent(panel)), from_zero=panel.bars)
    low, high = ticks[0], ticks[-1]

    def across(value: float) -> float:
        return (value - low) / (high - low) * _PLOT

    base = _TOP + frame.row * len(panel.marks)
    yield text(0, 14, panel.heading, size=13, bold=True)
    yield from _axis(panel, ticks, [across(tick) for tick in ticks], base)
    for index, mark in enumerate(panel.marks):
        y = _TOP + frame.row * (index + 0.5)
        drawn = "" if mark.value is None else "".join(_mark(mark, mark.value, across, y, bars=panel.bars))
        words = text(_PLOT + frame.values, y + 4, mark.words, size=_VALUE, colour=svg.SOFT, anchor="end")
        yield svg.told(mark.told, drawn, words)
    for place, one in enumerate(panel.references):
        yield from _dashed(one, frame, (low, high), across)
        same = f": {one.words[0]}{_beyond(one.values[0], low, high)}" if len(set(one.words)) == 1 else ""
        yield text(
            _PLOT / 2, base + 48 + _LINE * place, f"dashed: {one.name}{same}", size=_VALUE, colour=svg.SOFT, anchor="middle"
        )


def _dashed(one: Reference, frame: _Frame, ends: tuple[float, float], across: Callable[[float], float]) -> Iterator[str]:
    for index, (value, words) in enumerate(zip(one.values, one.words, strict=True)):
        if value is not None:
            x, y = across(min(max(value, ends[0]), ends[1])), _TOP + frame.row * index
            look = f'stroke="{one.colour}" stroke-width="1.8" stroke-dasharray="4 3"'
            drawn = f'<line x1="{x:.6g}" y1="{y:.6g}" x2="{x:.6g}" y2="{y + frame.row:.6g}" {look}/>'
            yield svg.told(f"{one.name}, reference: {words}{_beyond(value, *ends)}", drawn)


def _beyond(value: float | None, low: float, high: float) -> str:
    return "" if value is None or low <= value <= high else " →" if value > high else " ←"


def _axis(panel: Panel, ticks: Sequence[float], places: Sequence[float], base: float) -> Iterator[str]:
    """Lines of the grid, ticks where there is room for their words, and the title."""
    written = svg.tick_words(ticks, percent=panel.percent)
    room = max(svg.width_of(words, size=_VALUE) for words in written) * 1.1 + 10
    every = -(-room // (places[1] - places[0]))
    zero = min(range(len(ticks)), key=lambda index: abs(ticks[index])) if panel.bars else 0
    for index, (x, words) in enumerate(zip(places, written, strict=True)):
        yield line(x, _TOP - 4, x, base, colour=svg.BASE if panel.bars and index == zero else svg.GRID)
        if (index - zero) % every == 0:
            yield text(x, base + 15, words, size=_VALUE, colour=svg.SOFT, anchor="middle")
    yield text(_PLOT / 2, base + 34, panel.axis, size=_VALUE, colour=svg.SOFT, anchor="middle")


def _extent(panel: Panel) -> Iterator[float]:
    """Everything that the scale of a panel must hold."""
    for mark in panel.marks:
        if mark.value is not None:
            yield mark.value - (mark.error or 0.0)
            yield mark.value + (mark.error or 0.0)
        yield from (value for value, _ in mark.dots)


def _mark(mark: Mark, value: float, across: Callable[[float], float], y: float, *, bars: bool) -> Iterator[str]:
    fill = f'fill="{mark.colour}"'
    if mark.doubtful:
        fill += f' fill-opacity="0.3" stroke="{mark.colour}" stroke-dasharray="3 2"'
    middle = y - 6 if mark.dots else y
    if mark.few:
        yield f'<circle cx="{across(value):.6g}" cy="{middle:.6g}" r="5" fill="none" stroke="{mark.colour}" stroke-width="2"/>'
    elif bars:
        left, right = sorted((across(value), across(0.0)))
        half = 7 if mark.dots else 8
        yield f'<rect x="{left:.6g}" y="{middle - half:.6g}" width="{max(right - left, 0.5):.6g}" height="{2 * half}" {fill}/>'
    if mark.error:
        low, high = across(value - mark.error), across(value + mark.error)
        yield line(low, middle, high, middle, colour=svg.INK, width=1.4)
        yield from (line(end, middle - 4, end, middle + 4, colour=svg.INK, width=1.4) for end in (low, high))
    if not bars and not mark.few:
        yield f'<circle cx="{across(value):.6g}" cy="{middle:.6g}" r="5" {fill}/>'
    for single, colour in mark.dots:
        yield f'<circle cx="{across(single):.6g}" cy="{y + 8:.6g}" r="3.6" fill="{colour}" stroke="#ffffff" stroke-width="0.8"/>'
