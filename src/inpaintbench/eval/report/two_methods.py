"""Two methods side by side: for each metric and slice how far apart they are, how sure that is, and who wins which items."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from inpaintbench.claims import ENOUGH_SOURCES
from inpaintbench.eval.comparing.looked_at import effects_of
from inpaintbench.eval.diagnosis.diagnose import diagnose
from inpaintbench.eval.report.effects import quantity_words, versus_table
from inpaintbench.eval.results.cautions import exposure_sentences
from inpaintbench.eval.results.quantity import Quantity, metric_leaf, quantity_label, standing
from inpaintbench.eval.results.tables import SEED, Results
from inpaintbench.eval.scoring.parts import ALL_ITEMS
from inpaintbench.eval.scoring.run_folder import NOT_RUN
from inpaintbench.eval.values.permutation import LEVEL, paired, settled
from inpaintbench.eval.values.statistics import summarise
from inpaintbench.pages import Cell
from inpaintbench.types import Slice

Column = list[float | None]


@dataclass(frozen=True)
class Difference:
    """Two methods by one metric in one slice."""

    metric: str
    region: str
    slice: str
    one: float | None
    """Mean of the first method over the items compared; for a metric of sets its number for the slice."""
    other: float | None
    difference: float | None
    """``one`` less ``other``; None without a finite one."""
    interval_low: float | None
    """Interval that holds in 95 % of studies for all rows together; None where there are too few sources."""
    interval_high: float | None
    p: float | None
    """Two-sided, paired permutation over sources."""
    p_corrected: float | None
    """Corrected for all rows: by the primary quantity for its own, by others for all (see ``looked_at``)."""
    n: int
    """Items that both have a finite value for."""
    n_sources: int
    wins: int
    """Items on which the first is better; these and the two below count infinite values too."""
    ties: int
    losses: int
    reason: str | None
    """Reason why there is no difference or no p, one sentence."""
    n_infinite: int = 0
    """Items that both have a value for and that the means, the difference and p leave out, since one of them is infinite."""
    standing: str = ""
    """Of the quantity under the protocol: ``primary``, or ``exploratory``."""
    reference: bool = False
    """One of both is a reference, which competes with nobody: neither is called better."""
    contradicted: bool = False
    """Damage can better the metric, and who is better by it is worse by the primary quantity."""

    @property
    def better(self) -> int:
        """1 when the first is better by more than chance, -1 when the other is; 0 when neither, where nothing was tested, beside
        a reference, and by a diagnostic metric that the primary quantity contradicts."""
        if self.reference or self.contradicted or self.p_corrected is None or self.p_corrected >= LEVEL:
            return 0
        sign = (self.difference or 0) * (1 if metric_leaf(self.metric).higher_is_better else -1)
        return (sign > 0) - (sign < 0)


def compare(
    results: Results, one: str, other: str, *, quantities: Sequence[Quantity], slices: Sequence[Slice]
) -> list[Difference]:
    """A row for each quantity and slice, in their order; quantities that rank nobody are left out.

    Items that either method was not run on are left out, whatever the protocol scores them.

    Args:
        results: scores that hold both methods.
        one: its label.
        other: the same.
        quantities: metrics in regions.
        slices: of the dataset.
    """
    reasons = {(score.method, score.item_id, score.metric, score.region): score.reason for score in results.scores}
    found: list[Difference] = []
    for quantity in quantities:
        if quantity.ranked and quantity.of_sets:
            found += [_of_sets(results, one, other, quantity, part) for part in slices]
        elif quantity.ranked:
            run = {
                method: {
                    item_id: results.value(method, item_id, quantity)
                    for item_id in results.sources
                    if reasons.get((method, item_id, *quantity)) != NOT_RUN
                }
                for method in (one, other)
            }
            found += [_of_items(results, run[one], run[other], quantity, part) for part in slices]
    found = _corrected(found, results, one, other, slices)
    parts = {part.name: part for part in slices}
    return [_judged(results, row, parts[row.slice], (one, other)) for row in found]


def _judged(results: Results, row: Difference, part: Slice, names: tuple[str, str]) -> Difference:
    """The row with whether the primary quantity contradicts it."""
    quantity = Quantity(row.metric, row.region)
    better = names[0] if row.better > 0 else names[1]
    if not row.better or not results.gated(quantity) or not (reason := results.contradicted(part, better, quantity)):
        return row
    return replace(row, contradicted=True, reason=reason)


def _of_items(
    results: Results, one: dict[str, float | None], other: dict[str, float | None], quantity: Quantity, part: Slice
) -> Difference:
    left, right = ([values.get(item_id) for item_id in part.item_ids] for values in (one, other))
    sources = [results.sources[item_id] for item_id in part.item_ids]
    rule = results.infinite_rule(quantity.metric)
    weights = _weights(results, quantity, part)
    [test] = paired(
        {"one": left, "other": right}, sources, higher_is_better=quantity.higher_is_better, seed=SEED, infinite=rule,
        weights={"one": weights, "other": weights},
    )  # fmt: skip
    columns = settled(left, rule), settled(right, rule)
    both = [_finite(pair) for pair in zip(*columns, strict=True)]
    differences = summarise([pair and pair[0] - pair[1] for pair in both], clusters=sources, weights=weights)
    means = [summarise([pair and pair[place] for pair in both], clusters=sources, weights=weights).mean for place in (0, 1)]
    wins, ties, losses = _wins(left, right, higher_is_better=quantity.higher_is_better)
    return Difference(
        metric=quantity.metric, region=quantity.region, slice=part.name, one=means[0], other=means[1],
        difference=differences.mean, interval_low=None, interval_high=None,
        p=test.p, p_corrected=None, n=test.n, n_sources=test.n_sources, wins=wins, ties=ties, losses=losses,
        reason=test.reason, n_infinite=test.n_infinite,
    )  # fmt: skip


def _weights(results: Results, quantity: Quantity, part: Slice) -> list[float]:
    """Weights of items: the mean of what they count for in the means of the methods, 1 where one frame is as good as all."""
    if results.protocol.averaging == "frames_then_items":
        return [1.0] * len(part.item_ids)
    counted: dict[str, list[int]] = {}
    for score in results.scores:
        if (score.metric, score.region) == quantity and score.value is not None and score.reason != NOT_RUN:
            counted.setdefault(score.item_id, []).append(results.protocol.weight(quantity.metric, score.details))
    return [math.fsum(found) / len(found) if (found := counted.get(item_id)) else 1.0 for item_id in part.item_ids]


def _finite(pair: tuple[float | None, float | None]) -> tuple[float, float] | None:
    one, other = pair
    if one is None or other is None or not (math.isfinite(one) and math.isfinite(other)):
        return None
    return one, other


def _wins(one: Column, other: Column, *, higher_is_better: bool) -> tuple[int, int, int]:
    """Items on which the first is better, equal, worse."""
    pairs = [(left, right) for left, right in zip(one, other, strict=True) if left is not None and right is not None]
    higher, ties = sum(left > right for left, right in pairs), sum(left == right for left, right in pairs)
    lower = len(pairs) - higher - ties
    return (higher, ties, lower) if higher_is_better else (lower, ties, higher)


def _of_sets(results: Results, one: str, other: str, quantity: Quantity, part: Slice) -> Difference:
    sets = [results.slice_score(part, method, quantity) for method in (one, other)]
    values = [None if score is None else score.value for score in sets]
    items = [results.measured(part, method, quantity) for method in (one, other)]
    alike = items[0] == items[1]
    pair = _finite((values[0], values[1])) if alike else None
    counts = [int(score.details.get("items", 0)) for score in sets if score is not None]
    reasons = ["its sets were not compared" if score is None else score.reason or "" for score in sets]
    reasons += [] if alike else [f"the sets are of different items ({len(items[0])} and {len(items[1])})"]
    reason = "; ".join(dict.fromkeys(filter(None, reasons)))
    return Difference(
        metric=quantity.metric, region=quantity.region, slice=part.name, one=values[0], other=values[1],
        difference=None if pair is None else pair[0] - pair[1], interval_low=None, interval_high=None, p=None, p_corrected=None,
        n=min(counts, default=0), n_sources=len({results.sources[item_id] for item_id in items[0] & items[1]}), wins=0, ties=0,
        losses=0, reason=reason or "one number for many items cannot be tested item by item",
    )  # fmt: skip


def _corrected(
    rows: Sequence[Difference], results: Results, one: str, other: str, slices: Sequence[Slice]
) -> list[Difference]:  # fmt: skip
    """With the standing of their quantities, and interval and p among all rows."""
    rows = [replace(row, standing=standing(Quantity(row.metric, row.region), results.protocol)) for row in rows]
    run = [score for score in results.scores if score.reason != NOT_RUN]
    if {score.method for score in run} < {one, other}:
        return rows
    # What a protocol scores of items that were never run is no difference between methods.
    compared = Results(results.dataset, run, protocol=results.protocol)
    asked = list(dict.fromkeys(Quantity(row.metric, row.region) for row in rows))
    quantities = [quantity for quantity in asked if quantity in compared.quantities]
    effects = effects_of(compared, within=slices, pairs=[(one, other)], quantities=quantities)
    by_row = {(*effect.quantity, effect.within): effect for effect in effects}
    found = ((row, by_row.get((row.metric, row.region, row.slice))) for row in rows)
    return [
        row if lead is None or row.p is None
        else replace(row, interval_low=lead.low, interval_high=lead.high, p_corrected=lead.p)
        for row, lead in found
    ]  # fmt: skip


# Tables

HEADS = (
    "metric",
    "region",
    "slice",
    "items",
    "A",
    "B",
    "A - B",
    "95 % interval",
    "p",
    "p (corrected)",
    "wins-ties-losses",
    "note",
)


def text_rows(rows: Sequence[Difference]) -> tuple[list[tuple[str, ...]], list[str]]:
    """Cells for people, in the order of ``HEADS``, and notes below; the better method's mean bears a star.

    A note that several rows have stands below once, as ``(1) ...``, and its number in the rows.
    """
    texts = [_texts(row) for row in rows]
    times = Counter(note for *_, note in texts)
    shared = {note: f"({number})" for number, note in enumerate((note for note in times if note and times[note] > 1), 1)}
    return [(*cells, shared.get(note, note)) for *cells, note in texts], [f"{mark} {note}" for note, mark in shared.items()]


def _texts(row: Difference) -> tuple[str, ...]:
    decimals = metric_leaf(row.metric).decimals
    one, other, difference, low, high = (
        "–" if value is None else f"{value:.{decimals}f}"
        for value in (row.one, row.other, row.difference, row.interval_low, row.interval_high)
    )
    one, other = one + "*" * (row.better > 0), other + "*" * (row.better < 0)
    interval = f"{low} to {high}" if row.interval_low is not None else "–"
    wins = f"{row.wins}-{row.ties}-{row.losses}" if row.wins + row.ties + row.losses else "–"
    items = f"{row.n} ({row.n_sources} source{'' if row.n_sources == 1 else 's'})"
    names = (f"{row.metric}, {row.standing}" if row.standing == "exploratory" else row.metric, row.region, row.slice)
    left_out = f"{row.n_infinite} with an infinite value left out" if row.n_infinite else None
    note = "; ".join(filter(None, (left_out, row.reason)))
    return (*names, items, one, other, difference, interval, _p(row.p), _p(row.p_corrected), wins, note)


def _p(p: float | None) -> str:
    return "–" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def telling(rows: Sequence[Difference], *, most: int) -> list[Difference]:
    """At most ``most`` rows in their order: those over all items first, then by how little chance explains them.

    Where fewer rows are over all items than fit, the rest is filled by the corrected p, and among equals by the share of items
    that one method wins.
    """

    def weight(row: Difference) -> tuple[bool, float, float]:
        items = row.wins + row.ties + row.losses
        return (
            row.slice != ALL_ITEMS,
            1.0 if row.p_corrected is None else row.p_corrected,
            -abs(row.wins - row.losses) / max(items, 1),
        )

    chosen = {id(row) for row in sorted(rows, key=weight)[:most]}
    return [row for row in rows if id(row) in chosen]


def csv_bytes(rows: Sequence[Difference], *, one: str, other: str) -> bytes:
    """All numbers in full; empty where there is none."""
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    fields = [name for name in Difference.__dataclass_fields__ if name not in ("metric", "region", "slice")]
    writer.writerow(["a", "b", "metric", "region", "slice", *fields, "better"])
    names = {1: one, -1: other, 0: ""}
    for row in rows:
        cells = ["" if (value := getattr(row, name)) is None else value for name in fields]
        writer.writerow([one, other, row.metric, row.region, row.slice, *cells, names[row.better]])
    return sink.getvalue().encode()


def markdown(
    rows: Sequence[Difference], *, one: str, other: str, results: Results, pictures: Mapping[Quantity, str] | None = None
) -> str:
    """The table with what its numbers are, and below what each attribute does to both, where it was looked at.

    Args:
        rows: the table.
        one: label of A.
        other: of B.
        results: scores of both.
        pictures: quantity -> file beside the page that draws its effects.
    """
    texts, notes = text_rows(rows)
    lines = [
        f"# {_plain(one)} and {_plain(other)}",
        "",
        f"A is {_plain(one)}, B is {_plain(other)}. Benchmark {_plain(results.dataset.name)}, protocol {results.protocol.name} "
        f"({results.fingerprint}).",
        "",
        "Means are over the items that both have a finite value for. p is of a paired permutation test over sources, for one "
        "row alone. p (corrected) and the intervals hold for all rows together: by the protocol’s primary quantity for its own "
        "rows, by the exploratory ones for all. A star marks the better mean where "
        f"that is below {LEVEL:g}, and by a metric that damage can better only who is not worse by the primary quantity. "
        f"With fewer than {ENOUGH_SOURCES} sources there is no interval, test or star. "
        f"The slice “{ALL_ITEMS}” takes every item once.",
        "",
        *(line for sentence in exposure_sentences(results) for line in (_plain(sentence), "")),
        f"| {' | '.join(HEADS)} |",
        f"|{'---|' * len(HEADS)}",
        *(f"| {' | '.join(map(_plain, row))} |" for row in texts),
        *([""] if notes else []),
        *(f"{_plain(note)}  " for note in notes),
    ]
    for quantity, file in (pictures or {}).items():
        table = versus_table(results, diagnose(results), quantity, one, other)
        lines += [
            "",
            f"## {quantity_label(quantity)}: effect of each attribute",
            "",
            f"![{_plain(quantity_words(quantity))}]({file})",
            "",
        ]
        lines += [f"| {' | '.join(_plain(column.label) for column in table.columns)} |", f"|{'---|' * len(table.columns)}"]
        lines += [f"| {' | '.join(_effect_cell(cell) for cell in row.cells)} |" for row in table.rows]
        lines += ["", table.foot]
    return "\n".join(lines) + "\n"


def _effect_cell(cell: Cell) -> str:
    text = f"**{_plain(str(cell.text))}**" if cell.strong else _plain(str(cell.text))
    return f"{text} ({cell.below})" if cell.below else text


def _plain(text: str) -> str:
    """A text that Markdown shows as it is."""
    return "".join(f"\\{letter}" if letter in "\\|*_`<[" else letter for letter in text)
