"""The items of a report: those that the gallery shows, with videos, posters and errors by frame, and all as compact data for the
page's scripts, with the table of them and what its filters offer."""

from __future__ import annotations

import math
import os
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, zip_longest
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, unquote_to_bytes

import numpy as np

from inpaintbench import regions
from inpaintbench.claims import too_few
from inpaintbench.errors import InputError
from inpaintbench.eval.report.media import Layout, Recipe, Tiles, encode, frame_values, poster, rounded
from inpaintbench.eval.results.quantity import (
    Quantity,
    metric_label,
    metric_leaf,
    name_label,
    quantity_label,
    quantity_title,
    region_label,
)
from inpaintbench.eval.results.slices import in_reading_order
from inpaintbench.eval.results.tables import Results
from inpaintbench.lazily import lazily
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.words import count, number
from inpaintbench.types import Frames, Hole, Plain

cv2 = lazily("cv2")

_THREADS = 2


class Media(Protocol):
    """Source of the report's pixels, asked by several threads, by each for one item after the other."""

    def frames(self, item_id: str, channel: str) -> Frames | None:
        """``uint8[T, H, W, 3]`` of ``"truth"``, ``"input"`` (hole filled) or a method (composite); None without a prediction."""
        ...

    def hole(self, item_id: str) -> Hole | None:
        """``bool[T, H, W]``, True = hole; None for an item without one."""
        ...


@dataclass
class Choice:
    """An item of the gallery: the slices it stands for, each with the reason it was chosen."""

    item_id: str
    interest: float = -math.inf
    """Spread of the methods; of the items with most predictions the one with the largest is shown first."""
    reasons: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    """Further labels, such as ``Hardest 1``, each with the reason."""


@dataclass(frozen=True)
class Exhibit:
    """One item ready to be shown."""

    choice: Choice
    layout: Layout
    poster: bytes
    """PNG of the middle of the clip: of the truth, or of the input where all of it is degraded, since truths look alike then."""
    errors: dict[str, list[float | None]]
    """Method -> root mean square error (0..255) of each frame inside the hole, or in the whole frame where items have none."""
    centres: list[tuple[float, float]]
    """Centre of the hole in each frame as shares of width and height, gliding, for the close-up."""
    hole_fraction: float | None
    """Mean share of hole pixels."""
    by_frame: dict[str, dict[Quantity, list[float | None]]] = field(default_factory=dict)
    """Method -> quantity -> value of each frame, measured on the originals."""


def choose_items(results: Results, quantity: Quantity, *, per_slice: int) -> list[Choice]:
    """For each slice the items on which the methods differ most in ``quantity``, each item for one slice as far as they last.

    How much they differ is the median over all pairs of methods, so that one hopeless method does not decide alone. With one
    method, the items on which it is worst.
    """
    # Once for each item, which may be in many slices.
    interest = {item_id: _interest(results, item_id, quantity) for item_id in results.sources}
    choices: dict[str, Choice] = {}
    for one in results.slices or (results.everything,):
        ordered = sorted(one.item_ids, key=lambda item_id: interest[item_id][0], reverse=True)
        ordered.sort(key=lambda item_id: item_id in choices)
        for item_id in ordered[:per_slice]:
            size, reason = interest[item_id]
            among = f"among {count(len(one.item_ids), 'item')} of {one.name}"
            choices.setdefault(item_id, Choice(item_id, size)).reasons[one.name] = reason.replace("{among}", among)
    return list(choices.values())


def finite_values(results: Results, item_id: str, quantity: Quantity) -> list[float]:
    """The values of all contenders on one item, without missing and infinite ones."""
    values = (results.value(method, item_id, quantity) for method in results.contenders)
    return [value for value in values if value is not None and math.isfinite(value)]


def _interest(results: Results, item_id: str, quantity: Quantity) -> tuple[float, str]:
    """How telling an item is, the largest first, and the reason to choose it, with a gap for ``among`` which items."""
    values = finite_values(results, item_id, quantity)
    if len(results.contenders) > 1 and len(values) > 1:
        spread = statistics.median(abs(one - other) for one, other in combinations(values, 2))
        return spread, "methods differ most here {among}"
    if len(results.contenders) == 1 and values:
        worst = -values[0] if quantity.higher_is_better else values[0]
        return worst, f"{results.contenders[0]} is worst here {{among}}"
    return -math.inf, "the first {among}: none has two finite values to compare"


