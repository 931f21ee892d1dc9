"""All items as compact data for the page's scripts, and the table of them with what its filters offer."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, unquote_to_bytes

from inpaintbench.claims import too_few
from inpaintbench.eval.report.gallery import finite_values, spread
from inpaintbench.eval.report.media import rounded
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
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.words import count, number
from inpaintbench.types import Plain

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
    names = dict.fromkeys(name for row in facts for name in row)
    found = (_attribute(name, [row.get(name) for row in facts]) for name in names)
    return [one for one in found if one is not None]


def _attribute(name: str, values: list[Any]) -> Attribute | None:
    known = [value for value in values if value is not None]
    if any(not isinstance(value, str | int | float) for value in known):
        return None  # data, such as joints
    label = attribute_label(name)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return Attribute(name, label, numeric=True, values=tuple(values)) if len(set(known)) > 1 else None
    said = {True: "yes", False: "no"}
    words = tuple(None if value is None else said[value] if isinstance(value, bool) else str(value) for value in values)
    return Attribute(name, label, numeric=False, values=words) if 1 < len(set(words)) <= MOST_CHOICES else None


def attribute_label(name: str) -> str:
    """A fact about items as words: ``Hole fraction`` for ``hole.hole_fraction``."""
    return _NAMES.get(name, name_label(_plain(name)))


def _plain(name: str) -> str:
    """``hole: pose_change`` for ``hole.pose_change``, and ``hole_fraction`` for ``hole.hole_fraction``."""
    group, dot, rest = name.partition(".")
    return rest if dot and rest.startswith(group) else name.replace(".", ": ", 1)


def source_name(uri: str | None) -> str | None:
    """The last part of a source's address as people read it, on one line; None where an item has none, as held-back ones.

    What follows a question mark is left out: it names nothing, and may be a key.
    """
    last = (uri or "").partition("?")[0].rstrip("/").rpartition("/")[2]
    text = unquote_to_bytes(re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*:", "", last)).decode("utf-8", errors="replace")
    # Line breaks and marks that turn the direction of reading are spelled out, so that a name cannot pass for another.
    return "".join(letter if letter.isprintable() else quote(letter) for letter in text) or None


def source_names(results: Results) -> dict[str, str | None]:
    """Item -> name of its source."""
    return {row["item_id"]: source_name(row.get("source_uri")) for row in results.dataset.items}


def item_data(results: Results, shown: Mapping[str, str], *, default: Quantity) -> dict[str, Any]:
    """Data of the item browser and the scatter plot.

    Args:
        results: the scores.
        shown: item -> id of the element that plays it.
        default: the quantity whose values go in first where not all fit.
    """
    ids = list(results.sources)
    held = held_quantities(results, default)
    names = source_names(results)
    return {
        "ids": ids,
        "sources": [results.sources[item_id] for item_id in ids],
        "source_names": [names[item_id] for item_id in ids],
        "methods": list(results.methods),
        "contenders": len(results.contenders),
        "bold": not too_few(results.n_sources(results.everything)),
        "slices": _slices(results, ids),
        "attributes": [_packed(one) for one in attributes_of(results.dataset.items)],
        "quantities": [_described(one) for one in held],
        "left_out": [quantity_label(quantity) for quantity in results.quantities
                     if not quantity.of_sets and quantity not in held],
        "values": {f"{one.metric}/{one.region}": _values(results, ids, one) for one in held},
        "shown": {str(index): shown[item_id] for index, item_id in enumerate(ids) if item_id in shown},
    }  # fmt: skip


def held_quantities(results: Results, default: Quantity) -> list[Quantity]:
    """The quantities of items that fit into the page, in the order of the report."""
    room = MOST_VALUES // max(1, len(results.sources) * len(results.methods))
    of_items = [quantity for quantity in results.quantities if not quantity.of_sets]
    first = sorted(of_items, key=lambda one: (one != default, one.region != default.region))[: max(1, room)]
    return [item for item in of_items if item in first]


def _slices(results: Results, ids: Sequence[str]) -> list[dict[str, Any]]:
    place = {item_id: index for index, item_id in enumerate(ids)}
    return [
        {"name": one.name, "rule": one.rule, "items": sorted(place[item_id] for item_id in one.item_ids)}
        for one in in_reading_order(results.slices)
    ]


def _described(one: Quantity) -> dict[str, Any]:
    leaf = metric_leaf(one.metric)
    facts = {"unit": leaf.unit, "decimals": leaf.decimals, "higher": one.higher_is_better, "ranked": one.ranked}
    return {**one._asdict(), "label": metric_label(one.metric), "where": region_label(one.region), **facts}


def _packed(one: Attribute) -> dict[str, Any]:
    """An attribute with its numbers, or with its words once and a place among them for each item."""
    facts = {"name": one.name, "label": one.label, "numeric": one.numeric}
    if one.numeric:
        numbers = [None if value is None else float(value) for value in one.values]
        finite = [value if value is not None and math.isfinite(value) else None for value in numbers]
        return {**facts, "values": rounded(finite, six_digits)}
    words = sorted({str(value) for value in one.values if value is not None})
    return {**facts, "words": words, "values": [None if value is None else words.index(str(value)) for value in one.values]}


def _values(results: Results, ids: Sequence[str], one: Quantity) -> list[list[float | str | None]]:
    return [rounded([results.value(method, item_id, one) for item_id in ids], six_digits) for method in results.methods]


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
    attributes = attributes_of(results.dataset.items)
    return {
        "quantities": [(f"{one.metric}/{one.region}", quantity_label(one)) for one in held],
        "chosen": f"{default.metric}/{default.region}",
        "slices": [(str(index), part.name) for index, part in enumerate(in_reading_order(results.slices))],
        "numbers": _choices(attributes, numeric=True),
        "words": _choices(attributes, numeric=False),
        "first": next((str(index) for index, one in enumerate(attributes) if one.name == _FIRST_ATTRIBUTE), None),
        "table": _table(results, shown, default),
        "n_items": len(results.sources),
        "left_out": _left_out(results, held),
    }


def _choices(attributes: Sequence[Attribute], *, numeric: bool) -> list[tuple[str, str]]:
    return [(str(index), one.label) for index, one in enumerate(attributes) if one.numeric == numeric]


def _table(results: Results, shown: Mapping[str, str], default: Quantity) -> Table:
    """The first items, worst first, with the value of every method."""
    values = {item_id: finite_values(results, item_id, default) for item_id in results.sources}
    known = [item_id for item_id, finite in values.items() if finite]
    known.sort(key=lambda item_id: statistics.fmean(values[item_id]), reverse=not default.higher_is_better)
    rest = [item_id for item_id in values if not values[item_id]]
    names = source_names(results)
    rows = [_row(results, item_id, shown.get(item_id), names[item_id], default) for item_id in (known + rest)[:STATIC_ROWS]]
    first = f"The first {STATIC_ROWS} of {len(results.sources):,} items" if len(results.sources) > STATIC_ROWS else "All items"
    return Table(
        columns=(
            Column("Item"),
            Column("Slices"),
            *(Column(method, numeric=True, method=method) for method in results.methods),
            Column("Mean", numeric=True),
            Column("Spread", numeric=True),
        ),
        rows=tuple(rows),
        caption=f"{first} by {quantity_title(default, results.protocol)}, worst first.",
        label="Table of items",
        kind="items",
    )


def _row(results: Results, item_id: str, element: str | None, source: str | None, default: Quantity) -> Row:
    decimals = metric_leaf(default.metric).decimals
    finite = finite_values(results, item_id, default)
    values = [results.value(method, item_id, default) for method in results.methods]
    values += [statistics.fmean(finite) if finite else None, spread(finite)]
    slices = ", ".join(part.name for part in results.slices if item_id in part.item_ids)
    name = Cell(item_id, href=f"#{element}" if element else "", below=source or "")
    return Row((name, Cell(slices), *(Cell(number(value, decimals)) for value in values)))


def _left_out(results: Results, held: Sequence[Quantity]) -> list[str]:
    of_sets = [quantity for quantity in results.quantities if quantity.of_sets]
    too_many = [quantity for quantity in results.quantities if not quantity.of_sets and quantity not in held]
    sentences = []
    if of_sets:
        names = ", ".join(dict.fromkeys(metric_label(one.metric) for one in of_sets))
        sentences.append(f"{names} compare sets of items: no item has a value of its own.")
    if too_many:
        further = count(len(too_many), "further quantity")
        sentences.append(f"{further} of items are too much for a page: they are in scores.csv.")
    return sentences
