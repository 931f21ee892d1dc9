"""Score predictions under a protocol, and all methods of a run folder: rows for everything, measured or not."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from inpaintbench import frozen
from inpaintbench.compute import RANDOM_WEIGHTS, Compute
from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.parts import check_truths
from inpaintbench.eval.scoring.run_state import NOT_RUN, digest, predictions_of, remember_scored, remember_settings
from inpaintbench.eval.scoring.sets import compare_sets
from inpaintbench.executors.base import Executor, Outcome, Step, Tasks
from inpaintbench.executors.ledgered import LedgeredExecutor
from inpaintbench.manifest import column
from inpaintbench.models import torch_networks, weights
from inpaintbench.steps import score_step, score_steps
from inpaintbench.types import Dataset, Prediction, Score, content_id
from inpaintbench.workspace import Workspace

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
    _check_holes(chosen, dataset)
    own = next((metric for metric in chosen.build_metrics(metrics) if metric.command), None)
    if own is not None:
        raise InputError(f"{own.name} is measured by `inpaintbench {own.command}`; use that in place of `eval score`")
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
        scored[step.name] = digest(dataset, predictions=method.predictions, failures=method.failures)
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
    return Step(
        name=score_step(protocol.name, method),
        version=VERSION,
        table="scores",
        record=Score,
        function="inpaintbench.eval.scoring.score_item:score_one",
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


def _check_holes(protocol: Protocol, dataset: Dataset) -> None:
    if set(protocol.regions) != {"frame"} and not any(map(frozen.has_hole, dataset.items)):
        raise InputError(
            f"protocol {protocol.name!r} measures holes, and the items of {dataset.name!r} have none; use {usual(dataset)!r}"
        )


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
    _check_parameters(workspace, protocol, compute)
    predicted = [Predicted(method, *predictions_of(workspace, method)) for method in methods]
    score(
        executor, dataset, root=root, methods=predicted, protocol=protocol, metrics=metrics, compute=compute,
        time_limit_seconds=seconds,
    )  # fmt: skip
    compare_sets(executor, dataset, protocol=protocol, methods=methods)


def _check_parameters(workspace: Workspace, protocol: str, compute: Compute) -> None:
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
