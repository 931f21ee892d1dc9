"""A histogram as one small SVG file, for pages that cannot run scripts, such as the card of a dataset."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_right
from collections.abc import Sequence
from html import escape
from itertools import pairwise

from inpaintbench.errors import InputError

_WIDTH, _HEIGHT = 640, 300
_LEFT, _RIGHT, _TOP, _BASE = 54, 18, 68, 248
_COLOURS = ("#9cc3e6", "#3f83bf", "#123e6b", "#E69F00", "#009E73", "#CC79A7", "#8C6BB1", "#7F5A3C")
"""Light to dark for ordered groups, as far as three go; then colours for all kinds of colour vision."""
ONE_GROUP = _COLOURS[1]
GROUND = 'fill="#ffffff" stroke="#e4e7ec"'
STYLE = (
    "text{font:12px system-ui,-apple-system,'Segoe UI','Noto Sans',sans-serif;fill:#59636f}"
    ".title{font-size:15px;font-weight:650;fill:#15191f}.strong{fill:#15191f;font-weight:600}"
)


def histogram_svg(
    values: Sequence[float],
    *,
    title: str,
    x_label: str,
    bin_edges: Sequence[float],
    groups: Sequence[str] | None = None,
    x_scale: float = 1.0,
) -> str:
    """A histogram with the share of values in each bin and the mean marked, as the text of an SVG file of 640x300.

    It brings its own light ground, so that it reads on white and on dark pages, and names no font or file that has to be
    fetched. Bins are half open, ``[edge, next edge)``; values from the last edge on are in a last bin of their own, marked
    ``+``, which is drawn only when there are some.

    Args:
        values: finite numbers, none below the first edge.
        title: of the plot.
        x_label: what a value is, with its unit as printed.
        bin_edges: rising; at least two.
        groups: of each value, stacked in order of first appearance; None draws one colour.
        x_scale: factor for edges and the mean as printed: 100 prints shares in per cent.

    Raises:
        InputError: no values, values that are no numbers or below the first edge, edges that do not rise, or another number
            of groups than of values.
    """
    _check(values, bin_edges, groups)
    names = list(dict.fromkeys(groups)) if groups else [""]
    counts = group_counts(values, bin_edges=bin_edges, groups=groups)
    bins = len(counts[0])
    step = (_WIDTH - _LEFT - _RIGHT) / bins
    tallest = max(sum(column) for column in zip(*counts, strict=True)) / len(values)
    top = _round_up(tallest)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
        ' role="img">',
        f"<title>{svg_text(title)}</title><style>{STYLE}</style>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" rx="8" {GROUND}/>',
        f'<text class="title" x="{_LEFT - 34}" y="28">{svg_text(title)}</text>',
        _legend(names, counts) if groups else "",
        _grid(top),
        _bars(names, counts, total=len(values), top=top, step=step, single=groups is None),
        _axis(bin_edges, bins=bins, step=step, x_scale=x_scale, x_label=x_label),
        _mean(values, bin_edges, step=step, x_scale=x_scale),
        "</svg>",
    ]
    return "".join(parts) + "\n"


def group_counts(values: Sequence[float], *, bin_edges: Sequence[float], groups: Sequence[str] | None = None) -> list[list[int]]:
    """How many values of each group lie in each bin ``[edge, next edge)``, and a last bin from the last edge on if it has any."""
    labels = groups or [""] * len(values)
    names = list(dict.fromkeys(labels))
    bins = len(bin_edges) - (0 if max(values) >= bin_edges[-1] else 1)
    counts = [[0] * bins for _ in names]
    for value, label in zip(values, labels, strict=True):
        counts[names.index(label)][bisect_right(bin_edges, value) - 1] += 1
    return counts


def _check(values: Sequence[float], bin_edges: Sequence[float], groups: Sequence[str] | None) -> None:
    if len(bin_edges) < 2 or not all(low < high for low, high in pairwise(bin_edges)):
        raise InputError(f"bin edges {list(bin_edges)} do not rise: give at least two, each larger than the one before")
    if not values:
        raise InputError("a histogram needs at least one value")
    bad = next((value for value in values if not math.isfinite(value) or value < bin_edges[0]), None)
    if bad is not None:
        raise InputError(f"value {bad} is in no bin: values are finite and at least {bin_edges[0]}, the first edge")
    if groups is not None and len(groups) != len(values):
        raise InputError(f"{len(groups)} groups for {len(values)} values: give one for each")


def _round_up(share: float) -> float:
    """The end of the upward axis: a round share in four steps."""
    return next((end for end in (0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8) if share <= end), 1.0)


def _y(share: float, top: float) -> float:
    return _BASE - (_BASE - _TOP) * share / top


def _grid(top: float) -> str:
    lines = []
    for quarter in range(5):
        share = top * quarter / 4
        y = _y(share, top)
        shade = "#c9cfd8" if quarter == 0 else "#e4e7ec"
        lines.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{shade}"/>'
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{share * 100:g} %</text>'
        )
    return "".join(lines)


def _bars(names: Sequence[str], counts: Sequence[Sequence[int]], *, total: int, top: float, step: float, single: bool) -> str:
    pieces = []
    for index in range(len(counts[0])):
        below = 0
        for place, (name, row) in enumerate(zip(names, counts, strict=True)):
            if not row[index]:
                continue
            upper, lower = _y((below + row[index]) / total, top), _y(below / total, top)
            below += row[index]
            fill = ONE_GROUP if single else colour(place)
            words = f"{name} {row[index]:,}".strip()
            pieces.append(
                f'<rect class="bar" x="{_LEFT + index * step + 1:.2f}" width="{step - 2:.2f}" y="{upper:.2f}"'
                f' height="{lower - upper:.2f}" fill="{fill}"><title>{svg_text(words)}</title></rect>'
            )
    return "".join(pieces)


def _axis(bin_edges: Sequence[float], *, bins: int, step: float, x_scale: float, x_label: str) -> str:
    every = max(1, math.ceil(len(bin_edges) / 13))
    ticks = "".join(
        f'<text x="{_LEFT + index * step:.1f}" y="{_BASE + 17}" text-anchor="middle">{edge * x_scale:.4g}</text>'
        for index, edge in enumerate(bin_edges)
        if index % every == 0 or index == len(bin_edges) - 1
    )
    beyond = len(bin_edges) == bins
    more = f'<text x="{_LEFT + (bins - 0.5) * step:.1f}" y="{_BASE + 17}" text-anchor="middle">+</text>' if beyond else ""
    label = f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2:.1f}" y="{_BASE + 38}" text-anchor="middle">{svg_text(x_label)}</text>'
    return ticks + more + label


def _mean(values: Sequence[float], bin_edges: Sequence[float], *, step: float, x_scale: float) -> str:
    """A dashed line at the mean; where the mean lies beyond the last edge, in the middle of the last bin."""
    mean = statistics.fmean(values)
    index = bisect_right(bin_edges, mean) - 1
    inside = 0.5
    if index < len(bin_edges) - 1:
        inside = (mean - bin_edges[index]) / (bin_edges[index + 1] - bin_edges[index])
    x = _LEFT + (index + inside) * step
    side, shift = ("end", -6) if x > _WIDTH * 0.72 else ("start", 6)
    return (
        f'<line class="mean" x1="{x:.2f}" x2="{x:.2f}" y1="{_TOP - 14}" y2="{_BASE}" stroke="#15191f" stroke-width="1.5"'
        f' stroke-dasharray="4 3"/><text class="strong" x="{x + shift:.2f}" y="{_TOP - 5}" text-anchor="{side}">'
        f"mean {mean * x_scale:.3g} · n {len(values):,}</text>"
    )


def _legend(names: Sequence[str], counts: Sequence[Sequence[int]]) -> str:
    """One line under the title, as far as it reaches; every bar says its group in its tooltip."""
    pieces, x = [], float(_LEFT - 34)
    for place, (name, row) in enumerate(zip(names, counts, strict=True)):
        words = f"{name} {sum(row):,}"
        width = 16 + 7.2 * len(words) + 14
        if x + width > _WIDTH:
            break
        pieces.append(
            f'<rect x="{x:.1f}" y="36" width="10" height="10" rx="2" fill="{colour(place)}"/>'
            f'<text x="{x + 15:.1f}" y="45">{svg_text(words)}</text>'
        )
        x += width
    return "".join(pieces)


def colour(place: int) -> str:
    """Of the group in this place, as CSS has it."""
    return _COLOURS[place % len(_COLOURS)]


def svg_text(words: str) -> str:
    """Text for SVG: escaped, without the control characters that XML does not know."""
    return escape("".join(mark for mark in words if mark.isprintable()))
