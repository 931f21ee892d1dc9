"""The figures of a diagnosis: effects of all factors, a fingerprint a method, and scores over measured attributes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

import lazy_loader

from inpaintbench.eval.comparing.factors import MEASURED
from inpaintbench.eval.diagnosis.records import Curve, Diagnosis, FactorEffect, rests_on
from inpaintbench.eval.report.effects import Step, differences, factor_label, own_effects, quantity_words, step_of, steps
from inpaintbench.eval.report.findings import p_words, with_unit
from inpaintbench.eval.report.plots import PlotRow
from inpaintbench.eval.results.quantity import Quantity, metric_leaf
from inpaintbench.eval.results.tables import Results
from inpaintbench.pages import MethodStyle
from inpaintbench.pages.plots import method_colour, method_shape
from inpaintbench.pages.words import number, signed

if TYPE_CHECKING:
    import altair as alt
else:
    alt = lazy_loader.load("altair")  # takes a quarter of a second, and most commands draw nothing

_ROWS = alt.NamedData(name="rows")
# Height of a line with two rows of words.
_LINE = 34
# Opacity of what could be chance.
_PALE = 0.42
# Of each measured attribute how many of its unit are one of its own, and the unit.
_UNITS = {one.name: (one.scale, one.unit) for one in MEASURED}
# Where an interval that goes on beyond is cut, towards worse and better -> the arrow there.
BEYOND = {"beyond_worse": "triangle-left", "beyond_better": "triangle-right"}
_PANEL_WIDTH, _CURVE_WIDTH, _CURVE_HEIGHT = 150, 240, 170


def fingerprint_chart(
    styles: Mapping[str, MethodStyle],
    lines: Sequence[str],
    panels: Sequence[str],
    *,
    higher_is_better: bool,
    together: bool = False,
) -> alt.FacetChart:
    """Effects with their intervals on one scale: a line for each step of a factor, a panel for each method.

    Worse is to the left for every metric. What could be chance is pale; what is told bears its number. An interval that ends in
    an arrow goes on beyond. A line is one mark (``kind == "line"``) that says the effect and that a script can take a click on.

    Args:
        styles: of the methods.
        lines: labels of the lines, of two rows of words each.
        panels: names, in their order.
        higher_is_better: direction of the metric.
        together: methods share a panel, one above the other in each line.
    """
    x: dict[str, Any] = {
        "title": None,
        "axis": alt.Axis(grid=True, tickCount=4),
        "scale": alt.Scale(reverse=not higher_is_better, padding=14),
    }
    axis = alt.Axis(ticks=False, domain=False, labelExpr="split(datum.label, '\\n')", labelLineHeight=14, labelPadding=10,
                    labelOffset=-7, labelLimit=400, labelColor="var(--ink)")  # fmt: skip
    base = alt.Chart(_ROWS).encode(y=alt.Y("line:N", sort=list(lines), title=None, axis=axis, scale=alt.Scale(padding=0)))
    if together:
        base = base.encode(yOffset=alt.YOffset("place:O", scale=alt.Scale(domain=[0, 1, 2], paddingOuter=0.5)))
    colour, shape = method_colour(styles), method_shape(styles)
    effects = base.transform_filter("datum.kind == 'effect'")
    opacity = alt.condition("datum.sure", alt.value(1), alt.value(_PALE))
    ends = alt.Chart(_ROWS).transform_filter("datum.kind == 'panel'")
    words: dict[str, Any] = {"fontSize": 11, "color": "var(--soft)", "aria": False, "dy": -7, "baseline": "bottom"}
    layers = alt.layer(
        alt.Chart(_ROWS).mark_rule(color="var(--strong-line)", aria=False).encode(x=alt.X(datum=0, **x)),
        effects.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2.5, aria=False)
        .encode(x=alt.X("low:Q", **x), x2="high:Q", color=colour, opacity=opacity),
        effects.mark_point(filled=True, size=90, stroke="var(--ground)", strokeWidth=1, aria=False).encode(
            x=alt.X("value:Q", **x), color=colour, shape=shape, opacity=opacity
        ),
        *(
            effects.transform_filter(f"isValid(datum.{name})")
            .mark_point(shape=shape_of, filled=True, size=70, aria=False)
            .encode(x=alt.X(f"{name}:Q", **x), color=colour, opacity=opacity)
            for name, shape_of in BEYOND.items()
        ),
        effects.transform_filter("datum.sure")
        .mark_text(dy=-9, fontSize=11, fontWeight=600, color="var(--ink)", aria=False)
        .encode(x=alt.X("value:Q", **x), text="text:N"),
        ends.mark_text(align="left", **words).encode(x=alt.value(0), y=alt.value(0), text=alt.value("← worse")),
        ends.mark_text(align="right", **words).encode(x=alt.value("width"), y=alt.value(0), text=alt.value("better →")),
        effects.mark_rect(color="var(--accent)", opacity=0, cursor="pointer").encode(
            x=alt.value(0), x2=alt.value("width"), description="told:N"
        ),
    ).properties(width=_PANEL_WIDTH * (2 if together else 1), height={"step": _LINE / 2 if together else _LINE})
    header = alt.Header(title=None, labelFontWeight=600, labelPadding=6, labelLimit=260)
    return layers.facet(facet=alt.Facet("panel:N", sort=list(panels), header=header, title=None), columns=len(panels), spacing=16)


def line_label(step: Step) -> str:
    """A line's words, in two rows: the attribute, and from where to where."""
    return f"{factor_label(step.factor)}\n{step.levels}"