def make_exhibits(
    choices: Sequence[Choice], media: Media, *, methods: Sequence[str], rates: Mapping[str, float], edits: bool = False,
    whole: bool = False, recipe: Recipe | None = None,
) -> list[tuple[Exhibit, bytes]]:  # fmt: skip
    """Each choice with its tiled video as H.264 mp4; ``rates`` gives the frames per second of items.

    With ``edits`` the input is the truth, and is shown once. With ``whole`` results are shown outside the hole too.

    With a ``recipe`` clips are measured frame by frame.

    Raises:
        InputError: the media hold no truth or input for an item, or frames of another shape.
    """

    def made(choice: Choice) -> tuple[Exhibit, bytes]:
        truth, hole, fps = _frames(media, choice.item_id, "truth"), media.hole(choice.item_id), rates[choice.item_id]
        assert truth is not None
        given, tiles = truth, Tiles(truth, hole=hole, whole=whole)
        errors: dict[str, list[float | None]] = {}
        by_frame: dict[str, dict[Quantity, list[float | None]]] = {}
        for channel in (*(() if edits else ("input",)), *methods):
            frames = _frames(media, choice.item_id, channel, like=truth)
            if frames is None:
                continue
            tiles.add(channel, frames)
            if channel == "input":
                given = frames
                continue
            errors[channel] = frame_errors(truth, frames, hole=hole)
            if recipe is not None and len(truth) > 1:
                everywhere = np.ones(truth.shape[:3], np.bool_) if hole is None else hole
                by_frame[channel] = frame_values(recipe, truth, frames, everywhere)
        sheet, layout = tiles.sheet(fps=fps)
        exhibit = Exhibit(
            choice=choice,
            layout=layout,
            poster=poster((given if hole is None else truth)[len(truth) // 2]),
            errors=errors,
            centres=[] if hole is None else hole_centres(hole),
            hole_fraction=None if hole is None else float(regions.hole_fraction(hole).mean()),
            by_frame=by_frame,
        )
        return exhibit, encode(sheet, fps=fps)

    # Decoding, drawing and encoding do without the interpreter for most of their time. Each thread holds an item.
    threads = ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1))
    try:
        return list(threads.map(made, choices))
    finally:
        threads.shutdown(cancel_futures=True)


def _frames(media: Media, item_id: str, channel: str, *, like: Frames | None = None) -> Frames | None:
    """What is shown of a channel, of the shape of the truth; only a method may have nothing."""
    frames = media.frames(item_id, channel)
    if frames is None and channel in ("truth", "input"):
        raise InputError(f"item {item_id!r} has no {channel} to show")
    if frames is not None and like is not None and frames.shape != like.shape:
        raise InputError(f"{channel} on item {item_id!r} has shape {frames.shape}, its truth {like.shape}")
    return frames


def frame_errors(truth: Frames, frames: Frames, *, hole: Hole | None) -> list[float | None]:
    """Root mean square difference (0..255) of each frame over its hole pixels, all pixels without a hole; None where empty."""
    errors: list[float | None] = []
    for index, (one, other) in enumerate(zip(truth, frames, strict=True)):
        mask = None if hole is None else hole[index].view(np.uint8)
        values = 3 * (one.shape[0] * one.shape[1] if mask is None else cv2.countNonZero(mask))
        errors.append(round(math.sqrt(cv2.norm(one, other, cv2.NORM_L2SQR, mask) / values), 2) if values else None)
    return errors


