"""Score predictions under a protocol: one decode of an item feeds all metrics, and a failed item hides no other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from inpaintbench import frozen, video
from inpaintbench.errors import InpaintBenchError, InputError
from inpaintbench.eval.freshness import NOT_RUN, digest, remember, score_step
from inpaintbench.eval.grey import grey_view
from inpaintbench.eval.metrics.base import Measurement, Metric
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.sizes import fitted
from inpaintbench.executors.base import Executor, Outcome, Rejection, Step, Task
from inpaintbench.types import Dataset, Plain, Prediction, Score, content_id
from inpaintbench.view import ItemView
from inpaintbench.workspace import Blobs

VERSION = "1"


def score(
    executor: Executor,
    dataset: Dataset,
    *,
    root: Path | str,
    method: str,
    predictions: Sequence[Prediction],
    failures: dict[str, str],
    protocol: str,
    metrics: Sequence[str] | None = None,
    time_limit_seconds: float = 1800.0,
) -> Outcome:
    """Score one method into the table ``scores``, and keep a digest of what was scored beside it.

    Args:
        executor: who does the work; its workspace holds the predictions.
        dataset: the frozen dataset.
        root: its folder.
        method: label of the method.
        predictions: of this method.
        failures: item id -> why there is no prediction; scored as the protocol says (as None, or the worst), with that reason.
        protocol: name of the protocol.
        metrics: some of the protocol's metrics; all by default. Those that compare frames in time are left out for pictures.
        time_limit_seconds: for one item.

    Raises:
        UnknownNameError: no such protocol or metric.
        InputError: metrics that compare frames in time alone, for pictures; a protocol that measures holes, for items without.
    """
    chosen: Protocol = PROTOCOLS.get(protocol)
    _check_holes(chosen, dataset)
    longest = max(row["frames"] for row in dataset.items)
    built = [metric for metric in chosen.build_metrics(metrics) if getattr(metric, "fewest_frames", 1) <= longest]
    if not built:
        raise InputError(
            f"{', '.join(metrics or chosen.metrics)} compare frames in time, and {dataset.name!r} has single pictures"
        )
    names = [metric.name for metric in built]
    step = Step(
        name=score_step(protocol, method),
        version=VERSION,
        table="scores",
        record=Score,
        function="inpaintbench.eval.score:score_one",
        parameters={"method": method, "protocol": protocol, "fingerprint": chosen.fingerprint, "metrics": names},
        time_limit_seconds=time_limit_seconds,
    )
    blob_of = {row.item_id: row.blob for row in predictions}
    folder = str(Path(root).resolve())
    tasks = []
    for row in dataset.items:
        item_id = row["item_id"]
        blob, failure = blob_of.get(item_id), failures.get(item_id, NOT_RUN)
        given = {"blob": blob} if blob else {"failure": failure}
        content = content_id(item_id, row["truth_rgb_sha256"], row["hole_sha256"], given)
        tasks.append(Task(item_id, content, {"root": folder, "row": dict(row), **given}, f"{method}/{item_id}"))
    outcome = executor.run(step, tasks)
    if outcome.rejected:  # crashed or too slow: still rows, so that every count is right
        lost = [row for refused in outcome.rejected for row in _unscored(refused, step, names)]
        outcome = Outcome([*outcome.records, *lost], outcome.rejected, outcome.failures)
        executor.workspace.write_table(step.table, step.name, outcome.records, Score)
    remember(executor.workspace, digest(dataset, predictions=predictions, failures=failures), step=step.name)
    return outcome


def _check_holes(protocol: Protocol, dataset: Dataset) -> None:
    if set(protocol.regions) != {"frame"} and not any(map(frozen.has_hole, dataset.items)):
        raise InputError(
            f"protocol {protocol.name!r} measures holes, and the items of {dataset.name!r} have none; use {usual(dataset)!r}"
        )


def score_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Score]:
    """All metrics and regions of one item."""
    protocol: Protocol = PROTOCOLS.get(parameters["protocol"])
    row = payload["row"]
    view, failure = None, payload.get("failure")
    if failure is None:
        view, failure = _readable(payload, protocol=protocol, blobs=blobs)
    return [
        Score(
            method=parameters["method"],
            item_id=row["item_id"],
            metric=metric.name,
            region=region,
            protocol=protocol.name,
            fingerprint=parameters["fingerprint"],
            value=found.value,
            reason=found.reason,
            details=dict(found.details),
        )
        for metric in protocol.build_metrics(parameters["metrics"])
        for region, found in _measured(metric, view, failure, protocol=protocol).items()
    ]


def _unscored(refused: Rejection, step: Step, metrics: Sequence[str] | None) -> list[Score]:
    protocol: Protocol = PROTOCOLS.get(step.parameters["protocol"])
    return [
        Score(
            method=step.parameters["method"],
            item_id=refused.subject_id,
            metric=metric.name,
            region=region,
            protocol=protocol.name,
            fingerprint=protocol.fingerprint,
            value=protocol.missing.get(metric.name),
            reason=refused.reason,
        )
        for metric in protocol.build_metrics(metrics)
        for region in metric.regions
    ]


def _readable(payload: Plain, *, protocol: Protocol, blobs: Blobs) -> tuple[ItemView | None, str | None]:
    """The item with its prediction in the colours of the protocol, or why there is none."""
    path, row = blobs.path(payload["blob"]), payload["row"]
    view = frozen.scoring_view(
        payload["root"], row, prediction=lambda: fitted(video.read_frames(path), row, resize=protocol.resize)
    )
    try:
        view.prediction  # noqa: B018 - decodes it, so that a damaged one counts as missing
    except InpaintBenchError as error:
        return None, str(error)
    return (grey_view(view) if protocol.colours == "grey" else view), None


def _measured(metric: Metric, view: ItemView | None, failure: str | None, *, protocol: Protocol) -> dict[str, Measurement]:
    if view is None:
        return {region: Measurement(protocol.missing.get(metric.name), failure) for region in metric.regions}
    try:
        return metric.measure(view.declaring(metric.name, metric.needs))
    except InpaintBenchError as error:  # nothing to measure
        return {region: Measurement(None, str(error)) for region in metric.regions}
