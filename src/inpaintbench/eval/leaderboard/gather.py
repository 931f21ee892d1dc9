"""Collection of the submissions in a folder of files that strangers sent."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from inpaintbench import frozen
from inpaintbench.errors import InputError
from inpaintbench.eval.leaderboard.board import Board, Entry, Refused
from inpaintbench.eval.leaderboard.checking import check, missing_items
from inpaintbench.eval.leaderboard.unpack import Submission, read_submission
from inpaintbench.eval.leaderboard.verify import Verdict, check_agrees, verify
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.files import file_sha256
from inpaintbench.types import Dataset


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
    fingerprint: str | None = None,
    sample: Sample | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Board:
    """Every ``*.zip`` in a folder, by name; one that cannot stand is left out with its reason.

    Args:
        folder: with the submissions.
        root: folder of the dataset.
        protocol: of the leaderboard.
        fingerprint: the protocol's own by default; another for one precision or pose estimator.
        sample: measure some items again; None = not at all.
        progress: told after every file.

    Raises:
        InputError: no submission is there, or none can stand.
        RunError: the processes that measure again cannot work, which is no submission's fault.
    """
    paths = sorted(folder.glob("*.zip")) if folder.is_dir() else []
    if not paths:
        raise InputError(f"no submission (*.zip) in {str(folder)!r}; `inpaintbench eval submit` makes one")
    dataset, manifest = frozen.load(root), file_sha256(root / frozen.MANIFEST)
    entries: list[Entry] = []
    refused: list[Refused] = []
    for done, path in enumerate(paths, 1):
        try:
            submission = read_submission(path)
            same = next((entry for entry in entries if entry.submission.identity == submission.identity), None)
            if same:
                raise InputError(f"it is the same as {same.submission.path.name}")
            wanted = fingerprint or protocol.fingerprint
            check(submission, dataset, manifest_sha256=manifest, protocol=protocol, fingerprint=wanted)
            verdict = _verdict(submission, dataset, root, protocol, sample) if sample else None
            entries.append(Entry(submission.header.method, submission, missing_items(submission, dataset), verdict))
        except InputError as error:
            refused.append(Refused(_shown(path.name), _shown(str(error))))
        if progress:
            progress("submissions", done, len(paths))
    if not entries:
        first = refused[0]
        raise InputError(f"none of {len(paths)} submissions in {str(folder)!r} can stand; {first.name}: {first.reason}")
    return Board(dataset, protocol, _told_apart(entries), refused)


def _verdict(submission: Submission, dataset: Dataset, root: Path, protocol: Protocol, sample: Sample) -> Verdict:
    with tempfile.TemporaryDirectory() as place:
        found = verify(
            submission, dataset, root=root, protocol=protocol, items=sample.items, seed=sample.seed, folder=Path(place) / "run",
            workers=sample.workers,
        )  # fmt: skip
    check_agrees(found)
    return found


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
