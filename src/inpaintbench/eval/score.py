"""Score predictions under a protocol: one decode of an item feeds all metrics, and a failed item hides no other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from inpaintbench import frozen, video
from inpaintbench.errors import InpaintBenchError, InputError, MediaError
from inpaintbench.eval.grey import grey_view
from inpaintbench.eval.metrics.base import Measurement, Metric
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.executors.base import Executor, Outcome, Rejection, Step, Task
from inpaintbench.types import Dataset, Frames, Plain, Prediction, Score, content_id
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
    """Score one method into the table ``scores``.

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
        InputError: metrics that compare frames in time alone, for pictures.
    """
    chosen: Protocol = PROTOCOLS.get(protocol)
    longest = max(row["frames"] for row in dataset.items)
    built = [metric for metric in chosen.build_metrics(metrics) if getattr(metric, "fewest_frames", 1) <= longest]
    if not built:
        raise InputError(
            f"{', '.join(metrics or chosen.metrics)} compare frames in time, and {dataset.name!r} has single pictures"
        )
    names = [metric.name for metric in built]
    step = Step(
        name=f"score.{protocol.replace('/', '.')}.{method}",
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
        blob, failure = blob_of.get(item_id), failures.get(item_id, "the method was not run on this item")
        given = {"blob": blob} if blob else {"failure": failure}
        content = content_id(item_id, row["truth_rgb_sha256"], row["hole_sha256"], given)
        tasks.append(Task(item_id, content, {"root": folder, "row": dict(row), **given}, f"{method}/{item_id}"))
    outcome = executor.run(step, tasks)
    if outcome.rejected:  # crashed or too slow: still rows, so that every count is right
        lost = [row for refused in outcome.rejected for row in _unscored(refused, step, names)]
        outcome = Outcome([*outcome.records, *lost], outcome.rejected, outcome.failures)
        executor.workspace.write_table(step.table, step.name, outcome.records, Score)
    return outcome


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
    view = frozen.scoring_view(payload["root"], row, prediction=lambda: _prediction(path, row, resize=protocol.resize))
    try:
        view.prediction  # noqa: B018 - decodes it, so that a damaged one counts as missing
    except InpaintBenchError as error:
        return None, str(error)
    return (grey_view(view) if protocol.colours == "grey" else view), None


def _prediction(path: Path, row: Plain, *, resize: str) -> Frames:
    frames = video.read_frames(path)
    if resize == "nearest":
        frames = nearest(frames, height=row["height"], width=row["width"])
    wanted = (row["frames"], row["height"], row["width"], 3)
    if frames.shape != wanted:
        raise MediaError(f"prediction {frames.shape} of item {row['item_id']} != clip {wanted}")
    return frames


def nearest(frames: Frames, *, height: int, width: int) -> Frames:
    """``uint8[T, H, W, 3]`` brought to a size by the pixel whose area holds the centre of each new one, as Pillow does."""
    rows, columns = _nearest(frames.shape[1], height), _nearest(frames.shape[2], width)
    return frames if frames.shape[1:3] == (height, width) else frames[:, rows[:, None], columns]


def _nearest(given: int, wanted: int) -> npt.NDArray[np.intp]:
    # Added up step by step as Pillow does: where a centre falls between two pixels, rounding decides.
    steps = np.full(wanted, given / wanted)
    steps[0] /= 2
    return np.minimum(np.cumsum(steps).astype(np.intp), given - 1)


def _measured(metric: Metric, view: ItemView | None, failure: str | None, *, protocol: Protocol) -> dict[str, Measurement]:
    if view is None:
        return {region: Measurement(protocol.missing.get(metric.name), failure) for region in metric.regions}
    try:
        return metric.measure(view.declaring(metric.name, metric.needs))
    except InpaintBenchError as error:  # nothing to measure
        return {region: Measurement(None, str(error)) for region in metric.regions}