def hole_centres(hole: Hole) -> list[tuple[float, float]]:
    """Centroids as (x, y) shares, averaged over a third of a second or so; the frame's middle where no frame has a hole."""
    size = np.array(hole.shape[1:], np.float64)
    points = regions.centroids(hole) / size
    filled = np.flatnonzero(~np.isnan(points[:, 0]))
    if not len(filled):
        return [(0.5, 0.5)] * len(hole)
    steps = np.arange(len(hole))
    known = np.stack([np.interp(steps, filled, points[filled, axis]) for axis in (1, 0)], axis=1)
    padded = np.pad(known, ((4, 4), (0, 0)), mode="edge")
    gliding = np.stack([np.convolve(padded[:, axis], np.full(9, 1 / 9), mode="valid") for axis in (0, 1)], axis=1)
    return [(round(float(x), 3), round(float(y), 3)) for x, y in gliding]


HARDEST, DISAGREED, ASKED = "Hardest", "Most disagreed", "Asked for"


def spread(values: list[float]) -> float | None:
    """The sample standard deviation (n - 1) of the methods' values on one item; None for fewer than two."""
    return statistics.stdev(values) if len(values) > 1 else None


def add_standouts(results: Results, choices: list[Choice], quantity: Quantity, *, count: int) -> list[Choice]:
    """``choices`` and up to ``count`` items more, taken by turns from the hardest and from the most disagreed ones.

    An item that is among ``choices`` already gets a further label and counts for none of them, so items with videos are never
    more than ``count`` more.
    """
    found = {choice.item_id: choice for choice in choices}
    values = {item_id: finite_values(results, item_id, quantity) for item_id in results.sources}
    means = {item_id: statistics.fmean(known) for item_id, known in values.items() if known and quantity.ranked}
    spreads = {item_id: size for item_id, known in values.items() if (size := spread(known))}
    lists = {
        HARDEST: sorted(means, key=means.__getitem__, reverse=not quantity.higher_is_better),
        DISAGREED: sorted(spreads, key=spreads.__getitem__, reverse=True),
    }
    ranks = enumerate(zip_longest(*lists.values()), 1)
    turns = [(label, place, item_id) for place, of in ranks for label, item_id in zip(lists, of, strict=True) if item_id]
    left = count  # of new items: one that has a video already costs nothing
    for label, place, item_id in turns:
        if left <= 0:
            break
        left -= item_id not in found
        what = "the mean over methods is worst" if label == HARDEST else "the values of the methods spread most"
        rank = "here" if place == 1 else f"here but for {place - 1}"
        reason = f"{what} {rank} among all {len(results.sources)} items"
        found.setdefault(item_id, Choice(item_id)).labels[f"{label} {place}"] = reason
    return list(found.values())


def add_asked(choices: Sequence[Choice], item_ids: Sequence[str]) -> list[Choice]:
    """``choices`` and the items that the caller names."""
    return labelled(choices, ((item_id, ASKED, "it was asked for") for item_id in item_ids))


def labelled(choices: Sequence[Choice], labels: Iterable[tuple[str, str, str]]) -> list[Choice]:
    """``choices`` with further labels: item, label and reason; of an item that is not among them a new one."""
    found = {choice.item_id: choice for choice in choices}
    for item_id, label, reason in labels:
        found.setdefault(item_id, Choice(item_id)).labels[label] = reason
    return list(found.values())


# Scores that go into the page, about 3 MB; the rest is in `scores.csv` alone.
MOST_VALUES = 400_000
# Different words of an attribute that can be chosen from a list.
MOST_CHOICES = 40
_ROW_FACTS = ("frames", "fps", "width", "height", "generator", "split")
_NAMES = {"fps": "Frames per second", "generator": "Corruption"}


class Attribute(NamedTuple):
    """One fact about every item."""

    name: str
    label: str
    numeric: bool
    values: tuple[float | str | None, ...]
    """One for each item, in their order; words where not ``numeric``."""


