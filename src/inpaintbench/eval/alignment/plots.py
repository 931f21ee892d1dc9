"""Figures of one dimension as standalone SVG: matching rates with their ceiling, and win ratios of people and metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inpaintbench.eval.alignment.align import Dimension, Line
from inpaintbench.eval.alignment.bootstrap import Estimate
from inpaintbench.eval.alignment.win_ratios import Point
from inpaintbench.eval.alignment.words import correlation_words, rate_words
from inpaintbench.eval.analysis import svg
from inpaintbench.eval.analysis.svg import line, text
from inpaintbench.eval.report.labels import method_colours, metric_label, quantity_label
from inpaintbench.eval.report.markup import count
from inpaintbench.eval.report.quantity import Quantity

_MARGIN, _ROW, _PLOT = 20, 40, 340
_SIDE, _GAP, _ACROSS, _INSET = 210, 44, 4, 14
"""Pixels: side of a scatter plot, space between them, how many side by side, and space between its sides and 0 or 1."""
_RATE, _DECIDED = "#0072B2", "#E69F00"
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def label_of(metric: str) -> str:
    """``PSNR in the hole`` for ``psnr/hole``."""
    name, _, region = metric.partition("/")
    return quantity_label(Quantity(name, region)) if region else metric_label(name)


def rates_figure(dimension: Dimension) -> str:
    """Matching rate of each metric with its interval, over all answers and over preferences alone, beside the ceilings."""
    lines = _ranked(dimension.lines)
    names = max(svg.width_of(svg.shorten(label_of(one.metric)), size=12.5) for one in lines) + 16
    words = max(svg.width_of(rate_words(one.matched.rate), size=11) for one in lines) + 20
    left, width = _MARGIN + names, _MARGIN * 2 + names + _PLOT + words
    parts = [text(_MARGIN, _MARGIN + 14, f"Matching rates: {dimension.name}", size=17, bold=True)]
    entries = [("all answers", _RATE), ("preferences alone", _DECIDED)]
    top = _MARGIN + 36.0
    if dimension.ceiling and dimension.ceiling.rater_against_others.value is not None:
        told = "Dashed lines: how often a rater says what most of the others say."
        drawn, height = svg.sentence(told, x=_MARGIN, y=top, width=width - 2 * _MARGIN)
        parts, top = parts + drawn, top + height
    drawn, height = svg.legend(entries, x=_MARGIN, y=top + 2, width=width - 2 * _MARGIN)
    parts, top = parts + drawn, top + height + 2
    base = top + _ROW * len(lines)
    for tick in _TICKS:
        parts.append(line(left + tick * _PLOT, top - 6, left + tick * _PLOT, base, colour=svg.GRID))
        parts.append(text(left + tick * _PLOT, base + 16, f"{tick:.0%}", size=11, colour=svg.SOFT, anchor="middle"))
    parts += _ceilings(dimension, left, top, base)
    for index, one in enumerate(lines):
        parts.append(svg.told(_told(one), *_rate_row(one, left, top + _ROW * (index + 0.5))))
    return svg.document(parts, width=width, height=base + 34, label=f"Matching rates under {dimension.name}")


def _ranked(lines: Sequence[Line]) -> list[Line]:
    return sorted(lines, key=lambda one: (one.matched.rate.value is None, -(one.matched.rate.value or 0.0), one.metric))


def _ceilings(dimension: Dimension, left: float, top: float, base: float) -> Iterator[str]:
    if dimension.ceiling is None:
        return
    both = ((dimension.ceiling.rater_against_others, _RATE), (dimension.ceiling.decided_against_others, _DECIDED))
    for one, colour in both:
        if one.value is not None:
            x = left + one.value * _PLOT
            dashes = f'stroke="{colour}" stroke-width="1.6" stroke-dasharray="4 3"'
            told = f"a rater against the others: {rate_words(one)}"
            yield svg.told(told, f'<line x1="{x:.6g}" y1="{top - 6:.6g}" x2="{x:.6g}" y2="{base:.6g}" {dashes}/>')


def _rate_row(one: Line, left: float, y: float) -> Iterator[str]:
    yield text(left - 10, y + 4, svg.shorten(label_of(one.metric)), size=12.5, anchor="end")
    for estimate, colour, at in ((one.matched.rate, _RATE, y - 6), (one.matched.decided, _DECIDED, y + 7)):
        yield from _whisker(estimate, colour, left, at)
    yield text(left + _PLOT + 14, y + 4, rate_words(one.matched.rate), size=11, colour=svg.SOFT)


def _whisker(estimate: Estimate, colour: str, left: float, y: float) -> Iterator[str]:
    if estimate.low is not None and estimate.high is not None:
        yield line(left + estimate.low * _PLOT, y, left + estimate.high * _PLOT, y, colour=colour, width=2.2)
    if estimate.value is not None:
        look = f'fill="none" stroke="{colour}" stroke-width="2"' if estimate.few else f'fill="{colour}"'
        yield f'<circle cx="{left + estimate.value * _PLOT:.6g}" cy="{y:.6g}" r="4.6" {look}/>'


def _told(one: Line) -> str:
    return (
        f"{label_of(one.metric)}: all answers {rate_words(one.matched.rate)}, preferences alone "
        f"{rate_words(one.matched.decided)}, n {one.matched.rate.n}"
    )


def scatter_figure(dimension: Dimension) -> str:
    """Win ratio of every method on every item, by the metric across and by people upwards; a plot for each metric."""
    lines = [one for one in _ranked(dimension.lines) if one.points]
    methods = sorted({point.method for one in lines for point in one.points})
    colours = method_colours(methods)
    across = max(1, min(_ACROSS, len(lines)))
    width = 2 * _MARGIN + 30 + across * (_SIDE + _GAP) - _GAP
    parts = [text(_MARGIN, _MARGIN + 14, f"Win ratios: {dimension.name}", size=17, bold=True)]
    told = "A dot for each method and item, those of each method moved a little aside. Across: the metric. Upwards: people."
    drawn, height = svg.sentence(told, x=_MARGIN, y=_MARGIN + 36, width=width - 2 * _MARGIN)
    parts, top = parts + drawn, _MARGIN + 36 + height
    drawn, height = svg.legend(list(colours.items()), x=_MARGIN, y=top + 2, width=width - 2 * _MARGIN)
    parts, top = parts + drawn, top + height + 8
    tall = _SIDE + 78
    for index, one in enumerate(lines):
        down, right = divmod(index, across)
        x, y = _MARGIN + 30 + right * (_SIDE + _GAP), top + down * tall
        parts.append(f'<g transform="translate({x:g} {y:g})">{"".join(_plot(one, methods, colours))}</g>')
    height = top + tall * -(-len(lines) // across)
    return svg.document(parts, width=width, height=height, label=f"Win ratios under {dimension.name}")


def _plot(one: Line, methods: Sequence[str], colours: dict[str, str]) -> Iterator[str]:
    yield text(0, 12, svg.shorten(label_of(one.metric)), size=13, bold=True)
    spearman = one.correlations["spearman"]
    yield text(0, 29, f"Spearman {correlation_words(spearman)}", size=11, colour=svg.SOFT)
    top = 42
    for tick in _TICKS:
        yield line(_along(tick), top, _along(tick), top + _SIDE, colour=svg.GRID)
        yield line(0, top + _along(tick), _SIDE, top + _along(tick), colour=svg.GRID)
    for tick in (0.0, 0.5, 1.0):
        yield text(_along(tick), top + _SIDE + 15, f"{tick:g}", size=11, colour=svg.SOFT, anchor="middle")
        yield text(-7, top + _along(1 - tick) + 4, f"{tick:g}", size=11, colour=svg.SOFT, anchor="end")
    yield line(_along(0), top + _along(1), _along(1), top + _along(0), colour=svg.BASE)
    for x, y, point in _spread(one, methods):
        told = f"{point.method} on {point.item}: people {point.people:.2f}, metric {point.metric:.2f}, "
        told += count(point.answers, "answer")
        fill = f'fill="{colours[point.method]}" fill-opacity="0.75"'
        yield svg.told(told, f'<circle cx="{x:.6g}" cy="{top + y:.6g}" r="4" {fill}/>')


def _along(ratio: float) -> float:
    """Place of a ratio on a side of a plot, in pixels."""
    return _INSET + ratio * (_SIDE - 2 * _INSET)


def _spread(one: Line, methods: Sequence[str]) -> Iterator[tuple[float, float, Point]]:
    """Places of the points in pixels, each method a little beside the others."""
    middle = (len(methods) - 1) / 2
    for point in one.points:
        aside = (methods.index(point.method) - middle) * min(9.0, 24 / max(1, len(methods)))
        yield _along(point.metric) + aside, _along(1 - point.people), point
