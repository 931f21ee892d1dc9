"""The table slice x method for each metric and region: mean, interval, n, and a whisker that makes it a figure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import NamedTuple

from inpaintbench.eval.report.cautions import caution_lines
from inpaintbench.eval.report.labels import method_colours, metric_title, place_label, quantity_label
from inpaintbench.eval.report.markup import (
    SCROLLS,
    breakable,
    count,
    counts,
    method_name,
    named_method,
    number,
    only_for,
    scrolling_table,
    slice_name,
)
from inpaintbench.eval.report.quantity import Quantity, metric_leaf
from inpaintbench.eval.report.set_notes import set_warning, size_words
from inpaintbench.eval.report.tables import Results, in_reading_order
from inpaintbench.eval.slices import ALL_ITEMS
from inpaintbench.eval.statistics import LEVEL, Summary
from inpaintbench.types import Slice

_PAGE_PIXELS, _NARROW_PAGE_PIXELS = 1296, 836
"""Inner width of the page: on a large screen, and on the smallest one where tables do not scroll sideways anyway."""
_NAMES_PIXELS, _CELL_PIXELS, _PADDING_PIXELS = 264, 138, 24
_DIGIT_PIXELS, _COUNT_PIXELS = 7.6, 6.9
"""Width of a character of an interval and of counts in the widest of the page's fonts."""