def attributes_of(items: Sequence[Plain]) -> list[Attribute]:
    """Facts by which items can be filtered: numbers, and words of at most ``MOST_CHOICES`` kinds; none that all items share."""
    facts = [{**row.get("attributes", {}), **{name: row.get(name) for name in _ROW_FACTS}} for row in items]
    found = []
    for name in dict.fromkeys(name for row in facts for name in row):
        values = [row.get(name) for row in facts]
        kinds = set(map(type, values)) - {type(None)}  # a look at each of a million values takes seconds
        if not all(issubclass(kind, str | int | float) for kind in kinds):
            continue  # data, such as joints
        if all(issubclass(kind, int | float) and kind is not bool for kind in kinds):
            if len({*values} - {None}) > 1:
                found.append(Attribute(name, attribute_label(name), numeric=True, values=tuple(values)))
            continue
        said = {True: "yes", False: "no"}
        words = tuple(None if value is None else said[value] if isinstance(value, bool) else str(value) for value in values)
        if 1 < len(set(words)) <= MOST_CHOICES:
            found.append(Attribute(name, attribute_label(name), numeric=False, values=words))
    return found


def attribute_label(name: str) -> str:
    """A fact as words: ``Hole fraction`` for ``hole.hole_fraction``, ``Hole: pose change`` of ``hole.pose_change``."""
    group, dot, rest = name.partition(".")
    return _NAMES.get(name, name_label(rest if dot and rest.startswith(group) else name.replace(".", ": ", 1)))


