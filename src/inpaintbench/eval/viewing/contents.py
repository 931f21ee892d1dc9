"""Reports, leaderboards and datasets below a folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from inpaintbench import manifest
from inpaintbench.errors import InpaintBenchError, InputError

Kind = Literal["report", "page", "dataset"]
REPORT_PAGE, REPORT_DATA = "report.html", "report.json"
# Pages that commands write besides reports, by the name of their file.
PAGES = {
    "analysis.html": "analysis", "leaderboard.html": "leaderboard", "funnel.html": "funnel", "alignment.html": "alignment",
    "index.html": "page",
}  # fmt: skip
# How far down a folder is searched: WORKSPACE/run/report is three.
DEEPEST = 4
# Folders of workspaces that hold thousands of files and none of these.
_INNER = frozenset({"blobs", "ledger", "scratch", "tables", "logs", "media", "truth", "holes", "inputs", "published"})


@dataclass(frozen=True)
class Entry:
    """One thing that can be opened."""

    kind: Kind
    path: Path
    """Of the page, or of the dataset's folder; below the folder that is shown."""
    title: str
    what: str
    """Protocol of a report, sort of a page, version of a dataset."""


def entries(folder: Path) -> list[Entry]:
    """Everything that can be opened below ``folder``, in the order of paths.

    Raises:
        InputError: no such folder, or nothing in it.
    """
    if not folder.is_dir():
        raise InputError(f"{str(folder)!r} is no folder; give that of a run, a report, a dataset, or one that holds several")
    found = [entry for place in _folders(folder, DEEPEST) for entry in _in_folder(place, folder)]
    if not found:
        raise InputError(f"{str(folder)!r} holds no report, leaderboard or dataset down to {DEEPEST} folders below it")
    return found


def _folders(folder: Path, depth: int) -> Iterator[Path]:
    yield folder
    if depth:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False))
        for name in names:
            if not name.startswith(".") and name not in _INNER:
                yield from _folders(folder / name, depth - 1)


def _in_folder(place: Path, root: Path) -> Iterator[Entry]:
    if (place / manifest.MANIFEST).is_file():
        try:
            dataset = manifest.load(place)
        except InpaintBenchError:
            return  # a file of that name that is no dataset
        words = f"version {dataset.version}, {len(dataset.items):,} items"
        yield Entry("dataset", place.relative_to(root), dataset.name, words)
        return
    if (place / REPORT_PAGE).is_file() and (place / REPORT_DATA).is_file():
        try:
            told = report_data(place)
        except InputError:
            told = {"protocol": f"{REPORT_DATA} cannot be read"}  # one damaged report hides no other
        page, title = (place / REPORT_PAGE).relative_to(root), str(told.get("title", place.name))
        yield Entry("report", page, title, str(told.get("protocol", "")))
    for name, what in PAGES.items():
        if (place / name).is_file():
            yield Entry("page", (place / name).relative_to(root), place.name, what)


def report_data(folder: Path) -> dict[str, Any]:
    """``report.json`` of a report's folder.

    Raises:
        InputError: not readable, or not JSON.
    """
    try:
        told = json.loads((folder / REPORT_DATA).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{str(folder / REPORT_DATA)!r} cannot be read: {error}") from error
    if not isinstance(told, dict):
        raise InputError(f"{str(folder / REPORT_DATA)!r} is no report")
    return told