def fingerprint_rows(diagnosis: Diagnosis, quantity: Quantity) -> list[PlotRow]:
    """Rows of ``fingerprint_chart`` by one quantity, a panel for each method."""
    return _panelled([(effect.method, effect) for effect in own_effects(diagnosis, quantity)], quantity)


def versus_rows(diagnosis: Diagnosis, quantity: Quantity, one: str, other: str) -> list[PlotRow]:
    """Rows of two fingerprints over each other, and of how much more the first has of each effect."""
    panel = versus_panels(one, other)
    both = [(panel[0], effect) for effect in own_effects(diagnosis, quantity) if effect.method in (one, other)]
    apart = [(panel[1], effect) for effect in differences(diagnosis, quantity, one, other)]
    rows = _panelled(both + apart, quantity)
    return [
        row | ({"place": 1, "method": panel[1]} if row["panel"] == panel[1] else {"place": 2 * (row["method"] == other)})
        for row in rows
    ]


def versus_panels(one: str, other: str) -> tuple[str, str]:
    """Names of the panels of two fingerprints: the effects, and the difference."""
    return "both", f"{one} less {other}"


def _panelled(effects: Sequence[tuple[str, FactorEffect]], quantity: Quantity) -> list[PlotRow]:
    shared = {"metric": quantity.metric, "region": quantity.region}
    panels = dict.fromkeys(panel for panel, _ in effects)
    methods = {panel: effect.method for panel, effect in effects}
    ends = _ends([effect for _, effect in effects])
    return [
        *(shared | {"kind": "panel", "panel": panel, "method": methods[panel]} for panel in panels),
        *(shared | {"kind": "effect", "panel": panel, **_effect_row(effect, ends)} for panel, effect in effects),
    ]


def _ends(effects: Sequence[FactorEffect]) -> tuple[float, float]:
    """Values between which intervals are drawn: all that is told is there, and every effect with the median reach.

    An attribute that the items hardly tell apart from the others has an interval many times as long; it would leave dots of the
    others.
    """
    usual = median([effect.reach for effect in effects if math.isfinite(effect.reach)] or [0.0])
    shown = [(effect.value, effect.reach if effect.told else min(effect.reach, usual)) for effect in effects]
    return min([0.0, *(value - reach for value, reach in shown)]), max([0.0, *(value + reach for value, reach in shown)])


def _effect_row(effect: FactorEffect, drawn: tuple[float, float]) -> PlotRow:
    step, leaf = step_of(effect), metric_leaf(effect.quantity.metric)
    known = math.isfinite(effect.reach)
    ends = f", interval {number(effect.low, leaf.decimals)} to {with_unit(effect.high, effect.quantity.metric)}" if known else ""
    who = f"{effect.method} less {effect.other}" if effect.other else effect.method
    size = f"{signed(effect.value, leaf.decimals)} {leaf.unit}".strip()
    told = f"more than chance, p {p_words(effect.p)}" if effect.told else f"could be chance, p {p_words(effect.p)}"
    ends_drawn = (drawn[0], effect.low < drawn[0]), (drawn[1], effect.high > drawn[1])
    towards = tuple(BEYOND) if effect.quantity.higher_is_better else tuple(BEYOND)[::-1]
    beyond = [(name, *end) for name, end in zip(towards, ends_drawn, strict=True)]
    return {
        "method": effect.method, "line": line_label(step), "step": step.key, "sure": effect.told,
        "value": _short(effect.value),
        "low": _short(max(effect.low, drawn[0])) if known else None,
        "high": _short(min(effect.high, drawn[1])) if known else None,
        **{name: _short(end) for name, end, goes_on in beyond if known and goes_on},
        "text": signed(effect.value, leaf.decimals),
        "told": f"{who}, {factor_label(step.factor)}, {step.levels}: {size}{ends}, {told}, {rests_on(effect)}",
    }  # fmt: skip


