"""Measure some items of a submission again, where it brought its predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from inpaintbench.errors import InputError, VerifyError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.run_folder import DAMAGED
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.tables import UNEXPECTED
from inpaintbench.types import Dataset, Score, item_rng
from inpaintbench.wings.leaderboard.unpack import Submission, take_out
from inpaintbench.workspace import Workspace

# Relative differences that are rounding: networks round otherwise on every kind of machine.
SAME, SAME_OF_NETWORKS = 1e-6, 1e-3


class Differing(NamedTuple):
    """A number that came out otherwise."""

    item_id: str
    metric: str
    region: str
    claimed: float | None
    found: float | None


class Verdict(NamedTuple):
    """Result of measuring again."""

    items: tuple[str, ...]
    """That were measured again."""
    values: int
    """Number of values that were compared."""
    differing: tuple[Differing, ...]
    unchecked: tuple[str, ...]
    """Metrics of which nothing was compared: networks without weights here, and those that compare sets of items."""
    reason: str | None
    """Reason why no item was measured again; None when some were."""

    @property
    def agrees(self) -> bool:
        """Return whether something was compared and all of it agrees."""
        return self.values > 0 and not self.differing


def verify(
    submission: Submission,
    dataset: Dataset,
    *,
    root: Path,
    protocol: Protocol,
    items: int,
    seed: int,
    folder: Path,
    workers: int = 1,
) -> Verdict:
    """Score a sample of the items that the submission holds predictions of, and compare.

    Args:
        submission: that was checked.
        dataset: the manifest.
        root: its folder.
        protocol: the leaderboard's.
        items: how many to measure again.
        seed: of the sample; one that submitters cannot know before they submit.
        folder: empty, for files in the making.
        workers: processes that decode the stranger's files; 0 = this one.

    Raises:
        InputError: a prediction in the submission is damaged. VerifyError: the dataset is.
    """
    header, inside = submission.header, set(submission.blobs)
    scored = {row.metric for row in submission.scores}
    leaves = {name: METRICS.get(name) for name in protocol.metrics if name in scored}
    # Those that give a number for one item.
    metrics = [name for name, leaf in leaves.items() if not (leaf.of_sets or leaf.command)]
    unchecked = tuple(name for name in leaves if name not in metrics)
    there = [row for row in dataset.items if header.predictions.get(row["item_id"], {}).get("blob") in inside]
    reason = None
    if not there:
        reason = "it brought no predictions"
    elif header.fingerprint != protocol.fingerprint:
        reason = f"it was scored with {header.fingerprint.partition('+')[2]}, which is not tried here"
    elif not metrics:
        reason = "none of its metrics can be measured item by item here"
    if reason:
        return Verdict((), 0, (), unchecked, reason)
    rng = item_rng(seed, "verify", submission.identity)
    chosen = [there[index] for index in sorted(rng.permutation(len(there))[:items].tolist())]
    workspace = Workspace(folder)
    predictions = [header.prediction(row["item_id"]) for row in chosen]
    for blob in sorted({prediction.blob for prediction in predictions}):
        workspace.blobs.path(blob).parent.mkdir(parents=True, exist_ok=True)
        take_out(submission, blob, workspace.blobs.path(blob))
    with LocalExecutor(workspace, workers=workers) as executor:
        found = score(
            executor, replace(dataset, items=tuple(chosen)), root=root, methods=[Predicted(header.method, predictions)],
            protocol=protocol.name, metrics=metrics,
        )[header.method].records  # fmt: skip
    if reasons := [row.reason for row in found if row.details.get(UNEXPECTED) == DAMAGED]:
        # Of the host's dataset: predictions were compared with their hashes as they were taken out.
        raise VerifyError(f"{reasons[0]}; nothing is wrong with the submission")
    return _compared(submission, found, [row["item_id"] for row in chosen], protocol, unchecked)


def _compared(
    submission: Submission, found: Sequence[Score], items: Sequence[str], protocol: Protocol, unchecked: tuple[str, ...]
) -> Verdict:
    claims = {(row.item_id, row.metric, row.region): row for row in submission.scores}
    networks = {name: bool(protocol.weights_of([name])) for name in protocol.metrics}
    lacking = {row.metric for row in found if row.value is None and networks[row.metric]}
    # A failure of this machine says nothing of the claim.
    lacking |= {row.metric for row in found if row.details.get(UNEXPECTED)}
    compared = [row for row in found if row.metric not in lacking]
    differing = []
    for row in compared:
        claim = claims.get((row.item_id, row.metric, row.region))
        tolerance = SAME_OF_NETWORKS if networks[row.metric] else SAME
        if claim is None or not _same(claim.value, row.value, tolerance):
            differing.append(Differing(row.item_id, row.metric, row.region, None if claim is None else claim.value, row.value))
    unmeasured = tuple(name for name in protocol.metrics if name in lacking)
    return Verdict(tuple(items), len(compared), tuple(differing), (*unmeasured, *unchecked), None)


def _same(one: float | None, other: float | None, tolerance: float) -> bool:
    if one is None or other is None:
        return one is other
    return one == other or (math.isfinite(one) and math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance * 1e-3))


def check_agrees(verdict: Verdict) -> None:
    """Refuse a submission whose numbers are not those of its predictions.

    Raises:
        InputError: how many are not, with one of them.
    """
    if verdict.differing:
        one: Differing = verdict.differing[0]
        raise InputError(
            f"{len(verdict.differing)} of {verdict.values} numbers are not those of its predictions, such as {one.metric} "
            f"({one.region}) of item {one.item_id!r}: {_text(one.claimed)} submitted, {_text(one.found)} measured"
        )


def _text(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.6g}"
