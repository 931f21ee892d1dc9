"""Submissions of strangers, read and checked: right dataset, one protocol, honest numbers for every item.

Nothing is taken out under a name of theirs, and nothing may grow without bound. Where one brought its predictions, some items
are measured again.
"""

from __future__ import annotations

import hashlib
import lzma
import math
import stat
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from inpaintbench.compute import RANDOM_WEIGHTS
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.parts import ALL_ITEMS
from inpaintbench.eval.scoring.run_folder import DAMAGED, NOT_RUN, PROOFS
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.tables import UNEXPECTED
from inpaintbench.types import Dataset, Plain, Score, SliceScore, item_rng
from inpaintbench.wings.leaderboard.contents import (
    BLOB,
    CARD,
    HEADER,
    PREDICTIONS,
    SCORES,
    SLICE_SCORES,
    Card,
    Header,
    checked_name,
    checked_text,
    read_card,
    read_header,
    read_rows,
)  # fmt: skip
from inpaintbench.workspace import Workspace

MOST_FILES = 100_000
# Bytes of one table of scores, unpacked; 256 MiB hold a million rows.
MOST_TEXT_BYTES = 256 << 20
# Bytes of one prediction.
MOST_BLOB_BYTES = 4 << 30
_TEXTS = (HEADER, CARD, SCORES, SLICE_SCORES)
_SPOILT = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


@dataclass(frozen=True)
class Submission:
    """One method's scores as somebody sent them."""

    path: Path
    identity: str
    """SHA-256 of ``submission.json``, which holds those of all other files."""
    header: Header
    card: Card
    scores: tuple[Score, ...]
    slice_scores: tuple[SliceScore, ...]
    blobs: tuple[str, ...]
    """Names of the predictions inside."""


def read_submission(path: Path) -> Submission:
    """The submission in a ZIP file; each file's SHA-256 is checked, but those of predictions only where they are taken out.

    Raises:
        InputError: what is wrong with it, one sentence.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = _entries(archive)
            texts: dict[str, bytes] = {}
            for name in _TEXTS:
                with archive.open(entries[name]) as file:
                    texts[name] = file.read(MOST_TEXT_BYTES + 1)
                if len(texts[name]) > MOST_TEXT_BYTES:
                    raise InputError(f"{name} is larger than {MOST_TEXT_BYTES >> 20} MiB unpacked")
    except _SPOILT as error:
        raise InputError(f"it cannot be read as a ZIP file: {error}") from error
    header = read_header(texts[HEADER])
    checked_name(header.method, "method label")
    for reason in header.failures.values():
        checked_text(reason, "the reason of a missing prediction")
    for name, version in header.versions.items():
        checked_text(f"{name} {version}", "a version", most=200)
    if set(header.files) | {HEADER} != set(entries):
        strange = sorted(set(entries).symmetric_difference({*header.files, HEADER}))
        raise InputError(f"its files are not those that {HEADER} names: {strange[0][:120]!r}")
    for name in _TEXTS[1:]:
        if hashlib.sha256(texts[name]).hexdigest() != header.files[name]:
            raise InputError(f"{name} is not the file that {HEADER} names: its SHA-256 is another")
    return Submission(
        path=path,
        identity=hashlib.sha256(texts[HEADER]).hexdigest(),
        header=header,
        card=read_card(texts[CARD]),
        scores=tuple(read_rows(texts[SCORES], Score, SCORES)),
        slice_scores=tuple(read_rows(texts[SLICE_SCORES], SliceScore, SLICE_SCORES)),
        blobs=tuple(sorted(name.removeprefix(PREDICTIONS) for name in entries if name.startswith(PREDICTIONS))),
    )


def take_out(submission: Submission, blob: str, target: Path) -> None:
    """Write one prediction to ``target``.

    Raises:
        InputError: it is not there, or its bytes are not those that its name says.
    """
    digest, size = hashlib.sha256(), 0
    try:
        with zipfile.ZipFile(submission.path) as archive, archive.open(f"{PREDICTIONS}{blob}") as file, target.open("wb") as out:
            while part := file.read(1 << 20):
                size += len(part)
                if size > MOST_BLOB_BYTES:
                    raise InputError(f"the prediction {blob!r} is larger than {MOST_BLOB_BYTES >> 30} GiB")
                digest.update(part)
                out.write(part)
    except (KeyError, *_SPOILT) as error:
        raise InputError(f"the prediction {blob!r} cannot be read: {error}") from error
    if digest.hexdigest() != blob.partition(".")[0]:
        raise InputError(f"the prediction {blob!r} is not the file that was scored: its SHA-256 is another")


def _entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    infos = archive.infolist()
    if len(infos) > MOST_FILES:
        raise InputError(f"it holds {len(infos):,} files; {MOST_FILES:,} are the most")
    found: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        # The name as it stands in the file: Python cleans some up.
        name = info.orig_filename
        known = name in _TEXTS or (name.startswith(PREDICTIONS) and BLOB.fullmatch(name.removeprefix(PREDICTIONS)))
        if not known or name != info.filename:
            raise InputError(f"it holds {name[:120]!r}, which is no part of a submission")
        if stat.S_ISLNK(info.external_attr >> 16) or info.flag_bits & 1:
            raise InputError(f"{name!r} in it is {'encrypted' if info.flag_bits & 1 else 'a link'}")
        if name in found:
            raise InputError(f"it holds {name!r} twice")
        found[name] = info
    for name in _TEXTS:
        if name not in found:
            raise InputError(f"it is not a submission of `inpaintbench eval submit`: {name} is missing")
    return found


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
