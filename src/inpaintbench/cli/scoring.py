"""`eval run --for scores`, `eval run --for folders` and `eval verify`: predictions are measured, and proved by their hashes."""

from __future__ import annotations

import csv
import shlex
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from inpaintbench.catalogue import attribute_at, joined
from inpaintbench.cli import console, evaluate_options
from inpaintbench.cli.console import Answer, Locally, Running, Table
from inpaintbench.cli.evaluate_options import InDataset, Networks, ProtocolName, Run, SomeMetrics
from inpaintbench.cli.options import Among, FrozenDataset, RunFolder, Seconds
from inpaintbench.compute import Compute
from inpaintbench.errors import InputError, UsageError, VerifyError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.results.measured import unmeasured_metrics
from inpaintbench.eval.scoring import run_folder
from inpaintbench.eval.scoring.precision import BOUND, Difference, close_enough, from_float32
from inpaintbench.eval.scoring.proving import damaged_media, proof, repair, roots_of
from inpaintbench.eval.scoring.score import SCORING_SECONDS, score_all
from inpaintbench.eval.scoring.score_arrays import ItemScore, score_folders
from inpaintbench.eval.values.statistics import summarise
from inpaintbench.models import torch_networks
from inpaintbench.pages.words import count, interval, number
from inpaintbench.steps import predict_step, score_steps
from inpaintbench.types import Dataset, Prediction, Score
from inpaintbench.workspace import Workspace


def score(
    dataset: InDataset,
    *,
    run: Run,
    protocol: ProtocolName = None,
    metric: SomeMetrics = None,
    networks: Networks = Networks(),
    pose: str | None = None,
    time_limit: Seconds = SCORING_SECONDS,
    running: Locally = Running(),
) -> console.Next | None:
    """Score every method that has predictions in the run folder. With --metric, the table holds these metrics alone.

    Under a protocol that scores in a way of its own, this is its command with the usual options.

    Args:
        pose (ESTIMATOR): For metrics of joints: keypoint_rcnn, stored:FILE or command:PROGRAM.
        time_limit: Seconds for one item of one method.

    Example: inpaintbench eval run --for scores DATASET --run RUN --metric psnr --metric ssim
    """
    loaded = evaluate_options.scorable(dataset)
    protocol = protocol or usual(loaded)
    PROTOCOLS.get(protocol).build_metrics(metric)  # misspelt names are told before any work
    if scorer := PROTOCOLS.get(protocol).its_scorer():
        if networks.device != "auto" or networks.precision not in ("auto", "fp32") or pose is not None:
            raise UsageError(f"{protocol} has no --pose, and runs its networks in fp32 on the device that is there")
        scorer.score(
            dataset, run, protocol=protocol, metric=metric, random_weights=networks.random_weights, running=running,
            seconds=None if time_limit == SCORING_SECONDS else time_limit,
        )  # fmt: skip
        return None
    compute = networks.compute
    if pose is not None:
        of_choice = joined("identity of a choice")  # what changes whenever a chosen program or file does
        if "pose" not in of_choice:
            raise UsageError("--pose is of metrics that are not installed here")
        compute = replace(compute, pose=pose, pose_identity=str(attribute_at(of_choice["pose"])(pose)))
    workspace = evaluate_options.opened(run, going_on=f"{score_steps(protocol)}.")
    run_folder.bind(workspace, dataset)
    if networks.precision == "auto" and (faster := torch_networks.faster(compute)):
        # Fewer digits where that is close enough to float32, which is said.
        near = replace(compute, precision=faster)
        if differences := _told_differences(workspace, loaded, dataset, protocol, metric, near):
            compute = near if close_enough(differences) else compute
            console.say(f"networks run in {compute.precision}: {faster} is taken where it is off by less than {100 * BOUND:g} %")
    with running.on(workspace) as executor:
        score_all(executor, loaded, dataset, run_folder.predicted(workspace), protocol, metric, compute, seconds=time_limit)
    rows = run_folder.asked(row for row in workspace.table("scores", Score) if row.protocol == protocol)
    unmeasured = unmeasured_metrics(rows)
    items = len({row.item_id for row in rows})
    lacking = run_folder.items_without_value(rows, unmeasured=[name for names in unmeasured.values() for name in names])
    console.say(f"{count(items, 'item')} scored under {protocol}, {lacking} without a value")
    for method in run_folder.predicted(workspace):
        if words := run_folder.not_run_words(workspace, loaded, method):
            console.say(words)
    for reason, names in unmeasured.items():
        console.say(f"not measured: {', '.join(names)}: {reason}")
    if networks.precision not in ("auto", "fp32"):
        _told_differences(workspace, loaded, dataset, protocol, metric, compute)
    run_folder.check_undamaged(rows, run)
    run_folder.check_any_value(rows)
    return console.Next("eval", "report", dataset, "--run", run)


def _told_differences(
    workspace: Workspace, dataset: Dataset, root: Path, protocol: str, metrics: Sequence[str] | None, compute: Compute
) -> list[Difference]:
    """From float32, of the first method with predictions; each is said."""
    steps = (workspace.table("predictions", Prediction, step=predict_step(method)) for method in run_folder.predicted(workspace))
    with tempfile.TemporaryDirectory() as folder:
        differences = from_float32(
            dataset, root=root, predictions=next(filter(None, steps), []), blobs=workspace.blobs, protocol=protocol,
            metrics=metrics, compute=compute, folder=Path(folder),
        )  # fmt: skip
    for row in differences:
        share = "" if row.relative is None else f" ({100 * row.relative:.2g} %)"
        what = " of a vector" if row.of_vectors else ""
        console.say(f"{row.metric}: largest difference from fp32 {row.largest:.2g}{share}{what}, {count(row.items, 'item')}")
    return differences


