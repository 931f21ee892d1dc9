"""The numbers behind the plots as tables, for readers without scripts or without sight."""

from __future__ import annotations

from html import escape

from inpaintbench.eval.report.labels import method_colours, name_label, quantity_title
from inpaintbench.eval.report.markup import SCROLLS, breakable, count, named_method, number, only_for, percent, slice_name
from inpaintbench.eval.report.quantity import Quantity, metric_leaf
from inpaintbench.eval.report.tables import Results, in_reading_order, pair_slices


def difficulty_tables(results: Results, *, default: Quantity) -> str:
    """For each quantity the mean over methods of every slice, with its standard error; that of ``default`` is open to all."""
    return "\n".join(_difficulty(results, quantity, hidden=quantity != default) for quantity in results.quantities)


def _difficulty(results: Results, quantity: Quantity, *, hidden: bool) -> str:
    decimals = metric_leaf(quantity.metric).decimals
    rows = []
    for one in in_reading_order(results.slices):
        summary = results.difficulty(one, quantity)
        numbers = (number(summary.mean, decimals=decimals), number(summary.standard_error, decimals=decimals), f"{summary.n}")
        cells = "".join(f'<td class="n">{words}</td>' for words in numbers)
        rows.append(f'<tr><th scope="row">{slice_name(one.name)}</th>{cells}</tr>')
    heads = ("Slice", "Mean over methods", "Standard error", "Methods")
    return _folded(quantity, hidden, "Table of these numbers", f"{_of(quantity)}, mean over methods", heads, rows)


def improvement_tables(results: Results, *, default: Quantity) -> str:
    """For each quantity that ranks the relative improvement of every method, a row for each attribute."""
    ranked = [quantity for quantity in results.quantities if quantity.ranked]
    return "\n".join(_improvement(results, quantity, hidden=quantity != default) for quantity in ranked)


def _improvement(results: Results, quantity: Quantity, *, hidden: bool) -> str:
    colours = method_colours(results.methods)
    rows = []
    for pair in pair_slices(results.slices):
        shares = (results.improvement(pair, method, quantity) for method in results.methods)
        cells = "".join(f'<td class="n">{"–" if share is None else percent(share)}</td>' for share in shares)
        rows.append(f'<tr><th scope="row">{breakable(name_label(pair.attribute))}</th>{cells}</tr>')
    heads = (
        "Attribute",
        *(named_method(method, colours[method], reference=method in results.references) for method in results.methods),
    )
    return _folded(quantity, hidden, "Table of these numbers", f"{_of(quantity)}, change from low to high", heads, rows)


def _of(quantity: Quantity) -> str:
    return quantity_title(quantity)


def _folded(quantity: Quantity, hidden: bool, title: str, caption: str, heads: tuple[str, ...], rows: list[str]) -> str:
    head = "".join(f'<th scope="col"{"" if index == 0 else " class=n"}>{name}</th>' for index, name in enumerate(heads))
    body = "\n".join(rows)
    words = f"{title}: {_of(quantity)}, {count(len(rows), 'row')}"
    return (
        f"<details {only_for(quantity)}{' hidden' if hidden else ''}><summary>{escape(words)}</summary>"
        f'<div class="scroll"{SCROLLS}><table class="plain"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div></details>"
    )
