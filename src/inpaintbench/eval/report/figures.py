"""Figures of a report and of a leaderboard for paper: the charts of the page over the rows of what is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inpaintbench.errors import InputError
from inpaintbench.eval.diagnosis.diagnose import diagnose
from inpaintbench.eval.report import effect_plots, plots
from inpaintbench.eval.report.findings import with_unit
from inpaintbench.eval.report.items import attributes_of
from inpaintbench.eval.report.plots import PlotRow
from inpaintbench.eval.report.slice_tables import compared
from inpaintbench.eval.results.quantity import Quantity, exploratory, metric_title, place_label, quantity_title
from inpaintbench.eval.results.slices import in_reading_order, pair_slices, step_series
from inpaintbench.eval.results.tables import Results
from inpaintbench.pages import MethodStyle, method_styles
from inpaintbench.pages.plots import for_paper
from inpaintbench.types import Slice

if TYPE_CHECKING:
    from altair import TopLevelMixin

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
        rows = effect_plots.fingerprint_rows(diagnosis, quantity)
        lines = effect_plots.line_labels(diagnosis)
        chart = effect_plots.fingerprint_chart(own, lines, list(own), higher_is_better=quantity.higher_is_better)
        title, notes = effect_plots.figure_title(quantity), _notes_of(rows)
    else:
        rows = effect_plots.response_rows(diagnosis, quantity)
        chart = effect_plots.response_chart(own, effect_plots.curve_labels(diagnosis))
        title, notes = quantity_title(quantity, results.protocol), []
    if not rows:
        raise InputError(f"nothing to draw as {name!r}: {_LACKS[name]} that enough sources have {quantity_title(quantity)} of")
    return for_paper(chart, rows, title=title, notes=notes)


def versus_figure(results: Results, one: str, other: str, quantity: Quantity) -> dict[str, Any] | None:
    """The fingerprints of two methods over each other, and beside them the difference; None where there is no effect."""
    diagnosis = diagnose(results)
    rows = effect_plots.versus_rows(diagnosis, quantity, one, other)
    if not rows:
        return None
    panels = effect_plots.versus_panels(one, other)
    styles = {**method_styles((one, other)), panels[1]: MethodStyle("var(--soft)", "diamond", [1, 0])}
    lines = effect_plots.line_labels(diagnosis)
    chart = effect_plots.fingerprint_chart(styles, lines, panels, higher_is_better=quantity.higher_is_better, together=True)
    return for_paper(chart, rows, title=effect_plots.figure_title(quantity), notes=_notes_of(rows))


def _notes_of(rows: Sequence[PlotRow]) -> list[str]:
    """How a fingerprint is read."""
    beyond = any(name in row for row in rows for name in effect_plots.BEYOND)
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
