"""The pictures of a card: how many items there are of each kind, and how hard they are."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inpaintbench.export import layout
from inpaintbench.export.bars import bars_svg
from inpaintbench.export.card.measures import Measure, chosen, groups_of, present, rank_of
from inpaintbench.export.card.words import are_stills, number, things
from inpaintbench.export.histogram import histogram_svg
from inpaintbench.manifest import SPLITS
from inpaintbench.types import Dataset, Plain

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
