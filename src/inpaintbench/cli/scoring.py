"""`eval score`: measure the predictions of a run folder, and how far a lower precision is off."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from inpaintbench.catalogue import attribute_at, joined
from inpaintbench.cli import console
from inpaintbench.cli.console import Locally, Running
from inpaintbench.cli.evaluate_options import InDataset, Networks, OfNetworks, ProtocolName, Run, SomeMetrics
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.options import Seconds
from inpaintbench.cli.run_folder import opened, scorable
from inpaintbench.compute import Compute
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.results.measured import unmeasured_metrics
from inpaintbench.eval.scoring.precision import TF32_BOUND, Difference, from_float32, takes_tf32
from inpaintbench.eval.scoring.run_folder import (
    asked,
    bind,
    check_any_value,
    check_undamaged,
    items_without_value,
    not_run_words,
    predicted,
)
from inpaintbench.eval.scoring.score import SCORING_SECONDS, score_all
from inpaintbench.models import torch_networks
from inpaintbench.pages.words import count
from inpaintbench.steps import predict_step
from inpaintbench.types import Dataset, Prediction, Score
from inpaintbench.workspace import Workspace


def score(
    dataset: InDataset,
    *,
    run: Run,
    protocol: ProtocolName = None,
    metric: SomeMetrics = None,
    networks: OfNetworks = Networks(),
    pose: str | None = None,
    time_limit: Seconds = SCORING_SECONDS,
    running: Locally = Running(),
) -> None:
    """Score every method that has predictions in the run folder. With --metric, the table holds these metrics alone.

    Under a protocol of re-inpainting this is `eval reinpaint` with its usual F2 and K.

    Args:
        pose (ESTIMATOR): For metrics of joints: keypoint_rcnn, stored:FILE or command:PROGRAM.
        time_limit: Seconds for one item of one method.

    Example: inpaintbench eval score DATASET --run RUN --metric psnr --metric ssim
    """
    score_and_tell(
        dataset, run, protocol=protocol, metric=metric, networks=networks, pose=pose, time_limit=time_limit, running=running
    )
    if PROTOCOLS.get(protocol or usual(scorable(dataset))).its_scorer() is None:
        console.tell_next("eval", "report", dataset, "--run", run)


def score_and_tell(
    dataset: Path, run: Path, *, protocol: str | None = None, metric: list[str] | None = None, networks: Networks = Networks(),
    pose: str | None = None, time_limit: float = SCORING_SECONDS, running: Running = Running(),
) -> None:  # fmt: skip
    """Do what `eval score` does, and say what came of it."""
    loaded = scorable(dataset)
    protocol = protocol or usual(loaded)
    PROTOCOLS.get(protocol).build_metrics(metric)  # misspelt names are told before any work
    if scorer := PROTOCOLS.get(protocol).its_scorer():
        if networks.device != "auto" or networks.precision not in ("auto", "fp32") or pose is not None:
            raise UsageError(f"{protocol} has no --pose, and runs its networks in fp32 on the device that is there")
        scorer.score(
            dataset, run, protocol=protocol, metric=metric, random_weights=networks.random_weights, running=running,
            seconds=None if time_limit == SCORING_SECONDS else time_limit,
        )  # fmt: skip
        return
    compute = networks.compute
    if pose is not None:
        compute = replace(compute, pose=pose, pose_identity=_identity_of("pose", pose))
    workspace = opened(run)
    bind(workspace, dataset)
    if networks.precision == "auto" and torch_networks.on_card(compute):
        compute = _chosen(workspace, loaded, dataset, protocol, metric, compute)
    with running.on(workspace) as executor:
        score_all(executor, loaded, dataset, predicted(workspace), protocol, metric, compute, seconds=time_limit)
    rows = asked(row for row in workspace.table("scores", Score) if row.protocol == protocol)
    unmeasured = unmeasured_metrics(rows)
    items = len({row.item_id for row in rows})
    lacking = items_without_value(rows, unmeasured=[name for names in unmeasured.values() for name in names])
    console.say(f"{count(items, 'item')} scored under {protocol}, {lacking} without a value")
    for method in predicted(workspace):
        if words := not_run_words(workspace, loaded, method):
            console.say(words)
    for reason, names in unmeasured.items():
        console.say(f"not measured: {', '.join(names)}: {reason}")
    if networks.precision not in ("auto", "fp32"):
        for difference in _differences(workspace, loaded, dataset, protocol, metric, compute):
            console.say(_in_words(difference))
    check_undamaged(rows, run)
    check_any_value(rows)


def _identity_of(choice: str, value: str) -> str:
    """What changes whenever a chosen program or file does; wings know their choices."""
    of_choice = joined("identity of a choice")
    if choice not in of_choice:
        raise UsageError(f"--{choice} is of metrics that are not installed here")
    return str(attribute_at(of_choice[choice])(value))


def _chosen(
    workspace: Workspace, dataset: Dataset, root: Path, protocol: str, metrics: Sequence[str] | None, compute: Compute
) -> Compute:
    """TF32 where it is close enough to float32, which is said; else ``compute``."""
    near = replace(compute, precision="tf32")
    differences = _differences(workspace, dataset, root, protocol, metrics, near)
    for difference in differences:
        console.say(_in_words(difference))
    chosen = near if takes_tf32(differences) else compute
    if differences:
        console.say(f"networks run in {chosen.precision}: tf32 is taken where it is off by less than {100 * TF32_BOUND:g} %")
    return chosen


def _differences(
    workspace: Workspace, dataset: Dataset, root: Path, protocol: str, metrics: Sequence[str] | None, compute: Compute
) -> list[Difference]:
    """From float32, of the first method with predictions."""
    steps = (workspace.table("predictions", Prediction, step=predict_step(method)) for method in predicted(workspace))
    with tempfile.TemporaryDirectory() as folder:
        return from_float32(
            dataset, root=root, predictions=next(filter(None, steps), []), blobs=workspace.blobs, protocol=protocol,
            metrics=metrics, compute=compute, folder=Path(folder),
        )  # fmt: skip


def _in_words(row: Difference) -> str:
    share = "" if row.relative is None else f" ({100 * row.relative:.2g} %)"
    what = " of a vector" if row.of_vectors else ""
    items = "1 item" if row.items == 1 else f"{row.items} items"
    return f"{row.metric}: largest difference from fp32 {row.largest:.2g}{share}{what}, {items}"
