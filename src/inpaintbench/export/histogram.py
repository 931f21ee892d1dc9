"""A histogram as one small SVG file, for pages that cannot run scripts, such as the card of a dataset."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_right
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from inpaintbench.errors import InputError
from inpaintbench.pages import render

_WIDTH, _HEIGHT = 640, 300
_LEFT, _RIGHT, _TOP, _BASE = 54, 18, 68, 248
# Light to dark for ordered groups, as far as three go; then colours for all kinds of colour vision.
_COLOURS = ("#9cc3e6", "#3f83bf", "#123e6b", "#E69F00", "#009E73", "#CC79A7", "#8C6BB1", "#7F5A3C")
ONE_GROUP = _COLOURS[1]


class _Bar(NamedTuple):
    x: float
    width: float
    y: float
    height: float
    fill: str
    words: str


def histogram_svg(
    values: Sequence[float] | npt.NDArray[np.float64],
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
    step = (_WIDTH - _LEFT - _RIGHT) / len(counts[0])
    tallest = max(sum(column) for column in zip(*counts, strict=True)) / len(values)
    top = _round_up(tallest)
    fills = [ONE_GROUP] if groups is None else [colour(place) for place in range(len(names))]
    mean = statistics.fmean(values)
    x = _mean_place(mean, bin_edges, step=step)
    drawn = render(
        "export/histogram.svg",
        title=svg_text(title),
        width=_WIDTH,
        height=_HEIGHT,
        start=_LEFT,
        end=_WIDTH - _RIGHT,
        top=_TOP,
        base=_BASE,
        keys=_keys(names, counts) if groups else [],
        grid=[(_y(top * quarter / 4, top), f"{top * quarter / 4 * 100:g} %") for quarter in range(5)],
        bars=_bars(names, counts, total=len(values), top=top, step=step, fills=fills),
        ticks=_ticks(bin_edges, bins=len(counts[0]), step=step, x_scale=x_scale),
        x_label=svg_text(x_label),
        mean=x,
        mean_text=x - 6 if x > _WIDTH * 0.72 else x + 6,
        mean_words=f"mean {mean * x_scale:.3g} · n {len(values):,}",
    )
    return f"{drawn}\n"


def group_counts(
    values: Sequence[float] | npt.NDArray[np.float64], *, bin_edges: Sequence[float], groups: Sequence[str] | None = None
) -> list[list[int]]:
    """Numbers of values of each group in each bin ``[edge, next edge)``, and a last bin from the last edge on if it has any."""
    labels = groups or [""] * len(values)
    names = list(dict.fromkeys(labels))
    bins = len(bin_edges) - (0 if np.max(values) >= bin_edges[-1] else 1)
    places = {name: place * bins for place, name in enumerate(names)}
    bin_of = np.searchsorted(bin_edges, values, side="right") - 1 + [places[label] for label in labels]
    counts: list[list[int]] = np.bincount(bin_of, minlength=bins * len(names)).reshape(len(names), bins).tolist()
    return counts


def _check(values: Sequence[float] | npt.NDArray[np.float64], bin_edges: Sequence[float], groups: Sequence[str] | None) -> None:
    if len(bin_edges) < 2 or not all(low < high for low, high in pairwise(bin_edges)):
        raise InputError(f"bin edges {list(bin_edges)} do not rise: give at least two, each larger than the one before")
    if not len(values):
        raise InputError("a histogram needs at least one value")
    bad = ~np.isfinite(values) | (np.asarray(values) < bin_edges[0])
    if bad.any():
        raise InputError(
            f"value {values[int(bad.argmax())]} is in no bin: values are finite and at least {bin_edges[0]}, the first edge"
        )
    if groups is not None and len(groups) != len(values):
        raise InputError(f"{len(groups)} groups for {len(values)} values: give one for each")


def _round_up(share: float) -> float:
    """The end of the upward axis: a round share in four steps."""
    return next((end for end in (0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8) if share <= end), 1.0)


def _y(share: float, top: float) -> float:
    return _BASE - (_BASE - _TOP) * share / top


def _bars(
    names: Sequence[str], counts: Sequence[Sequence[int]], *, total: int, top: float, step: float, fills: Sequence[str]
) -> list[_Bar]:
    bars = []
    for index in range(len(counts[0])):
        below = 0
        for place, (name, row) in enumerate(zip(names, counts, strict=True)):
            if not row[index]:
                continue
            upper, lower = _y((below + row[index]) / total, top), _y(below / total, top)
            below += row[index]
            words = svg_text(f"{name} {row[index]:,}".strip())
            bars.append(_Bar(_LEFT + index * step + 1, step - 2, upper, lower - upper, fills[place], words))
    return bars


def _ticks(bin_edges: Sequence[float], *, bins: int, step: float, x_scale: float) -> list[tuple[float, str]]:
    """Places and words of at most about 13 edges, and of what lies beyond the last."""
    every = max(1, math.ceil(len(bin_edges) / 13))
    ticks = [
        (_LEFT + index * step, f"{edge * x_scale:.4g}")
        for index, edge in enumerate(bin_edges)
        if index % every == 0 or index == len(bin_edges) - 1
    ]
    return ticks + ([(_LEFT + (bins - 0.5) * step, "+")] if len(bin_edges) == bins else [])


def _mean_place(mean: float, bin_edges: Sequence[float], *, step: float) -> float:
    """Pixels; where the mean lies beyond the last edge, in the middle of the last bin."""
    index = bisect_right(bin_edges, mean) - 1
    inside = 0.5
    if index < len(bin_edges) - 1:
        inside = (mean - bin_edges[index]) / (bin_edges[index + 1] - bin_edges[index])
    return _LEFT + (index + inside) * step


def _keys(names: Sequence[str], counts: Sequence[Sequence[int]]) -> list[tuple[float, Markup, str]]:
    """One line under the title, as far as it reaches; every bar says its group in its tooltip."""
    keys, x = [], float(_LEFT - 34)
    for place, (name, row) in enumerate(zip(names, counts, strict=True)):
        words = f"{name} {sum(row):,}"
        width = 16 + 7.2 * len(words) + 14
        if x + width > _WIDTH:
            break
        keys.append((x, svg_text(words), colour(place)))
        x += width
    return keys


def colour(place: int) -> str:
    """CSS colour of the group in this place."""
    return _COLOURS[place % len(_COLOURS)]


def svg_text(words: str) -> Markup:
    """Text for SVG: escaped, without the control characters that XML does not know.

    Escaped by the standard library, whose marks stand in the hashes of datasets that are frozen.
    """
    return Markup(escape("".join(mark for mark in words if mark.isprintable())))
