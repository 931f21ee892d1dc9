"""Measured rows to the scores of a protocol: what follows from them, and the tables that reports read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from inpaintbench.eval.freshness import digest, is_stale, remember
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.reinpainting.engine import SUBMETRICS, excess, per_known_area
from inpaintbench.eval.reinpainting.leaves import EXCESS, KNOWN, SECOND
from inpaintbench.eval.reinpainting.step import First
from inpaintbench.steps import score_step
from inpaintbench.types import Dataset, Score
from inpaintbench.workspace import Workspace


def with_variants(rows: Sequence[Score], natural: Sequence[Score], protocol: Protocol) -> list[Score]:
    """Measured rows with D over the known area and D less that of the truth, as far as the protocol has them.

    Args:
        rows: of one method under one setting.
        natural: of the truth under the same setting, hence the same second masks.
        protocol: whose metrics are wanted.
    """
    of_truth = {(row.item_id, row.metric): row for row in natural}
    found = []
    for row in rows:
        found.append(row)
        name = row.metric.removeprefix(f"{SECOND}_")
        if row.metric != name and name in SUBMETRICS:
            found += _variants(row, of_truth.get((row.item_id, row.metric)), name, protocol)
    return [row for row in found if row.metric in protocol.metrics]


def _variants(row: Score, natural: Score | None, name: str, protocol: Protocol) -> Iterator[Score]:
    known, more = f"{KNOWN}_{name}", f"{EXCESS}_{name}"
    if known in protocol.metrics:
        value = None if row.value is None else per_known_area(name, row.value, float(row.details["first_area"]))
        yield _derived(row, known, value, "the first hole leaves nothing known")
    if more in protocol.metrics:
        base = None if natural is None else natural.value
        value = None if row.value is None or base is None else excess(row.value, base)
        lost = "that of the truth is infinite" if natural and natural.value is not None else "that of the truth is missing"
        yield _derived(row, more, value, natural.reason if natural and natural.reason else lost)


def _derived(row: Score, metric: str, value: float | None, reason: str) -> Score:
    details = {name: kept for name, kept in row.details.items() if name != "values"}
    return replace(row, metric=metric, value=value, reason=None if value is not None else row.reason or reason, details=details)


def store(
    workspace: Workspace, dataset: Dataset, found: Sequence[tuple[First, Sequence[Score]]], *, protocol: Protocol
) -> list[str]:
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
            scored = digest(dataset, predictions=list(first.predictions.values()), failures=first.failures)
            remember(workspace, scored, step=step)
    return dropped


def _others(
    workspace: Workspace, dataset: Dataset, first: First, rows: Sequence[Score], *, step: str, protocol: Protocol
) -> list[Score]:
    """What an earlier run measured of the same predictions under the same setting and this one did not."""
    if step not in workspace.steps("scores"):
        return []
    if first.fill is None and is_stale(workspace, dataset, protocol=protocol.name, method=first.label):
        return []
    prints, metrics = {row.fingerprint for row in rows}, {row.metric for row in rows}
    kept = workspace.table("scores", Score, step=step)
    return [row for row in kept if row.fingerprint in prints and row.metric not in metrics]
