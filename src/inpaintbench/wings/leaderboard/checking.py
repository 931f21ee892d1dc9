"""Checks of a submission to a leaderboard: right dataset, one protocol, honest numbers for every item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inpaintbench.compute import RANDOM_WEIGHTS
from inpaintbench.errors import InputError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.parts import ALL_ITEMS
from inpaintbench.eval.scoring.run_folder import NOT_RUN, PROOFS
from inpaintbench.types import Dataset, Plain, Score, SliceScore
from inpaintbench.wings.leaderboard.contents import checked_text
from inpaintbench.wings.leaderboard.unpack import Submission

_SHOWN = 3
_COUNTS = ("frames", "pairs", "infinite_frames", "infinite_pairs")
_SET_COUNTS = ("items", "missing", "n", "d")
_SET_TEXTS = ("warning", "note")


def check(submission: Submission, dataset: Dataset, *, manifest_sha256: str, protocol: Protocol, fingerprint: str) -> None:
    """Check that the submission fits the dataset and the leaderboard's protocol.

    Args:
        submission: as read.
        dataset: what it should be of.
        manifest_sha256: of the dataset's manifest.
        protocol: the leaderboard's.
        fingerprint: the leaderboard's.

    Raises:
        InputError: why it does not, one sentence.
    """
    header = submission.header
    if header.manifest_sha256 != manifest_sha256:
        raise InputError(
            f"it is of another dataset: {header.dataset[:80]!r} with manifest {header.manifest_sha256[:12]!r}, not "
            f"{manifest_sha256[:12]!r}"
        )
    if RANDOM_WEIGHTS in header.fingerprint:
        raise InputError("its scores were made with made-up parameters, which say nothing of a method")
    if header.protocol != protocol.name or header.fingerprint != fingerprint:
        raise InputError(
            f"it was scored with {header.protocol[:80]} ({header.fingerprint[:80]}), and this leaderboard is of {protocol.name} "
            f"({fingerprint})"
        )
    items = {row["item_id"]: row for row in dataset.items}
    for item_id in [*header.predictions, *header.failures]:
        if item_id not in items:
            raise InputError(f"it speaks of item {item_id[:80]!r}, which is not in the dataset")
    # All of them are inside or none, else only those that bear looking at might be.
    named, inside = {prediction["blob"] for prediction in header.predictions.values()}, set(submission.blobs)
    if inside - named:
        raise InputError(f"it holds the prediction {min(inside - named)!r}, which is of no item")
    if inside and named - inside:
        raise InputError(f"it holds {len(inside)} of {len(named)} predictions; put in all of them, or none")
    _check_measured(submission, dataset, items)
    regions = {metric.name: set(metric.regions) for metric in protocol.build_metrics()}
    _check_scores(submission, items, regions)
    _check_missing(submission, protocol)
    _check_slices(submission, dataset, regions)
    _check_complete(submission, items)


def _check_measured(submission: Submission, dataset: Dataset, items: Mapping[str, Plain]) -> None:
    """What scores were measured of is what the dataset publishes, and the predictions that are named."""
    header = submission.header
    for item_id, hashes in header.measured.items():
        if item_id not in items:
            raise InputError(f"it speaks of item {item_id[:80]!r}, which is not in the dataset")
        row = items[item_id]
        wanted = {part: dataset.files.get(row[f"{part}_file_name"]) for part in PROOFS if row.get(f"{part}_file_name")}
        if item_id in header.predictions:
            wanted["prediction"] = header.predictions[item_id]["blob"].partition(".")[0]
        for part in {**wanted, **hashes}:
            if hashes.get(part) != wanted.get(part):
                found = f"SHA-256 {hashes[part][:12]}..." if part in hashes else "none"
                raise InputError(
                    f"item {item_id!r} was measured of another {part} ({found}) than the dataset or the submission has"
                )


def _check_identity(row: Score | SliceScore, submission: Submission, regions: Mapping[str, set[str]]) -> None:
    header = submission.header
    if (row.method, row.protocol, row.fingerprint) != (header.method, header.protocol, header.fingerprint):
        raise InputError(f"a score is of {row.method[:80]!r} under {row.protocol[:80]} ({row.fingerprint[:80]}), unlike the rest")
    if row.region not in regions.get(row.metric, ()):
        raise InputError(f"its protocol has no {row.metric[:80]!r} in the region {row.region[:80]!r}")
    if row.value is None and not (isinstance(row, Score) and row.features) and not row.reason:
        raise InputError(f"{row.metric} ({row.region}) of {_subject(row)!r} has no value and no reason")
    if row.reason is not None:
        checked_text(row.reason, f"the reason of {row.metric} of {_subject(row)!r}")


def _subject(row: Score | SliceScore) -> str:
    return (row.item_id if isinstance(row, Score) else row.slice)[:80]


def _check_scores(submission: Submission, items: Mapping[str, Plain], regions: Mapping[str, set[str]]) -> None:
    seen = set()
    for row in submission.scores:
        if row.item_id not in items:
            raise InputError(f"it has a score for item {row.item_id[:80]!r}, which is not in the dataset")
        _check_identity(row, submission, regions)
        key = (row.item_id, row.metric, row.region)
        if key in seen:
            raise InputError(f"it has two scores of {row.metric} ({row.region}) for item {row.item_id!r}")
        seen.add(key)
        if METRICS.get(row.metric).of_sets and row.value is not None:
            raise InputError(f"{row.metric} compares sets of items, so item {row.item_id!r} alone can have no value")
        # Counts of frames weigh items in some protocols.
        most = int(items[row.item_id]["frames"])
        where = f"in the details of {row.metric} of item {row.item_id!r}"
        for name in _COUNTS:
            _check_count(row.details, name, most=most, where=where)
        for name in ("frames", "pairs"):
            whole, infinite = row.details.get(name), row.details.get(f"infinite_{name}", 0)
            if whole is not None and (infinite > whole or (whole == 0 and row.value is not None)):
                raise InputError(f"{infinite} of {whole} {name} are infinite {where}")


def _check_count(details: Plain, name: str, *, most: int, where: str) -> None:
    count: Any = details.get(name)
    whole = isinstance(count, int) and not isinstance(count, bool)
    if name in details and count is not None and not (whole and 0 <= count <= most):
        raise InputError(f"{name!r} {where} is {str(count)[:40]!r}, not a count of at most {most}")


def _check_slices(submission: Submission, dataset: Dataset, regions: Mapping[str, set[str]]) -> None:
    slices, seen = {slice_.name for slice_ in dataset.slices} | {ALL_ITEMS}, set()
    for row in submission.slice_scores:
        if row.slice not in slices:
            raise InputError(f"it has a score for the slice {row.slice[:80]!r}, which is not in the dataset")
        _check_identity(row, submission, regions)
        key = (row.slice, row.metric, row.region)
        if key in seen or not METRICS.get(row.metric).of_sets:
            raise InputError(f"it has {'two numbers' if key in seen else 'a number'} of {row.metric} for the slice {row.slice!r}")
        seen.add(key)
        where = f"in the details of {row.metric} of the slice {row.slice!r}"
        for name in _SET_COUNTS:
            _check_count(row.details, name, most=1 << 40, where=where)
        for name in _SET_TEXTS:
            checked_text(row.details.get(name) or "", f"{name!r} {where}")


def _check_complete(submission: Submission, items: Mapping[str, Plain]) -> None:
    """Every item has the same rows as the others; one without a prediction says why."""
    if not submission.scores:
        raise InputError("it holds no scores")
    of_item: dict[str, set[tuple[str, str]]] = {item_id: set() for item_id in items}
    for row in submission.scores:
        of_item[row.item_id].add((row.metric, row.region))
    whole = set().union(*of_item.values())
    lacking = [item_id for item_id, found in of_item.items() if found != whole]
    if lacking:
        more = f" and {len(lacking) - _SHOWN} more" if len(lacking) > _SHOWN else ""
        names = ", ".join(lacking[:_SHOWN]) + more
        raise InputError(f"it lacks scores of {len(lacking)} of {len(items)} items, and says nothing of why: {names}")


def _check_missing(submission: Submission, protocol: Protocol) -> None:
    """Check that a score without a prediction, or with a reason, is what the protocol gives for a missing prediction."""
    if not submission.header.predictions:
        raise InputError("it names no prediction that its scores could be of")
    for row in submission.scores:
        there = row.item_id in submission.header.predictions
        measured = row.value is not None or row.features is not None
        if measured and not (there and row.reason is None) and row.value != protocol.missing.get(row.metric):
            why = "comes with a reason why there is none" if there else "has no SHA-256 of a prediction"
            raise InputError(f"its {row.metric} ({row.region}) of item {row.item_id!r} {why}")


def missing_items(submission: Submission, dataset: Dataset) -> dict[str, str]:
    """Item id -> why there is no prediction of it, in the dataset's order."""
    header = submission.header
    return {
        row["item_id"]: header.failures.get(row["item_id"], NOT_RUN)
        for row in dataset.items
        if row["item_id"] not in header.predictions
    }