class _Scale(NamedTuple):
    """The number range that all whiskers of one table share."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """Where ``value`` lies, per cent."""
        width = self.high - self.low
        inside = min(max(value, self.low), self.high)  # a reference may lie beyond the methods that make the scale
        return 50.0 if width <= 0 else round(4 + 92 * (inside - self.low) / width, 2)


def score_tables(results: Results, *, shown_in: Mapping[str, str]) -> str:
    """One table for each quantity; ``shown_in`` gives the element of the gallery that shows a slice."""
    return "\n".join(
        set_warning(results, quantity) + caution_lines(results, quantity) + _table(results, quantity, shown_in)
        for quantity in results.quantities
    )


def _table(results: Results, quantity: Quantity, shown_in: Mapping[str, str]) -> str:
    colours = method_colours(results.methods)
    slices = [*in_reading_order(results.slices), results.everything]
    scale = _scale([results.summary(one, method, quantity) for one in slices for method in results.contenders or results.methods])
    heads = "".join(
        '<th scope="col" aria-sort="none"><button type="button" class="sort">'
        f"{named_method(method, colours[method], reference=method in results.references)}</button></th>"
        for method in results.methods
    )
    rows = "\n".join(_row(results, one, quantity, scale, shown_in) for one in slices)
    leaf = metric_leaf(quantity.metric)
    better = ("higher" if leaf.higher_is_better else "lower") + " is better" if quantity.ranked else "not ranked"
    caption = (
        f"<strong>{escape(metric_title(quantity.metric))}</strong> {place_label(quantity.region)}, "
        f"{better}. {_how(quantity)}; whiskers share one scale."
    )
    cell = max(
        _cell_pixels(results.summary(one, method, quantity), leaf.decimals, _small_print(results, one, method, quantity))
        for one in slices
        for method in results.methods
    )
    least = _NAMES_PIXELS + len(results.methods) * cell
    # A table that does not fit scrolls sideways instead of keeping its head in sight.
    wide = " wide" if least > _PAGE_PIXELS else " broad" if least > _NARROW_PAGE_PIXELS else ""
    return (
        f'<div class="scroll{wide}" {only_for(quantity)}{SCROLLS}><table class="scores" style="min-width:{least}px">'
        f"<caption>{caption}</caption>"
        f'<thead><tr><th scope="col"><button type="button" class="sort reset">Slice</button></th><th scope="col" class="n">n</th>'
        f"{heads}</tr></thead><tbody>\n{rows}\n</tbody></table></div>"
    )


def _how(quantity: Quantity) -> str:
    """What the numbers of a table are, half a sentence."""
    if quantity.of_sets:
        return (
            "One number for all items of a slice together, with an interval by jackknife over sources where there are enough; "
            "N vectors in the smaller set, each of length d"
        )
    return f"Mean over items with its {LEVEL:.0%} interval"


def _small_print(results: Results, one: Slice, method: str, quantity: Quantity) -> dict[str, str]:
    """Class of a line below a number -> its words: the sizes of sets, and what is left out."""
    summary = results.summary(one, method, quantity)
    sizes = size_words(results.slice_score(one, method, quantity))
    lines = {"sizes": sizes, "counts": counts(summary) if summary.n != len(one.item_ids) else ""}
    return {kind: words for kind, words in lines.items() if words}


def _cell_pixels(summary: Summary, decimals: int, small_print: Mapping[str, str]) -> int:
    """How wide a cell has to be for its interval and its small print not to break."""
    # As wide as the counts would be even where they are not shown, so that columns of like tables are alike.
    widest = max(map(len, (counts(summary), *small_print.values())))
    interval = _DIGIT_PIXELS * len(_interval_words(summary, decimals))
    return max(_CELL_PIXELS, round(_PADDING_PIXELS + max(interval, _COUNT_PIXELS * widest)))


def _scale(summaries: list[Summary]) -> _Scale:
    found = [end for one in summaries for end in (one.mean, one.interval_low, one.interval_high) if end is not None]
    ends = [end for end in found if math.isfinite(end)]
    return _Scale(min(ends), max(ends)) if ends else _Scale(0, 0)


def _row(results: Results, one: Slice, quantity: Quantity, scale: _Scale, shown_in: Mapping[str, str]) -> str:
    best = results.best(one, quantity)
    colours = method_colours(results.methods)
    cells = "".join(
        _cell(
            results.summary(one, method, quantity),
            level=results.level(one, method, quantity),
            best=method in best,
            colour=colours[method],
            subject=f"{method} on {one.name}: {'value' if quantity.of_sets else 'mean'}",
            decimals=metric_leaf(quantity.metric).decimals,
            small_print=_small_print(results, one, method, quantity),
            scale=scale,
        )
        for method in results.methods
    )
    kind = ' class="everything"' if one.name == ALL_ITEMS else ""
    name = slice_name(one.name)
    if one.name in shown_in:
        name = f'<a href="#{shown_in[one.name]}" class="show" title="See an item of this slice">{name}</a>'
    sources = len({results.sources[item_id] for item_id in one.item_ids})
    size = f'<td class="n" title="{count(len(one.item_ids), "item")} of {count(sources, "source")}">{len(one.item_ids)}</td>'
    return f'<tr{kind} data-slice="{escape(one.name)}"><th scope="row" title="{escape(one.rule)}">{name}</th>{size}{cells}</tr>'


def _cell(
    summary: Summary,
    *,
    level: float | None,
    best: bool,
    colour: str,
    subject: str,
    decimals: int,
    small_print: Mapping[str, str],
    scale: _Scale,
) -> str:
    mean = number(level, decimals=decimals)
    mean = f"<b>{mean}</b>" if best else f"<span>{mean}</span>"
    below = "".join(f'<span class="{kind}">{words}</span>' for kind, words in small_print.items())
    value = "" if level is None else f' data-value="{level!r}"'
    return (
        f'<td class="score{" best" if best else ""}" style="--method:{colour}"{value} '
        f'title="{_title(summary, subject, decimals)}">'
        f'<div class="mean">{mean}{_interval(summary, decimals)}</div>{_whisker(summary, scale)}{below}</td>'
    )


def _title(summary: Summary, subject: str, decimals: int) -> str:
    clusters = f" of {count(summary.n_clusters, 'source')}" if summary.n else ""
    words = f"{subject} {number(summary.mean, decimals=decimals)}, {counts(summary)}{clusters}"
    if summary.standard_error is not None:
        words += f", standard error {number(summary.standard_error, decimals=decimals)}"
    return escape(words + (f"; {summary.reason}" if summary.reason else ""))


def _interval(summary: Summary, decimals: int) -> str:
    words = _interval_words(summary, decimals)
    return f'<span class="interval">{words}</span>' if words else ""


def _interval_words(summary: Summary, decimals: int) -> str:
    if summary.interval_low is None or summary.interval_high is None:
        error = summary.standard_error
        return f"± {number(error, decimals=decimals)}" if error is not None else "no interval" if summary.n else ""
    low, high = (number(end, decimals=decimals) for end in (summary.interval_low, summary.interval_high))
    return f"{low} – {high}"


def _whisker(summary: Summary, scale: _Scale) -> str:
    if summary.mean is None or not math.isfinite(summary.mean):
        return ""
    line = ""
    if summary.interval_low is not None and summary.interval_high is not None:
        left, right = scale.share(summary.interval_low), scale.share(summary.interval_high)
        line = f'<i style="left:{left}%;width:{round(right - left, 2)}%"></i>'
    return f'<span class="whisker" aria-hidden="true">{line}<u style="left:{scale.share(summary.mean)}%"></u></span>'


def failure_table(results: Results) -> str:
    """Every failure: method, reason, what is missing, and all its items."""
    grouped: dict[tuple[str, str, tuple[Quantity, ...]], list[str]] = {}
    for failure in results.failures():
        grouped.setdefault((failure.method, failure.reason, failure.quantities), []).append(failure.item_id)
    colours = method_colours(results.methods)
    rows = [
        f"<tr><th scope='row'>{method_name(method, colours[method])}</th><td>{escape(reason)}</td>"
        f"<td>{_which(results, quantities)}</td><td class='n'>{len(items)}</td>"
        f"<td><div class='ids'>{', '.join(f'<code>{breakable(item_id)}</code>' for item_id in items)}</div></td></tr>"
        for (method, reason, quantities), items in grouped.items()
    ]
    return scrolling_table(("Method", "Reason", "Missing", "Items", "Which"), rows) if rows else ""


def _which(results: Results, quantities: tuple[Quantity, ...]) -> str:
    if quantities == results.quantities:
        return "all scores"
    return "; ".join(escape(quantity_label(one)) for one in quantities)