@lru_cache(1 << 16)
def source_name(uri: str | None) -> str | None:
    """The last part of a source's address as people read it, on one line; None where an item has none, as held-back ones.

    What follows a question mark is left out: it names nothing, and may be a key.
    """
    last = (uri or "").partition("?")[0].rstrip("/").rpartition("/")[2]
    text = unquote_to_bytes(re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*:", "", last)).decode("utf-8", errors="replace")
    # Line breaks and marks that turn the direction of reading are spelled out, so that a name cannot pass for another.
    return "".join(letter if letter.isprintable() else quote(letter) for letter in text) or None


def item_data(results: Results, shown: Mapping[str, str], *, default: Quantity) -> dict[str, Any]:
    """Data of the item browser and the scatter plot, as ``Items.listed`` of ``items/data.js`` takes them.

    The first fact is the slices that an item is in.

    Args:
        results: the scores.
        shown: item -> id of the element that plays it.
        default: the quantity whose values go in first where not all fit.
    """
    ids, held = list(results.sources), held_quantities(results, default)
    place = {item_id: index for index, item_id in enumerate(ids)}
    slices = [
        (part.name, part.rule, sorted(place[item_id] for item_id in part.item_ids)) for part in in_reading_order(results.slices)
    ]
    named = [", ".join(name for name, _, own in slices if at in own) for at in range(len(ids))]
    kinds = list(dict.fromkeys(filter(None, named)))
    in_slices = [kinds.index(words) if words else None for words in named]
    attributes: list[dict[str, Any]] = [
        {"key": "slices", "label": "Slices", "numeric": False, "words": kinds, "values": in_slices}
    ]
    for one in attributes_of(results.dataset.items):
        facts = {"key": one.name, "label": one.label, "numeric": one.numeric}
        if one.numeric:
            finite = [None if value is None or not math.isfinite(float(value)) else float(value) for value in one.values]
            attributes.append({**facts, "values": rounded(finite, six_digits)})
        else:  # words once, and a place among them for each item
            words = sorted({str(value) for value in one.values if value is not None})
            places = [None if value is None else words.index(str(value)) for value in one.values]
            attributes.append({**facts, "words": words, "values": places})
    quantities = []
    for quantity in held:
        leaf = metric_leaf(quantity.metric)
        facts = {
            "key": quantity.key,
            "unit": leaf.unit,
            "decimals": leaf.decimals,
            "higher": quantity.higher_is_better,
            "ranked": quantity.ranked,
        }
        quantities.append(
            {**quantity._asdict(), "label": metric_label(quantity.metric), "where": region_label(quantity.region), **facts}
        )
    return {
        "ids": ids,
        "sources": list(results.sources.values()),
        "source_names": [source_name(row.get("source_uri")) for row in results.dataset.items],
        "methods": [{"name": name, "label": name, "reference": name in results.references} for name in results.methods],
        "bold": not too_few(results.n_sources(results.everything)),
        "slices": slices,
        "facts": attributes,
        "quantities": quantities,
        "left_out": [quantity_label(one) for one in results.quantities if not one.of_sets and one not in held],
        "values": {
            f"{one.key}|{method}": rounded([results.value(method, name, one) for name in ids], six_digits)
            for one in held
            for method in results.methods
        },
        "shown": {str(index): shown[item_id] for index, item_id in enumerate(ids) if item_id in shown},
    }


def held_quantities(results: Results, default: Quantity) -> list[Quantity]:
    """The quantities of items that fit into the page, in the order of the report."""
    room = MOST_VALUES // max(1, len(results.sources) * len(results.methods))
    of_items = [quantity for quantity in results.quantities if not quantity.of_sets]
    first = sorted(of_items, key=lambda one: (one != default, one.region != default.region))[: max(1, room)]
    return [item for item in of_items if item in first]


def six_digits(value: float) -> float:
    """A number with six digits, as an int where it is whole, which JSON writes shorter."""
    short = float(f"{value:.6g}")
    return int(short) if short.is_integer() else short


# Attribute that the scatter plot opens with where items have it; else it is the first number.
_FIRST_ATTRIBUTE = "hole.hole_fraction"
# Rows that are there without scripts.
STATIC_ROWS = 50


def items_part(results: Results, shown: Mapping[str, str], *, default: Quantity) -> dict[str, Any] | None:
    """Parts of the section of items for its template; None where no metric has values of items.

    Args:
        results: the scores.
        shown: item -> id of the element that plays it.
        default: what the rows are ordered by without scripts.
    """
    held = held_quantities(results, default)
    if not held or default not in held:
        return None
    attributes = [(str(index), one) for index, one in enumerate(attributes_of(results.dataset.items))]
    left_out = []
    if of_sets := dict.fromkeys(metric_label(quantity.metric) for quantity in results.quantities if quantity.of_sets):
        left_out.append(f"{', '.join(of_sets)} compare sets of items: no item has a value of its own.")
    if too_many := sum(not quantity.of_sets and quantity not in held for quantity in results.quantities):
        further = count(too_many, "further quantity")
        left_out.append(f"{further} of items are too much for a page: they are in scores.csv.")
    return {
        "quantities": [(one.key, quantity_label(one)) for one in held],
        "chosen": default.key,
        "slices": [(str(index), part.name) for index, part in enumerate(in_reading_order(results.slices))],
        "numbers": [(place, one.label) for place, one in attributes if one.numeric],
        "words": [(place, one.label) for place, one in attributes if not one.numeric],
        "first": next((place for place, one in attributes if one.name == _FIRST_ATTRIBUTE), None),
        "table": _table(results, shown, default),
        "n_items": len(results.sources),
        "left_out": left_out,
    }


def _table(results: Results, shown: Mapping[str, str], default: Quantity) -> Table:
    """The first items, worst first, with the value of every method."""
    finite = {item_id: finite_values(results, item_id, default) for item_id in results.sources}
    means = {item_id: statistics.fmean(values) for item_id, values in finite.items() if values}
    order = sorted(means, key=means.__getitem__, reverse=not default.higher_is_better)
    order += [item_id for item_id in finite if item_id not in means]
    uris = {row["item_id"]: row.get("source_uri") for row in results.dataset.items}
    decimals, rows = metric_leaf(default.metric).decimals, []
    for item_id in order[:STATIC_ROWS]:
        values = [results.value(method, item_id, default) for method in results.methods]
        values += [means.get(item_id), spread(finite[item_id])]
        slices = ", ".join(part.name for part in results.slices if item_id in part.item_ids)
        href = f"#{shown[item_id]}" if item_id in shown else ""
        name = Cell(item_id, href=href, below=source_name(uris[item_id]) or "")
        rows.append(Row((name, Cell(slices), *(Cell(number(value, decimals)) for value in values))))
    first = f"The first {STATIC_ROWS} of {len(results.sources):,} items" if len(results.sources) > STATIC_ROWS else "All items"
    methods = (Column(method, numeric=True, method=method) for method in results.methods)
    return Table(
        (Column("Item"), Column("Slices"), *methods, Column("Mean", numeric=True), Column("Spread", numeric=True)),
        tuple(rows),
        caption=f"{first} by {quantity_title(default, results.protocol)}, worst first.",
        label="Table of items",
        kind="items",
    )
