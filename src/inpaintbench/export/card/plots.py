"""The pictures of a card: how many items there are of each kind, and how hard they are."""

from __future__ import annotations

import math
import re
import statistics
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from inpaintbench.errors import InputError
from inpaintbench.export import layout
from inpaintbench.export.card.words import Measure, are_stills, chosen, groups_of, number, present, rank_of, things
from inpaintbench.manifest import SPLITS
from inpaintbench.pages import render
from inpaintbench.types import Dataset, Plain

_PLOT_WIDTH, _HEIGHT = 640, 300
_LEFT, _PLOT_RIGHT, _PLOT_TOP, _BASE = 54, 18, 68, 248
# Light to dark for ordered groups, as far as three go; then colours for all kinds of colour vision.
_COLOURS = ("#9cc3e6", "#3f83bf", "#123e6b", "#E69F00", "#009E73", "#CC79A7", "#8C6BB1", "#7F5A3C")
ONE_GROUP = _COLOURS[1]


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
    step = (_PLOT_WIDTH - _LEFT - _PLOT_RIGHT) / len(counts[0])
    tallest = max(sum(column) for column in zip(*counts, strict=True)) / len(values)
    top = next((end for end in (0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8) if tallest <= end), 1.0)  # a round share in four steps
    fills = [ONE_GROUP] if groups is None else [colour(place) for place in range(len(names))]
    mean = statistics.fmean(values)
    # A mean beyond the last edge stands in the middle of the last bin.
    index = bisect_right(bin_edges, mean) - 1
    part = 0.5
    if index < len(bin_edges) - 1:
        part = (mean - bin_edges[index]) / (bin_edges[index + 1] - bin_edges[index])
    x = _LEFT + (index + part) * step
    # At most about 13 edges, and what lies beyond the last.
    every, last = max(1, math.ceil(len(bin_edges) / 13)), len(bin_edges) - 1
    shown = [(place, edge) for place, edge in enumerate(bin_edges) if place % every == 0 or place == last]
    ticks = [(_LEFT + place * step, f"{edge * x_scale:.4g}") for place, edge in shown]
    ticks += [(_LEFT + (len(counts[0]) - 0.5) * step, "+")] if len(bin_edges) == len(counts[0]) else []
    drawn = render(
        "export/histogram.svg",
        title=svg_text(title),
        width=_PLOT_WIDTH,
        height=_HEIGHT,
        start=_LEFT,
        end=_PLOT_WIDTH - _PLOT_RIGHT,
        top=_PLOT_TOP,
        base=_BASE,
        keys=_keys(names, counts) if groups else [],
        grid=[(_y(top * quarter / 4, top), f"{top * quarter / 4 * 100:g} %") for quarter in range(5)],
        bars=_bars(names, counts, total=len(values), top=top, step=step, fills=fills),
        ticks=ticks,
        x_label=svg_text(x_label),
        mean=x,
        mean_text=x - 6 if x > _PLOT_WIDTH * 0.72 else x + 6,
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


def _y(share: float, top: float) -> float:
    return _BASE - (_BASE - _PLOT_TOP) * share / top


def _bars(
    names: Sequence[str], counts: Sequence[Sequence[int]], *, total: int, top: float, step: float, fills: Sequence[str]
) -> list[dict[str, Any]]:
    bars = []
    for index in range(len(counts[0])):
        below = 0
        for place, (name, row) in enumerate(zip(names, counts, strict=True)):
            if not row[index]:
                continue
            upper, lower = _y((below + row[index]) / total, top), _y(below / total, top)
            below += row[index]
            words = svg_text(f"{name} {row[index]:,}".strip())
            place_of = {"x": _LEFT + index * step + 1, "width": step - 2, "y": upper, "height": lower - upper}
            bars.append({**place_of, "fill": fills[place], "words": words})
    return bars


def _keys(names: Sequence[str], counts: Sequence[Sequence[int]]) -> list[tuple[float, Markup, str]]:
    """One line under the title, as far as it reaches; every bar says its group in its tooltip."""
    keys, x = [], float(_LEFT - 34)
    for place, (name, row) in enumerate(zip(names, counts, strict=True)):
        words = f"{name} {sum(row):,}"
        width = 16 + 7.2 * len(words) + 14
        if x + width > _PLOT_WIDTH:
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


# Horizontal bars as one small SVG file, in the style of ``histogram``.

_WIDTH = 640
_TOP, _BOTTOM, _RIGHT = 62, 16, 64
# Pixels of a row.
_LINE = 22
# Pixels of a mean letter.
_LETTER = 6.9
_LONGEST = 34


def bars_svg(counts: Mapping[str, Mapping[str, int]], *, title: str, unit: str) -> str:
    """Bars of counts, one a name and stacked by group, as the text of an SVG file 640 wide and as high as there are names.

    It brings its own light ground, so that it reads on white and on dark pages.

    Args:
        counts: name -> group -> count, at least 0; one group draws one colour and no legend.
        title: of the plot.
        unit: what is counted, in the plural.

    Raises:
        InputError: no names, or a count below 0.
    """
    if not counts or any(count < 0 for groups in counts.values() for count in groups.values()):
        raise InputError(f"bars need names with counts of 0 or more, not {dict(counts)}")
    groups = list(dict.fromkeys(group for of in counts.values() for group in of))
    fills = {group: colour(place) if len(groups) > 1 else ONE_GROUP for place, group in enumerate(groups)}
    left = 30 + _LETTER * min(_LONGEST, max(map(len, counts)))
    step = (_WIDTH - left - _RIGHT) / max(max(sum(of.values()) for of in counts.values()), 1)
    keys, at = [], 20.0
    for group in groups if len(groups) > 1 else ():
        keys.append((at, svg_text(group), fills[group]))
        at += 30 + 7.2 * len(group)
    rows = []
    for place, (name, of) in enumerate(counts.items()):
        bars, x = [], left
        for group, fill in fills.items():
            if count := of.get(group, 0):
                words = svg_text(f"{name}: {count:,} {group}".strip())
                bars.append({"x": x, "width": count * step, "fill": fill, "words": words})
                x += count * step
        shown = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
        total = f"{sum(of.values()):,}"
        rows.append({"name": svg_text(shown), "y": _TOP + _LINE * place, "bars": bars, "end": x, "total": total})
    height = _TOP + _LINE * len(counts) + _BOTTOM
    parts = {"title": svg_text(title), "unit": svg_text(unit), "width": _WIDTH, "height": height, "left": left}
    return f"{render('export/bars.svg', keys=keys, rows=rows, **parts)}\n"


FOLDER = "card"
_MOST_MEASURES = 4
_BINS = 12
# Width of a bin, of the largest value: edges are printed with a few digits.
_FINEST = 1e-6


@dataclass(frozen=True)
class Plot:
    """One picture."""

    path: str
    """In the dataset."""
    alt: str
    """Text for readers who do not see it."""
    svg: str


def plots(dataset: Dataset) -> list[Plot]:
    """Items a slice, then the attributes that differ between items, then how long or large clips are; the same bytes always."""
    split_of = layout.splits(dataset.items)
    members = {part.name: layout.by_split(part.item_ids, split_of) for part in dataset.slices}
    splits = [split for split in SPLITS if any(split in of for of in members.values())]
    counts = {name: {split: len(of.get(split, ())) for split in splits} for name, of in members.items()}
    sizes = sorted(sum(of.values()) for of in counts.values())
    alt = f"Bars: items in each of {len(sizes)} slices, from {sizes[0]:,} to {sizes[-1]:,}."
    pictures = [Plot(f"{FOLDER}/slices.svg", alt, bars_svg(counts, title="Items in each slice", unit="items"))]
    pictures += [_of_measure(measure, dataset.items) for measure in present(dataset.items, most=_MOST_MEASURES)]
    if (size := _of_sizes(dataset.items)) is not None:
        pictures.append(size)
    return pictures


def _of_measure(measure: Measure, rows: Sequence[Plain]) -> Plot:
    counting = measure.counting(rows)
    values = measure.values(counting)
    known, values = chosen(counting, ~np.isnan(values)), values[~np.isnan(values)]
    of = things(rows) if measure.of_clips else "items"
    groups = groups_of(measure, known)
    if groups:
        ranks = {group: place for place, group in enumerate(sorted(set(groups), key=rank_of))}
        order = np.argsort([ranks[group] for group in groups], kind="stable")  # rows keep their order
        groups, values = [groups[place] for place in order], values[order]
    return _histogram(
        "attribute-" + re.sub(r"[^a-z0-9]+", "-", measure.name.lower()),
        values,
        title=measure.title,
        x_label=f"{measure.unit or 'value'} (height: share of the {of})",
        scale=measure.scale,
        unit=measure.unit,
        of=of,
        groups=groups,
    )


def _of_sizes(rows: Sequence[Plain]) -> Plot | None:
    """Histogram of the lengths of clips, or of the sizes of pictures; None where they are all alike."""
    clips = {row["clip_id"]: row for row in layout.different(rows, "clip_id", "width", "height", "frames", "fps")}.values()
    if are_stills(rows):
        name, title, unit, of = "sides", "The longer side of the pictures", "pixels", "pictures"
        values = [float(max(row["width"], row["height"])) for row in clips]
    else:
        name, title, unit, of = "durations", "How long the clips are", "seconds", "clips"
        values = [row["frames"] / row["fps"] for row in clips]
    if len(set(values)) < 2:
        return None
    return _histogram(name, np.array(values), title=title, x_label=f"{unit} (height: share of the {of})", unit=unit, of=of)


def _histogram(
    name: str, values: npt.NDArray[np.float64], *, title: str, x_label: str, unit: str, of: str, scale: float = 1.0,
    groups: Sequence[str] | None = None,
) -> Plot:  # fmt: skip
    low, middle, high = (number(scale * float(value)) for value in (values.min(), np.median(values), values.max()))
    alt = f"Histogram: {title}, of {len(values):,} {of} from {low} to {high} {unit}".rstrip() + f", median {middle}"
    if groups:
        alt += f", by {', '.join(dict.fromkeys(groups))}"
    svg = histogram_svg(values, title=title, x_label=x_label, bin_edges=edges(values), groups=groups, x_scale=scale)
    return Plot(f"{FOLDER}/{name}.svg", f"{alt}.", svg)


def edges(values: Sequence[float] | npt.NDArray[np.float64]) -> list[float]:
    """Round edges of about ten bins, the last above the largest value.

    Args:
        values: finite, not all equal.
    """
    low, high = float(np.min(values)), float(np.max(values))
    raw = max((high - low) / _BINS, _FINEST * max(abs(low), abs(high)))
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * (1 - 1e-9)) * power
    first = math.floor(low / step + 1e-9)
    last = math.floor(high / step + 1e-9) + 1
    rounded = [float(f"{place * step:.12g}") for place in range(first, last + 1)]
    if rounded[0] > low:  # rounding
        rounded.insert(0, float(f"{(first - 1) * step:.12g}"))
    return rounded
