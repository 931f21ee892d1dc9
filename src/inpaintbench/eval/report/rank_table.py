"""Methods from best to worst for each metric, attribute and setting (DEVIL, CVPR 2022, Table 2), with lines from low to high."""

from __future__ import annotations

from html import escape

from inpaintbench.eval.report.labels import method_colours, metric_title, name_label
from inpaintbench.eval.report.markup import breakable
from inpaintbench.eval.report.tables import Pair, Quantity, Results, pair_slices, unpaired

_ROW_PIXELS = 24
_GUTTER_PIXELS = 24

Ranking = list[tuple[str, int | None]]


def rank_tables(results: Results) -> str:
    """One table for each region: a row for each attribute or lone slice, a column for each metric."""
    regions = dict.fromkeys(quantity.region for quantity in results.quantities)
    return "\n".join(_table(results, region) for region in regions)


def _table(results: Results, region: str) -> str:
    quantities = [quantity for quantity in results.quantities if quantity.region == region]
    heads = "".join(f'<th scope="col">{escape(metric_title(quantity.metric))}</th>' for quantity in quantities)
    pairs = "\n".join(
        f'<tr><th scope="row">{breakable(name_label(pair.attribute))}</th>'
        f"{''.join(_slope(results, pair, quantity) for quantity in quantities)}</tr>"
        for pair in pair_slices(results.slices)
    )
    alone = "\n".join(
        f'<tr><th scope="row">{breakable(name_label(one.name))}</th>'
        + "".join(f"<td>{_list(results, results.ranking(one, quantity), '')}</td>" for quantity in quantities)
        + "</tr>"
        for one in unpaired(results.slices)
    )
    return (
        f'<div class="scroll" data-region="{escape(region)}"><table class="ranks" style="--metrics:{len(quantities)}">'
        '<thead><tr><th scope="col">Attribute</th>'
        f"{heads}</tr></thead><tbody>\n{pairs}\n{alone}\n</tbody></table></div>"
    )


def _slope(results: Results, pair: Pair, quantity: Quantity) -> str:
    low, high = (results.ranking(one, quantity) for one in (pair.low, pair.high))
    lists = _list(results, low, "low"), _lines(results, low, high), _list(results, high, "high")
    return f'<td><div class="slope">{"".join(lists)}</div></td>'


def _list(results: Results, ranking: Ranking, level: str) -> str:
    colours = method_colours(results.methods)
    places = [place for _, place in ranking]
    entries = "".join(
        _entry(method, place, colours[method], tied=places.count(place) > 1, contested=len(ranking) > 1)
        for method, place in ranking
    )
    head = f'<span class="level {level}">{level}</span>' if level else ""
    return f'<div class="ranking">{head}<ol>{entries}</ol></div>'


def _entry(method: str, place: int | None, colour: str, *, tied: bool, contested: bool) -> str:
    name = f"<b>{escape(method)}</b>" if place == 1 and contested else f"<span>{escape(method)}</span>"
    mark = "– " if place is None else "= " if tied else ""
    words = "no value" if place is None else f"place {place}"
    return f'<li style="--method:{colour}" title="{escape(method)}: {words}">{mark}{name}</li>'


def _lines(results: Results, low: Ranking, high: Ranking) -> str:
    """One line for each method that has a place on both sides."""
    colours = method_colours(results.methods)
    right = {method: index for index, (method, place) in enumerate(high) if place is not None}
    lines = "".join(
        f'<line x1="0" x2="{_GUTTER_PIXELS}" y1="{_middle(index)}" y2="{_middle(right[method])}" stroke="{colours[method]}"/>'
        for index, (method, place) in enumerate(low)
        if place is not None and method in right
    )
    height = _ROW_PIXELS * len(low)
    size = f'width="{_GUTTER_PIXELS}" height="{height}" viewBox="0 0 {_GUTTER_PIXELS} {height}"'
    return f'<svg class="lines" {size} aria-hidden="true">{lines}</svg>'


def _middle(index: int) -> float:
    return (index + 0.5) * _ROW_PIXELS
