"""Make a submission of one method's scores in a run folder, and collect those in a folder of files that strangers sent."""

from __future__ import annotations

import hashlib
import platform
import tempfile
import uuid
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from inpaintbench import frozen
from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.effort import efforts_of
from inpaintbench.eval.scoring.parts import check_truths, everything
from inpaintbench.eval.scoring.run_folder import references_in
from inpaintbench.executors.base import Rejection
from inpaintbench.files import file_sha256, zip_entry
from inpaintbench.frozen import dataset_id
from inpaintbench.steps import predict_step
from inpaintbench.types import Dataset, Plain, Prediction, Score, SliceScore
from inpaintbench.wings.leaderboard.board import Board, Entry, Refused
from inpaintbench.wings.leaderboard.checking import Submission, check, check_agrees, missing_items, read_submission, verify
from inpaintbench.wings.leaderboard.contents import (
    CARD,
    FORMAT_VERSION,
    HEADER,
    PREDICTIONS,
    SCORES,
    SLICE_SCORES,
    Header,
    checked_name,
    header_bytes,
    read_card,
    rows_bytes,
)  # fmt: skip
from inpaintbench.workspace import Workspace

# Columns of an item that say what is scored: with equal ones, the same prediction has the same scores.
_SCORED = ("item_id", "truth_rgb_sha256", "hole_sha256", "input_sha256", "fill", "frames", "height", "width")


def common_part(dataset: Dataset, versions: Sequence[Dataset]) -> Dataset:
    """``dataset`` with the items alone that all ``versions`` have with the same truth, hole and input, and slices of those.

    Raises:
        InputError: there is no such item.
    """
    inside = set.intersection(*({_what(row) for row in one.items} for one in (dataset, *versions)))
    items = tuple(row for row in dataset.items if _what(row) in inside)
    if not items:
        raise InputError(
            f"the versions {', '.join(map(dataset_id, versions))} have no item in common, so nothing can be compared"
        )
    if len(items) == len(dataset.items):
        return dataset
    there = {row["item_id"] for row in items}
    slices = [replace(part, item_ids=tuple(item for item in part.item_ids if item in there)) for part in dataset.slices]
    return replace(dataset, items=items, slices=tuple(part for part in slices if part.item_ids))


def _what(row: Plain) -> tuple[object, ...]:
    return tuple(row.get(column) for column in _SCORED)


def within(submission: Submission, version: Dataset, common: Dataset) -> Submission:
    """What a submission says of ``common`` items.

    Args:
        submission: that was checked.
        version: of the dataset that it was scored on.
        common: what ``common_part`` gave. Numbers of sets stay for slices that hold the same items in both.
    """
    inside = {row["item_id"] for row in common.items}
    before, now = ({part.name: set(part.item_ids) for part in (*one.slices, everything(one))} for one in (version, common))
    same = {name for name, items in now.items() if before.get(name) == items}
    header = submission.header
    return replace(
        submission,
        header=replace(
            header,
            predictions={item: fact for item, fact in header.predictions.items() if item in inside},
            failures={item: why for item, why in header.failures.items() if item in inside},
            measured={item: hashes for item, hashes in header.measured.items() if item in inside},
        ),
        scores=tuple(row for row in submission.scores if row.item_id in inside),
        slice_scores=tuple(row for row in submission.slice_scores if row.slice in same),
    )


class Sample(NamedTuple):
    """Sample of the items that are measured again."""

    items: int
    """Items of each submission."""
    seed: int
    workers: int = 1


