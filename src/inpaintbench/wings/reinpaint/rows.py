"""Measured rows to the scores of a protocol: what follows from them, the table that reports read, a summary,
and how often each method is the best of its row, by a metric or by people (Table 5 of the paper).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from inpaintbench import frozen
from inpaintbench.claims import too_few
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.results.quantity import place_label
from inpaintbench.eval.scoring.run_folder import digest, is_stale, remember_scored
from inpaintbench.eval.values.statistics import best_of_row, mean_of, shares_of, summarise
from inpaintbench.manifest import column
from inpaintbench.pages.words import number
from inpaintbench.steps import score_step
from inpaintbench.types import Dataset, Score
from inpaintbench.wings.reinpaint.engine import REGION, SUBMETRICS, excess, per_known_area
from inpaintbench.wings.reinpaint.grid import HIGHER, bins_of, named
from inpaintbench.wings.reinpaint.leaves import EXCESS, KNOWN, SECOND
from inpaintbench.wings.reinpaint.step import First
from inpaintbench.workspace import Workspace

Rows = Sequence[tuple[First, Sequence[Score]]]
# Method -> share of the items on which it was chosen; shares sum to 1.
Frequencies = Mapping[str, float]


def with_variants(rows: Sequence[Score], natural: Sequence[Score], protocol: Protocol) -> list[Score]:
    """Measured rows with D over the known area and D less that of the truth, as far as the protocol has them.

    Args:
        rows: of one method under one setting.
        natural: of the truth under the same setting, hence the same second masks.
        protocol: whose metrics are wanted.
    """
    of_truth = {(row.item_id, row.metric): row for row in natural}
    scores = []
    for row in rows:
        scores.append(row)
        name = row.metric.removeprefix(f"{SECOND}_")
        if row.metric != name and name in SUBMETRICS:
            known = None if row.value is None else per_known_area(name, row.value, float(row.details["first_area"]))
            scores.append(_derived(row, f"{KNOWN}_{name}", known, "the first hole leaves nothing known"))
            truth = of_truth.get((row.item_id, row.metric))
            base = None if truth is None else truth.value
            more = None if row.value is None or base is None else excess(row.value, base)
            reason = truth.reason if truth else None
            lost = "that of the truth is missing" if base is None else "that of the truth is infinite"
            scores.append(_derived(row, f"{EXCESS}_{name}", more, reason or lost))
    return [row for row in scores if row.metric in protocol.metrics]


def _derived(row: Score, metric: str, value: float | None, reason: str) -> Score:
    details = {name: kept for name, kept in row.details.items() if name != "values"}
    return replace(row, metric=metric, value=value, reason=None if value is not None else row.reason or reason, details=details)


def store(workspace: Workspace, dataset: Dataset, found: Rows, *, protocol: Protocol) -> list[str]:
    """Write the rows of each first method to the table ``scores``, with the digest of what was scored.

    A protocol has the scores of one setting at a time: those of other methods under another are taken out of the table, and
    stay in the ledger. Other metrics of the same predictions under the same setting stay.

    Returns:
        The methods whose scores were taken out.
    """
    prints = {row.fingerprint for _, rows in found for row in rows}
    dropped = []
    begin, written = score_step(protocol.name, ""), {score_step(protocol.name, first.label) for first, _ in found}
    for step in workspace.steps("scores"):
        if step.startswith(begin) and step not in written:
            kept = workspace.table("scores", Score, step=step)
            if any(row.protocol == protocol.name and row.fingerprint not in prints for row in kept):
                workspace.write_table("scores", step, [], Score)
                dropped.append(step.removeprefix(begin))
    for first, rows in found:
        step = score_step(protocol.name, first.label)
        others = _others(workspace, dataset, first, rows, step=step, protocol=protocol)
        workspace.write_table("scores", step, [*others, *rows], Score)
        if first.fill is None:
            scored = digest(column(dataset, "item_id"), list(first.predictions.values()), first.failures)
            remember_scored(workspace, scored, step=step)
    return dropped


def _others(
    workspace: Workspace, dataset: Dataset, first: First, rows: Sequence[Score], *, step: str, protocol: Protocol
) -> list[Score]:
    """Rows of an earlier run for the same predictions and setting whose metrics this one did not measure."""
    if step not in workspace.steps("scores"):
        return []
    if first.fill is None and is_stale(workspace, dataset, protocol=protocol.name, method=first.label):
        return []
    prints, metrics = {row.fingerprint for row in rows}, {row.metric for row in rows}
    kept = workspace.table("scores", Score, step=step)
    return [row for row in kept if row.fingerprint in prints and row.metric not in metrics]


def summary(
    dataset: Dataset, rows: Rows, *, title: str, references: Collection[str] = ()
) -> Iterator[tuple[list[str], list[list[str]], str]]:
    """Heads, lines and title of a table for each sub-metric that has a value: methods in bins of first masks.

    Numbers: D with its 95 % interval where there are enough sources, D over the known area, D less that of the truth, and on
    which share of the items the method was the best (Table 5), where there are enough sources; among these no ``references``.
    """
    sources = frozen.sources_of(dataset)
    values = {(first.label, row.metric, row.item_id): row.value for first, scores in rows for row in scores}
    labels = [first.label for first, _ in rows]
    for name in SUBMETRICS:
        kinds = [f"{kind}_{name}" for kind in (SECOND, KNOWN, EXCESS)]
        if all(value is None for (_, metric, _), value in values.items() if metric in kinds):
            continue
        lines = []
        for bin_name, items in bins_of(dataset).items():
            clusters = [sources[item] for item in items]
            few = too_few(len(set(clusters)))
            of_method = {
                label: {item: values.get((label, kinds[0], item)) for item in items}
                for label in labels
                if label not in references
            }
            shares = {} if few else selected(of_method, higher_is_better=HIGHER[name]).shares
            for label in labels:
                d, known, more = (
                    summarise([values.get((label, kind, item)) for item in items], clusters=clusters) for kind in kinds
                )
                between = "" if d.interval_low is None else f"{number(d.interval_low, 4)} to {number(d.interval_high, 4)}"
                share = f"{shares[label]:.0%}" if label in shares else "–"
                n = f"{d.n} · {d.n_infinite} ∞ left out" if d.n_infinite else str(d.n)
                means = [number(one.mean, 4) for one in (known, more)]
                lines.append([bin_name, named(label, references), number(d.mean, 4), between, *means, share, n])
        better = "higher is better" if HIGHER[name] else "lower is better"
        heads = ["first masks", "method", "D", "95 %", "over known", "less truth's", "best on", "items"]
        yield heads, lines, f"D with {name.upper()} {place_label(REGION)} ({better}); {title}"


def preferences(dataset: Dataset, rows: Rows) -> Iterator[str]:
    """A sentence for each sub-metric by which D prefers first results to the truth itself, and in which bins."""
    values = {(first.label, row.metric, row.item_id): row.value for first, scores in rows for row in scores}
    for name in SUBMETRICS:
        better = []
        for bin_name, items in bins_of(dataset).items():
            for first, _ in rows:
                excesses = (values.get((first.label, f"{EXCESS}_{name}", item)) for item in items)
                mean = mean_of([value for value in excesses if value is not None])
                if mean is not None and (mean > 0 if HIGHER[name] else mean < 0):
                    better.append(f"{first.label} ({bin_name}: {mean:+.4g})")
        if better:
            yield (
                f"D with {name.upper()} {place_label(REGION)} prefers to the truth itself: {', '.join(better)}. It favours "
                "results that resemble what F2 makes, so a better D than the truth's says nothing good of them."
            )


class Selected(NamedTuple):
    """Selection frequencies over some items."""

    shares: dict[str, float]
    """Empty where no item has values of all methods."""
    items: int
    """Items that count."""
    left_out: int
    """Items without a value of some method."""
    tied: int
    """Items with several best methods; each then has an equal part of the item."""


def selected(values: Mapping[str, Mapping[str, float | None]], *, higher_is_better: bool) -> Selected:
    """The share of items on which each method is the best.

    The paper states no rule for ties; here an item is divided between its best methods. An item counts when all methods have a
    value, which may be infinite.

    Args:
        values: method -> item id -> value.
        higher_is_better: the metric's direction.
    """
    items = dict.fromkeys(item for column in values.values() for item in column)
    rows = [
        best_of_row({method: column.get(item) for method, column in values.items()}, higher_is_better=higher_is_better)
        for item in items
    ]
    known = [row for row in rows if row]
    return Selected(shares_of(known, values), len(known), len(items) - len(known), sum(len(row) > 1 for row in known))


def selected_by_metric(
    rows: Sequence[Score], metric: str, *, higher_is_better: bool, items: Iterable[str], region: str = REGION
) -> Selected:
    """``selected`` from rows of scores, over some items."""
    wanted = set(items)
    values: dict[str, dict[str, float | None]] = {}
    for row in rows:
        if row.metric == metric and row.region == region and row.item_id in wanted:
            values.setdefault(row.method, {})[row.item_id] = row.value
    return selected(values, higher_is_better=higher_is_better)


def chosen_by_people(choices: Iterable[tuple[str, str]], *, methods: Sequence[str], items: Iterable[str]) -> Selected:
    """Shares of people's choices: the average percentage of times that a method was chosen.

    Args:
        choices: (item id, chosen method), one for each answer.
        methods: those that stood in the rows; answers that name another are left out and counted.
        items: those that count.
    """
    wanted = set(items)
    answers = [(item, method) for item, method in choices if item in wanted]
    known = [(item, method) for item, method in answers if method in methods]
    votes = Counter(method for _, method in known)
    shares = {method: votes[method] / len(known) for method in methods} if known else {}
    return Selected(shares, len({item for item, _ in known}), len(answers) - len(known), 0)


def agreement(one: Frequencies, other: Frequencies) -> float | None:
    """Half the sum of differences of two sets of shares, taken from 1: 1 = equal, 0 = nothing in common; None without shares."""
    if not one or not other:
        return None
    return 1 - math.fsum(abs(one.get(name, 0.0) - other.get(name, 0.0)) for name in {*one, *other}) / 2
