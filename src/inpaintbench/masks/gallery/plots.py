"""The values of a panel's tiles as a plot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
from markupsafe import Markup

from inpaintbench.masks.gallery.facts import bounds_text, percent
from inpaintbench.pages import figure

# Pixels of the columns, and how far below them the dots lie.
_WIDTH, _HEIGHT, _RUG = 200, 42, 8
_BINS = 20
_SCALES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)


def scale_end(values: Sequence[float], bounds: Sequence[tuple[float, float] | None]) -> float:
    """Where the axis of all panels ends: a round share that no value or bound passes."""
    most = max([0.0, *values, *(pair[1] for pair in bounds if pair)])
    return next((end for end in _SCALES if most <= end + 1e-12), 1.0)


def histogram(
    values: Sequence[float], *, bounds: tuple[float, float] | None, end: float, links: Sequence[str], title: str, axis: str
) -> Markup:
    """Counts of shares in 20 steps from 0 to ``end``, the bin shaded, the mean marked, a dot that leads to each tile."""
    counts, step = histogram_counts(values, end=end), end / _BINS
    columns = [{"x": place * step, "to": (place + 1) * step, "n": n, "told": str(n)} for place, n in enumerate(counts) if n]
    mean = [{"x": sum(values) / len(values), "told": f"mean {percent(sum(values) / len(values))}"}] if values else []
    dots = [{"x": min(end, share), "told": percent(share), "to": f"#{link}"} for share, link in zip(values, links, strict=True)]
    # The name of the axis stands between its two ends.
    ends = alt.Axis(
        values=[0, end], labelExpr=f"datum.value ? '{100 * end:g} %' : '0'", title=axis, titlePadding=-11, titleFontWeight=400,
        titleFontSize=12, titleColor="var(--soft)", offset=2 * _RUG, domain=False, ticks=False,
    )  # fmt: skip
    x = alt.X("x:Q").scale(domain=[0, end], nice=False).axis(ends)
    y = alt.Y("n:Q").axis(None).scale(domain=[0, max([1, *counts])], nice=False)
    bottom, told = alt.value(_HEIGHT), "told:N"
    layers = [
        _chart([{"x": 0, "to": end}]).mark_rule(color="var(--strong-line)", aria=False).encode(x, x2="to", y=bottom),
        _chart(columns).mark_bar(xOffset=0.5, x2Offset=-0.5, color="var(--waiting)").encode(
            x, x2="to", y=y, y2=alt.Y2Datum(0), description=told
        ),
        _chart(mean).mark_rule(strokeWidth=1.5, strokeDash=[3, 2]).encode(x, y=alt.value(-4), y2=bottom, description=told),
        _chart(dots).mark_point(color="var(--accent)", opacity=0.65, size=30).encode(
            x, y=alt.value(_HEIGHT + _RUG), description=told, href="to:N"
        ),
    ]  # fmt: skip
    if bounds is not None:
        shade = _chart([{"x": bounds[0], "to": min(end, bounds[1]), "told": f"the bin: {bounds_text(*bounds)}"}])
        shade = shade.mark_rect(color="var(--accent)", opacity=0.13)
        layers.insert(0, shade.encode(x, x2="to", y=alt.value(0), y2=bottom, description=told))
    return figure(alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT), label=title)


def _chart(rows: list[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows))


def histogram_counts(values: Sequence[float], *, end: float) -> list[int]:
    """How many values lie in each of 20 equal steps from 0 to ``end``; the last step holds its upper end."""
    counts = [0] * _BINS
    for value in values:
        # 0.3 / 0.4 * 20 is a hair below 15.
        counts[min(_BINS - 1, math.floor(value / end * _BINS + 1e-9))] += 1
    return counts
