"""Figures of a report for paper: the charts of the page over the rows of what is asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from inpaintbench.errors import InputError
from inpaintbench.eval.comparing.factors import MEASURED
from inpaintbench.eval.comparing.looked_at import Effect
from inpaintbench.eval.diagnosis import Curve, Diagnosis, diagnose, rests_on
from inpaintbench.eval.report import plots
from inpaintbench.eval.report.effects import Step, differences, factor_label, own_effects, quantity_words, step_of, steps
from inpaintbench.eval.report.gallery import attributes_of
from inpaintbench.eval.report.plots import PlotRow
from inpaintbench.eval.report.slice_tables import compared
from inpaintbench.eval.results.quantity import (
    Quantity,
    exploratory,
    metric_leaf,
    metric_title,
    place_label,
    quantity_title,
    with_unit,
)
from inpaintbench.eval.results.slices import in_reading_order, pair_slices, step_series
from inpaintbench.eval.results.tables import Results
from inpaintbench.lazily import lazily
from inpaintbench.pages import MethodStyle, method_styles
from inpaintbench.pages.plots import for_paper, method_looks
from inpaintbench.pages.words import number, p_words, signed
from inpaintbench.types import Slice

if TYPE_CHECKING:
    import altair as alt
    from altair import TopLevelMixin
else:
    alt = lazily("altair")  # takes a quarter of a second, and most commands draw nothing


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
    scale = alt.Scale(reverse=not higher_is_better, padding=14)
    x: dict[str, Any] = {"title": None, "axis": alt.Axis(grid=True, tickCount=4), "scale": scale}
    axis = alt.Axis(ticks=False, domain=False, labelExpr="split(datum.label, '\\n')", labelLineHeight=14, labelPadding=10,
                    labelOffset=-7, labelLimit=400, labelColor="var(--ink)")  # fmt: skip
    base = plots.chart_of_rows().encode(y=alt.Y("line:N", sort=list(lines), title=None, axis=axis, scale=alt.Scale(padding=0)))
    if together:
        base = base.encode(yOffset=alt.YOffset("place:O", scale=alt.Scale(domain=[0, 1, 2], paddingOuter=0.5)))
    looks = method_looks(styles)
    effects = base.transform_filter("datum.kind == 'effect'")
    opacity = alt.condition("datum.sure", alt.value(1), alt.value(_PALE))
    ends = plots.chart_of_rows().transform_filter("datum.kind == 'panel'")
    words: dict[str, Any] = {"fontSize": 11, "color": "var(--soft)", "aria": False, "dy": -7, "baseline": "bottom"}
    layers = alt.layer(
        plots.chart_of_rows().mark_rule(color="var(--strong-line)", aria=False).encode(x=alt.X(datum=0, **x)),
        effects.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2.5, aria=False)
        .encode(x=alt.X("low:Q", **x), x2="high:Q", color=looks["color"], opacity=opacity),
        effects.mark_point(filled=True, size=90, stroke="var(--ground)", strokeWidth=1, aria=False).encode(
            x=alt.X("value:Q", **x), **looks, opacity=opacity
        ),
        *(
            effects.transform_filter(f"isValid(datum.{name})")
            .mark_point(shape=shape_of, filled=True, size=70, aria=False)
            .encode(x=alt.X(f"{name}:Q", **x), color=looks["color"], opacity=opacity)
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
    return _panelled([(effect.one, effect) for effect in own_effects(diagnosis, quantity)], quantity)


def versus_rows(diagnosis: Diagnosis, quantity: Quantity, one: str, other: str) -> list[PlotRow]:
    """Rows of two fingerprints over each other, and of how much more the first has of each effect."""
    panel = versus_panels(one, other)
    both = [(panel[0], effect) for effect in own_effects(diagnosis, quantity) if effect.one in (one, other)]
    apart = [(panel[1], effect) for effect in differences(diagnosis, quantity, one, other)]
    rows = _panelled(both + apart, quantity)
    return [
        row | ({"place": 1, "method": panel[1]} if row["panel"] == panel[1] else {"place": 2 * (row["method"] == other)})
        for row in rows
    ]


def versus_panels(one: str, other: str) -> tuple[str, str]:
    """Names of the panels of two fingerprints: the effects, and the difference."""
    return "both", f"{one} less {other}"


def _panelled(effects: Sequence[tuple[str, Effect]], quantity: Quantity) -> list[PlotRow]:
    """A row for each panel and each effect, which is drawn between the ends of what all of them show.

    These hold all that is told, and every effect with the median reach: an attribute that the items hardly tell apart from the
    others has an interval many times as long, which would leave dots of the others.
    """
    methods = {panel: effect.one for panel, effect in effects}
    usual = median([effect.reach for _, effect in effects if math.isfinite(effect.reach)] or [0.0])
    shown = [(effect.value, effect.reach if effect.told else min(effect.reach, usual)) for _, effect in effects]
    first, last = min([0.0, *(value - reach for value, reach in shown)]), max([0.0, *(value + reach for value, reach in shown)])
    leaf, towards = metric_leaf(quantity.metric), tuple(BEYOND) if quantity.higher_is_better else tuple(BEYOND)[::-1]
    rows = [{**quantity._asdict(), "kind": "panel", "panel": panel, "method": method} for panel, method in methods.items()]
    for panel, effect in effects:
        step, known = step_of(effect), math.isfinite(effect.reach)
        size = signed(effect.value, leaf.decimals)
        who = f"{effect.one} less {effect.other}" if effect.other else effect.one
        ends = f", interval {number(effect.low, leaf.decimals)} to {with_unit(effect.high, quantity.metric)}" if known else ""
        told = f"{'more than' if effect.told else 'could be'} chance, p {p_words(effect.p)}, {rests_on(effect)}"
        goes_on = {towards[0]: (first, effect.low < first), towards[1]: (last, effect.high > last)}
        rows.append({
            **quantity._asdict(), "kind": "effect", "panel": panel,
            "method": effect.one, "line": line_label(step), "step": step.key, "sure": effect.told,
            "value": _short(effect.value),
            "low": _short(max(effect.low, first)) if known else None,
            "high": _short(min(effect.high, last)) if known else None,
            **{name: _short(end) for name, (end, beyond) in goes_on.items() if known and beyond},
            "text": size,
            "told": f"{who}, {factor_label(step.factor)}, {step.levels}: {f'{size} {leaf.unit}'.strip()}{ends}, {told}",
        })  # fmt: skip
    return rows


def response_chart(styles: Mapping[str, MethodStyle], labels: Sequence[str], *, y: str | None = None) -> alt.FacetChart:
    """Score over each measured attribute: a panel for each, a line with its band and a dot for each item for each method."""
    across = alt.X("x:Q", title=None, scale=alt.Scale(zero=False, nice=False), axis=alt.Axis(tickCount=4))
    up: dict[str, Any] = {"title": y, "scale": alt.Scale(zero=False)}
    base = plots.chart_of_rows().encode(x=across)
    looks = method_looks(styles)
    lines = base.transform_filter("datum.kind == 'curve'")
    layers = alt.layer(
        base.transform_filter("datum.kind == 'dot'")
        .mark_point(filled=True, size=26, opacity=0.5, cursor="pointer")
        .encode(y=alt.Y("y:Q", **up), **looks, description="told:N"),
        lines.mark_area(opacity=0.16, aria=False).encode(y=alt.Y("low:Q", **up), y2="high:Q", color=looks["color"]),
        lines.mark_line(strokeWidth=2.25).encode(y=alt.Y("y:Q", **up), color=looks["color"], description="told:N"),
    ).properties(width=_CURVE_WIDTH, height=_CURVE_HEIGHT)
    rows = "split(replace(datum.label, ' (', '\\n('), '\\n')"  # the unit below the name
    header = alt.Header(title=None, labelFontWeight=500, labelLimit=_CURVE_WIDTH, labelExpr=rows, labelLineHeight=15)
    facet = alt.Facet("attribute:N", sort=list(labels), header=header, title=None)
    panels = layers.facet(facet=facet, columns=min(4, max(1, len(labels))), spacing=18)
    found: alt.FacetChart = panels.resolve_scale(x="independent")
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
    rows: list[PlotRow] = []
    for curve in (curve for curve in diagnosis.curves if curve.quantity == quantity):
        shared = {**quantity._asdict(), "method": curve.method, "attribute": _panel_label(curve)}
        for at, mean, low, high in zip(curve.at, curve.mean, curve.low, curve.high, strict=True):
            ends = {"low": _short(low), "high": _short(high), "told": _curve_words(curve)}
            rows.append(shared | {"kind": "curve", "x": _drawn_at(curve, at), "y": _short(mean), **ends})
        for item_id, at, score in curve.points:
            x = _drawn_at(curve, at)
            told = f"{item_id}, {curve.method}: {number(x)}, {with_unit(score, quantity.metric)}"
            rows.append(shared | {"kind": "dot", "x": x, "y": _short(score), "item": item_id, "told": told})
    return rows


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
            **curve.quantity._asdict(), "method": curve.method, "attribute": label,
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


# Pixels between the axes: with names and numbers both columns of a paper, 6.75 in.
_WIDTH = 520
PALE_NOTE = "Pale: could be chance. Intervals hold for everything that is compared together."
_LACKS = {"fingerprint": "the dataset has no axis, slice or attribute", "response": "the dataset has no measured attribute"}


def paper_figure(results: Results, name: str, quantity: Quantity, *, attribute: str | None = None) -> dict[str, Any]:
    """A figure as Vega-Lite with its rows, in the colours of paper and with a legend.

    Args:
        results: the scores.
        name: ``means``, ``difficulty``, ``steps``, ``sensitivity``, ``scatter``, ``fingerprint`` or ``response``.
        quantity: what is drawn.
        attribute: numeric attribute of items by which ``scatter`` draws; by default the first one.

    Raises:
        InputError: there is nothing that this figure shows.
    """
    styles, series, title = _competing(results), step_series(results.slices), quantity_title(quantity, results.protocol)
    if name == "scatter":
        return _scatter(results, quantity, styles, attribute)
    if name in _LACKS:
        diagnosis = diagnose(results)
        rows = (fingerprint_rows if name == "fingerprint" else response_rows)(diagnosis, quantity)
        if not rows:
            what = f"{_LACKS[name]} that enough sources have {quantity_title(quantity)} of"
            raise InputError(f"nothing to draw as {name!r}: {what}")
        if name == "response":
            return for_paper(response_chart(styles, curve_labels(diagnosis)), rows, title=title)
        better = quantity.higher_is_better
        chart = fingerprint_chart(styles, line_labels(diagnosis), list(styles), higher_is_better=better)
        return for_paper(chart, rows, title=figure_title(quantity), notes=_notes_of(rows))
    drawn: TopLevelMixin
    if name == "means":
        parts = {"All items": results.everything} | {plots.slice_words(one): one for one in in_reading_order(results.slices)}
        drawn, rows = plots.means_chart(styles, list(parts)), list(plots.means_rows(results, parts, quantity))
    elif name == "difficulty":
        drawn, rows = plots.difficulty_chart(results, styles).properties(width=_WIDTH), plots.difficulty_rows(results)
    elif name == "steps":
        drawn, rows = plots.steps_chart(styles, series), plots.steps_rows(results, compared(results, series))
    else:
        drawn = plots.sensitivity_chart(styles, results.contenders, pair_slices(results.slices))
        rows = plots.sensitivity_rows(results)
    own = [row for row in rows if (row["metric"], row["region"]) == quantity]
    if not own:
        raise InputError(f"nothing to draw as {name!r}: no slice of the dataset that it shows has {quantity_title(quantity)}")
    return for_paper(drawn, own, title=title, notes=plots.reading_notes(own))


def metrics_figure(results: Results, part: Slice, quantities: Sequence[Quantity]) -> dict[str, Any]:
    """The means of all methods in a slice with their intervals: a panel for each metric and region."""
    names = {
        f"{metric_title(one.metric)}\n{place_label(one.region)}{exploratory(one, results.protocol)}": one for one in quantities
    }
    rows = [row for name, quantity in names.items() for row in plots.means_rows(results, {name: part}, quantity)]
    chart = plots.means_chart(_competing(results), list(names), apart=True)
    return for_paper(chart, rows, title=plots.slice_words(part), notes=plots.reading_notes(rows))


def versus_figure(results: Results, one: str, other: str, quantity: Quantity) -> dict[str, Any] | None:
    """The fingerprints of two methods over each other, and beside them the difference; None where there is no effect."""
    diagnosis, panels = diagnose(results), versus_panels(one, other)
    rows = versus_rows(diagnosis, quantity, one, other)
    if not rows:
        return None
    styles = {**method_styles((one, other)), panels[1]: MethodStyle("var(--soft)", "diamond", [1, 0])}
    better, lines = quantity.higher_is_better, line_labels(diagnosis)
    chart = fingerprint_chart(styles, lines, panels, higher_is_better=better, together=True)
    return for_paper(chart, rows, title=figure_title(quantity), notes=_notes_of(rows))


def _notes_of(rows: Sequence[PlotRow]) -> list[str]:
    """How a fingerprint is read."""
    beyond = any(name in row for row in rows for name in BEYOND)
    return [PALE_NOTE, *(["An interval that ends in an arrow goes on beyond."] if beyond else [])]


def _competing(results: Results) -> dict[str, MethodStyle]:
    styles = method_styles(results.methods, results.aside)
    return {method: styles[method] for method in results.contenders}


def _scatter(results: Results, quantity: Quantity, styles: dict[str, MethodStyle], attribute: str | None) -> dict[str, Any]:
    """A dot for each item and method with a finite value; of a reference its mean, at the edge where it lies beyond all dots."""
    numeric = {one.name: one for one in attributes_of(results.dataset.items) if one.numeric}
    if quantity.of_sets or not numeric:
        raise InputError(
            "nothing to draw as 'scatter': it needs a metric of items, and a numeric attribute in which items differ"
        )
    if attribute is not None and attribute not in numeric:
        raise InputError(f"no numeric attribute {attribute!r} in which items differ; there are {', '.join(sorted(numeric))}")
    chosen = numeric[attribute] if attribute else next(iter(numeric.values()))
    placed = {name: place for name, place in zip(results.sources, chosen.values, strict=True) if place is not None}
    known: dict[str, dict[str, float]] = {}
    for method in results.methods:
        values = {item_id: results.value(method, item_id, quantity) for item_id in placed}
        known[method] = {name: value for name, value in values.items() if value is not None and math.isfinite(value)}
    drawn = [value for method in results.contenders for value in known[method].values()]
    rows: list[PlotRow] = [
        {"kind": "dot", "method": method, "x": placed[item_id], "y": value, "told": item_id}
        for method in results.contenders
        for item_id, value in known[method].items()
    ]
    for method in (method for method in results.aside if known[method] and drawn):
        mean = math.fsum(known[method].values()) / len(known[method])
        beyond = " ↑" if mean > max(drawn) else " ↓" if mean < min(drawn) else ""
        told = f"{method}, {results.role(method)}: mean {with_unit(mean, quantity.metric)}{beyond}"
        rows.append({"kind": "reference", "y": min(max(mean, min(drawn)), max(drawn)), "told": told})
    chart = plots.scatter_chart(styles, x=chosen.label, y=quantity_title(quantity, results.protocol))
    return for_paper(chart.properties(width=_WIDTH), rows)