def response_chart(styles: Mapping[str, MethodStyle], labels: Sequence[str], *, y: str | None = None) -> alt.FacetChart:
    """Score over each measured attribute: a panel for each, a line with its band and a dot for each item for each method."""
    across = alt.X("x:Q", title=None, scale=alt.Scale(zero=False, nice=False), axis=alt.Axis(tickCount=4))
    up: dict[str, Any] = {"title": y, "scale": alt.Scale(zero=False)}
    base = alt.Chart(_ROWS).encode(x=across)
    colour, shape = method_colour(styles), method_shape(styles)
    lines = base.transform_filter("datum.kind == 'curve'")
    layers = alt.layer(
        base.transform_filter("datum.kind == 'dot'")
        .mark_point(filled=True, size=26, opacity=0.5, cursor="pointer")
        .encode(y=alt.Y("y:Q", **up), color=colour, shape=shape, description="told:N"),
        lines.mark_area(opacity=0.16, aria=False).encode(y=alt.Y("low:Q", **up), y2="high:Q", color=colour),
        lines.mark_line(strokeWidth=2.25).encode(y=alt.Y("y:Q", **up), color=colour, description="told:N"),
    ).properties(width=_CURVE_WIDTH, height=_CURVE_HEIGHT)
    rows = "split(replace(datum.label, ' (', '\\n('), '\\n')"  # the unit below the name
    header = alt.Header(title=None, labelFontWeight=500, labelLimit=_CURVE_WIDTH, labelExpr=rows, labelLineHeight=15)
    found: alt.FacetChart = layers.facet(
        facet=alt.Facet("attribute:N", sort=list(labels), header=header, title=None),
        columns=min(4, max(1, len(labels))),
        spacing=18,
    )
    found.resolve = alt.Resolve(scale=alt.ScaleResolveMap(x="independent"))
    return found


def curve_labels(diagnosis: Diagnosis) -> list[str]:
    """Names of the panels of response curves, in the order of the diagnosis."""
    return list(dict.fromkeys(_panel_label(curve) for curve in diagnosis.curves))


def _panel_label(curve: Curve) -> str:
    """The attribute with its unit, in which it is drawn: ``Camera motion (% of the view a frame)``."""
    unit = _UNITS[curve.factor.name][1]
    return f"{factor_label(curve.factor)} ({unit})" if unit else factor_label(curve.factor)


def _drawn_at(curve: Curve, value: float) -> float:
    """A value of the attribute in the unit of its panel."""
    return _short(_UNITS[curve.factor.name][0] * value)


def response_rows(diagnosis: Diagnosis, quantity: Quantity) -> list[PlotRow]:
    """Rows of ``response_chart`` by one quantity, with every item."""
    return [row for curve in diagnosis.curves if curve.quantity == quantity for row in (*_curve_rows(curve), *_dot_rows(curve))]


def _curve_rows(curve: Curve) -> Iterator[PlotRow]:
    for at, mean, low, high in zip(curve.at, curve.mean, curve.low, curve.high, strict=True):
        yield _of_curve(curve) | {
            "kind": "curve", "x": _drawn_at(curve, at), "y": _short(mean), "low": _short(low), "high": _short(high),
            "told": _curve_words(curve),
        }  # fmt: skip


def _dot_rows(curve: Curve) -> Iterator[PlotRow]:
    for item_id, at, score in curve.points:
        x = _drawn_at(curve, at)
        words = f"{item_id}, {curve.method}: {number(x)}, {with_unit(score, curve.quantity.metric)}"
        yield _of_curve(curve) | {"kind": "dot", "x": x, "y": _short(score), "item": item_id, "told": words}


def _of_curve(curve: Curve) -> PlotRow:
    return {"metric": curve.quantity.metric, "region": curve.quantity.region, "method": curve.method,
            "attribute": _panel_label(curve)}  # fmt: skip


def _curve_words(curve: Curve) -> str:
    first, last = (with_unit(value, curve.quantity.metric) for value in (curve.mean[0], curve.mean[-1]))
    least, most = (number(_drawn_at(curve, value)) for value in (curve.at[0], curve.at[-1]))
    return f"{curve.method}, {_panel_label(curve)}: {first} at {least}, {last} at {most}"


def curve_data(results: Results, diagnosis: Diagnosis) -> dict[str, Any]:
    """The curves for the page's scripts: values of each attribute once, and lines by quantity; dots are the items' scores."""
    places = {item_id: index for index, item_id in enumerate(results.sources)}
    values: dict[str, dict[int, float]] = {}
    lines = []
    for curve in diagnosis.curves:
        label = _panel_label(curve)
        values.setdefault(label, {}).update({places[item_id]: _drawn_at(curve, at) for item_id, at, _ in curve.points})
        lines.append({
            "metric": curve.quantity.metric, "region": curve.quantity.region, "method": curve.method, "attribute": label,
            "told": _curve_words(curve),
            "at": [_drawn_at(curve, value) for value in curve.at],
            **{name: [_short(value) for value in getattr(curve, name)] for name in ("mean", "low", "high")},
        })  # fmt: skip
    return {"values": values, "lines": lines}


def _short(value: float) -> float:
    """Six digits: more than a picture shows."""
    return float(f"{value:.6g}")


def figure_title(quantity: Quantity) -> str:
    """Title of a figure of effects on paper."""
    return f"{quantity_words(quantity)}: effects with intervals that hold together"


def line_labels(diagnosis: Diagnosis) -> list[str]:
    """Labels of all lines, in their order."""
    return list(dict.fromkeys(line_label(step) for step in steps(diagnosis)))
