"""The tables of the site: a method a row, a metric a column, for one slice and region; and mean places in all slices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from inpaintbench.eval.report.tables import form_tags, memory_words, time_words
from inpaintbench.eval.results.cautions import between_items_tags, exposure_sentences, shown_to, size_words
from inpaintbench.eval.results.quantity import (
    Quantity,
    exploratory,
    metric_label,
    metric_leaf,
    quantity_arrow,
    region_label,
    slice_label,
)
from inpaintbench.eval.results.slices import split_level
from inpaintbench.eval.values.permutation import BOLD, LEVEL
from inpaintbench.pages import Link, method_styles
from inpaintbench.pages import page as whole_page
from inpaintbench.pages import tables as shown
from inpaintbench.pages.tables import Column, Table, Tag
from inpaintbench.pages.words import DASH, count, interval, method_class, number, percent
from inpaintbench.types import Slice
from inpaintbench.wings.leaderboard.board import Board, Cell, Entry, Row

CLIPS = "clips.html"
# Slices that a matrix opens with: as many columns as a window of 1280 pixels has room for beside the list of pages.
MOST_SLICES = 5
# Metrics that a table of scores opens with, for the same reason.
MOST_METRICS = 4
# Field of a method card -> its heading, in the order of the page.
CARD_TITLES = {
    "summary": "Summary", "model": "Model", "preprocessing": "Preprocessing", "training_data": "Training data", "loss": "Loss",
    "parameters": "Parameters", "pretrained": "Pretrained from", "postprocessing": "Postprocessing", "compute": "Compute",
    "licence": "Licence", "citation": "Citation",
}  # fmt: skip


class Sister(NamedTuple):
    """A page in the list beside a page."""

    href: str
    text: str
    level: str | None = None
    items: int | None = None
    here: bool = False


def links(up: str, *, clips: bool) -> tuple[Link, ...]:
    """Links of the bar; ``up`` as for ``page``, ``clips`` where the site has such a page."""
    front = f"{up}index.html"
    return (
        Link(front, "Leaderboard"), *((Link(f"{up}{CLIPS}", "Clips"),) if clips else ()), Link(f"{front}#methods", "Methods"),
        Link(f"{front}#reading", "How to read"), Link(f"{front}#downloads", "Downloads"),
    )  # fmt: skip


def page(
    template: str, board: Board, *, title: str, home: str, up: str, side_title: str, side: Sequence[Sister], clips: bool,
    **parts: Any,
) -> bytes:  # fmt: skip
    """A whole page that needs nothing but itself; ``up`` leads from it to the folder of the site, ``home`` is its title."""
    return whole_page(
        f"wings/leaderboard/{template}",
        title=title,
        links=links(up, clips=clips),
        styles=method_styles([entry.label for entry in board.entries], board.results.aside),
        scripts=["wings/leaderboard/board.js"],
        board=board,
        results=board.results,
        home=home,
        up=up,
        side_title=side_title,
        side=side,
        **parts,
    ).encode()


def method_cell(entry: Entry, board: Board, *, up: str) -> shown.Cell:
    """A method's title as a link to its page, its label and tags."""
    return shown.Cell(
        entry.submission.card.title, method=entry.label, reference=entry.submission.header.reference,
        href=f"{up}methods/{entry.page}", tags=tags(entry, board), below=entry.label,
    )  # fmt: skip


def tags(entry: Entry, board: Board) -> tuple[Tag, ...]:
    """Tags that say whether numbers were measured again, on which of several versions, and how many items are missing."""
    found = [*form_tags(entry.effort), *between_items_tags(entry.effort)]
    if entry.verdict is not None:
        n = len(entry.verdict.items)
        told = f"{entry.verdict.values} numbers of {n} items were measured again and agree"
        found.append(
            Tag(f"verified on {entry.part_measured or n}", "good", told)
            if entry.verdict.agrees
            else Tag("not verified", "more", entry.verdict.reason or "nothing could be measured again")
        )
    elif not (entry.trusted or entry.submission.header.reference):
        found.append(Tag("not measured again", "more", "the numbers are the submitters' own, and hold no place"))
    if len(board.versions) > 1:
        found.append(Tag(entry.version.rpartition("@")[2].partition("+")[0], "more", f"scored on {entry.version}"))
    if entry.missing:
        found.append(Tag(f"{len(entry.missing)} of {len(board.results.sources)} missing", "warn", "items without a prediction"))
    return tuple(found)


