"""The table method x slice for each metric and region, and what methods took.

A mean has its interval, n, and a whisker that makes the table a figure. Time, memory and what runs differ in stand in a table of
their own, and as marks beside the names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from inpaintbench.eval.results.cautions import between_items_tags, diagnostic_note, exposure_sentences, shown_to, size_words
from inpaintbench.eval.results.measured import UNEXPOSED
from inpaintbench.eval.results.quantity import (
    Quantity,
    exploratory,
    metric_leaf,
    metric_title,
    place_label,
    quantity_label,
    slice_label,
)
from inpaintbench.eval.results.slices import in_reading_order, split_step
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.effort import REPAINTED_DB, Effort
from inpaintbench.eval.values.permutation import BOLD
from inpaintbench.eval.values.statistics import LEVEL, Summary
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.tables import Tag
from inpaintbench.pages.words import DASH, count, interval, number, percent, span
from inpaintbench.types import Slice

# What methods took, and in what their runs differ from each other: time, memory, lossy results, other tasks.

EFFORT_LEAD = (
    "Time of an item with the start of its program, over its frames; compare it on one machine alone, and where as many workers "
    "ran. Memory is the most that the processes of an item held; on cards, what was taken beside what was taken before."
)


def effort_table(efforts: Mapping[str, Effort], methods: Iterable[str], *, references: Iterable[str] = ()) -> Table:
    """A row for each method whose time is known."""
    floors = set(references)
    rows = [
        Row(
            (
                Cell(method, method, method=method, reference=method in floors),
                Cell(time_words(effort), effort.seconds_a_frame),
                Cell(memory_words(effort.peak_mebibytes), effort.peak_mebibytes),
                Cell(memory_words(effort.card_mebibytes), effort.card_mebibytes),
                Cell(effort.items, effort.items),
                Cell(effort.machine),
            ),
            kind="floor" if method in floors else "",
            key=method,
        )
        for method in methods
        if (effort := efforts.get(method)) and effort.seconds_a_frame is not None
    ]
    heads = ("Seconds a frame", "Peak memory", "On cards", "Items")
    columns = [Column(head, numeric=True, sorts=True, falling=False) for head in heads]
    whole = (Column("Method", sorts=True, falling=False), *columns, Column("Machine"))
    return Table(whole, tuple(rows), label="Time and memory", kind="list")


def time_words(effort: Effort) -> str:
    """Seconds a frame with three digits that count; a dash where nobody knows."""
    seconds = effort.seconds_a_frame
    return DASH if seconds is None else number(seconds, 4 if seconds < 0.1 else 3 if seconds < 1 else 2 if seconds < 10 else 1)


def memory_words(mebibytes: int | None) -> str:
    """Memory in MiB, from 1 GiB on in GiB."""
    if mebibytes is None:
        return DASH
    return f"{mebibytes} MiB" if mebibytes < 1024 else f"{mebibytes / 1024:.1f} GiB"


def form_tags(effort: Effort | None) -> tuple[Tag, ...]:
    """Tags with the dB that a method's file form keeps, and with those of known pixels that it changed beyond that; none where it
    loses and changes nothing."""
    if effort is None:
        return ()
    found = []
    if effort.ceiling_low is not None and effort.ceiling_high is not None:
        found.append(Tag(f"lossy, at most {effort.ceiling_high:.1f} dB", "warn", f"{ceiling_words(effort)} on its scores"))
    if effort.known_low is not None and effort.known_low < (effort.ceiling_low or math.inf) - REPAINTED_DB:
        found.append(Tag(f"known pixels {effort.known_low:.1f} dB", "warn", f"it {known_words(effort)}"))
    return tuple(found)


def ceiling_words(effort: Effort) -> str:
    """What a lossy form keeps, half a sentence."""
    kept = span(f"{effort.ceiling_low:.1f}", f"{effort.ceiling_high:.1f}")
    return f"read from lossy files: inputs written alike keep {kept} dB, a ceiling"


def known_words(effort: Effort) -> str:
    """How far known pixels came back from the input, a sentence without its subject."""
    away = span(f"{effort.known_low:.1f}", f"{effort.known_high:.1f}")
    return f"gives known pixels {away} dB from the input; they are put back before anything but whole frames is scored"


def task_notes(efforts: Mapping[str, Effort], methods: Iterable[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Method and sentences, for each whose task differs from the published one or whose results lose something."""
    told = []
    for method in methods:
        effort = efforts.get(method)
        if effort is not None:
            lossy = () if effort.ceiling_low is None else (f"Its results are {ceiling_words(effort)} on its scores.",)
            known = () if effort.known_low is None else (f"It {known_words(effort)}.",)
            if sentences := (*lossy, *known, *effort.task):
                told.append((method, sentences))
    return told


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
    """Methods from best to worst, those without a place last; a column for all items and for each slice."""
    unexposed = [results.unexposed] if results.unexposed and not quantity.of_sets else []
    slices = [results.everything, *unexposed, *in_reading_order(results.slices)]
    scale = _scale(
        [results.summary(part, method, quantity) for part in slices for method in results.contenders or results.methods]
    )
    ranked = [method for method, _ in results.ranking(results.everything, quantity)]
    best = {part.name: results.best(part, quantity) for part in slices}
    leaf = metric_leaf(quantity.metric)
    standing = ""
    if exploratory(quantity, results.protocol):
        standing = f"Exploratory: the primary quantity is {quantity_label(Quantity(*results.protocol.primary))}."
    better = ("higher" if leaf.higher_is_better else "lower") + " is better" if quantity.ranked else "not ranked"
    return Table(
        columns=(Column("Method", sorts=True, falling=False), *(_column(results, part) for part in slices)),
        rows=tuple(
            Row(
                (
                    Cell(
                        method,
                        method,
                        method=method,
                        reference=method in results.references,
                        tags=(*form_tags(results.efforts.get(method)), *between_items_tags(results.efforts.get(method))),
                    ),
                    *(_cell(results, part, method, quantity, scale, best=method in best[part.name]) for part in slices),
                ),
                kind="floor" if method in results.aside else "",
                key=method,
            )
            for method in (*ranked, *results.aside)
        ),
        caption=f"{metric_title(quantity.metric)} {place_label(quantity.region)}{exploratory(quantity, results.protocol)}, "
        f"{better}. {_how(quantity)}; "
        "whiskers share one scale.",
        kind="scores",
        picks_columns=len(slices) > 2,
        copies=True,
        foot=" ".join(
            filter(
                None,
                (standing, BOLD if quantity.ranked else "", diagnostic_note(results, quantity), *exposure_sentences(results)),
            )
        ),
        data={"metric": quantity.metric, "region": quantity.region},
    )


