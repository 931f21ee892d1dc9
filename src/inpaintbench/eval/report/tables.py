"""The table method x slice for each metric and region, and what methods took.

A mean has its interval, n, and a whisker that makes the table a figure. Time, memory and what runs differ in stand in a table of
their own, and as marks beside the names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inpaintbench.eval.results.cautions import between_items_tags, diagnostic_note, exposure_sentences, shown_to, size_words
from inpaintbench.eval.results.measured import UNEXPOSED
from inpaintbench.eval.results.quantity import (
    Quantity,
    exploratory,
    metric_leaf,
    metric_title,
    place_label,
    quantity_label,
    region_label,
    slice_label,
)
from inpaintbench.eval.results.slices import in_reading_order, split_level, split_step
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.effort import REPAINTED_DB, Effort
from inpaintbench.eval.values.permutation import BOLD
from inpaintbench.eval.values.statistics import LEVEL, Summary
from inpaintbench.manifest import own_hash
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
    floors, rows = set(references), []
    for method in methods:
        effort = efforts.get(method)
        if effort is None or effort.seconds_a_frame is None:
            continue
        cells = (
            Cell(method, method, method=method, reference=method in floors),
            Cell(time_words(effort), effort.seconds_a_frame),
            Cell(memory_words(effort.peak_mebibytes), effort.peak_mebibytes),
            Cell(memory_words(effort.card_mebibytes), effort.card_mebibytes),
            Cell(effort.items, effort.items),
            Cell(effort.machine),
        )
        rows.append(Row(cells, kind="floor" if method in floors else "", key=method))
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


def method_row(
    results: Results, method: str, cells: Iterable[Cell], *, tags: tuple[Tag, ...] = (), sorts: bool = False
) -> Row:  # fmt: skip
    """The row of a method, its name before the cells, of which a table ``sorts``; those that hold no place look apart."""
    value = method if sorts else None
    head = Cell(method, value, method=method, reference=method in results.references, tags=tags)
    return Row((head, *cells), kind="floor" if method in results.aside else "", key=method)


def slice_cell(part: Slice) -> Cell:
    """The name of a slice with its level."""
    level = split_level(part.name)[1]
    return Cell(slice_label(part.name), tags=(level,) if level else ())


def score_table(results: Results, quantity: Quantity) -> Table:
    """Methods from best to worst, those without a place last; a column for all items and for each slice."""
    unexposed = [results.unexposed] if results.unexposed and not quantity.of_sets else []
    slices = [results.everything, *unexposed, *in_reading_order(results.slices)]
    leaf, efforts = metric_leaf(quantity.metric), results.efforts
    drawn = [results.summary(part, method, quantity) for part in slices for method in results.contenders or results.methods]
    ends = (end for summary in drawn for end in (summary.mean, summary.interval_low, summary.interval_high))
    finite = [end for end in ends if end is not None and math.isfinite(end)]
    scale = (min(finite), max(finite)) if finite else (0.0, 0.0)
    best = {part.name: results.best(part, quantity) for part in slices}
    rows = []
    for method in (*(method for method, _ in results.ranking(results.everything, quantity)), *results.aside):
        tags = (*form_tags(efforts.get(method)), *between_items_tags(efforts.get(method)))
        cells = [_cell(results, part, method, quantity, scale, best=method in best[part.name]) for part in slices]
        rows.append(method_row(results, method, cells, tags=tags, sorts=True))
    better = ("higher" if leaf.higher_is_better else "lower") + " is better" if quantity.ranked else "not ranked"
    how = f"Mean over items with its {LEVEL:.0%} interval, where there are sources enough for one"
    if quantity.of_sets:
        how = (
            "One number for all items of a slice together, with an interval by jackknife over sources where there are enough; "
            "N vectors in the smaller set, each of length d"
        )
    foot = [BOLD if quantity.ranked else "", diagnostic_note(results, quantity), *exposure_sentences(results)]
    if mark := exploratory(quantity, results.protocol):
        foot.insert(0, f"Exploratory: the primary quantity is {quantity_label(Quantity(*results.protocol.primary))}.")
    return Table(
        (Column("Method", sorts=True, falling=False), *(_column(results, part) for part in slices)),
        tuple(rows),
        caption=f"{metric_title(quantity.metric)} {place_label(quantity.region)}{mark}, {better}. {how}; "
        "whiskers share one scale.",
        kind="scores",
        picks_columns=len(slices) > 2,
        copies=True,
        foot=" ".join(filter(None, foot)),
        data=quantity._asdict(),
    )


def metrics_table(results: Results, quantities: Sequence[Quantity]) -> Table:
    """Methods from best to worst by the first quantity, those without a place last; a column for each quantity, over all items.

    Its cells are those of ``score_table``.
    """
    whole, rows = results.everything, []
    best = {quantity: results.best(whole, quantity) for quantity in quantities}
    for method in (*(method for method, _ in results.ranking(whole, quantities[0])), *results.aside):
        cells = [_cell(results, whole, method, one, (0.0, 0.0), best=method in best[one]) for one in quantities]
        rows.append(method_row(results, method, cells, sorts=True))
    columns = [
        Column(metric_title(one.metric), numeric=True, sorts=True, group=region_label(one.region), key=one.key)
        for one in quantities
    ]
    primary = Quantity(*results.protocol.primary)
    marked = f"All but {quantity_label(primary)}, the primary quantity, are exploratory."
    foot = [marked, BOLD, *(diagnostic_note(results, one) for one in quantities), *exposure_sentences(results)]
    items = f"{count(len(whole.item_ids), 'item')} of {count(results.n_sources(whole), 'source')}"
    return Table(
        (Column("Method", sorts=True, falling=False), *columns),
        tuple(rows),
        caption=f"Means over {items} with their {LEVEL:.0%} intervals, where there are sources enough for one.",
        kind="scores",
        copies=True,
        foot=" ".join(filter(None, foot)),
    )


def table_comment(results: Results, drawn: Table) -> str:
    """Lines to stand before a table that is taken elsewhere: what it shows, of which dataset, by which protocol."""
    return (
        f"{drawn.caption}\ndataset {results.dataset.name} {results.dataset.version}, manifest {own_hash(results.dataset)}\n"
        f"protocol {results.protocol.name}, fingerprint {results.fingerprint}"
    )


def _column(results: Results, part: Slice) -> Column:
    """The head of a slice; slices of one attribute share a head above theirs."""
    n, sources, level = len(part.item_ids), results.n_sources(part), split_step(part.name)[1]
    label = "Not shown by others" if part.name == UNEXPOSED else slice_label(part.name)
    name, group = (level, label) if level else (label, "")
    if part.name == results.everything.name:
        name, group = "All items", ""
    title = f"{part.rule}; {count(n, 'item')} of {count(sources, 'source')}"
    return Column(name, numeric=True, sorts=True, group=group, note=f"n {n}", title=title, key=part.name)


def _cell(
    results: Results, part: Slice, method: str, quantity: Quantity, scale: tuple[float, float], *, best: bool
) -> Cell:  # fmt: skip
    """A mean with its interval beside it, what it leaves out below, and its place on the scale of all whiskers."""
    summary, level = results.summary(part, method, quantity), results.level(part, method, quantity)
    decimals, error = metric_leaf(quantity.metric).decimals, summary.standard_error
    small_print = [size_words(results.slice_score(part, method, quantity))]
    if summary.n != len(part.item_ids):
        small_print.append(counts(summary))
    if shown := shown_to(results, part, method):
        small_print.append(f"{percent(shown)} shown")
    title = (
        f"{method} on {part.name}: {'value' if quantity.of_sets else 'mean'} {number(summary.mean, decimals)}, {counts(summary)}"
    )
    title += f" of {count(summary.n_clusters, 'source')}" if summary.n else ""
    title += "" if error is None else f", standard error {number(error, decimals)}"
    title += f"; {summary.reason}" if summary.reason else ""
    whisker = None
    if summary.mean is not None and math.isfinite(summary.mean):
        low, high = summary.interval_low, summary.interval_high
        ends = (None, None) if low is None or high is None else (_share(low, scale), _share(high, scale))
        whisker = (_share(summary.mean, scale), *ends)
    note = interval(summary.interval_low, summary.interval_high, decimals)
    return Cell(
        number(level, decimals),
        level,
        note=note or ("" if error is None else f"± {number(error, decimals)}"),
        below=" · ".join(filter(None, small_print)),
        title=title,
        strong=best,
        whisker=whisker,
        method_colour=method,
    )


def _share(value: float, scale: tuple[float, float]) -> float:
    """Place of ``value`` on a scale, 0..1, the ends a little inside, where a dot is seen whole."""
    low, high = scale
    inside = min(max(value, low), high)  # a reference may lie beyond the methods that make the scale
    return 0.5 if high <= low else 0.04 + 0.92 * (inside - low) / (high - low)


def counts(summary: Summary) -> str:
    """Counts of the values in a mean and of those left out: ``n 10 · 1 ∞ · 2 missing``."""
    parts = [f"n {summary.n}"]
    parts += [f"{summary.n_infinite} ∞"] if summary.n_infinite else []
    parts += [f"{summary.n_missing} missing"] if summary.n_missing else []
    return " · ".join(parts)


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
    rows = []
    for (method, pattern, quantities), names in grouped.items():

        def words(mark: re.Match[str], of: list[str] = names) -> str:
            values = [items[name][mark[1]] for name in of]
            if len(set(values)) == 1:
                return str(values[0])
            return "ITEM" if mark[1] == "item_id" else f"{min(values)}–{max(values)}"

        missing = "all scores" if quantities == results.quantities else "; ".join(map(quantity_label, quantities))
        rows.append((method, re.sub("\0(\\w+)\0", words, pattern), missing, len(names), names))
    return rows


def _marked(reason: str, item: Mapping[str, Any], facts: Sequence[str]) -> str:
    """``reason`` with a mark wherever it tells one of the item's facts; a size like 832x480 tells two."""
    marks = {str(item[fact]): f"\0{fact}\0" for fact in reversed(facts) if item.get(fact) is not None}
    either = "|".join(map(re.escape, marks))
    return re.sub(rf"(?<![^\Wx])(?<!\d\.)(?:{either})(?![^\Wx]|\.\d)", lambda there: marks[there[0]], reason) if marks else reason
