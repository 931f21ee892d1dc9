"""The figures of the report as plotly.js data; the page draws them and adds the colours of its theme.

They are written out by hand: building them through ``plotly.graph_objects`` takes seconds. Tests let it check every property.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from inpaintbench.claims import too_few
from inpaintbench.eval.report.labels import (
    method_colours,
    name_label,
    quantity_label,
    quantity_title,
    slice_label,
)
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.tables import Pair, Results, in_reading_order, pair_slices, split_level, unpaired
from inpaintbench.types import Plain, Slice

_LEVELS = {"low": "rgba(127,141,160,0.34)", "high": "rgba(127,141,160,0.85)", None: "rgba(127,141,160,0.6)"}
_GRID, _ZERO = "rgba(127,137,150,0.22)", "rgba(127,137,150,0.75)"
_FONT = 'Inter, system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif'
_PAIR_STEP, _LONE_STEP = 2.6, 1.3
_PLOT_PIXELS, _LETTER_PIXELS = 820, 7.4
"""Least width of the bars of a figure, and the mean width of a letter of its labels."""
_SLANT_DEGREES, _SLANT = 45, 0.7072
"""Of labels that do not fit side by side, and the sine of it."""

Axis = dict[str, Any]
Trace = dict[str, Any]


def difficulty_figure(results: Results, quantity: Quantity) -> Plain:
    """Bars of the mean over methods of each slice with standard errors, a dot for each method (DEVIL, CVPR 2022, Figure 4)."""
    slices = in_reading_order(results.slices)
    places = _places(slices)
    layout = _labelled(slices, places)
    layout["yaxis"] = {**_value_axis(), "title": {"text": quantity_title(quantity)}, "rangemode": "tozero"}
    bars = _mean_bars(results, quantity, slices, places)
    points = _points_for_few(bars, [results.n_sources(one) for one in slices], symbol="diamond-open")
    dots = _dots(results, quantity, slices, places)
    shown = [*bars["y"], *(value for trace in (*points, *dots) for value in trace["y"])]
    values = {name: [_drawable(results.summary(one, name, quantity).mean) for one in slices] for name in results.references}
    lines = _reference_lines(results, values, places, _extent(shown), reach=0.46, words="{:.4g}")
    if lines:
        layout["yaxis"]["range"] = list(_extent(shown))
    return {"data": [bars, *points, *dots, *lines], "layout": layout}


def _extent(values: Sequence[float | None]) -> tuple[float, float]:
    """The ends of a scale from zero that holds the values, with a little room."""
    known = [0.0, *(value for value in values if value is not None)]
    low, high = min(known), max(known)
    room = 0.06 * (high - low) or 1.0
    return low - room * (low < 0), high + room * (high > 0 or low == high)


def _reference_lines(
    results: Results,
    values: Mapping[str, Sequence[float | None]],
    places: Sequence[float] | Sequence[str],
    extent: tuple[float, float],
    *,
    reach: float,
    words: str,
) -> list[Trace]:
    """A dashed line for each reference and place, with its name; one beyond ``extent`` lies at the edge and tells its value.

    Args:
        results: whose references they are.
        values: reference -> its value at each place.
        places: of the lines.
        extent: ends of the scale, which references do not make.
        reach: of a line to either side of its place, where places are numbers.
        words: how a value is written.
    """
    colours, low, high = method_colours(results.methods), *extent
    traces: list[Trace] = []
    for name, found in values.items():
        xs: list[Any] = []
        ys: list[float | None] = []
        told: list[str] = []
        for place, value in zip(places, found, strict=True):
            if value is None:
                continue
            at, mark = min(max(value, low), high), " ↑" if value > high else " ↓" if value < low else ""
            ends = [place - reach, place + reach] if isinstance(place, int | float) else [place]
            xs += [*ends, None]
            ys += [*[at] * len(ends), None]
            told += [*[f"{name} {words.format(value)}{mark}"] * len(ends), ""]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+text",
                "x": xs,
                "y": ys,
                "line": {"color": colours[name], "dash": "dash", "width": 2},
                "name": f"{escape(name)}, reference",
                # One label is enough where all lie inside the scale; at the edge each tells its value.
                "text": [escape(text) if (text[-1:] in "↑↓" and text) or index == 0 else "" for index, text in enumerate(told)],
                "textposition": "top right",
                "textfont": {"size": 11},
                "customdata": [escape(text) for text in told],
                "hovertemplate": "%{customdata}, reference<extra></extra>",
            }
        )
    return traces


def _points_for_few(bars: Trace, n_sources: Sequence[int], *, symbol: str) -> list[Trace]:
    """Take the bars of too few sources out of ``bars``, and give them as hollow points: a filled bar reads as a claim."""
    reasons = [too_few(count) for count in n_sources]
    few = [index for index, reason in enumerate(reasons) if reason and bars["y"][index] is not None]
    if not few:
        return []
    values, colours = bars["y"], bars["marker"]["color"]
    bars["y"] = [None if index in few else value for index, value in enumerate(values)]
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [bars["x"][index] for index in few],
            "y": [values[index] for index in few],
            "marker": {"color": [colours[index] for index in few], "size": 11, "symbol": symbol},
            "text": [reasons[index] for index in few],
            "hovertemplate": "%{y}<br>%{text}<extra></extra>",
        }
    ]


def _labelled(slices: Sequence[Slice], places: Sequence[float]) -> dict[str, Any]:
    """The layout with a label below each bar: level and value, and the attribute once where they all fit side by side."""
    last = max(places, default=0)
    labels = [_level(one) for one in slices]
    room = _PLOT_PIXELS / (last + 1.4) * _LONE_STEP / _LETTER_PIXELS
    slanted = any(len(label) > room for label in labels)
    if slanted:
        labels = [_whole_label(one) for one in slices]
    drop = round(_LETTER_PIXELS * _SLANT * max(map(len, labels))) if slanted else 28
    layout = _layout(height=362 + drop, top=20, bottom=28 + drop)
    # Without a first margin the slanted label of the first bar is cut off at the left; plotly.js hides what leaves the plot.
    layout["margin"]["l"] = max(layout["margin"]["l"], round(drop - _PLOT_PIXELS / (last + 1.4) / 2) if slanted else 0)
    ticks = {"tickvals": list(places), "ticktext": [escape(label) for label in labels], "tickangle": -_SLANT_DEGREES * slanted}
    layout["xaxis"] = {"showgrid": False, "zeroline": False, "range": [-0.7, last + 0.7], "ticklabeloverflow": "allow", **ticks}
    if not slanted:
        layout["annotations"] = [
            _heading(pair, x=_PAIR_STEP * index + 0.5, xref="x", y=0, yshift=-26)
            for index, pair in enumerate(pair_slices(slices))
        ]
    return layout


def _whole_label(one: Slice) -> str:
    level = split_level(one.name)[1]
    return f"{slice_label(one.name)}: {level}" if level else slice_label(one.name)


def _places(slices: Sequence[Slice]) -> list[float]:
    """Where the bars stand, in reading order: the two of a pair side by side, pairs and lone slices apart."""
    pairs, alone = len(pair_slices(slices)), len(unpaired(slices))
    paired = [_PAIR_STEP * pair + level for pair in range(pairs) for level in (0.0, 1.0)]
    return paired + [_PAIR_STEP * pairs + _LONE_STEP * index for index in range(alone)]


def _level(one: Slice) -> str:
    return split_level(one.name)[1] or slice_label(one.name)


def _drawable(mean: float | None) -> float | None:
    """Nothing stands where a mean is infinite."""
    return mean if mean is not None and math.isfinite(mean) else None


def _mean_bars(results: Results, quantity: Quantity, slices: Sequence[Slice], places: Sequence[float]) -> Trace:
    summaries = [results.difficulty(one, quantity) for one in slices]
    return {
        "type": "bar",
        "x": places,
        "y": [_drawable(summary.mean) for summary in summaries],
        "width": 0.92,
        "error_y": {
            "type": "data",
            "array": [summary.standard_error or 0 for summary in summaries],
            "thickness": 1.5,
            "width": 5,
        },
        "marker": {"color": [_LEVELS[split_level(one.name)[1]] for one in slices]},
        "customdata": [[escape(one.name), summary.n] for one, summary in zip(slices, summaries, strict=True)],
        "hovertemplate": "%{customdata[0]}<br>mean of %{customdata[1]} methods: %{y:.4g}<extra></extra>",
    }


def _dots(results: Results, quantity: Quantity, slices: Sequence[Slice], places: Sequence[float]) -> list[Trace]:
    """Dots side by side, so that equal means do not hide each other."""
    step = min(0.14, 0.8 / max(1, len(results.contenders)))
    middle = (len(results.contenders) - 1) / 2
    return [
        {
            "type": "scatter",
            "x": [place + step * (index - middle) for place in places],
            "y": [_drawable(results.summary(one, method, quantity).mean) for one in slices],
            "mode": "markers",
            "marker": {"color": colour, "size": 9, "line": {"width": 1.25}},
            "name": escape(method),
            "customdata": [escape(one.name) for one in slices],
            "hovertemplate": "%{customdata}<br>%{y:.4g}",
        }
        for index, (method, colour) in enumerate(method_colours(results.methods).items())
        if method in results.contenders
    ]


def sensitivity_figure(results: Results, quantities: Sequence[Quantity]) -> Plain | None:
    """Relative improvement from low to high: a column for each attribute, a row for each metric, a bar for each method.

    DEVIL, CVPR 2022, Figures 5 to 9. None when no attribute has both slices.
    """
    pairs = pair_slices(results.slices)
    if not pairs or not quantities:
        return None
    layout = _layout(height=60 + (130 if len(quantities) > 1 else 220) * len(quantities), top=32, bottom=16)
    layout["margin"]["l"] = 88  # room for the metric's name beside labels such as -10000%
    columns, rows = _domains(len(pairs), gap=0.015), _domains(len(quantities), gap=0.16 / len(quantities))[::-1]
    data: list[Trace] = []
    for row, quantity in enumerate(quantities):
        scale = {"range": list(_improvement_extent(results, quantity))} if results.references else {}
        for column, pair in enumerate(pairs):
            panel = row * len(pairs) + column + 1
            layout |= _panel_axes(panel, quantity, columns[column], rows[row], first=panel - column, scale=scale)
            data += [{**trace, "xaxis": f"x{panel}", "yaxis": f"y{panel}"} for trace in _improvements(results, pair, quantity)]
    layout["annotations"] = [
        _heading(pair, x=sum(domain) / 2, xref="paper", y=1, yshift=22) for pair, domain in zip(pairs, columns, strict=True)
    ]
    return {"data": data, "layout": layout}


def _domains(count: int, *, gap: float) -> list[list[float]]:
    """``count`` equal parts of 0..1 with gaps between."""
    side = (1 - gap * (count - 1)) / count
    return [[round(index * (side + gap), 6), round(index * (side + gap) + side, 6)] for index in range(count)]


def _panel_axes(
    panel: int, quantity: Quantity, across: list[float], up: list[float], *, first: int, scale: Axis
) -> dict[str, Axis]:
    """The axes of one panel; panels of a row share the scale of the ``first`` one, which carries the labels."""
    suffix = "" if panel == 1 else str(panel)
    across_axis = {"domain": across, "anchor": f"y{suffix}", "showticklabels": False, "showgrid": False, "zeroline": False}
    up_axis = {**_value_axis(), **scale, "domain": up, "anchor": f"x{suffix}", "tickformat": ".0%", "nticks": 5}
    if panel == first:
        up_axis["title"] = {"text": quantity_label(quantity), "font": {"size": 14}}
    else:
        up_axis |= {"matches": "y" if first == 1 else f"y{first}", "showticklabels": False}
    return {f"xaxis{suffix}": across_axis, f"yaxis{suffix}": up_axis}


def _improvements(results: Results, pair: Pair, quantity: Quantity) -> list[Trace]:
    """The bars of one panel, and a dash for each method that has none."""
    names = [escape(method) for method in results.contenders]
    shares = [results.improvement(pair, method, quantity) for method in results.contenders]
    colours = method_colours(results.methods)
    bars: Trace = {
        "type": "bar",
        "x": names,
        "y": shares,
        "marker": {"color": [colours[method] for method in results.contenders]},
        "hovertemplate": "%{x}<br>%{y:+.1%}<extra></extra>",
    }
    without = [name for name, share in zip(names, shares, strict=True) if share is None]
    dashes = {
        "type": "scatter",
        "x": without,
        "y": [0] * len(without),
        "mode": "text",
        "text": ["–"] * len(without),
        "textposition": "top center",
        "hovertemplate": "%{x}<br>no value<extra></extra>",
    }
    fewest = min(results.n_sources(pair.low), results.n_sources(pair.high))
    points = _points_for_few(bars, [fewest] * len(names), symbol="circle-open")
    lines = _improvement_lines(results, pair, quantity, names)
    return [bars, *points, *([dashes] if without else []), *lines]


def _improvement_extent(results: Results, quantity: Quantity) -> tuple[float, float]:
    """The scale that the panels of a metric share, made by the contenders."""
    return _extent(
        [results.improvement(pair, method, quantity) for pair in pair_slices(results.slices) for method in results.contenders]
    )


def _improvement_lines(results: Results, pair: Pair, quantity: Quantity, names: Sequence[str]) -> list[Trace]:
    """A dashed line through the whole panel for each reference."""
    if not names:
        return []
    traces: list[Trace] = []
    for method in results.references:
        share = results.improvement(pair, method, quantity)
        [line] = _reference_lines(
            results, {method: [share] * len(names)}, names, _improvement_extent(results, quantity), reach=0, words="{:+.0%}"
        )
        kept = [index for index, place in enumerate(line["x"]) if place is not None]
        traces.append({**line, **{key: [line[key][index] for index in kept] for key in ("x", "y", "text", "customdata")}})
    return traces


def _heading(pair: Pair, *, x: float, xref: str, y: float, yshift: float) -> dict[str, Any]:
    """An attribute's name above or below its part of a figure."""
    place = {"x": x, "xref": xref, "y": y, "yref": "paper", "yshift": yshift, "xanchor": "center", "yanchor": "top"}
    return {"text": escape(name_label(pair.attribute)), "showarrow": False, "font": {"size": 14}, **place}


def _value_axis() -> Axis:
    return {"gridcolor": _GRID, "zerolinecolor": _ZERO, "zerolinewidth": 1.5}


def _layout(*, height: int, top: int, bottom: int) -> dict[str, Any]:
    return {
        "height": height,
        "autosize": True,
        "bargap": 0.25,
        "margin": {"l": 64, "r": 8, "t": top, "b": bottom},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": _FONT, "size": 13},
        "showlegend": False,
        "hoverlabel": {"font": {"family": _FONT}},
    }