def _column(results: Results, part: Slice) -> Column:
    level = split_step(part.name)[1]
    n, sources = len(part.item_ids), results.n_sources(part)
    title = f"{part.rule}; {count(n, 'item')} of {count(sources, 'source')}"
    if part.name == results.everything.name:
        return Column("All items", numeric=True, sorts=True, note=f"n {n}", title=title, key=part.name)
    label = "Not shown by others" if part.name == UNEXPOSED else slice_label(part.name)
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
    if shown := shown_to(results, part, method):
        yield f"{percent(shown)} shown"


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

    Reasons that differ by facts of their item alone stand together: ITEM takes the place of its name, and a range that of its
    number of frames, width or height, as in ``out of memory with 60–90 frames``.
    """
    items = {row["item_id"]: row for row in results.dataset.items}
    alike: dict[tuple[str, str, tuple[Quantity, ...]], list[str]] = {}
    for failure in results.failures():
        reason = _marked(failure.reason, items[failure.item_id], ("item_id",))
        alike.setdefault((failure.method, reason, failure.quantities), []).append(failure.item_id)
    grouped: dict[tuple[str, str, tuple[Quantity, ...]], list[str]] = {}
    for (method, reason, quantities), names in alike.items():
        # A number that items of another length give too is none of the item's.
        patterns = {_marked(reason, items[name], ("frames", "width", "height")) for name in names}
        pattern = patterns.pop() if len(patterns) == 1 else reason
        grouped.setdefault((method, pattern, quantities), []).extend(names)
    return [
        (
            method,
            _unmarked(pattern, [items[name] for name in names]),
            "all scores" if quantities == results.quantities else "; ".join(map(quantity_label, quantities)),
            len(names),
            names,
        )
        for (method, pattern, quantities), names in grouped.items()
    ]


def _marked(reason: str, item: Mapping[str, Any], facts: Sequence[str]) -> str:
    """``reason`` with a mark wherever it tells one of the item's facts; a size like 832x480 tells two."""
    marks = {str(item[fact]): f"\0{fact}\0" for fact in reversed(facts) if item.get(fact) is not None}
    either = "|".join(map(re.escape, marks))
    return re.sub(rf"(?<![^\Wx])(?<!\d\.)(?:{either})(?![^\Wx]|\.\d)", lambda there: marks[there[0]], reason) if marks else reason


def _unmarked(pattern: str, items: Sequence[Mapping[str, Any]]) -> str:
    def words(mark: re.Match[str]) -> str:
        values = [item[mark[1]] for item in items]
        if len(set(values)) == 1:
            return str(values[0])
        return "ITEM" if mark[1] == "item_id" else f"{min(values)}–{max(values)}"

    return re.sub("\0(\\w+)\0", words, pattern)