def score_folders_command(
    *,
    truth: Path,
    masks: Path,
    predictions: Path,
    protocol: Annotated[str, Among(PROTOCOLS)] = "devil/corrected",
    metric: SomeMetrics = None,
    hole_is_black: bool = False,
    out: Path | None = None,
    networks: Networks = Networks(),
) -> Answer:
    """Score files that belong to no dataset, by their names.

    Each name counts as a source of its own. For comparisons, slices and pages build a dataset.

    Args:
        truth: Folder of true clips: videos, pictures, or folders of numbered pictures.
        masks: Folder of their masks, of the same names; white is hole. One picture counts for all frames.
        predictions: Folder of what was made, of the same names.
        protocol (NAME): Its metrics and constants count; `eval list protocols` names them.
        hole_is_black: Black is hole in the masks.
        out: Write the value of each item here, as CSV. [default: nowhere]

    Example: inpaintbench eval run --for folders --truth TRUTH --masks MASKS --predictions MINE --metric psnr --metric ssim
    """
    scores = list(
        score_folders(
            truth, masks, predictions, protocol=protocol, metrics=metric, hole_is_black=hole_is_black, compute=networks.compute
        )
    )
    if out is not None:
        with out.open("w", newline="") as file:
            csv.writer(file).writerows([ItemScore._fields, *scores])
    rows = []
    for metric_name, region in dict.fromkeys((score.metric, score.region) for score in scores):
        own, leaf = [row for row in scores if (row.metric, row.region) == (metric_name, region)], METRICS.get(metric_name)
        summary = summarise([row.value for row in own], clusters=[row.item for row in own], bounds=leaf.bounds)
        reasons = dict.fromkeys(row.reason for row in own if row.reason)
        limits = interval(summary.interval_low, summary.interval_high, leaf.decimals)
        rows.append((metric_name, region, number(summary.mean, leaf.decimals), limits, summary.n, "; ".join(reasons)))
    return Answer(
        [score._asdict() for score in scores],
        Table(protocol, ["metric", "region", "mean", "95 % interval", "items", "why fewer"], rows),
    )


def verify(run: RunFolder, *, mend: bool = False, dataset: FrozenDataset | None = None, running: Locally = Running()) -> None:
    """Prove a run folder by its hashes, and mend what differs.

    Everything that a number comes from is compared with its own hash: predictions, scores and what stands beside them, and the
    media of the dataset, which --repair cannot mend. Exit status 1 tells of damage. Of an archive of `eval paper`
    the tables are made again from its scores, byte for byte, which takes no dataset.

    Args:
        run (RUN): Folder or address with predictions and scores, or paper.zip, or the folder of that.
        mend --repair: Drop what is damaged, and compute that alone again.
        dataset (DATASET): The dataset that the run is of. [default: where it lay when the run was made]

    Example: inpaintbench eval verify RUN --repair
    """
    from inpaintbench.cli.paper import verify_archive  # with figures, which scoring does not load
    from inpaintbench.eval.paper.write import ARCHIVE

    if run.suffix == ".zip" or (run / ARCHIVE).is_file():
        if mend or dataset:
            raise UsageError("an archive of `eval paper` is proved alone: leave out --repair and --dataset")
        verify_archive(run)
        return
    if run.is_file():
        raise InputError(f"{str(run)!r} is no archive of `eval paper` ({ARCHIVE}); give one, or the folder of a run")
    workspace = evaluate_options.existing_run(run)
    # At an address blobs are brought anew, which nobody else may be reading meanwhile.
    with workspace.locked() if workspace.address else nullcontext():
        found = proof(workspace)
    for one in found.damaged:
        console.say(f"damaged: {one.what.partition(';')[0]}")
    media = _tell_media([dataset] if dataset else roots_of(workspace), given=dataset is not None)
    if found.damaged and not mend:
        again = f"`inpaintbench eval verify {shlex.quote(console.shown(run))} --repair` does again what they held"
        raise VerifyError(f"{count(len(found.damaged), 'part')} of {str(run)!r} damaged: {again}")
    repaired = bool(found.damaged)
    if repaired:
        with running.on(workspace) as executor:
            left = repair(executor, found.damaged, root=dataset)
        for path in left:
            console.warn(f"dropped, and not made again: {path}; run the command that made it")
        evaluate_options.opened(run)
        found = proof(workspace)
        if left or found.damaged:
            raise VerifyError(found.damaged[0].what if found.damaged else f"{count(len(left), 'table')} not made again")
    if media:
        raise VerifyError(
            f"{count(media, 'file')} of the dataset differ from its manifest: `inpaintbench export verify` lists all; export it "
            "again, or fetch it with `export fetch`"
        )
    unrecorded = f"; {count(found.unrecorded, 'table')} of an earlier release: not recorded" if found.unrecorded else ""
    amounts = f"{count(found.blobs, 'blob')}, {count(found.lines, 'line')} of ledgers and {count(found.tables, 'table')}"
    console.say(f"{'Repaired' if repaired else 'Verified'}: {amounts} are what was written{unrecorded}")


def _tell_media(places: list[Path], *, given: bool) -> int:
    """Print what of the media of datasets is damaged; return how much. A dataset that was ``given`` has to be there."""
    count_of = 0
    for place in places:
        try:
            lacking = damaged_media(place)
        except InputError as error:
            if given:
                raise
            console.warn(f"media not looked at: {error}")
            continue
        for sentence in lacking:
            console.say(f"damaged: {sentence.partition(';')[0]}")
        count_of += len(lacking)
    return count_of
