"""Figures 3, 4, 5, 7 and 9 of DEVIL, CVPR 2022, drawn from any means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import lazy_loader

from inpaintbench.claims import ENOUGH_SOURCES
from inpaintbench.eval.analysis.means import Means, Measure, Pair, Spread, difficulty, improvement, over_slices
from inpaintbench.eval.results.slices import split_level
from inpaintbench.pages import method_styles
from inpaintbench.pages.chart import Mark, Panel, Reference, chart
from inpaintbench.pages.words import count, number, signed_percent

if TYPE_CHECKING:
    import altair
else:
    altair = lazy_loader.load("altair")  # takes a quarter of a second, and most commands draw nothing

_LEVEL = "#8a949f"
# Opacity of the bars of slices by their level; seen on a light page and on a dark one.
_OPACITIES = {"low": 0.4, "high": 0.8, None: 0.6}
_DOUBTFUL = "† Holds numbers of columns that contradict the mean printed for them."
_DASHED = "Dashed: made from numbers of columns that contradict the mean printed for them."


def methods_figure(means: Means) -> altair.ConcatChart:
    """Mean over slices of each method with its standard error, a panel for each metric (Figure 3)."""
    styles = method_styles(means.methods, means.references)
    panels = []
    for measure in means.measures:
        spreads = over_slices(means, measure)
        marks = tuple(
            Mark(
                _drawable(spread.mean),
                _words(measure, spread),
                styles[method].colour,
                spread.standard_error,
                told=_told(method, measure, spread),
                few=means.unfit(means.slices, method, measure) is not None and spread.mean is not None,
            )
            for method, spread in spreads.items()
            if method in means.contenders
        )
        lines = [
            Reference(
                method, (_drawable(spread.mean),) * len(marks), (_words(measure, spread),) * len(marks), styles[method].colour
            )
            for method, spread in spreads.items()
            if method in means.references
        ]
        dagger = " †" if any(spread.doubtful for spread in spreads.values()) else ""
        panels.append(Panel(measure.label + measure.mark + dagger, _axis(measure), marks, bars=False, references=tuple(lines)))
    doubtful = any(means.doubtful(name, measure) for name in means.slices for measure in means.measures)
    lead = f"Dots: mean over {count(len(means.slices), 'slice')}. Whiskers: standard error. The axes need not begin at 0."
    sentences = _sentences(lead, panels, means.measures, _DOUBTFUL if doubtful else "")
    return chart(title="Methods over all slices (Figure 3)", sentences=sentences, rows=means.contenders, panels=panels)


def difficulty_figure(means: Means) -> altair.ConcatChart:
    """Mean over methods of each slice with its standard error and a dot for each method, a panel for each metric (Figure 4)."""
    styles = method_styles(means.methods, means.references)
    panels = []
    for measure in means.measures:
        marks = []
        for name, spread in difficulty(means, measure).items():
            values = [(means.cell(name, method, measure).mean, method) for method in means.contenders]
            dots = tuple((value, method) for value, method in values if value is not None and math.isfinite(value))
            words = _words(measure, spread) + (" †" if spread.doubtful else "")
            told = _told(means.slice_label(name), measure, spread)
            few = means.few(name, measure)
            told += f"; {few}" if few else ""
            marks.append(
                Mark(
                    _drawable(spread.mean),
                    words,
                    _LEVEL,
                    spread.standard_error,
                    dots,
                    told,
                    spread.doubtful,
                    few is not None,
                    opacity=_OPACITIES[split_level(name)[1]],
                )
            )
        lines = []
        for method in means.references:
            cells = [means.cell(name, method, measure) for name in means.slices]
            printed = tuple(number(cell.mean, measure.decimals) for cell in cells)
            lines.append(Reference(method, tuple(_drawable(cell.mean) for cell in cells), printed, styles[method].colour))
        panels.append(Panel(measure.label + measure.mark, _axis(measure), tuple(marks), references=tuple(lines)))
    doubtful = any(mark.doubtful for panel in panels for mark in panel.marks)
    lead = f"Bars: mean over {count(len(_measured(means)), 'method')}. Whiskers: standard error. Dots: the methods."
    return chart(
        title="Difficulty of the slices (Figure 4)",
        sentences=_sentences(lead, panels, means.measures, f"{_DOUBTFUL} Dashed." if doubtful else ""),
        rows=[means.slice_label(name) for name in means.slices],
        panels=panels,
        legend={method: styles[method] for method in _measured(means)},
        across=2 if len(panels) < 5 else 3,
    )


def _measured(means: Means) -> list[str]:
    """Methods that have a value somewhere."""
    cells = ((method, means.cell(name, method, measure)) for method in means.methods for name in means.slices
             for measure in means.measures)  # fmt: skip
    found = {method for method, cell in cells if cell.mean is not None}
    return [method for method in means.contenders if method in found]


def attribute_figure(means: Means, pair: Pair) -> altair.ConcatChart:
    """Relative improvement from low to high of one attribute, a panel for each metric (Figures 5 and 7)."""
    panels = [_improvement_panel(means, pair, measure, measure.label + measure.mark) for measure in means.ranked_measures]
    label = means.attribute_label(pair.attribute)
    like = {"camera_motion": " (Figure 5)", "bg_scene_motion": " (Figure 7)"}.get(pair.attribute, "")
    return _improvement_chart(means, f"{label}, from low to high{like}", panels, means.ranked_measures)


def metric_figure(means: Means, measure: Measure) -> altair.ConcatChart:
    """Relative improvement from low to high under one metric, a panel for each attribute (Figure 9)."""
    panels = [_improvement_panel(means, pair, measure, means.attribute_label(pair.attribute)) for pair in means.pairs]
    like = " (Figure 9)" if measure.key == "pvcs" else ""
    return _improvement_chart(means, f"{measure.label}{measure.mark}, from low to high{like}", panels, [measure])


def _improvement_chart(means: Means, title: str, panels: Sequence[Panel], measures: Sequence[Measure]) -> altair.ConcatChart:
    doubtful = any(mark.doubtful for panel in panels for mark in panel.marks)
    lead = "Relative improvement of each method. Right of 0: better on the high slice, whatever the metric's direction."
    sentences = _sentences(lead, panels, measures, _DASHED if doubtful else "")
    return chart(title=title, sentences=sentences, rows=means.contenders, panels=panels)


def _improvement_panel(means: Means, pair: Pair, measure: Measure, heading: str) -> Panel:
    styles = method_styles(means.methods, means.references)
    found = improvement(means, pair, measure)
    unfit = {method: means.unfit((pair.low, pair.high), method, measure) for method in means.contenders}
    marks = tuple(
        Mark(one.share, signed_percent(one.share), styles[one.method].colour, doubtful=one.doubtful and one.share is not None,
             told=f"{one.method}, {measure.label}: {one.reason or signed_percent(one.share)}"
             + (f"; {unfit[one.method]}" if unfit[one.method] else ""),
             few=unfit[one.method] is not None and one.share is not None)
        for one in found
        if one.method in means.contenders
    )  # fmt: skip
    lines = tuple(
        Reference(one.method, (one.share,) * len(marks), (signed_percent(one.share),) * len(marks), styles[one.method].colour)
        for one in found
        if one.method in means.references
    )
    return Panel(heading, "improvement  (worse ← 0 → better)", marks, percent=True, references=lines)


def _told(name: str, measure: Measure, spread: Spread) -> str:
    value = number(spread.mean, measure.decimals)
    error = "" if spread.standard_error is None else f" ± {number(spread.standard_error, measure.decimals + 1)}"
    return f"{name}, {measure.label}: {value}{error}, n {spread.n}" + (f"; {spread.reason}" if spread.reason else "")


def _words(measure: Measure, spread: Spread) -> str:
    return number(spread.mean, measure.decimals) + (" *" if spread.reason and spread.mean is not None else "")


def _sentences(lead: str, panels: Sequence[Panel], measures: Sequence[Measure], doubtful: str) -> list[str]:
    """Sentences on how to read a figure, and the notes that its marks and measures need."""
    marks = [mark for panel in panels for mark in panel.marks]
    hollow = f" Hollow: fewer than {ENOUGH_SOURCES} sources, or fewer items than others have: no more than points."
    starred = "* Leaves out numbers that are missing or infinite; the list of what is missing tells why."
    cautions = [f"{measure.label}: {measure.caution}." for measure in measures if measure.caution]
    sentences = [lead + hollow * any(mark.few for mark in marks), *cautions, doubtful]
    return [*filter(None, sentences), *([starred] if any("*" in mark.words for mark in marks) else [])]


def _axis(measure: Measure) -> str:
    unit = f" in {measure.unit}" if measure.unit else ""
    if not measure.ranked:
        return f"{measure.label}{unit}"
    return f"{measure.label}{unit}  ({'right is better →' if measure.higher_is_better else '← left is better'})"


def _drawable(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
