"""Two methods side by side: for each metric and slice how far apart they are, how sure that is, and who wins which items."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import add

from inpaintbench import table_files
from inpaintbench.claims import ENOUGH_SOURCES
from inpaintbench.eval.comparing.looked_at import Effect, effects_of
from inpaintbench.eval.diagnosis import diagnose
from inpaintbench.eval.report.effects import quantity_words, versus_table
from inpaintbench.eval.results.cautions import exposure_sentences
from inpaintbench.eval.results.quantity import Quantity, metric_leaf, quantity_label, standing
from inpaintbench.eval.results.tables import SEED, Results
from inpaintbench.eval.scoring.parts import ALL_ITEMS
from inpaintbench.eval.scoring.run_folder import NOT_RUN
from inpaintbench.eval.values.permutation import LEVEL, paired, settled
from inpaintbench.eval.values.statistics import summarise
from inpaintbench.pages.words import DASH
from inpaintbench.types import Slice


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
    run = [score for score in results.scores if score.reason != NOT_RUN]
    not_run = {(score.method, score.item_id, score.metric, score.region) for score in results.scores if score.reason == NOT_RUN}
    found: list[tuple[Slice, Difference]] = []
    for quantity in (quantity for quantity in quantities if quantity.ranked):
        columns = {
            method: {
                item_id: results.value(method, item_id, quantity)
                for item_id in results.sources
                if (method, item_id, *quantity) not in not_run
            }
            for method in (one, other)
        }
        for part in slices:
            row = (
                _of_sets(results, one, other, quantity, part)
                if quantity.of_sets
                else _of_items(results, columns[one], columns[other], quantity, part)
            )
            found.append((part, replace(row, standing=standing(quantity, results.protocol))))
    by_row: dict[tuple[str, str, str], Effect] = {}
    if {score.method for score in run} >= {one, other}:
        # What a protocol scores of items that were never run is no difference between methods.
        compared = Results(results.dataset, run, protocol=results.protocol)
        asked = [quantity for quantity in dict.fromkeys(quantities) if quantity.ranked and quantity in compared.quantities]
        effects = effects_of(compared, within=slices, pairs=[(one, other)], quantities=asked)
        by_row = {(*effect.quantity, effect.within): effect for effect in effects}
    rows = []
    for part, row in found:
        lead = by_row.get((row.metric, row.region, row.slice))
        if lead is not None and row.p is not None:
            row = replace(row, interval_low=lead.low, interval_high=lead.high, p_corrected=lead.p)
        quantity, better = Quantity(row.metric, row.region), one if row.better > 0 else other
        if row.better and results.gated(quantity) and (reason := results.contradicted(part, better, quantity)):
            row = replace(row, contradicted=True, reason=reason)
        rows.append(row)
    return rows


def _of_items(
    results: Results, one: Mapping[str, float | None], other: Mapping[str, float | None], quantity: Quantity, part: Slice
) -> Difference:
    """The two over the items that both were run on; items weigh by the mean of what they count for in the means of methods."""
    left, right = ([values.get(item_id) for item_id in part.item_ids] for values in (one, other))
    sources = [results.sources[item_id] for item_id in part.item_ids]
    rule, higher = results.protocol.infinite_rule(quantity.metric), quantity.higher_is_better
    weights = [1.0] * len(part.item_ids)
    if results.protocol.averaging != "frames_then_items":
        counted: dict[str, list[int]] = {}
        for score in results.scores:
            if (score.metric, score.region) == quantity and score.value is not None and score.reason != NOT_RUN:
                counted.setdefault(score.item_id, []).append(results.protocol.weight(quantity.metric, score.details))
        means = {item_id: math.fsum(found) / len(found) for item_id, found in counted.items()}
        weights = [means.get(item_id, 1.0) for item_id in part.item_ids]
    both = {"one": weights, "other": weights}
    [test] = paired({"one": left, "other": right}, sources, higher_is_better=higher, seed=SEED, infinite=rule, weights=both)
    pairs = [_finite(pair) for pair in zip(settled(left, rule), settled(right, rule), strict=True)]

    def mean(values: Sequence[float | None]) -> float | None:
        return summarise(values, clusters=sources, weights=weights).mean

    known = [(first, second) for first, second in zip(left, right, strict=True) if first is not None and second is not None]
    more, ties = sum(first > second for first, second in known), sum(first == second for first, second in known)
    less = len(known) - more - ties
    return Difference(
        metric=quantity.metric, region=quantity.region, slice=part.name, one=mean([pair and pair[0] for pair in pairs]),
        other=mean([pair and pair[1] for pair in pairs]), difference=mean([pair and pair[0] - pair[1] for pair in pairs]),
        interval_low=None, interval_high=None, p=test.p, p_corrected=None, n=test.n, n_sources=test.n_sources,
        wins=more if higher else less, ties=ties, losses=less if higher else more, reason=test.reason, n_infinite=test.n_infinite,
    )  # fmt: skip


def _finite(pair: tuple[float | None, float | None]) -> tuple[float, float] | None:
    one, other = pair
    if one is None or other is None or not (math.isfinite(one) and math.isfinite(other)):
        return None
    return one, other


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


# Tables

HEADS = (
    "metric", "region", "slice", "items", "A", "B", "A - B", "95 % interval", "p", "p (corrected)", "wins-ties-losses", "note",
)  # fmt: skip


def text_rows(rows: Sequence[Difference]) -> tuple[list[tuple[str, ...]], list[str]]:
    """Cells for people, in the order of ``HEADS``, and notes below; the better method's mean bears a star.

    A note that several rows have stands below once, as ``(1) ...``, and its number in the rows.
    """
    texts = []
    for row in rows:
        decimals = metric_leaf(row.metric).decimals
        numbers = (row.one, row.other, row.difference, row.interval_low, row.interval_high)
        one, other, difference, low, high = (DASH if value is None else f"{value:.{decimals}f}" for value in numbers)
        interval = f"{low} to {high}" if row.interval_low is not None else DASH
        tests = tuple(DASH if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}" for p in (row.p, row.p_corrected))
        wins = f"{row.wins}-{row.ties}-{row.losses}" if row.wins + row.ties + row.losses else DASH
        metric = f"{row.metric}, {row.standing}" if row.standing == "exploratory" else row.metric
        items = f"{row.n} ({row.n_sources} source{'' if row.n_sources == 1 else 's'})"
        means = (one + "*" * (row.better > 0), other + "*" * (row.better < 0), difference)
        left_out = f"{row.n_infinite} with an infinite value left out" if row.n_infinite else None
        note = "; ".join(filter(None, (left_out, row.reason)))
        texts.append((metric, row.region, row.slice, items, *means, interval, *tests, wins, note))
    times = Counter(note for *_, note in texts)
    shared = {note: f"({number})" for number, note in enumerate((note for note in times if note and times[note] > 1), 1)}
    return [(*cells, shared.get(note, note)) for *cells, note in texts], [f"{mark} {note}" for note, mark in shared.items()]


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
    fields = [name for name in Difference.__dataclass_fields__ if name not in ("metric", "region", "slice")]
    names = {1: one, -1: other, 0: ""}
    numbers = [[row.metric, row.region, row.slice, *(getattr(row, name) for name in fields)] for row in rows]
    return table_files.csv_bytes(
        ("a", "b", "metric", "region", "slice", *fields, "better"),
        [[one, other, *cells, names[row.better]] for row, cells in zip(rows, numbers, strict=True)],
    )


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
    rows_of_texts, remarks = text_rows(rows)
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
        *(f"| {' | '.join(map(_plain, row))} |" for row in rows_of_texts),
        *([""] if remarks else []),
        *(f"{_plain(note)}  " for note in remarks),
    ]
    for quantity, file in (pictures or {}).items():
        table = versus_table(results, diagnose(results), quantity, one, other)
        lines += ["", f"## {quantity_label(quantity)}: effect of each attribute", ""]
        lines += [f"![{_plain(quantity_words(quantity))}]({file})", ""]
        lines += [f"| {' | '.join(_plain(column.label) for column in table.columns)} |", f"|{'---|' * len(table.columns)}"]
        for row in table.rows:
            texts = [_plain(str(cell.text)) for cell in row.cells]
            texts = [f"**{text}**" if cell.strong else text for text, cell in zip(texts, row.cells, strict=True)]
            notes = [f" ({cell.below})" if cell.below else "" for cell in row.cells]
            lines.append(f"| {' | '.join(map(add, texts, notes))} |")
        lines += ["", table.foot]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """A text that Markdown shows as it is."""
    return "".join(f"\\{letter}" if letter in "\\|*_`<[" else letter for letter in text)
