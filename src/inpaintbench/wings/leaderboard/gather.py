"""Collection of the submissions in a folder of files that strangers sent."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from inpaintbench import frozen
from inpaintbench.errors import InputError
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.parts import everything
from inpaintbench.files import file_sha256
from inpaintbench.frozen import dataset_id
from inpaintbench.types import Dataset, Plain
from inpaintbench.wings.leaderboard.board import Board, Entry, Refused
from inpaintbench.wings.leaderboard.checking import check, missing_items
from inpaintbench.wings.leaderboard.unpack import Submission, read_submission
from inpaintbench.wings.leaderboard.verify import check_agrees, verify

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
