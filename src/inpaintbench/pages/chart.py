"""Panels of horizontal bars or dots: a row for each name, a panel for each scale."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from inpaintbench.lazily import lazily
from inpaintbench.pages.colours import MethodStyle

if TYPE_CHECKING:
    import altair
else:
    altair = lazily("altair")  # takes a quarter of a second, and most commands draw nothing


# Pixels: height of a row, and of one with single values below its bar.
_ROW, _DOTTED_ROW = 24, 34
# Pixels: width of a plot, space between panels.
_PLOT, _GAP = 200, 30
_BAR = 15
# Pixels: width of a mean letter of 12 pixels.
_LETTER = 6.4
_MOST_LETTERS = 34
# Pixels: most for the names of the rows.
_NAMES = _LETTER * _MOST_LETTERS
# Ends of an axis that are apart by a smaller share are one value, computed in two ways: there is no step between them.
_ALIKE = 1e-9
# Roughly how many an axis has.
_TICKS = 3.2


class Mark(NamedTuple):
    """Mark in one row of one panel."""

    value: float | None
    """Finite; None draws nothing."""
    words: str
    """The value as printed, at the right."""
    colour: str
    error: float | None = None
    """Half the length of its whisker."""
    dots: tuple[tuple[float, str], ...] = ()
    """Single values below its bar, each with its name in the legend."""
    told: str = ""
    """Text where the pointer rests."""
    doubtful: bool = False
    """Drawn with a dashed outline."""
    few: bool = False
    """Rests on too few sources for a claim, or on fewer items than others: hollow, where a filled bar would read as one."""
    opacity: float = 1.0


class Reference(NamedTuple):
    """Reference method, drawn as dashed lines row by row; it makes no scale, and beyond it the line lies at the edge."""

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


def chart(
    *,
    title: str,
    sentences: Sequence[str],
    rows: Sequence[str],
    panels: Sequence[Panel],
    legend: Mapping[str, MethodStyle] | None = None,
    across: int = 3,
) -> altair.ConcatChart:
    """The picture; colours carry nothing alone.

    Args:
        title: what is shown.
        sentences: how to read it, and notes.
        rows: names of the rows, the same in all panels.
        panels: laid out ``across`` in a line; at least one.
        legend: names and looks of dots; told above the panels, where they are not the names of the rows.
        across: most panels side by side.
    """
    words = _LETTER * max((len(mark.words) for panel in panels for mark in panel.marks), default=0) + 18
    dots = looks(legend or {}, told=not set(legend or ()) <= set(rows))
    data: list[dict[str, object]] = []
    drawn = []
    for at, panel in enumerate(panels):
        known = [mark for mark in panel.marks if mark.value is not None]
        ends = [(mark.value or 0.0) + sign * (mark.error or 0.0) for mark in known for sign in (-1, 1)]
        singles = [value for mark in panel.marks for value, _ in mark.dots]
        ticks = scale([*ends, *singles], from_zero=panel.bars)
        own = [row | {"panel": at} for row in _rows(panel, ticks)]
        # Vega takes no panel without layers, as that of references alone would be.
        kinds = {"words", *(str(row["kind"]) for row in own)}
        data += own
        drawn.append(_panel(at, panel, rows, ticks, kinds=kinds, words=words, names=at % across == 0, dots=dots))
    width = min(across, len(panels)) * (_PLOT + words + _GAP) + _LETTER * min(max(map(len, rows), default=0), _MOST_LETTERS)
    heading = titled(title, sentences, width=width)
    return altair.concat(*drawn, data=altair.InlineData(values=data), columns=across, spacing=_GAP, title=heading)


def titled(title: str, sentences: Sequence[str], *, width: float) -> altair.TitleParams:
    """A title with sentences below it, broken into lines of about ``width`` pixels."""
    lines = [line for sentence in sentences if sentence for line in textwrap.wrap(sentence, max(70, int(width / _LETTER)))]
    return altair.TitleParams(title, subtitle=lines, subtitleFontSize=12.5, subtitleLineHeight=17, subtitlePadding=6, offset=14)


def looks(legend: Mapping[str, MethodStyle], *, told: bool = True) -> tuple[altair.Color, altair.Shape]:
    """The colours and the markers of ``name``, told above the plot or known from elsewhere."""
    shown = altair.Legend(title=None, orient="top", symbolOpacity=1, labelLimit=240) if told else None
    colours, markers = [look.colour for look in legend.values()], [look.marker for look in legend.values()]
    return (
        altair.Color("name:N", scale=altair.Scale(domain=list(legend), range=colours), legend=shown),
        altair.Shape("name:N", scale=altair.Scale(domain=list(legend), range=markers), legend=shown),
    )


def _rows(panel: Panel, ticks: Sequence[float]) -> Iterator[dict[str, object]]:
    """All that is drawn of a panel: ``kind`` tells which layer draws it."""
    if panel.bars:
        yield {"kind": "zero", "value": 0}
    for place, mark in enumerate(panel.marks):
        yield {"kind": "words", "row": place, "words": mark.words}
        if mark.value is None:
            continue
        kind = "few" if mark.few else "doubtful" if mark.doubtful else "plain"
        look = {"colour": mark.colour, "opacity": mark.opacity, "told": mark.told}
        yield {"kind": kind, "row": place, "value": mark.value, "end": 0, **look}
        if mark.error:
            low, high = mark.value - mark.error, mark.value + mark.error
            yield {"kind": "whisker", "row": place, "value": low, "end": high}
            yield from ({"kind": "cap", "row": place, "value": end} for end in (low, high))
        yield from ({"kind": "dot", "row": place, "value": value, "name": name} for value, name in mark.dots)
    for reference in panel.references:
        for place, (value, words) in enumerate(zip(reference.values, reference.words, strict=True)):
            told = f"{reference.name}, reference: {words}{_beyond(value, ticks)}"
            if value is not None:
                yield {"kind": "reference", "row": place, "value": value, "colour": reference.colour, "told": told}


def _panel(
    at: int, panel: Panel, rows: Sequence[str], ticks: Sequence[float], *, kinds: Collection[str], words: float, names: bool,
    dots: tuple[altair.Color, altair.Shape],
) -> altair.LayerChart | altair.FacetChart:  # fmt: skip
    form = "%" if panel.percent else ",.6~g"  # with its digits told, Vega puts none of its own in the place of them
    below = altair.Axis(values=ticks, format=form, labelFlush=False, grid=True, ticks=False, domain=False)
    told = []
    for one in panel.references:
        # The value of a reference that has the same in all rows.
        value = f": {one.words[0]}{_beyond(one.values[0], ticks)}" if len(set(one.words)) == 1 else ""
        told.append(f"dashed: {one.name}{value}")
    ends = altair.Scale(domain=[ticks[0], ticks[-1]], nice=False, clamp=True)
    x = altair.X("value:Q", title=[panel.axis, *told], scale=ends, axis=below)
    # The names of rows are written by their places, so that equal ones stay apart.
    spelled = "".join(f"datum.value == {place} ? {json.dumps(name)} : " for place, name in enumerate(rows)) + "''"
    beside = altair.Axis(labelExpr=spelled, ticks=False, domain=False, labelLimit=_NAMES, labelColor="var(--ink)")
    y = altair.Y("row:O", title=None, scale=altair.Scale(domain=list(range(len(rows)))), axis=beside if names else None)
    step = _DOTTED_ROW if any(mark.dots for mark in panel.marks) else _ROW
    drawn = _layers(x, y, bars=panel.bars, up=-6 if step == _DOTTED_ROW else 0, words=words, dots=dots)
    layers = [
        layer.transform_filter(f"datum.panel == {at} && datum.kind == '{kind}'") for kind, layer in drawn.items() if kind in kinds
    ]
    heading = altair.TitleParams(panel.heading, fontSize=13, frame="group")
    return altair.layer(*layers).properties(width=_PLOT, height=max(1, len(rows)) * step, title=heading)


def _layers(
    x: altair.X, y: altair.Y, *, bars: bool, up: int, words: float, dots: tuple[altair.Color, altair.Shape]
) -> dict[str, altair.Chart]:
    """The marks of each kind, those that are drawn first first; ``up`` pixels lie bars above the middle of their row."""
    new = altair.Chart()
    colour, stroke = altair.Color("colour:N", scale=None), altair.Stroke("colour:N", scale=None)
    told, opacity = altair.Description("told:N"), altair.Opacity("opacity:Q", scale=None)
    faint: dict[str, Any] = {"fillOpacity": 0.3, "strokeDash": [3, 2], "strokeWidth": 1}
    if bars:
        plain, doubtful = new.mark_bar(height=_BAR, yOffset=up), new.mark_bar(height=_BAR, yOffset=up, **faint)
        plain, doubtful = plain.encode(x2="end:Q"), doubtful.encode(x2="end:Q")
    else:
        plain, doubtful = new.mark_circle(size=80, yOffset=up), new.mark_circle(size=80, yOffset=up, **faint)
    few = new.mark_point(size=80, filled=False, strokeWidth=2, opacity=1, yOffset=up)
    whisker = new.mark_rule(strokeWidth=1.4, yOffset=up, aria=False)
    cap = new.mark_tick(color="var(--ink)", thickness=1.4, height=8, yOffset=up, aria=False)
    dot = new.mark_point(filled=True, size=56, stroke="var(--ground)", strokeWidth=0.8, opacity=1, yOffset=8, aria=False)
    dashed = new.mark_rule(strokeWidth=1.8, strokeDash=[4, 3])
    text = new.mark_text(align="right", color="var(--soft)", aria=False)
    return {
        "zero": new.mark_rule(color="var(--strong-line)", aria=False).encode(x),
        "plain": plain.encode(x, y, colour, opacity=opacity, description=told),
        "doubtful": doubtful.encode(x, y, colour, opacity=opacity, stroke=stroke, description=told),
        "few": few.encode(x, y, colour, description=told),
        "whisker": whisker.encode(x, y, x2="end:Q"),
        "cap": cap.encode(x, y),
        "dot": dot.encode(x, y, *dots),
        # With the same axis as its neighbours', or none like them: Vega-Lite cannot merge an axis with none.
        "reference": dashed.encode(x, y.bandPosition(0), altair.Y2("row:O", bandPosition=1), colour, description=told),
        "words": text.encode(y, x=altair.value(_PLOT + words), text="words:N"),
    }


def _beyond(value: float | None, ticks: Sequence[float]) -> str:
    return "" if value is None or ticks[0] <= value <= ticks[-1] else " →" if value > ticks[-1] else " ←"


def scale(values: Sequence[float], *, from_zero: bool) -> list[float]:
    """Round ticks of an axis that holds ``values``: the first and the last are its ends."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low <= _ALIKE * max(abs(low), abs(high)):
        low, high = low - (abs(low) or 1.0) / 2, high + (abs(high) or 1.0) / 2
    rough = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next(part for part in (1, 2, 5, 10) if part * power >= 0.7 * rough)
    places = range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)
    return [place * step for place in places]
