"""The tables of the site: a method a row, a metric a column, for one slice and region; and mean places in all slices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from inpaintbench.eval.leaderboard.board import LEVEL, Board, Cell, Row
from inpaintbench.eval.leaderboard.frame import badges, colour, hidden, method
from inpaintbench.eval.report.labels import metric_label, quantity_arrow, region_label
from inpaintbench.eval.report.markup import count, number, slice_name
from inpaintbench.eval.report.quantity import Quantity, metric_leaf
from inpaintbench.eval.report.set_notes import size_words
from inpaintbench.types import Slice

_TINTS = 5


def score_table(board: Board, part: Slice, region: str, *, up: str) -> str:
    """Submissions from best to worst mean place; columns can be sorted."""
    rows, quantities = board.rows(part, region), board.quantities(region)
    counted = board.counted(part, region)
    heads = "".join(_head(board, quantity, counted=quantity in counted) for quantity in quantities)
    scales = {quantity: _Scale([row.cells[quantity] for row in rows if row.entry.competes]) for quantity in quantities}
    numbers = {entry.label: index for index, entry in enumerate(board.entries)}
    alike = board.like_first(part, region)
    body = "\n".join(_row(board, part, row, scales, numbers[row.entry.label], up=up, like=row in alike) for row in rows)
    words = (
        f"{_slice_words(board, part)}, {region_label(region)}: {count(len(part.item_ids), 'item')}, "
        f"{count(len(rows), 'submission')}"
    )
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in _notes(board, part, region, rows))
    return f"""<div class="panel" data-region="{escape(region)}">
<div class="scroll" tabindex="0" role="region" aria-label="Scores, {escape(region_label(region))}"><table class="scores">
<caption>{escape(words)}</caption>
<thead><tr>{_sortable("place", "Mean place", falling=False, state="ascending")}<th scope="col">Method</th>{heads}</tr></thead>
<tbody>
{body}
</tbody></table></div>
{notes}</div>"""


def _slice_words(board: Board, part: Slice) -> str:
    return "All items" if part.name == board.results.everything.name else part.name


def _head(board: Board, quantity: Quantity, *, counted: bool) -> str:
    leaf = metric_leaf(quantity.metric)
    upwards = quantity.higher_is_better != (quantity.metric in board.results.protocol.ranked_against)
    unit = f'<span class="unit">{escape(leaf.unit)}</span>' if leaf.unit else ""
    aside = "" if counted else '<span class="unit">not counted</span>'
    return _sortable(quantity.metric, quantity_arrow(quantity), falling=upwards, after=unit + aside)


def _sortable(key: str, words: str, *, falling: bool, state: str = "none", after: str = "") -> str:
    first = "descending" if falling else "ascending"
    return (
        f'<th scope="col" class="n" aria-sort="{state}" data-key="{escape(key)}" data-first="{first}">'
        f'<button type="button" class="sort">{escape(words)}<span class="mark" aria-hidden="true"></span></button>{after}</th>'
    )


def _row(board: Board, part: Slice, row: Row, scales: dict[Quantity, _Scale], index: int, *, up: str, like: bool) -> str:
    place = "–" if row.place is None else str(row.place)
    mean = "" if row.mean is None else f' data-value="{float(row.mean)!r}"'
    reason = f' title="{escape(row.reason)}"' if row.reason else ""
    told = "no metric tells this method from the first by more than chance"
    tie = f'<span class="small"><span class="tie" title="{told}">not told apart</span></span>' if like else ""
    cells = "".join(_cell(board, part, row, quantity, scales[quantity]) for quantity in row.cells)
    return (
        f'<tr class="{colour(index)}{" first" if row.place == 1 else ""}"><td class="standing"{mean}{reason}><b>{place}</b>'
        f'<span class="mean-place">{escape(row.mean_text)}</span>{tie}</td><th scope="row">{method(row.entry, index, up=up)}'
        f'<span class="badges">{badges(row.entry, items=len(board.results.sources))}</span></th>{cells}</tr>'
    )


def _cell(board: Board, part: Slice, row: Row, quantity: Quantity, scale: _Scale) -> str:
    cell = row.cells[quantity]
    summary, decimals = cell.summary, metric_leaf(quantity.metric).decimals
    level = math.inf if summary.mean is None and summary.n_infinite else summary.mean
    if level is None:
        why = escape(summary.reason or "no value")
        return f'<td class="score none" title="{why}"><span class="absent">–</span>{hidden(f"none: {summary.reason}")}</td>'
    tied = " like" if cell.like_best else ""
    place = "" if cell.place is None else f'<span class="place">{hidden("place ")}{cell.place}</span>'
    interval = ""
    if summary.interval_low is not None and summary.interval_high is not None:
        low, high = (number(end, decimals=decimals) for end in (summary.interval_low, summary.interval_high))
        interval = f'<span class="interval">{hidden("interval ")}{low} – {high}</span>'
    return (
        f'<td class="score{" best" if cell.best else tied}" data-value="{_plain(level)}"{_title(cell)}>'
        f'<span class="top"><span class="value">{number(level, decimals=decimals)}</span>{place}</span>{interval}'
        f"{scale.whisker(cell)}{_small_print(board, part, row, quantity)}</td>"
    )


def _plain(value: float) -> str:
    return "inf" if math.isinf(value) else repr(value)


def _title(cell: Cell) -> str:
    test = cell.test
    if test is None:
        return ""
    if test.p_holm is None:
        words = test.reason or ""
    elif cell.least_p > LEVEL:
        words = f"against the best: so few sources cannot give a p below {cell.least_p:.2g} after correction"
    else:
        words = f"against the best: p = {test.p_holm:.2g} after correction, {test.n} items of {test.n_sources} sources"
    return f' title="{escape(words)}"'


def _small_print(board: Board, part: Slice, row: Row, quantity: Quantity) -> str:
    cell = row.cells[quantity]
    parts = ['<span class="tie">≈ best</span>'] if cell.like_best else []
    if cell.left_out:
        parts.append(f'<span class="counts">{cell.left_out} left out</span>')
    if cell.summary.n_infinite:
        parts.append(f'<span class="counts">{cell.summary.n_infinite} ∞</span>')
    if quantity.of_sets:
        words = size_words(board.results.slice_score(part, row.entry.label, quantity))
        parts += [f'<span class="sizes">{escape(words)}</span>'] if words else []
    return f'<span class="small">{"".join(parts)}</span>' if parts else ""


class _Scale:
    """From the least to the largest end of a column's intervals."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        ends = [
            end for cell in cells for end in (cell.summary.mean, cell.summary.interval_low, cell.summary.interval_high)
            if end is not None and math.isfinite(end)
        ]  # fmt: skip
        self._low, self._high = (min(ends), max(ends)) if ends else (0.0, 0.0)

    def whisker(self, cell: Cell) -> str:
        """Interval and mean as a small drawing; nothing where there is no room between the ends."""
        low, mean, high = cell.summary.interval_low, cell.summary.mean, cell.summary.interval_high
        if mean is None or not math.isfinite(mean) or self._high <= self._low:
            return ""
        line = "" if low is None or high is None else f'<line x1="{self._at(low)}" x2="{self._at(high)}" y1="5" y2="5"/>'
        axis = '<line class="axis" x1="0" x2="100%" y1="5" y2="5"/>'
        return f'<svg class="whisker" aria-hidden="true">{axis}{line}<circle cx="{self._at(mean)}" cy="5" r="3.5"/></svg>'

    def _at(self, value: float) -> str:
        inside = min(max(value, self._low), self._high)  # a reference may lie beyond the others, who make the scale
        return f"{4 + 92 * (inside - self._low) / (self._high - self._low):.1f}%"


