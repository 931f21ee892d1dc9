"""Methods from best to worst for each metric, attribute and setting (DEVIL, CVPR 2022, Table 2).

Attributes with a low and a high slice have two lists with lines between; other slices have a line of text each.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from inpaintbench.claims import ENOUGH_SOURCES, too_few
from inpaintbench.eval.report.labels import method_colours, name_label, quantity_title
from inpaintbench.eval.report.markup import SCROLLS, breakable, count
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.tables import Group, Pair, Results, group_slices, pair_slices
from inpaintbench.types import Slice

_ROW_PIXELS, _TALL_ROW_PIXELS = 24, 34
_GUTTER_PIXELS = 24
_ONE_LINE_LETTERS = 14
"""Longer names take two lines."""

Ranking = list[tuple[str, int | None]]


def rank_tables(results: Results) -> str:
    """For each region a table of the attributes with a low and a high slice and one of the other slices, as far as there are any.

    A column for each metric; a row for each attribute in the first table, for each slice in the second.
    """
    regions = dict.fromkeys(quantity.region for quantity in results.quantities if quantity.ranked)
    return "\n".join(table for region in regions for table in _tables(results, region) if table)


def ranks_lead(results: Results) -> str:
    """What the tables show, and once for all of them what is not ranked."""
    ranked = _ranked(results)
    if not ranked:
        return f"Nothing is ranked: no slice has the {ENOUGH_SOURCES} sources that a rank needs."
    lines = "; lines follow a method from low to high" if pair_slices(ranked) else ""
    few = sum(too_few(results.n_sources(one)) is not None for one in results.slices)
    without = f" {count(few, 'slice')} of fewer than {ENOUGH_SOURCES} sources: not ranked." if few else ""
    return f"Methods from best to worst for each metric, attribute and setting{lines}.{without}"


def _ranked(results: Results) -> list[Slice]:
    """The slices of enough sources for a rank, and those that stand beside such a one as low or high."""
    enough = {one.name for one in results.slices if too_few(results.n_sources(one)) is None}
    beside = {one.name for pair in pair_slices(results.slices) for one in (pair.low, pair.high)
              if enough & {pair.low.name, pair.high.name}}  # fmt: skip
    return [one for one in results.slices if one.name in enough | beside]


def _tables(results: Results, region: str) -> tuple[str, str]:
    ranked = _ranked(results)
    quantities = [quantity for quantity in results.quantities if quantity.region == region and quantity.ranked]
    pairs = [
        f'<tr><th scope="row">{breakable(name_label(pair.attribute))}</th>'
        f"{''.join(_slope(results, pair, quantity) for quantity in quantities)}</tr>"
        for pair in pair_slices(ranked)
    ]
    groups = [_group(results, group, quantities) for group in group_slices(ranked)]
    return (
        _table(quantities, pairs, heads=("Attribute",), kind="ranks", row=_row_pixels(results)),
        _table(quantities, groups, heads=("Attribute", "Slice"), kind="ranks in-lines", row=_row_pixels(results)),
    )


def _row_pixels(results: Results) -> int:
    return _TALL_ROW_PIXELS if max(map(len, results.methods)) > _ONE_LINE_LETTERS else _ROW_PIXELS


def _table(quantities: Sequence[Quantity], rows: Sequence[str], *, heads: Sequence[str], kind: str, row: int) -> str:
    if not rows or not quantities:
        return ""
    titles = [*heads, *(quantity_title(quantity) for quantity in quantities)]
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
    body = "\n".join(rows)
    return (
        f'<div class="scroll" data-region="{escape(quantities[0].region)}"{SCROLLS}>'
        f'<table class="{kind}" style="--metrics:{len(quantities)};--row:{row}px"><thead><tr>{head}</tr></thead>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _group(results: Results, group: Group, quantities: Sequence[Quantity]) -> str:
    """The rows of the slices of one attribute, its name beside them all."""
    rows = []
    for one, value in zip(group.slices, group.values, strict=True):
        cells = "".join(f"<td>{_entries(results, one, quantity)}</td>" for quantity in quantities)
        label = "" if value is None else breakable(name_label(value))
        rows.append(f'<th scope="row" title="{escape(one.rule)}">{label}</th>{cells}</tr>')
    head = f'<th scope="rowgroup" rowspan="{len(rows)}">{breakable(name_label(group.attribute))}</th>'
    return "\n".join(f"<tr{'' if index else ' class=first'}>{'' if index else head}{row}" for index, row in enumerate(rows))


def _slope(results: Results, pair: Pair, quantity: Quantity) -> str:
    low, high = (results.ranking(one, quantity) for one in (pair.low, pair.high))
    lists = _list(results, pair.low, quantity, "low"), _lines(results, low, high), _list(results, pair.high, quantity, "high")
    return f'<td><div class="slope">{"".join(lists)}</div></td>'


def _list(results: Results, one: Slice, quantity: Quantity, level: str) -> str:
    return f'<div class="ranking"><span class="level {level}">{level}</span>{_entries(results, one, quantity)}</div>'


def _entries(results: Results, one: Slice, quantity: Quantity) -> str:
    ranking = results.ranking(one, quantity)
    few = too_few(results.n_sources(one))
    if few:
        return f'<p class="unranked" title="{escape(few)}">not ranked</p>'
    colours = method_colours(results.methods)
    places = [place for _, place in ranking]
    entries = "".join(
        _entry(method, place, colours[method], tied=places.count(place) > 1, contested=len(ranking) > 1)
        for method, place in ranking
    )
    return f"<ol>{entries}</ol>"


def _entry(method: str, place: int | None, colour: str, *, tied: bool, contested: bool) -> str:
    name = f"<b>{breakable(method)}</b>" if place == 1 and contested else f"<span>{breakable(method)}</span>"
    mark = "– " if place is None else "= " if tied else ""
    words = "no value" if place is None else f"place {place}"
    return f'<li style="--method:{colour}" title="{escape(method)}: {words}">{mark}{name}</li>'


def _lines(results: Results, low: Ranking, high: Ranking) -> str:
    """One line for each method that has a place on both sides."""
    colours = method_colours(results.methods)
    row = _row_pixels(results)
    right = {method: index for index, (method, place) in enumerate(high) if place is not None}
    lines = "".join(
        f'<line x1="0" x2="{_GUTTER_PIXELS}" y1="{_middle(index, row)}" y2="{_middle(right[method], row)}" '
        f'stroke="{colours[method]}"/>'
        for index, (method, place) in enumerate(low)
        if place is not None and method in right
    )
    height = row * len(low)
    size = f'width="{_GUTTER_PIXELS}" height="{height}" viewBox="0 0 {_GUTTER_PIXELS} {height}"'
    return f'<svg class="lines" {size} aria-hidden="true">{lines}</svg>'


def _middle(index: int, row: int) -> float:
    return (index + 0.5) * row
