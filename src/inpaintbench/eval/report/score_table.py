"""The table method x slice for each metric and region: mean, interval, n, and a whisker that makes it a figure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from inpaintbench.eval.comparing.statistics import LEVEL, Summary
from inpaintbench.eval.report.cautions import size_words
from inpaintbench.eval.report.labels import metric_title, place_label, quantity_label, slice_label
from inpaintbench.eval.report.quantity import Quantity, metric_leaf
from inpaintbench.eval.report.tables import Results, in_reading_order, split_level
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.words import count, interval, number
from inpaintbench.types import Slice


class _Scale(NamedTuple):
    """The number range that all whiskers of one table share."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """Place of ``value``, 0..1; the ends of the scale stay a little inside, where a dot is seen whole."""
        width = self.high - self.low
        inside = min(max(value, self.low), self.high)  # a reference may lie beyond the methods that make the scale
        return 0.5 if width <= 0 else 0.04 + 0.92 * (inside - self.low) / width


def score_table(results: Results, quantity: Quantity) -> Table:
    """Methods from best to worst, references last; a column for all items and for each slice."""
    slices = [results.everything, *in_reading_order(results.slices)]
    scale = _scale(
        [results.summary(part, method, quantity) for part in slices for method in results.contenders or results.methods]
    )
    ranked = [method for method, _ in results.ranking(results.everything, quantity)]
    best = {part.name: results.best(part, quantity) for part in slices}
    leaf = metric_leaf(quantity.metric)
    better = ("higher" if leaf.higher_is_better else "lower") + " is better" if quantity.ranked else "not ranked"
    return Table(
        columns=(Column("Method", sorts=True, falling=False), *(_column(results, part) for part in slices)),
        rows=tuple(
            Row(
                (
                    Cell(method, method, method=method, reference=method in results.references),
                    *(_cell(results, part, method, quantity, scale, best=method in best[part.name]) for part in slices),
                ),
                kind="floor" if method in results.references else "",
                key=method,
            )
            for method in (*ranked, *results.references)
        ),
        caption=f"{metric_title(quantity.metric)} {place_label(quantity.region)}, {better}. {_how(quantity)}; "
        "whiskers share one scale.",
        kind="scores",
        picks_columns=len(slices) > 2,
        data={"metric": quantity.metric, "region": quantity.region},
    )


def _column(results: Results, part: Slice) -> Column:
    level = split_level(part.name)[1]
    n, sources = len(part.item_ids), results.n_sources(part)
    title = f"{part.rule}; {count(n, 'item')} of {count(sources, 'source')}"
    if part.name == results.everything.name:
        return Column("All items", numeric=True, sorts=True, note=f"n {n}", title=title, key=part.name)
    label = slice_label(part.name)
    return Column(
        level or label, numeric=True, sorts=True, group=label if level else "", note=f"n {n}", title=title, key=part.name
    )


def _how(quantity: Quantity) -> str:
    """Description of a table's numbers, half a sentence."""
    if quantity.of_sets:
        return (
            "One number for all items of a slice together, with an interval by jackknife over sources where there are enough; "
            "N vectors in the smaller set, each of length d"
        )
    return f"Mean over items with its {LEVEL:.0%} interval, where there are sources enough for one"


def _scale(summaries: list[Summary]) -> _Scale:
    ends = [
        end for summary in summaries for end in (summary.mean, summary.interval_low, summary.interval_high) if end is not None
    ]
    finite = [end for end in ends if math.isfinite(end)]
    return _Scale(min(finite), max(finite)) if finite else _Scale(0, 0)


def _cell(results: Results, part: Slice, method: str, quantity: Quantity, scale: _Scale, *, best: bool) -> Cell:
    summary, level = results.summary(part, method, quantity), results.level(part, method, quantity)
    decimals = metric_leaf(quantity.metric).decimals
    return Cell(
        number(level, decimals),
        level,
        note=_uncertainty(summary, decimals),
        below=" · ".join(_small_print(results, part, method, quantity, summary)),
        title=_title(summary, f"{method} on {part.name}: {'value' if quantity.of_sets else 'mean'}", decimals),
        strong=best,
        whisker=_whisker(summary, scale),
        method_colour=method,
    )


def _uncertainty(summary: Summary, decimals: int) -> str:
    ends = interval(summary.interval_low, summary.interval_high, decimals)
    return ends or ("" if summary.standard_error is None else f"± {number(summary.standard_error, decimals)}")


def _small_print(results: Results, part: Slice, method: str, quantity: Quantity, summary: Summary) -> Iterator[str]:
    """Sizes of sets, and how many values a mean leaves out."""
    if sizes := size_words(results.slice_score(part, method, quantity)):
        yield sizes
    if summary.n != len(part.item_ids):
        yield counts(summary)


def counts(summary: Summary) -> str:
    """Counts of the values in a mean and of those left out: ``n 10 · 1 ∞ · 2 missing``."""
    parts = [f"n {summary.n}"]
    parts += [f"{summary.n_infinite} ∞"] if summary.n_infinite else []
    parts += [f"{summary.n_missing} missing"] if summary.n_missing else []
    return " · ".join(parts)


def _title(summary: Summary, subject: str, decimals: int) -> str:
    clusters = f" of {count(summary.n_clusters, 'source')}" if summary.n else ""
    words = f"{subject} {number(summary.mean, decimals)}, {counts(summary)}{clusters}"
    if summary.standard_error is not None:
        words += f", standard error {number(summary.standard_error, decimals)}"
    return words + (f"; {summary.reason}" if summary.reason else "")


def _whisker(summary: Summary, scale: _Scale) -> tuple[float, float | None, float | None] | None:
    if summary.mean is None or not math.isfinite(summary.mean):
        return None
    if summary.interval_low is None or summary.interval_high is None:
        return scale.share(summary.mean), None, None
    return scale.share(summary.mean), scale.share(summary.interval_low), scale.share(summary.interval_high)


def failure_rows(results: Results) -> list[tuple[str, str, str, int, list[str]]]:
    """Every failure: method, reason, what is missing, how many items, and all of them.

    Reasons that differ by the name of their item alone stand together, with ITEM in the place of the name.
    """
    grouped: dict[tuple[str, str, tuple[Quantity, ...]], list[str]] = {}
    for failure in results.failures():
        reason = re.sub(rf"(?<!\w){re.escape(failure.item_id)}(?!\w)", "ITEM", failure.reason)
        grouped.setdefault((failure.method, reason, failure.quantities), []).append(failure.item_id)
    return [
        (method, reason if len(items) > 1 else reason.replace("ITEM", items[0]), _which(results, quantities), len(items), items)
        for (method, reason, quantities), items in grouped.items()
    ]


def _which(results: Results, quantities: tuple[Quantity, ...]) -> str:
    return "all scores" if quantities == results.quantities else "; ".join(map(quantity_label, quantities))
