"""The pictures of a card: how many items there are of each kind, and how hard they are."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError
from inpaintbench.export import layout
from inpaintbench.export.card.measures import Measure, chosen, groups_of, present, rank_of
from inpaintbench.export.card.words import are_stills, number, things
from inpaintbench.export.histogram import ONE_GROUP, colour, histogram_svg, svg_text
from inpaintbench.manifest import SPLITS
from inpaintbench.pages import render
from inpaintbench.types import Dataset, Plain

# Horizontal bars as one small SVG file, in the style of ``histogram``.

_WIDTH = 640
_TOP, _BOTTOM, _RIGHT = 62, 16, 64
# Pixels of a row.
_LINE = 22
# Pixels of a mean letter.
_LETTER = 6.9
_LONGEST = 34


class _Bar(NamedTuple):
    x: float
    width: float
    fill: str
    words: str


class _Row(NamedTuple):
    name: str
    y: int
    bars: list[_Bar]
    end: float
    """End of the bars, in pixels."""
    total: str


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
    keys, x = [], 20.0
    for group in groups if len(groups) > 1 else ():
        keys.append((x, svg_text(group), fills[group]))
        x += 30 + 7.2 * len(group)
    rows = [
        _row(name, of, fills, y=_TOP + _LINE * place, left=left, step=step) for place, (name, of) in enumerate(counts.items())
    ]
    height = _TOP + _LINE * len(counts) + _BOTTOM
    parts = {"title": svg_text(title), "unit": svg_text(unit), "width": _WIDTH, "height": height, "left": left}
    return f"{render('export/bars.svg', keys=keys, rows=rows, **parts)}\n"


def _row(name: str, of: Mapping[str, int], fills: Mapping[str, str], *, y: int, left: float, step: float) -> _Row:
    shown = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    bars, x = [], left
    for group, fill in fills.items():
        if count := of.get(group, 0):
            bars.append(_Bar(x, count * step, fill, svg_text(f"{name}: {count:,} {group}".strip())))
            x += count * step
    return _Row(svg_text(shown), y, bars, x, f"{sum(of.values()):,}")


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
    pictures = [_of_slices(dataset)]
    pictures += [_of_measure(measure, dataset.items) for measure in present(dataset.items, most=_MOST_MEASURES)]
    if (size := _of_sizes(dataset.items)) is not None:
        pictures.append(size)
    return pictures


def _of_slices(dataset: Dataset) -> Plot:
    split_of = layout.splits(dataset.items)
    counts = {
        part.name: {split: len(ids) for split, ids in layout.by_split(part.item_ids, split_of).items()} for part in dataset.slices
    }
    splits = [split for split in SPLITS if any(split in of for of in counts.values())]
    ordered = {name: {split: of.get(split, 0) for split in splits} for name, of in counts.items()}
    sizes = sorted(sum(of.values()) for of in ordered.values())
    alt = f"Bars: items in each of {len(sizes)} slices, from {sizes[0]:,} to {sizes[-1]:,}"
    return Plot(f"{FOLDER}/slices.svg", f"{alt}.", bars_svg(ordered, title="Items in each slice", unit="items"))


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