def score_table(board: Board, part: Slice, region: str, *, up: str) -> Table:
    """Submissions from best to worst mean place; columns can be sorted."""
    rows, quantities = board.rows(part, region), board.quantities(region)
    counted, alike, firsts = board.counted(part, region), board.like_first(part, region), board.firsts(part, region)
    timed = any(row.entry.effort.seconds_a_frame is not None for row in rows)
    scales = {quantity: _Scale([row.cells[quantity] for row in rows if row.entry.competes]) for quantity in quantities}
    place = Column("Mean place", sorts=True, falling=False, sorted="ascending")
    name = "All items" if part.name == board.results.everything.name else part.name
    of = f"{count(len(part.item_ids), 'item')}, {count(len(rows), 'submission')}"
    picked: list[int] = []
    if len(quantities) + timed > MOST_METRICS:
        told = {one: sum(not row.cells[one].best for row in rows if row.entry.competes) for one in quantities}
        shown_first = sorted(quantities, key=lambda one: -told[one] if one in counted else 1)[:MOST_METRICS]
        picked = [1, *(at for at, one in enumerate(quantities, 2) if one in shown_first)]
        if len(quantities) > MOST_METRICS:
            of += f"; {MOST_METRICS} of {count(len(quantities), 'metric')} are shown, first those that count and tell most apart"
    return Table(
        (
            Column("Method"),
            place,
            *(_head(board, quantity, counted=quantity in counted) for quantity in quantities),
            *([Column("Seconds a frame", sorts=True, falling=False, note="as submitted")] if timed else []),
        ),
        tuple(_row(board, part, row, scales, up=up, like=row in alike, first=row in firsts, timed=timed) for row in rows),
        caption=f"{name}, {region_label(region)}: {of}",
        label=f"Scores, {region_label(region)}",
        kind="list standings",
        picks_columns=bool(picked),
        picked=tuple(picked),
        copies=True,
        foot=BOLD,
    )


def _head(board: Board, quantity: Quantity, *, counted: bool) -> Column:
    upwards = quantity.higher_is_better != (quantity.metric in board.results.protocol.ranked_against)
    marked = exploratory(quantity, board.results.protocol)
    words = (metric_leaf(quantity.metric).unit, "" if counted else "not counted", "exploratory" if marked else "")
    note = ", ".join(filter(None, words))
    return Column(quantity_arrow(quantity), sorts=True, falling=upwards, note=note)


def _row(
    board: Board, part: Slice, row: Row, scales: dict[Quantity, _Scale], *, up: str, like: bool, first: bool, timed: bool
) -> shown.Row:
    # What a place rests on where not all was measured again.
    rests = "" if row.place is None or not row.entry.part_measured else f"{row.entry.part_measured} items measured again"
    place = shown.Cell(
        DASH if row.place is None else row.place,
        value=None if row.mean is None else float(row.mean),
        kind="place",
        note="" if row.mean is None else row.mean_text,
        below="\n".join(filter(None, ("not told apart" if like else "", rests))),
        title="no metric tells this method from the first by more than chance" if like else row.reason or "",
        strong=first or like,
    )
    cells = (_cell(board, part, row, quantity, scales[quantity]) for quantity in row.cells)
    name = method_cell(row.entry, board, up=up)
    times = [_time(row)] if timed else []
    return shown.Row((name, place, *cells, *times), kind="" if row.entry.competes else "floor", key=row.entry.label)


def _time(row: Row) -> shown.Cell:
    """Seconds a frame in all items of the submitters' run, with the memory that it took."""
    effort = row.entry.effort
    memory = [
        f"{memory_words(held)} {where}".strip()
        for held, where in ((effort.peak_mebibytes, ""), (effort.card_mebibytes, "on cards")) if held is not None
    ]  # fmt: skip
    return shown.Cell(time_words(effort), value=effort.seconds_a_frame, below="\n".join(memory), title=effort.machine)


def _cell(board: Board, part: Slice, row: Row, quantity: Quantity, scale: _Scale) -> shown.Cell:
    cell = row.cells[quantity]
    summary, decimals = cell.summary, metric_leaf(quantity.metric).decimals
    level = math.inf if summary.mean is None and summary.n_infinite else summary.mean
    if level is None:
        return shown.Cell(DASH, title=summary.reason or "no value", kind="score")
    # The mean over the items that others show next to nothing of, and the share that the method may have known of all.
    over = board.results.over_unexposed(part, row.entry.label, quantity)
    shown_share = shown_to(board.results, part, row.entry.label)
    small = [
        interval(summary.interval_low, summary.interval_high, decimals),
        f"{cell.left_out} left out" if cell.left_out else "",
        f"{summary.n_infinite} ∞" if summary.n_infinite else "",
        (size_words(board.results.slice_score(part, row.entry.label, quantity)) or "") if quantity.of_sets else "",
        "" if over is None or over.mean is None else f"{number(over.mean, decimals)} not shown",
        f"{percent(shown_share)} shown" if shown_share else "",
    ]
    place = Tag(str(cell.place), "high" if cell.best else "more", f"place {cell.place}")
    return shown.Cell(
        number(level, decimals),
        value=level,
        strong=cell.best,
        tags=() if cell.place is None else (place,),
        below="\n".join(filter(None, small)),
        title=cell.reason or _test_words(cell),
        whisker=scale.whisker(cell),
        kind=f"score {method_class(row.entry.label)}",
    )


