"""Figures of a report and of a leaderboard for paper: the charts of the page over the rows of what is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from inpaintbench.errors import InputError
from inpaintbench.eval.comparing.factors import MEASURED
from inpaintbench.eval.diagnosis.diagnose import diagnose
from inpaintbench.eval.diagnosis.records import Curve, Diagnosis, FactorEffect, rests_on
from inpaintbench.eval.report import plots
from inpaintbench.eval.report.effects import Step, differences, factor_label, own_effects, quantity_words, step_of, steps
from inpaintbench.eval.report.findings import p_words, with_unit
from inpaintbench.eval.report.items import attributes_of
from inpaintbench.eval.report.plots import PlotRow
from inpaintbench.eval.report.slice_tables import compared
from inpaintbench.eval.results.quantity import Quantity, exploratory, metric_leaf, metric_title, place_label, quantity_title
from inpaintbench.eval.results.slices import in_reading_order, pair_slices, step_series
from inpaintbench.eval.results.tables import Results
from inpaintbench.lazily import lazily
from inpaintbench.pages import MethodStyle, method_styles
from inpaintbench.pages.plots import for_paper, method_colour, method_shape
from inpaintbench.pages.words import number, signed
from inpaintbench.types import Slice

if TYPE_CHECKING:
    from altair import TopLevelMixin
if TYPE_CHECKING:
    import altair as alt
else:
    alt = lazily("altair")  # takes a quarter of a second, and most commands draw nothing


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


Styles = Mapping[str, MethodStyle]
# Pixels between the axes: with names and numbers both columns of a paper, 6.75 in.
_WIDTH = 520
_ALL = "All items"


def paper_figure(results: Results, name: str, quantity: Quantity, *, attribute: str | None = None) -> dict[str, Any]:
    """A figure as Vega-Lite with its rows, in the colours of paper and with a legend.

    Args:
        results: the scores.
        name: one of ``FIGURES``, or ``scatter``, ``fingerprint`` or ``response``.
        quantity: what is drawn.
        attribute: numeric attribute of items by which ``scatter`` draws; by default the first one.

    Raises:
        InputError: there is nothing that this figure shows.
    """
    styles = method_styles(results.methods, results.aside)
    if name == "scatter":
        return _scatter(results, quantity, styles, attribute)
    if name in ("fingerprint", "response"):
        return _of_diagnosis(results, name, quantity, styles)
    chart, rows = FIGURES[name](results, styles)
    own = [row for row in rows if (row["metric"], row["region"]) == quantity]
    if not own:
        raise InputError(f"nothing to draw as {name!r}: no slice of the dataset that it shows has {quantity_title(quantity)}")
    return for_paper(chart, own, title=quantity_title(quantity, results.protocol), notes=plots.reading_notes(own))


def metrics_figure(results: Results, part: Slice, quantities: Sequence[Quantity]) -> dict[str, Any]:
    """The means of all methods in a slice with their intervals: a panel for each metric and region."""
    styles = _competing(results, method_styles(results.methods, results.aside))
    names = [
        f"{metric_title(quantity.metric)}\n{place_label(quantity.region)}{exploratory(quantity, results.protocol)}"
        for quantity in quantities
    ]
    rows = [
        row
        for quantity, name in zip(quantities, names, strict=True)
        for row in plots.means_rows(results, {name: part}, quantity)
    ]  # fmt: skip
    return for_paper(
        plots.means_chart(styles, names, apart=True), rows, title=plots.slice_words(part), notes=plots.reading_notes(rows)
    )


def _means(results: Results, styles: Styles) -> tuple[TopLevelMixin, list[PlotRow]]:
    parts = {_ALL: results.everything} | {plots.slice_words(part): part for part in in_reading_order(results.slices)}
    rows = [row for quantity in results.quantities for row in plots.means_rows(results, parts, quantity)]
    return plots.means_chart(_competing(results, styles), list(parts)), rows


def _difficulty(results: Results, styles: Styles) -> tuple[TopLevelMixin, list[PlotRow]]:
    chart = plots.difficulty_chart(results, _competing(results, styles))
    return chart.properties(width=_WIDTH), plots.difficulty_rows(results)


def _sensitivity(results: Results, styles: Styles) -> tuple[TopLevelMixin, list[PlotRow]]:
    pairs = pair_slices(results.slices)
    return plots.sensitivity_chart(_competing(results, styles), results.contenders, pairs), plots.sensitivity_rows(results)


def _steps(results: Results, styles: Styles) -> tuple[TopLevelMixin, list[PlotRow]]:
    series = step_series(results.slices)
    return plots.steps_chart(_competing(results, styles), series), plots.steps_rows(results, compared(results, series))


FIGURES: Mapping[str, Callable[[Results, Styles], tuple[TopLevelMixin, list[PlotRow]]]] = {
    "means": _means, "difficulty": _difficulty, "steps": _steps, "sensitivity": _sensitivity,
}  # fmt: skip
"""Name -> chart and rows of all quantities; beside them there are ``scatter`` and the figures of the diagnosis."""


def _of_diagnosis(results: Results, name: str, quantity: Quantity, styles: Styles) -> dict[str, Any]:
    diagnosis, own = diagnose(results), _competing(results, styles)
    if name == "fingerprint":
        rows = fingerprint_rows(diagnosis, quantity)
        lines = line_labels(diagnosis)
        chart = fingerprint_chart(own, lines, list(own), higher_is_better=quantity.higher_is_better)
        title, notes = figure_title(quantity), _notes_of(rows)
    else:
        rows = response_rows(diagnosis, quantity)
        chart = response_chart(own, curve_labels(diagnosis))
        title, notes = quantity_title(quantity, results.protocol), []
    if not rows:
        raise InputError(f"nothing to draw as {name!r}: {_LACKS[name]} that enough sources have {quantity_title(quantity)} of")
    return for_paper(chart, rows, title=title, notes=notes)


def versus_figure(results: Results, one: str, other: str, quantity: Quantity) -> dict[str, Any] | None:
    """The fingerprints of two methods over each other, and beside them the difference; None where there is no effect."""
    diagnosis = diagnose(results)
    rows = versus_rows(diagnosis, quantity, one, other)
    if not rows:
        return None
    panels = versus_panels(one, other)
    styles = {**method_styles((one, other)), panels[1]: MethodStyle("var(--soft)", "diamond", [1, 0])}
    lines = line_labels(diagnosis)
    chart = fingerprint_chart(styles, lines, panels, higher_is_better=quantity.higher_is_better, together=True)
    return for_paper(chart, rows, title=figure_title(quantity), notes=_notes_of(rows))


def _notes_of(rows: Sequence[PlotRow]) -> list[str]:
    """How a fingerprint is read."""
    beyond = any(name in row for row in rows for name in BEYOND)
    return [PALE_NOTE, *(["An interval that ends in an arrow goes on beyond."] if beyond else [])]


PALE_NOTE = "Pale: could be chance. Intervals hold for everything that is compared together."
_LACKS = {"fingerprint": "the dataset has no axis, slice or attribute", "response": "the dataset has no measured attribute"}


def _competing(results: Results, styles: Styles) -> dict[str, MethodStyle]:
    return {method: styles[method] for method in results.contenders}


def _scatter(results: Results, quantity: Quantity, styles: Styles, attribute: str | None) -> dict[str, Any]:
    numeric = {one.name: one for one in attributes_of(results.dataset.items) if one.numeric}
    if quantity.of_sets or not numeric:
        raise InputError(
            "nothing to draw as 'scatter': it needs a metric of items, and a numeric attribute in which items differ"
        )
    if attribute is not None and attribute not in numeric:
        raise InputError(f"no numeric attribute {attribute!r} in which items differ; there are {', '.join(sorted(numeric))}")
    chosen = numeric[attribute] if attribute else next(iter(numeric.values()))
    places = dict(zip(results.sources, chosen.values, strict=True))
    rows = list(_dots(results, quantity, places))
    chart = plots.scatter_chart(_competing(results, styles), x=chosen.label, y=quantity_title(quantity, results.protocol))
    return for_paper(chart.properties(width=_WIDTH), rows)


def _dots(results: Results, quantity: Quantity, places: Mapping[str, Any]) -> Iterator[PlotRow]:
    """A dot for each item and method with a finite value; of a reference its mean, at the edge where it lies beyond all dots."""
    placed = {item_id: place for item_id, place in places.items() if place is not None}
    values = {method: {item_id: results.value(method, item_id, quantity) for item_id in placed} for method in results.methods}
    known = {
        method: {item_id: value for item_id, value in of.items() if value is not None and math.isfinite(value)}
        for method, of in values.items()
    }
    drawn = [value for method in results.contenders for value in known[method].values()]
    for method in results.contenders:
        for item_id, value in known[method].items():
            yield {"kind": "dot", "method": method, "x": placed[item_id], "y": value, "told": item_id}
    for method in results.aside:
        if known[method] and drawn:
            mean = math.fsum(known[method].values()) / len(known[method])
            beyond = " ↑" if mean > max(drawn) else " ↓" if mean < min(drawn) else ""
            yield {"kind": "reference", "y": min(max(mean, min(drawn)), max(drawn)),
                   "told": f"{method}, {results.role(method)}: mean {with_unit(mean, quantity.metric)}{beyond}"}  # fmt: skip
