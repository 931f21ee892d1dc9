"""Figures of one dimension: matching rates with their ceiling, and win ratios of people and metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from inpaintbench.eval.results.quantity import Quantity, metric_label, quantity_label
from inpaintbench.lazily import lazily
from inpaintbench.pages import method_styles
from inpaintbench.pages.chart import looks, titled
from inpaintbench.pages.words import count
from inpaintbench.wings.align.align import Dimension, Line
from inpaintbench.wings.align.bootstrap import correlation_words, rate_words

if TYPE_CHECKING:
    import altair
else:
    altair = lazily("altair")  # takes a quarter of a second, and most commands draw nothing

# Pixels: height of a row, width of its plot, side of a scatter plot; and how many of these stand side by side.
_ROW, _PLOT, _SIDE, _ACROSS = 40, 340, 210, 4
# Ratios between the sides of a scatter plot and 0 or 1.
_INSET = 0.08
# Most ratios that the points of neighbouring methods are apart.
_ASIDE = 0.045
# What is counted, its colour, and its pixels below the middle of its row.
_KINDS = (("all answers", "#0072B2", -6), ("preferences alone", "#E69F00", 7))


def label_of(metric: str) -> str:
    """``PSNR in the hole`` for ``psnr/hole``; the name alone where a table states no region."""
    name, _, region = metric.partition("/")
    return quantity_label(Quantity(name, region)) if region else metric_label(name)


def rates_figure(dimension: Dimension) -> altair.LayerChart | altair.FacetChart:
    """Matching rate of each metric with its interval, over all answers and over preferences alone, beside the ceilings."""
    lines = _ranked(dimension.lines)
    labels = [label_of(line.metric) for line in lines]
    data: list[dict[str, object]] = []
    for line, label in zip(lines, labels, strict=True):
        all_of_them, decided = line.matched.rate, line.matched.decided
        words, n = f"all answers {rate_words(all_of_them)}, preferences alone {rate_words(decided)}", all_of_them.n
        for (name, _, _), one in zip(_KINDS, (all_of_them, decided), strict=True):
            if one.value is not None:
                rates = {"rate": one.value, "low": one.low, "high": one.high, "few": one.few}
                data.append({"metric": label, "name": name, "told": f"{label}: {words}, n {n}", **rates})
    data += [{"metric": label_of(line.metric), "words": rate_words(line.matched.rate)} for line in lines]
    ceilings: list[dict[str, object]] = []
    if of_raters := dimension.ceiling:
        for (name, _, _), one in zip(_KINDS, (of_raters.rater_against_others, of_raters.decided_against_others), strict=True):
            told_of = f"a rater against the others: {rate_words(one)}"
            ceilings += [{"ceiling": True, "name": name, "rate": one.value, "told": told_of}] if one.value is not None else []
    axis = altair.Axis(format="%", tickCount=5, labelFlush=False, grid=True, ticks=False, domain=False)
    x = altair.X("rate:Q", title=None, scale=altair.Scale(domain=[0, 1]), axis=axis)
    names = altair.Axis(ticks=False, domain=False, labelColor="var(--ink)")
    y = altair.Y("metric:N", title=None, scale=altair.Scale(domain=labels), axis=names)
    kinds = altair.Scale(domain=[name for name, _, _ in _KINDS], range=[of for _, of, _ in _KINDS])
    colour = altair.Color("name:N", scale=kinds, legend=altair.Legend(title=None, orient="top", symbolOpacity=1))
    told = altair.Description("told:N")
    layers: list[altair.Chart] = []
    for name, _, down in _KINDS:
        of = altair.Chart().transform_filter(f"datum.name == '{name}' && !datum.ceiling")
        whisker = of.mark_rule(strokeWidth=2.2, yOffset=down, aria=False)
        layers.append(whisker.encode(altair.X("low:Q"), y, colour, x2="high:Q"))
        for filled, when in ((True, "!datum.few"), (False, "datum.few")):
            dot = of.transform_filter(when).mark_point(size=80, filled=filled, strokeWidth=2, opacity=1, yOffset=down)
            layers.append(dot.encode(x, y, colour, description=told))
    dashed = altair.Chart().transform_filter("datum.ceiling").mark_rule(strokeDash=[4, 3], strokeWidth=1.6)
    texts = altair.Chart().transform_filter("datum.words").mark_text(align="left", color="var(--soft)", aria=False)
    layers += [dashed.encode(x, colour, description=told), texts.encode(y, x=altair.value(_PLOT + 14), text="words:N")]
    told_of_lines = ["Dashed lines: how often a rater says what most of the others say."] if ceilings else []
    title = titled(f"Matching rates: {dimension.name}", told_of_lines, width=_PLOT + 300)
    whole = altair.layer(*layers, data=altair.InlineData(values=[*data, *ceilings]), title=title)
    return whole.properties(width=_PLOT, height=_ROW * len(lines))


def _ranked(lines: Sequence[Line]) -> list[Line]:
    return sorted(lines, key=lambda one: (one.matched.rate.value is None, -(one.matched.rate.value or 0.0), one.metric))


def scatter_figure(dimension: Dimension) -> altair.ConcatChart:
    """Win ratio of every method on every item, by the metric across and by people upwards; a plot for each metric."""
    lines = [one for one in _ranked(dimension.lines) if one.points]
    methods = sorted({point.method for one in lines for point in one.points})
    # Points of each method a little to the right of those before it, so that equal ratios of several stay apart.
    step, data = min(_ASIDE, 0.13 / max(1, len(methods))), []
    for one in lines:
        for point in one.points:
            aside = (methods.index(point.method) - (len(methods) - 1) / 2) * step
            told = f"people {point.people:.2f}, metric {point.metric:.2f}, {count(point.answers, 'answer')}"
            told = f"{point.method} on {point.item}: {told}"
            across = point.metric + aside
            data.append({"metric": one.metric, "name": point.method, "told": told, "people": point.people, "across": across})
    scale = altair.Scale(domain=[-_INSET, 1 + _INSET], nice=False)
    axis = altair.Axis(values=[0, 0.5, 1], grid=True, ticks=False, domain=False)
    colour, shape = looks(method_styles(methods))
    plots = []
    for one in lines:
        line = altair.Chart(altair.InlineData(values=[{"across": 0, "people": 0}, {"across": 1, "people": 1}]))
        points = altair.Chart().transform_filter(altair.FieldEqualPredicate(field="metric", equal=one.metric))
        heading = altair.TitleParams(
            label_of(one.metric), subtitle=f"Spearman {correlation_words(one.correlations['spearman'])}", fontSize=13, offset=8
        )
        x, y = altair.X("across:Q", title=None, scale=scale, axis=axis), altair.Y("people:Q", title=None, scale=scale, axis=axis)
        drawn = (
            line.mark_line(color="var(--strong-line)", strokeWidth=1, aria=False).encode(x, y),
            points.mark_point(filled=True, size=60, opacity=0.8).encode(x, y, colour, shape, description="told:N"),
        )
        plots.append(altair.layer(*drawn, title=heading).properties(width=_SIDE, height=_SIDE))
    across = min(_ACROSS, len(plots))
    title = titled(
        f"Win ratios: {dimension.name}",
        ["A dot for each method and item, those of each method moved a little aside. Across: the metric. Upwards: people."],
        width=across * (_SIDE + 40),
    )
    return altair.concat(*plots, data=altair.InlineData(values=data), columns=across, title=title)