def _notes(board: Board, part: Slice, region: str, rows: Sequence[Row]) -> list[str]:
    found = []
    counted = board.counted(part, region)
    aside = [metric_label(one.metric) for one in board.quantities(region) if one not in counted]
    if aside:
        found.append(
            f"Not counted into mean places: {', '.join(aside)}, by which nothing is ranked, or which at most half of the "
            "submissions have."
        )
    for name in (metric_label(one.metric) for one in counted if one.metric in board.results.protocol.ranked_against):
        found.append(f"{name} is ranked the wrong way round, as this protocol's tables were printed.")
    found += _untested(rows)
    found += [f"{row.entry.label} has no mean place: {row.reason}." for row in rows if row.reason]
    if board.results.unmeasured:
        names = dict.fromkeys(metric_label(one.metric) for one in board.results.unmeasured if one.region == region)
        found += [f"No submission has a number by {', '.join(names)}."] if names else []
    return found


def _untested(rows: Sequence[Row]) -> list[str]:
    """What keeps leads from being told from chance where that holds for all of them."""
    cells = [cell for row in rows for cell in row.cells.values() if cell.test is not None]
    if not cells or any(cell.least_p <= LEVEL for cell in cells):
        return []
    reasons = list(dict.fromkeys(cell.test.reason for cell in cells if cell.test is not None and cell.test.reason))
    least = min(cell.least_p for cell in cells)
    few = f"so few sources cannot tell so many methods apart: after the correction the smallest possible p is {least:.2g}"
    return [f"No lead here can be told from chance: {'; '.join(reasons) or few}."]


def slice_matrix(board: Board, addresses: dict[str, str], region: str) -> str:
    """Mean places in every slice; the darker, the nearer to the best."""
    slices = board.slices
    columns = {part.name: {row.entry.label: row for row in board.rows(part, region)} for part in slices}
    numbers = {entry.label: index for index, entry in enumerate(board.entries)}
    heads = "".join(
        f'<th scope="col" class="n"><a href="{addresses[part.name]}">'
        f"{'All items' if index == 0 else slice_name(part.name)}</a></th>"
        for index, part in enumerate(slices)
    )
    body = "\n".join(
        f'<tr><th scope="row">{method(row.entry, numbers[row.entry.label], up="")}</th>'
        + "".join(_mean_cell(columns[part.name][row.entry.label], len(board.contenders)) for part in slices)
        + "</tr>"
        for row in board.rows(slices[0], region)
    )
    return f"""<div class="panel" data-region="{escape(region)}">
<div class="scroll" tabindex="0" role="region" aria-label="Mean places, {escape(region_label(region))}"><table class="matrix">
<caption>Mean place in each slice, {escape(region_label(region))}</caption>
<thead><tr><th scope="col">Method</th>{heads}</tr></thead><tbody>
{body}
</tbody></table></div></div>"""


def _mean_cell(row: Row, entries: int) -> str:
    if row.mean is None:
        return f'<td class="t0" title="{escape(row.reason or "no mean place")}">–</td>'
    share = 1.0 if entries < 2 else 1 - (float(row.mean) - 1) / (entries - 1)
    return f'<td class="t{1 + round(share * (_TINTS - 1))}">{escape(row.mean_text)}</td>'
