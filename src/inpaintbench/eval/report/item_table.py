"""The table of all items: filters and what they leave, filled by a script; without scripts its first rows."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from string import Template

from inpaintbench.eval.report.item_records import Attribute, attributes_of, held_quantities, source_names
from inpaintbench.eval.report.labels import method_colours, metric_label, quantity_label, quantity_title
from inpaintbench.eval.report.markup import SCROLLS, breakable, count, named_method, number
from inpaintbench.eval.report.quantity import Quantity, metric_leaf
from inpaintbench.eval.report.standouts import finite_values, spread
from inpaintbench.eval.report.tables import Results, in_reading_order

_FIRST_ATTRIBUTE = "hole.hole_fraction"
"""Of the scatter plot, where items have it; else the first number."""
STATIC_ROWS = 50
"""Rows that are there without scripts."""


def items_section(results: Results, shown: Mapping[str, str], *, default: Quantity) -> str:
    """The whole section; empty where no metric has values of items.

    Args:
        results: the scores.
        shown: item -> id of the element that plays it.
        default: what the rows are ordered by without scripts.
    """
    held = held_quantities(results, default)
    if not held or default not in held:
        return ""
    attributes = attributes_of(results.dataset.items)
    parts = {
        "quantities": _quantity_options(held, default),
        "slices": _options([(str(index), one.name) for index, one in enumerate(in_reading_order(results.slices))]),
        "attributes": _attribute_options(attributes),
        "scatter": _scatter(held, attributes, default),
        "rows": "\n".join(_static_rows(results, shown, default)),
        "heads": _heads(results),
        "caption": _caption(results, default),
        "items": f"{len(results.sources):,}",
        "left_out": _left_out(results, held),
        "scrolls": SCROLLS,
    }
    return Template(_asset("items.html")).substitute(parts)


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _options(pairs: Sequence[tuple[str, str]], *, chosen: str | None = None) -> str:
    return "".join(
        f'<option value="{escape(value)}"{" selected" if value == chosen else ""}>{escape(words)}</option>'
        for value, words in pairs
    )


def _quantity_options(held: Sequence[Quantity], default: Quantity) -> str:
    pairs = [(f"{one.metric}/{one.region}", quantity_label(one)) for one in held]
    return _options(pairs, chosen=f"{default.metric}/{default.region}")


def _attribute_options(attributes: Sequence[Attribute]) -> str:
    kinds = {"Numbers": True, "Words": False}
    groups = {
        kind: _options([(str(index), one.label) for index, one in enumerate(attributes) if one.numeric == numeric])
        for kind, numeric in kinds.items()
    }
    return "".join(f'<optgroup label="{kind}">{options}</optgroup>' for kind, options in groups.items() if options)


def _scatter(held: Sequence[Quantity], attributes: Sequence[Attribute], default: Quantity) -> str:
    numeric = [(str(index), one.label) for index, one in enumerate(attributes) if one.numeric]
    if not numeric:
        return (
            '<section id="scatter"><h2>Metric against attribute</h2>'
            '<p class="note">The items have no attribute that is a number and differs between them.</p></section>'
        )
    first = next((str(index) for index, one in enumerate(attributes) if one.name == _FIRST_ATTRIBUTE), None)
    options = {"quantities": _quantity_options(held, default), "attributes": _options(numeric, chosen=first)}
    return Template(_asset("scatter.html")).substitute(options, scrolls=SCROLLS)


def _heads(results: Results) -> str:
    colours = method_colours(results.methods)
    names = {
        "item": "Item",
        "slices": "Slices",
        **{method: named_method(method, colours[method], reference=method in results.references) for method in results.methods},
    }
    names |= {"": "Mean", "spread": "Spread"}
    return "".join(f'<th scope="col"{"" if key in ("item", "slices") else " class=n"}>{name}</th>' for key, name in names.items())


def _caption(results: Results, default: Quantity) -> str:
    first = f"The first {STATIC_ROWS} of {len(results.sources):,} items" if len(results.sources) > STATIC_ROWS else "All items"
    return f"{first} by {escape(quantity_title(default))}, worst first."


def _static_rows(results: Results, shown: Mapping[str, str], default: Quantity) -> list[str]:
    values = {item_id: finite_values(results, item_id, default) for item_id in results.sources}
    known = [item_id for item_id, found in values.items() if found]
    known.sort(key=lambda item_id: statistics.fmean(values[item_id]), reverse=not default.higher_is_better)
    rest = [item_id for item_id in values if not values[item_id]]
    member = {
        item_id: [one.name for one in results.slices if item_id in one.item_ids] for item_id in (known + rest)[:STATIC_ROWS]
    }
    sources = source_names(results)
    return [
        _static_row(results, item_id, names, _name(item_id, shown.get(item_id), sources[item_id]), default)
        for item_id, names in member.items()
    ]


def _name(item_id: str, element: str | None, source: str | None) -> str:
    """An item, where it plays, and what its source is called."""
    name = f"<code>{breakable(item_id)}</code>"
    link = f'<a href="#{element}">{name}</a>' if element else name
    return link + (f'<span class="source">{breakable(source)}</span>' if source else "")


def _static_row(results: Results, item_id: str, slices: Sequence[str], name: str, default: Quantity) -> str:
    decimals = metric_leaf(default.metric).decimals
    found = finite_values(results, item_id, default)
    values = [results.value(method, item_id, default) for method in results.methods]
    values += [statistics.fmean(found) if found else None, spread(found)]
    cells = "".join(f'<td class="n">{number(value, decimals=decimals)}</td>' for value in values)
    return f'<tr><th scope="row">{name}</th><td>{breakable(", ".join(slices))}</td>{cells}</tr>'


def _left_out(results: Results, held: Sequence[Quantity]) -> str:
    of_sets = [one for one in results.quantities if one.of_sets]
    too_many = [one for one in results.quantities if not one.of_sets and one not in held]
    words = []
    if of_sets:
        names = ", ".join(dict.fromkeys(metric_label(one.metric) for one in of_sets))
        words.append(f"{names} compare sets of items: no item has a value of its own.")
    if too_many:
        words.append(f"{count(len(too_many), 'further quantity')} of items are too much for a page: they are in scores.csv.")
    return "".join(f'<p class="note">{escape(one)}</p>' for one in words)
