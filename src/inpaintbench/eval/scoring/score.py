"""Score predictions under a protocol, and all methods of a run folder: rows for everything, measured or not; and numbers for
whole slices, by metrics that compare sets of items, from the features of items without any pixels."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from inpaintbench import frozen
from inpaintbench.compute import RANDOM_WEIGHTS, Compute
from inpaintbench.errors import InpaintBenchError, InputError, WorkspaceError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.base import Comparison, Features, SetMetric
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.parts import check_truths, everything
from inpaintbench.eval.scoring.run_folder import NOT_RUN, digest, predictions_of, remember_scored, remember_settings
from inpaintbench.eval.scoring.score_item import without_networks
from inpaintbench.executors.base import Executor, Outcome, Step, Task, Tasks
from inpaintbench.executors.ledgered import LedgeredExecutor
from inpaintbench.manifest import column
from inpaintbench.models import torch_networks, weights
from inpaintbench.steps import score_step, score_steps
from inpaintbench.tables import to_records
from inpaintbench.types import Dataset, Plain, Prediction, Score, Slice, SliceScore, content_id
from inpaintbench.workspace import Blobs

VERSION = "3"
# For one item of one method, unless told otherwise.
SCORING_SECONDS = 1800.0


@dataclass(frozen=True)
class Predicted:
    """Predictions of one method, and why others are missing."""

    method: str
    predictions: Sequence[Prediction]
    failures: Mapping[str, str] = field(default_factory=dict)
    """Item id -> why there is no prediction; scored as the protocol says (as None, or the worst), with that reason."""


def score(
    executor: Executor,
    dataset: Dataset,
    *,
    root: Path | str,
    methods: Sequence[Predicted],
    protocol: str,
    metrics: Sequence[str] | None = None,
    compute: Compute | None = None,
    time_limit_seconds: float = SCORING_SECONDS,
) -> dict[str, Outcome]:
    """Score methods into the table ``scores``, and keep a digest of what was scored beside it.

    An item that an unexpected error kept from a value (a graphics card without memory, say) is measured again by the next run.
    What was measured while all weights were there stands when they are gone.

    Args:
        executor: who does the work; its workspace holds the predictions.
        dataset: the frozen dataset.
        root: its folder.
        methods: what there is of each.
        protocol: name of the protocol.
        metrics: some of the protocol's metrics; all by default. Those that compare frames in time are left out for pictures.
        compute: how networks are run.
        time_limit_seconds: for one item of one method.

    Returns:
        Method -> outcome.

    Raises:
        UnknownNameError: no such protocol or metric.
        InputError: metrics that compare frames in time alone, for pictures; a protocol that measures holes, for items without;
            a device that is not there; items whose truth is held back.
    """
    chosen: Protocol = PROTOCOLS.get(protocol)
    check_truths(dataset)
    # An edit has no hole, and may have the mask of what it is about.
    known = {"frame", *("object" for row in dataset.items if row.get("object_mask_file_name"))}
    if not known.issuperset(chosen.regions) and not any(map(frozen.has_hole, dataset.items)):
        raise InputError(
            f"protocol {chosen.name!r} measures holes, and the items of {dataset.name!r} have none; use {usual(dataset)!r}"
        )
    own = next((metric for metric in chosen.build_metrics(metrics) if metric.command), None)
    if own is not None:
        raise InputError(f"{own.name} is measured by `inpaintbench {own.command}`; use that in place of `eval run --for scores`")
    longest = max(column(dataset, "frames"))
    built = [metric for metric in chosen.build_metrics(metrics) if metric.fewest_frames <= longest]
    if not built:
        raise InputError(
            f"{', '.join(metrics or chosen.metrics)} compare frames in time, and {dataset.name!r} has single pictures"
        )
    names, workspace = [metric.name for metric in built], executor.workspace
    compute = compute or Compute()
    if chosen.weights_of(names):
        torch_networks.check_device(compute)
    work, scored = [], {}
    for method in methods:
        step = _step(method.method, chosen, names, compute, time_limit_seconds)
        scored[step.name] = digest(column(dataset, "item_id"), method.predictions, method.failures)
        if step.name not in workspace.steps(step.table):
            # What is done may be all there is if the run is stopped; an earlier table keeps the digest of what it is of.
            remember_scored(workspace, scored[step.name], step=step.name)
        told = {"root": str(Path(root).resolve()), "only": None, "method": method.method, "protocol": protocol}
        how = {"metrics": metrics and list(metrics), "compute": asdict(compute), "seconds": time_limit_seconds}
        remember_settings(workspace, step, told | how)
        tasks = _tasks(dataset, method, root=root, compute=compute, whole=bool(chosen.hole_dilations) or not chosen.composite)
        work.append((step, tasks))
    outcomes = executor.run_together(work, label=score_steps(protocol))
    for name, run in scored.items():
        remember_scored(workspace, run, step=name)
    return {method.method: outcomes[score_step(chosen.name, method.method)] for method in methods}


def _step(method: str, protocol: Protocol, metrics: Sequence[str], compute: Compute, seconds: float) -> Step:
    needed = protocol.weights_of(metrics)
    states = {name: state for name in metrics if (state := METRICS.get(name).state())}
    step = Step(
        name=score_step(protocol.name, method),
        version=VERSION,
        table="scores",
        record=Score,
        function="",
        parameters={
            "method": method,
            "protocol": protocol.name,
            "fingerprint": protocol.fingerprint + compute.mark,
            "metrics": list(metrics),
            **weights.needed(needed if compute.random_weights is None else ()),
            **({"brought": states} if states else {}),
        },
        time_limit_seconds=seconds,
        together="inpaintbench.eval.scoring.score_item:score_together",
        ahead="inpaintbench.eval.scoring.score_item:decode_ahead",
        lacks=torch_networks.lacks(needed, compute),
        on_card=bool(needed) and torch_networks.on_card(compute),
        unmeasured="inpaintbench.eval.scoring.score_item:unmeasured",
    )
    first = without_networks(protocol, metrics)
    if not step.on_card or not first:
        return step
    return replace(step, before=replace(step, parameters={**step.parameters, "metrics": first}, lacks={}, on_card=False))


def _tasks(dataset: Dataset, predicted: Predicted, *, root: Path | str, compute: Compute, whole: bool) -> Tasks:
    """``whole``: what a prediction has outside its hole counts."""
    prediction_of = {row.item_id: row for row in predicted.predictions}
    folder = str(Path(root).resolve())
    ids, truths, holes = (column(dataset, name) for name in ("item_id", "truth_rgb_sha256", "hole_sha256"))

    def given(item_id: str) -> dict[str, Any]:
        if (prediction := prediction_of.get(item_id)) is None:
            return {"failure": predicted.failures.get(item_id, NOT_RUN)}
        return {"blob": prediction.blob, **({"full_frames": True} if whole and prediction.full_frames else {})}

    def payload(place: int) -> dict[str, Any]:
        row = dict(dataset.items[place])
        return {"root": folder, "row": row, "compute": asdict(compute), **given(row["item_id"])}

    contents = [content_id(*one, given(one[0])) for one in zip(ids, truths, holes, strict=True)]
    names = pa.array([f"{predicted.method}/{item_id}" for item_id in ids])
    return Tasks(pa.array(ids), pa.array(contents), payload, names, alike=truths)


def score_all(
    executor: LedgeredExecutor,
    dataset: Dataset,
    root: Path,
    methods: Sequence[str],
    protocol: str,
    metrics: Sequence[str] | None,
    compute: Compute,
    *,
    seconds: float = SCORING_SECONDS,
) -> None:
    """Score methods and compare their sets; ``seconds`` is the limit for one item of one method.

    Raises:
        InputError: the run folder holds scores under the protocol that these would replace: trained parameters and made-up ones
            never share one.
    """
    workspace = executor.workspace
    prefix, made_up = score_step(protocol, ""), set()
    for step in workspace.steps("scores"):
        if step.startswith(prefix):
            with contextlib.suppress(WorkspaceError):  # a damaged table is written anew
                prints = workspace.columns("scores", Score, step=step, columns=["fingerprint"])["fingerprint"].unique()
                made_up |= {RANDOM_WEIGHTS in mark for mark in prints.to_pylist()}
    run = str(workspace.path)
    if compute.random_weights is not None and False in made_up:
        raise InputError(
            f"run folder {run!r} holds real scores under {protocol!r}, which those of made-up parameters would replace; leave "
            "--random-weights out, or predict into a new --run folder for it"
        )
    if compute.random_weights is None and True in made_up:
        raise InputError(
            f"run folder {run!r} holds scores of made-up parameters under {protocol!r}, which real ones would replace; delete "
            f"{str(workspace.path / 'tables' / 'scores' / prefix)!r}* first, or give --random-weights again"
        )
    predicted = [Predicted(method, *predictions_of(workspace, method)) for method in methods]
    score(
        executor, dataset, root=root, methods=predicted, protocol=protocol, metrics=metrics, compute=compute,
        time_limit_seconds=seconds,
    )  # fmt: skip
    compare_sets(executor, dataset, protocol=protocol, methods=methods)


SETS_VERSION = "3"


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
            name=f"compare.{protocol.replace('/', '.')}.{method}",
            version=SETS_VERSION,
            table="slice_scores",
            record=SliceScore,
            function="inpaintbench.eval.scoring.score:compare_one",
            parameters={"protocol": protocol, "method": method},
            time_limit_seconds=3600.0,
            unmeasured="inpaintbench.eval.scoring.score:unmeasured",
        )
        tasks = [
            task for part in (*dataset.slices, everything(dataset)) if part.item_ids for task in _comparisons(dataset, part, rows)
        ]
        if tasks:
            work.append((step, tasks))
    if not work:
        return {}
    outcomes = executor.run_together(work, label=f"compare.{protocol.replace('/', '.')}")
    return {step.parameters["method"]: outcomes[step.name] for step, _ in work}


def _comparisons(dataset: Dataset, part: Slice, scores: Sequence[Score]) -> list[Task]:
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