def _test_words(cell: Cell) -> str:
    test = cell.test
    if test is None:
        return ""
    if test.p_holm is None:
        return test.reason or ""
    if cell.least_p > LEVEL:
        return f"against the best: so few sources cannot give a p below {cell.least_p:.2g} after correction"
    return f"against the best: p = {test.p_holm:.2g} after correction, {test.n} items of {test.n_sources} sources"


class _Scale:
    """Scale from the least to the largest end of a column's intervals."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        ends = [
            end for cell in cells for end in (cell.summary.mean, cell.summary.interval_low, cell.summary.interval_high)
            if end is not None and math.isfinite(end)
        ]  # fmt: skip
        self._low, self._high = (min(ends), max(ends)) if ends else (0.0, 0.0)

    def whisker(self, cell: Cell) -> tuple[float, float | None, float | None] | None:
        """Mean and interval as shares of the scale; None where there is no room between its ends."""
        low, mean, high = cell.summary.interval_low, cell.summary.mean, cell.summary.interval_high
        if mean is None or not math.isfinite(mean) or self._high <= self._low:
            return None
        if low is None or high is None:
            return self._at(mean), None, None
        return self._at(mean), self._at(low), self._at(high)

    def _at(self, value: float) -> float:
        inside = min(max(value, self._low), self._high)  # a reference may lie beyond the others, who make the scale
        return 0.04 + 0.92 * (inside - self._low) / (self._high - self._low)  # with room for half a dot at both ends


def score_notes(board: Board, part: Slice, region: str) -> list[str]:
    """Sentences below ``score_table``."""
    rows = board.rows(part, region)
    found = []
    counted = board.counted(part, region)
    aside = [metric_label(quantity.metric) for quantity in board.quantities(region) if quantity not in counted]
    if aside:
        found.append(
            f"Not counted into mean places: {', '.join(aside)}, by which nothing is ranked, which damage can better, which was "
            "not measured again here, or which at most half of the submissions have."
        )
    for name in (metric_label(one.metric) for one in counted if one.metric in board.results.protocol.ranked_against):
        found.append(f"{name} is ranked the wrong way round, as this protocol's tables were printed.")
    found += exposure_sentences(board.results)
    cells = [cell for row in rows for cell in row.cells.values() if cell.test is not None]
    if cells and all(cell.least_p > LEVEL for cell in cells):
        reasons = list(dict.fromkeys(cell.test.reason for cell in cells if cell.test is not None and cell.test.reason))
        least = min(cell.least_p for cell in cells)
        few = f"so few sources cannot tell so many methods apart: after the correction the smallest possible p is {least:.2g}"
        found.append(f"No lead here can be told from chance: {'; '.join(reasons) or few}.")
    found += [f"{row.entry.label} has no mean place: {row.reason}." for row in rows if row.reason]
    if board.results.unmeasured:
        names = dict.fromkeys(metric_label(one.metric) for one in board.results.unmeasured if one.region == region)
        found += [f"No submission has a number by {', '.join(names)}."] if names else []
    return found


def slice_matrix(board: Board, addresses: dict[str, str], region: str) -> Table:
    """Mean places in every slice; the darker, the nearer to the best."""
    slices = board.slices
    columns = [{row.entry.label: row for row in board.rows(part, region)} for part in slices]
    heads = [
        Column(slice_label(part.name), numeric=True, note=split_level(part.name)[1] or "", href=addresses[part.name])
        if at
        else Column("All items", numeric=True, href=addresses[part.name])
        for at, part in enumerate(slices)
    ]
    rows, entries = [], len(board.contenders)
    for first in board.rows(slices[0], region):
        cells = [method_cell(first.entry, board, up="")]
        for column in columns:
            row = column[first.entry.label]
            shade = 1.0 if entries < 2 or row.mean is None else 1 - (float(row.mean) - 1) / (entries - 1)
            known = shown.Cell(row.mean_text, shade=shade)
            cells.append(shown.Cell(DASH, title=row.reason or "no mean place") if row.mean is None else known)
        rows.append(shown.Row(tuple(cells)))
    caption = f"Mean place in each slice, {region_label(region)}"
    picked = _telling(columns) if len(slices) > MOST_SLICES + 1 else []
    if picked:
        caption += f": all items, and the {len(picked) - 1} of {len(slices) - 1} slices in which places differ most from those"
    return Table(
        (Column("Method"), *heads), tuple(rows), caption=caption, kind="list matrix", picks_columns=bool(picked),
        picked=tuple(at + 1 for at in picked),
    )  # fmt: skip


def _telling(columns: Sequence[dict[str, Row]]) -> list[int]:
    """Places of all items and of the slices whose mean places differ most from theirs, in reading order."""

    def apart(at: int) -> float:
        pairs = [(row.mean, columns[0][label].mean) for label, row in columns[at].items()]
        return sum(float(abs(one - other)) for one, other in pairs if one is not None and other is not None)

    return [0, *sorted(sorted(range(1, len(columns)), key=apart, reverse=True)[:MOST_SLICES])]
