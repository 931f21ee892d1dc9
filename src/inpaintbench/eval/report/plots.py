"""The figures of the report, as plain plotly.js data that the page draws in the colours of its theme."""

from __future__ import annotations

import html
import json
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from inpaintbench.eval.report.labels import method_colours, metric_label, metric_title, name_label, slice_label
from inpaintbench.eval.report.tables import Pair, Quantity, Results, in_reading_order, pair_slices, split_level
from inpaintbench.types import Plain, Slice

_LEVELS = {"low": "#C9D0D9", "high": "#8593A5", None: "#A7B1BF"}
_GRID = "rgba(127,137,150,0.22)"
_ZERO = "rgba(127,137,150,0.75)"
_FONT = 'Inter, system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif'


def difficulty_figure(results: Results, quantity: Quantity) -> Plain:
    """Bars of the mean over methods of each slice with standard errors, a dot for each method (DEVIL, CVPR 2022, Figure 4)."""
    slices = in_reading_order(results.slices)
    summaries = [results.difficulty(one, quantity) for one in slices]
    where = [[_text(_group(one)) for one in slices], [_text(_level(one)) for one in slices]]
    bars = go.Bar(
        x=where,
        y=[summary.mean for summary in summaries],
        error_y={"array": [summary.standard_error or 0 for summary in summaries], "color": _ZERO, "thickness": 1.5, "width": 5},
        marker={"color": [_LEVELS[split_level(one.name)[1]] for one in slices]},
        customdata=[[summary.n, summary.standard_error] for summary in summaries],
        hovertemplate="%{x}<br>mean of %{customdata[0]} methods: %{y:.4g}<br>standard error %{customdata[1]:.3g}<extra></extra>",
        showlegend=False,
    )
    dots = [
        go.Scatter(
            x=where,
            y=[results.summary(one, method, quantity).mean for one in slices],
            mode="markers",
            marker={"color": colour, "size": 9, "line": {"color": "white", "width": 1}},
            name=_text(method),
            hovertemplate="%{x}<br>%{y:.4g}",
        )
        for method, colour in method_colours(results.methods).items()
    ]
    figure = go.Figure([bars, *dots])
    figure.update_layout(_layout(height=400), bargap=0.28)
    figure.update_yaxes(title=metric_title(quantity.metric), rangemode="tozero", gridcolor=_GRID, zerolinecolor=_ZERO)
    figure.update_xaxes(showgrid=False, dividercolor=_GRID, linecolor=_ZERO)
    return _plain(figure)


def sensitivity_figure(results: Results, region: str) -> Plain | None:
    """Relative improvement from low to high: a column for each attribute, a row for each metric, a bar for each method.

    DEVIL, CVPR 2022, Figures 5 to 9. None when no attribute has both slices.
    """
    pairs = pair_slices(results.slices)
    quantities = [quantity for quantity in results.quantities if quantity.region == region]
    if not pairs or not quantities:
        return None
    figure = make_subplots(
        rows=len(quantities),
        cols=len(pairs),
        shared_yaxes="rows",
        column_titles=[_text(name_label(pair.attribute)) for pair in pairs],
        horizontal_spacing=0.015,
        vertical_spacing=0.16 / len(quantities),
    )
    for row, quantity in enumerate(quantities, start=1):
        figure.update_yaxes(title={"text": metric_label(quantity.metric), "font": {"size": 14}}, row=row, col=1)
        for column, pair in enumerate(pairs, start=1):
            for trace in _improvements(results, pair, quantity):
                figure.add_trace(trace, row=row, col=column)
    figure.update_layout(_layout(height=70 + 130 * len(quantities)), bargap=0.25, showlegend=False)
    figure.update_xaxes(showticklabels=False, showgrid=False, showline=False)
    figure.update_yaxes(tickformat=".0%", gridcolor=_GRID, zerolinecolor=_ZERO, zerolinewidth=1.5, nticks=5)
    figure.update_annotations(font={"size": 14})
    return _plain(figure)


def _improvements(results: Results, pair: Pair, quantity: Quantity) -> list[go.Bar | go.Scatter]:
    """The bars of one panel, and a dash for each method that has none."""
    names = [_text(method) for method in results.methods]
    shares = [results.improvement(pair, method, quantity) for method in results.methods]
    bars = go.Bar(
        x=names,
        y=shares,
        marker={"color": list(method_colours(results.methods).values())},
        hovertemplate="%{x}<br>%{y:+.1%}<extra></extra>",
    )
    without = [name for name, share in zip(names, shares, strict=True) if share is None]
    dashes = go.Scatter(
        x=without,
        y=[0] * len(without),
        mode="text",
        text=["–"] * len(without),
        textposition="top center",
        hovertemplate="%{x}<br>no value<extra></extra>",
    )
    return [bars, dashes] if without else [bars]


def _group(one: Slice) -> str:
    return slice_label(one.name) if split_level(one.name)[1] else "Other"


def _level(one: Slice) -> str:
    return split_level(one.name)[1] or slice_label(one.name)


def _text(words: str) -> str:
    # plotly.js reads labels as a small HTML dialect.
    return html.escape(words)


def _layout(*, height: int) -> dict[str, Any]:
    return {
        "template": "none",
        "height": height,
        "autosize": True,
        "margin": {"l": 64, "r": 8, "t": 44, "b": 56},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": _FONT, "size": 13},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "itemclick": False, "itemdoubleclick": False},
        "hoverlabel": {"font": {"family": _FONT}},
    }


def _plain(figure: go.Figure) -> Plain:
    plain: dict[str, Any] = json.loads(figure.to_json(engine="json", remove_uids=True))
    return plain
