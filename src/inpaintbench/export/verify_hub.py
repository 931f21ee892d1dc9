"""Prove that a dataset of the Hub is what its manifest says, all of it or a sample of its items, without keeping it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from inpaintbench.executors.base import Progress, unwatched
from inpaintbench.export import layout
from inpaintbench.export.publishing.client import Remote, Repository, opened
from inpaintbench.export.publishing.remote import Held, held
from inpaintbench.export.second_decoder import require
from inpaintbench.export.verify import Verification, prove, sampled
from inpaintbench.export.verify_files import is_ours
from inpaintbench.files import file_sha256
from inpaintbench.frozen import MANIFEST
from inpaintbench.types import Dataset

_AT_ONCE = 6


def verify_hub(
    repository: str,
    *,
    decoder: str | None = None,
    sample: int | None = None,
    seed: int = 0,
    revision: str | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Download manifest, rows, documents and the media of a sample of items; then as ``verify``.

    What the Hub states of the other media, their SHA-256, must be what the manifest says; their bytes are not looked at.

    Args:
        repository: ``OWNER/NAME``.
        decoder: second decoder; by default the first that is installed.
        sample: items whose media are downloaded and decoded, drawn by ``seed``; None = all.
        seed: another one draws other items.
        revision: branch, tag or commit.
        progress: told (stage, done, total).

    Raises:
        InputError: not a frozen dataset; a sample of no items; unknown or missing decoder.
        NetworkError: the Hub refuses, or cannot be reached.
        VerifyError: the manifest is damaged.
    """
    if decoder:
        require(decoder)
    report = progress or unwatched
    result = Verification()
    with tempfile.TemporaryDirectory(prefix="inpaintbench-verify-") as place, opened(repository) as hub:
        root = Path(place) / "dataset"
        root.mkdir()
        there = held(hub, root, revision=revision)
        rows = sampled(there.dataset, sample, seed=seed)
        media = {name for row in there.dataset.items for name in layout.media_names(row)}
        wanted = (set(there.dataset.files) - media) | {name for row in rows for name in layout.media_names(row)}
        problems = list(_listing_problems(there.dataset, there.listed, brought=wanted))
        problems += _downloaded(hub, there, sorted(wanted & set(there.listed)), root, report, result)
        result.problems += problems
        others = sorted(media - wanted)
        if others:
            stated = sum(1 for name in others if (remote := there.listed.get(name)) and remote.sha256)
            result.not_looked_at.append(f"the bytes of {len(others)} files, of which the Hub states {stated} hashes")
        for name in others:  # configs load by the names alone
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).touch()
        prove(root, there.dataset, result, rows=rows, whole=not problems, decoder=decoder, progress=report)
    return result


def _listing_problems(dataset: Dataset, listed: Mapping[str, Remote], *, brought: Set[str]) -> Iterator[str]:
    present = {name for name in listed if is_ours(name)} - {MANIFEST}
    yield from (f"{name}: missing" for name in sorted(set(dataset.files) - present))
    yield from (f"{name}: not in the manifest" for name in sorted(present - set(dataset.files)))
    for name in sorted((present & set(dataset.files)) - brought):
        if listed[name].sha256 not in (None, dataset.files[name]):
            yield f"{name}: changed (the SHA-256 that the Hub states differs from the manifest)"


def _downloaded(
    hub: Repository, there: Held, names: Sequence[str], root: Path, progress: Progress, result: Verification
) -> list[str]:
    problems = []
    threads = ThreadPoolExecutor(_AT_ONCE)
    try:
        running = {threads.submit(hub.download, name, commit=there.commit, folder=root): name for name in names}
        for download in as_completed(running):
            name = running[download]
            if file_sha256(download.result()) != there.dataset.files[name]:
                problems.append(f"{name}: changed (SHA-256 differs from the manifest)")
            result.files += 1
            progress("files", result.files, len(names))
    finally:
        threads.shutdown(cancel_futures=True)
    return sorted(problems)