def gather(
    folder: Path,
    *,
    root: Path,
    protocol: Protocol,
    earlier: Sequence[Path] = (),
    fingerprint: str | None = None,
    sample: Sample | None = None,
    trusted: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Board:
    """Every ``*.zip`` in a folder, by name; one that cannot stand is left out with its reason.

    Args:
        folder: with the submissions.
        root: folder of the dataset.
        protocol: of the leaderboard.
        earlier: folders with manifests of earlier versions of the dataset. A submission on one of them stands where it has items
            in common with the dataset; all submissions are then compared on the items that all their versions have in common.
        fingerprint: the protocol's own by default; another for one precision or pose estimator.
        sample: measure some items again; None = not at all, and then no submission competes unless it is ``trusted``.
        trusted: those too compete whose pixels were not measured again.
        progress: told after every file.

    Raises:
        InputError: no submission is there, or none can stand; their versions have no item in common.
        RunError: the processes that measure again cannot work, which is no submission's fault.
    """
    paths = sorted(folder.glob("*.zip")) if folder.is_dir() else []
    if not paths:
        raise InputError(f"no submission (*.zip) in {str(folder)!r}; `inpaintbench eval submit` makes one")
    dataset, manifest = frozen.load(root), file_sha256(root / frozen.MANIFEST)
    versions = {manifest: dataset} | {file_sha256(one / frozen.MANIFEST): frozen.load(one) for one in earlier}
    entries: list[Entry] = []
    refused: list[Refused] = []
    for done, path in enumerate(paths, 1):
        try:
            submission = read_submission(path)
            same = next((entry for entry in entries if entry.submission.identity == submission.identity), None)
            if same:
                raise InputError(f"it is the same as {same.submission.path.name}")
            wanted = fingerprint or protocol.fingerprint
            own = submission.header.manifest_sha256 if submission.header.manifest_sha256 in versions else manifest
            if own == manifest and (known := frozen.version_of(dataset, submission.header.manifest_sha256)):
                raise InputError(f"it is of {known}, an earlier version; give the folder with that manifest as --earlier")
            check(submission, versions[own], manifest_sha256=own, protocol=protocol, fingerprint=wanted)
            submission = within(submission, versions[own], common_part(dataset, [versions[own]]))
            verdict = None
            if sample:
                with tempfile.TemporaryDirectory() as place:
                    verdict = verify(
                        submission, dataset, root=root, protocol=protocol, items=sample.items, seed=sample.seed,
                        folder=Path(place) / "run", workers=sample.workers,
                    )  # fmt: skip
                check_agrees(verdict)
            entries.append(Entry(submission.header.method, submission, {}, verdict, dataset_id(versions[own]), trusted))
        except InputError as error:
            refused.append(Refused(_shown(path.name), _shown(str(error))))
        if progress:
            progress("submissions", done, len(paths))
    if not entries:
        first = refused[0]
        raise InputError(f"none of {len(paths)} submissions in {str(folder)!r} can stand; {first.name}: {first.reason}")
    used = [versions[sha256] for sha256 in dict.fromkeys(entry.submission.header.manifest_sha256 for entry in entries)]
    common = common_part(dataset, used)
    compared = []
    for entry in entries:
        submission = within(entry.submission, versions[entry.submission.header.manifest_sha256], common)
        compared.append(replace(entry, submission=submission, missing=missing_items(submission, common)))
    return Board(common, protocol, _told_apart(compared), refused, items=len(dataset.items))


def _told_apart(entries: list[Entry]) -> list[Entry]:
    """Entries with the file's name behind a label that several submissions chose."""
    counts = Counter(entry.label for entry in entries)
    taken = {label for label, count in counts.items() if count == 1}
    found = []
    for entry in entries:
        label = entry.label
        if counts[label] > 1:
            label = f"{label} ({_shown(entry.submission.path.stem)})"
            while label in taken:
                label += "*"
            taken.add(label)
        found.append(replace(entry, label=label))
    return found


def _shown(text: str) -> str:
    """Text that can be written into a page: strangers' files may have any name and hold any letter."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


_MEASURING = ("inpaintbench", "numpy", "opencv-python-headless", "opencv-python", "scikit-image", "torch", "av")


def pack(
    path: Path,
    *,
    workspace: Workspace,
    root: Path,
    protocol: str,
    method: str,
    card: bytes,
    scores: Sequence[Score],
    slice_scores: Sequence[SliceScore] = (),
    with_predictions: bool = False,
) -> Submission:
    """Write the submission ``path``, after the checks that a leaderboard makes. The same run gives the same bytes.

    Args:
        path: the ZIP file to write.
        workspace: the run folder.
        root: folder of the dataset.
        protocol: name of the protocol.
        method: the method's label.
        card: the method card, TOML.
        scores: of the method under the protocol.
        slice_scores: the same for slices.
        with_predictions: put in the files that were scored, so that a leaderboard can measure some again.

    Raises:
        InputError: a card or scores that no leaderboard would take, or a prediction that is no longer there.
        WorkspaceError: the file cannot be written.
    """
    checked_name(method, "method label")
    chosen: Protocol = PROTOCOLS.get(protocol)
    dataset, step = frozen.load(root), predict_step(method)
    check_truths(dataset)
    known = {row["item_id"] for row in dataset.items}
    own = sorted((row for row in scores if row.method == method), key=lambda row: (row.item_id, row.metric, row.region))
    sets = sorted((row for row in slice_scores if row.method == method), key=lambda row: (row.slice, row.metric, row.region))
    predictions = [row for row in workspace.table("predictions", Prediction, step=step) if row.item_id in known]
    refused = workspace.table("rejected", Rejection, step=step)
    texts = {CARD: card, SCORES: rows_bytes(own), SLICE_SCORES: rows_bytes(sets)}
    blobs = sorted({row.blob for row in predictions}) if with_predictions else []
    facts = {row.item_id: asdict(row) for row in predictions}
    for fact in facts.values():
        del fact["method"], fact["item_id"], fact["known_db"]  # the effort has its range
        if fact["ceiling_db"] is None:
            del fact["ceiling_db"]
    versions = {"python": platform.python_version()}
    for name in _MEASURING:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    header = Header(
        format_version=FORMAT_VERSION,
        method=method,
        dataset=dataset.name,
        manifest_sha256=file_sha256(root / frozen.MANIFEST),
        protocol=protocol,
        fingerprint=own[0].fingerprint if own else chosen.fingerprint,
        constants=chosen.model_dump(mode="json"),
        versions=versions,
        predictions=facts,
        failures={row.subject_id: row.reason for row in refused if row.subject_id in known},
        files={
            **{name: hashlib.sha256(data).hexdigest() for name, data in texts.items()},
            **{f"{PREDICTIONS}{name}": name.partition(".")[0] for name in blobs},
        },
        reference=method in references_in(workspace),
        effort=efforts_of(workspace, dataset, [method])[method].told,
        measured={row.item_id: dict(row.measured) for row in own if row.measured},
    )
    texts = {HEADER: header_bytes(header), **texts}
    identity = hashlib.sha256(texts[HEADER]).hexdigest()
    made = Submission(path, identity, header, read_card(card), tuple(own), tuple(sets), tuple(blobs))
    check(made, dataset, manifest_sha256=header.manifest_sha256, protocol=chosen, fingerprint=header.fingerprint)
    _write(path, texts, {f"{PREDICTIONS}{name}": workspace.blobs.path(name) for name in blobs})
    return made


def _write(path: Path, texts: dict[str, bytes], blobs: dict[str, Path]) -> None:
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(temporary, "w") as archive:
            for name, data in texts.items():
                archive.writestr(zip_entry(name), data, compresslevel=9)
            for name, blob in blobs.items():
                if not blob.is_file() or file_sha256(blob) != blob.name.partition(".")[0]:
                    raise InputError(f"the prediction {blob.name!r} is gone or damaged; run `inpaintbench eval run` again")
                with blob.open("rb") as file, archive.open(zip_entry(name, compressed=False), "w", force_zip64=True) as inside:
                    while part := file.read(1 << 20):
                        inside.write(part)
        temporary.replace(path)
    except OSError as error:
        raise WorkspaceError(f"submission {str(path)!r} cannot be written: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)
