"""Plots of the gallery as inline SVG; colours come from the page's style."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from inpaintbench.masks.gallery.markup import bounds_text, percent, percent_range

_WIDTH, _HEIGHT = 220, 74
_TOP, _BASE, _RUG, _TEXT = 4, 46, 53, 69
_BINS = 20
_SCALES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)


def scale_end(values: Sequence[float], bounds: Sequence[tuple[float, float] | None]) -> float:
    """Where the axis of all panels ends: a round share that no value or bound passes."""
    most = max([0.0, *values, *(pair[1] for pair in bounds if pair)])
    return next((end for end in _SCALES if most <= end + 1e-12), 1.0)


def histogram(
    values: Sequence[float], *, bounds: tuple[float, float] | None, end: float, links: Sequence[str], title: str, axis: str
) -> str:
    """Counts of shares in 20 steps from 0 to ``end``, the bin shaded, the mean marked, a dot that leads to each tile."""
    counts = histogram_counts(values, end=end)
    step = _WIDTH / _BINS
    tallest = max([1, *counts])
    bars = "".join(
        f'<rect class="column" x="{index * step + 0.5:.2f}" width="{step - 1:.2f}" y="{_y(n, tallest):.2f}"'
        f' height="{_BASE - _y(n, tallest):.2f}"/>'
        for index, n in enumerate(counts)
        if n
    )
    dots = "".join(
        f'<a href="#{escape(link)}"><circle class="dot" cx="{_x(value, end):.2f}" cy="{_RUG}" r="3">'
        f"<title>{percent(value)}</title></circle></a>"
        for value, link in zip(values, links, strict=True)
    )
    return (
        f'<svg class="histogram" viewBox="-4 0 {_WIDTH + 8} {_HEIGHT}" role="group" aria-label="{escape(title)}">'
        f"{_bin(bounds, end)}<line class='base' x1='0' x2='{_WIDTH}' y1='{_BASE}' y2='{_BASE}'/>{bars}{_mean(values, end)}{dots}"
        f'<text x="0" y="{_TEXT}">0</text><text x="{_WIDTH / 2}" y="{_TEXT}" text-anchor="middle">{escape(axis)}</text>'
        f'<text x="{_WIDTH}" y="{_TEXT}" text-anchor="end">{_tick(end)}</text></svg>'
    )


def histogram_counts(values: Sequence[float], *, end: float) -> list[int]:
    """How many values lie in each of 20 equal steps from 0 to ``end``; the last step holds its upper end."""
    counts = [0] * _BINS
    for value in values:
        # 0.3 / 0.4 * 20 is a hair below 15.
        counts[min(_BINS - 1, math.floor(value / end * _BINS + 1e-9))] += 1
    return counts


def range_bar(values: Sequence[float], *, bounds: tuple[float, float] | None, end: float) -> str:
    """From the smallest to the largest value with a dot at the mean, over the shaded bin; as wide as its cell."""
    low, high, mean = min(values), max(values), sum(values) / len(values)
    shade = "" if bounds is None else f'<s style="left:{_at(bounds[0], end)};width:{_at(bounds[1] - bounds[0], end)}"></s>'
    label = f"mean {percent(mean)}, {percent_range(low, high)}"
    return (
        f'<span class="whisker" role="img" aria-label="{label}" title="{label}">{shade}'
        f'<i style="left:{_at(low, end)};width:{_at(high - low, end)}"></i><u style="left:{_at(mean, end)}"></u></span>'
    )


def line_over_frames(values: Sequence[float], *, name: str) -> str:
    """The value of each frame over time, from 0 to the largest."""
    most = max(values) or 1.0
    last = max(1, len(values) - 1)
    points = " ".join(f"{100 * index / last:.1f},{17 - 15 * value / most:.2f}" for index, value in enumerate(values))
    label = f"{escape(name)} over {len(values)} frames, {percent_range(min(values), max(values))}"
    return (
        f'<svg class="over-frames" viewBox="0 0 100 18" preserveAspectRatio="none" role="img" aria-label="{label}">'
        f'<title>{label}</title><polyline points="{points}"/></svg>'
    )


def _y(n: int, tallest: int) -> float:
    return _BASE - (_BASE - _TOP) * n / tallest


def _x(share: float, end: float) -> float:
    return _WIDTH * min(1.0, share / end)


def _at(share: float, end: float) -> str:
    return f"{100 * share / end:.2f}%"


def _tick(end: float) -> str:
    return f"{end * 100:g} %"


def _bin(bounds: tuple[float, float] | None, end: float) -> str:
    if bounds is None:
        return ""
    left, right = _x(bounds[0], end), _x(bounds[1], end)
    title = f"the bin: {bounds_text(*bounds)}"
    return f'<rect class="bin" x="{left:.2f}" width="{right - left:.2f}" y="0" height="{_BASE}"><title>{title}</title></rect>'


def _mean(values: Sequence[float], end: float) -> str:
    if not values:
        return ""
    mean = sum(values) / len(values)
    x = _x(mean, end)
    return f'<line class="mean" x1="{x:.2f}" x2="{x:.2f}" y1="0" y2="{_BASE}"><title>mean {percent(mean)}</title></line>'
