"""Score the methods of a run folder, whose scores are all of trained parameters or all of made-up ones."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from inpaintbench.compute import RANDOM_WEIGHTS, Compute
from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.eval.score import SCORING_SECONDS, Predicted, score
from inpaintbench.eval.sets import compare_sets
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.ledgered import LedgeredExecutor
from inpaintbench.steps import predict_step, score_step
from inpaintbench.types import Dataset, Prediction, Score
from inpaintbench.workspace import Workspace


def predicted_of(workspace: Workspace, method: str) -> Predicted:
    """What a run folder holds of a method, and why it lacks the rest."""
    step = predict_step(method)
    failures = {row.subject_id: row.reason for row in workspace.table("rejected", Rejection, step=step)}
    return Predicted(method, workspace.table("predictions", Prediction, step=step), failures)


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
    score(
        executor, dataset, root=root, methods=[predicted_of(workspace, method) for method in methods], protocol=protocol,
        metrics=metrics, compute=compute, time_limit_seconds=seconds,
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
