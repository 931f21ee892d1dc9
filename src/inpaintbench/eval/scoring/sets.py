"""Numbers for whole slices, by metrics that compare sets of items: made from the features of items, without any pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from inpaintbench import frozen
from inpaintbench.errors import InpaintBenchError
from inpaintbench.eval.metrics.base import Comparison, Features, SetMetric
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.parts import everything
from inpaintbench.executors.base import Executor, Outcome, Step, Task
from inpaintbench.tables import to_records
from inpaintbench.types import Dataset, Plain, Score, Slice, SliceScore, content_id
from inpaintbench.workspace import Blobs

VERSION = "3"


def set_step(protocol: str, method: str) -> str:
    """Name of the step that compares the sets of a method, and of its table."""
    return f"compare.{protocol.replace('/', '.')}.{method}"


def compare_sets(executor: Executor, dataset: Dataset, *, protocol: str, methods: Sequence[str]) -> dict[str, Outcome]:
    """Compare sets of items into the table ``slice_scores``: every slice and all items, from scores that lie in the workspace.

    Items without features are left out and counted; a slice without any has no value, and its reason is that of its first item.
    A comparison that crashed or took too long has no value either, and says so.

    Returns:
        Method -> outcome; nothing where no metric of the protocol compares sets.
    """
    chosen: Protocol = PROTOCOLS.get(protocol)
    metrics = [metric.name for metric in chosen.build_metrics() if isinstance(metric, SetMetric)]
    stored = to_records(executor.workspace.columns("scores", Score, where=("metric", metrics)), Score)
    scores = [row for row in stored if row.protocol == protocol]
    work = []
    for method in methods:
        rows = [row for row in scores if row.method == method]
        step = Step(
            name=set_step(protocol, method),
            version=VERSION,
            table="slice_scores",
            record=SliceScore,
            function="inpaintbench.eval.scoring.sets:compare_one",
            parameters={"protocol": protocol, "method": method},
            time_limit_seconds=3600.0,
            unmeasured="inpaintbench.eval.scoring.sets:unmeasured",
        )
        tasks = [task for part in (*dataset.slices, everything(dataset)) if part.item_ids for task in _tasks(dataset, part, rows)]
        if tasks:
            work.append((step, tasks))
    if not work:
        return {}
    outcomes = executor.run_together(work, label=f"compare.{protocol.replace('/', '.')}")
    return {step.parameters["method"]: outcomes[step.name] for step, _ in work}


def _tasks(dataset: Dataset, part: Slice, scores: Sequence[Score]) -> list[Task]:
    sources = frozen.sources_of(dataset)
    inside = set(part.item_ids)
    groups: dict[tuple[str, str], list[Score]] = {}
    for score in scores:
        if score.item_id in inside:
            groups.setdefault((score.metric, score.region), []).append(score)
    return [
        Task(
            subject_id=f"{part.name}/{metric}/{region}",
            content=content_id(rows[0].fingerprint, [[row.item_id, row.features, row.truth_features] for row in rows]),
            payload={
                "slice": part.name, "metric": metric, "region": region, "fingerprint": rows[0].fingerprint,
                "sets": [[row.features, row.truth_features, sources[row.item_id]] for row in rows if row.features],
                "missing": len(inside) - sum(row.features is not None for row in rows),
                "reason": next((row.reason for row in rows if row.features is None), None),
            },
        )
        for (metric, region), rows in groups.items()
    ]  # fmt: skip


def compare_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[SliceScore]:
    """One metric of one method over one slice."""
    protocol: Protocol = PROTOCOLS.get(parameters["protocol"])
    metric: Any = protocol.build_metrics([payload["metric"]])[0]
    comparison = Comparison(None, payload["reason"] or "no item has features")
    if payload["sets"]:
        sets = [Features(_load(blobs, prediction), _load(blobs, truth)) for prediction, truth, _ in payload["sets"]]
        try:
            comparison = metric.compare(sets, [source for *_, source in payload["sets"]])
        except InpaintBenchError as error:
            comparison = Comparison(None, str(error))
    return [_row(payload, parameters, comparison)]


def unmeasured(payload: Plain, *, parameters: Plain, reason: str) -> list[SliceScore]:
    """The row of a comparison that crashed or was too slow, so that every count is right."""
    return [_row(payload, parameters, Comparison(None, reason))]


def _row(payload: Plain, parameters: Plain, comparison: Comparison) -> SliceScore:
    return SliceScore(
        method=parameters["method"],
        slice=payload["slice"],
        metric=payload["metric"],
        region=payload["region"],
        protocol=parameters["protocol"],
        fingerprint=payload["fingerprint"],
        value=comparison.value,
        reason=comparison.reason,
        standard_error=comparison.standard_error,
        interval_low=comparison.interval_low,
        interval_high=comparison.interval_high,
        details={**comparison.details, "items": len(payload["sets"]), "missing": payload["missing"]},
    )


def _load(blobs: Blobs, name: str) -> Any:
    # Mapped, not read: features of a whole slice are hundreds of megabytes, and each is looked at once or twice.
    return np.load(blobs.proved(name), mmap_mode="r", allow_pickle=False)
