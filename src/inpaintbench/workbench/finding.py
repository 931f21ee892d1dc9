"""What lies below folders, and can be opened, with what it says of itself."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from inpaintbench import manifest
from inpaintbench.catalogue import joined
from inpaintbench.errors import InpaintBenchError, InputError
from inpaintbench.files import measured_sha256
from inpaintbench.mirrors import shown
from inpaintbench.pages.words import count
from inpaintbench.steps import predicted_label
from inpaintbench.types import Clip, Dataset, Prediction, Score
from inpaintbench.workspace import Workspace

Kind = Literal["dataset", "workspace", "run", "study", "leaderboard", "report", "page"]
REPORT_PAGE, REPORT_DATA, STUDY = "report.html", "report.json", "study.json"
JOURNAL = "journal.sqlite"
# Pages that commands write besides reports, by the name of their file.
PAGES = {"analysis.html": "analysis", "funnel.html": "funnel", **joined("page of a command"), "index.html": "page"}
# Files that state a leaderboard, each with what reads its title, a sentence and its rows.
BOARDS = joined("rows of a leaderboard")
# What is wrong with one folder hides no other.
_UNREADABLE = (InpaintBenchError, OSError, pa.ArrowException)
# How far down a folder is searched: WORKSPACE/run/report is three.
DEEPEST = 4
# Folders of workspaces that hold thousands of files and none of these.
_INNER = frozenset({"blobs", "ledger", "scratch", "tables", "logs", "media", "truth", "holes", "inputs", "published"})


@dataclass(frozen=True)
class Thing:
    """One thing that can be opened."""

    kind: Kind
    key: str
    """``0/PATH``: the number of the folder that was given, and the place below it."""
    title: str
    what: str
    """Protocol of a report, sort of a page, version and size of a dataset, what a run holds."""
    date: str = ""
    """Of its last change, UTC, to the second."""
    page: str = ""
    """Key of the page to open, for reports and pages, and of the report of a run."""
    methods: tuple[tuple[str, str, str], ...] = ()
    """Of runs: protocol, fingerprint and label of whatever was scored."""
    predicted: dict[str, int] = field(default_factory=dict)
    """Of runs: label -> predictions."""
    dataset: str = ""
    """Of runs: key of the dataset that it is of, where that lies below the folders too. Of reports: SHA-256 of theirs and the
    fingerprint of the protocol, by which means can be compared."""


class Folders:
    """The folders that are shown.

    Args:
        roots: at least one.

    Raises:
        InputError: one is no folder.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        self.roots = [root.resolve() for root in roots]
        for given, root in zip(roots, self.roots, strict=True):
            if not root.is_dir():
                raise InputError(
                    f"{str(given)!r} is no folder; give that of a run, a report, a dataset, or one that holds several"
                )

    def place(self, key: str) -> Path:
        """Where a key lies.

        Raises:
            InputError: outside of the folders, or nothing is there.
        """
        number, _, inner = key.partition("/")
        if number.isdecimal() and int(number) < len(self.roots):
            root = self.roots[int(number)]
            place = root / inner
            with suppress(OSError, ValueError):  # no path at all
                if place.resolve().is_relative_to(root) and place.exists():
                    return place
        raise InputError(f"{key!r} is nothing below the folders that are shown")

    def things(self) -> list[Thing]:
        """Everything that can be opened, in the order of paths.

        Raises:
            InputError: there is nothing. VerifyError: nothing but a dataset that is damaged.
        """
        found = [thing for number, root in enumerate(self.roots) for thing in _below(root, root, str(number), DEEPEST)]
        if not found:
            for root in self.roots:
                if (root / manifest.MANIFEST).is_file():
                    opened(root)  # raises what is wrong with it
            names = " and ".join(repr(str(root)) for root in self.roots)
            raise InputError(f"{names} holds no report, run, leaderboard or dataset down to {DEEPEST} folders below it")
        datasets = [(thing.key, self.place(thing.key)) for thing in found if thing.kind == "dataset"]
        return [replace(one, dataset=self._dataset_of(one, datasets)) if one.kind == "run" else one for one in found]

    def _dataset_of(self, run: Thing, datasets: Sequence[tuple[str, Path]]) -> str:
        try:
            return dataset_of(self.place(run.key), datasets)
        except _UNREADABLE:
            return ""


def _below(place: Path, root: Path, number: str, depth: int) -> Iterator[Thing]:
    """What lies in a folder, then what lies below it."""
    inner = place.relative_to(root).as_posix()
    key, name = (f"{number}/{inner}" if inner != "." else f"{number}/"), shown(str(place)).rpartition("/")[2] or str(place)

    def thing(kind: Kind, title: str, what: str, file: str, **more: Any) -> Thing:
        changed = datetime.fromtimestamp((place / file).stat().st_mtime, UTC).isoformat(timespec="seconds")
        return Thing(kind, key, title, what, changed, **more)

    if (place / manifest.MANIFEST).is_file():
        with suppress(InpaintBenchError):  # a file of that name that is no dataset
            dataset = opened(place)
            yield thing(
                "dataset", dataset.name, f"version {dataset.version}, {count(len(dataset.items), 'item')}", manifest.MANIFEST
            )
    else:
        pages = {file: what for file, what in PAGES.items() if (place / file).is_file()}
        if (place / REPORT_PAGE).is_file() and (place / REPORT_DATA).is_file():
            try:
                told = report_data(place)
            except InputError:
                told = {"protocol": f"{REPORT_DATA} cannot be read"}  # one damaged report hides no other
            what, own = str(told.get("protocol", "")), f"{key.rstrip('/')}/{REPORT_PAGE}"
            of = f"{told.get('dataset_sha256', '')} {told.get('fingerprint', '')}"
            yield thing("report", str(told.get("title", name)), what, REPORT_DATA, page=own, dataset=of)
        if board := next((file for file in BOARDS if (place / file).is_file()), ""):
            page = next(iter(pages), "")
            yield thing("leaderboard", name, "leaderboard", board, page=f"{key.rstrip('/')}/{page}" if page else "")
            pages = {}
        for file, what in pages.items():
            yield thing("page", name, what, file, page=f"{key.rstrip('/')}/{file}")
        if (place / STUDY).is_file():
            said = (file for file in (f"{JOURNAL}-wal", JOURNAL) if (place / file).is_file())
            yield thing("study", name, "study of raters", next(said, STUDY))
        if (place / "workspace.json").is_file():
            try:
                yield from _of_workspace(Workspace(place, create=False), thing, name)
            except _UNREADABLE as error:  # of another version, or damaged
                kind: Kind = "run" if (place / "tables" / "predictions").is_dir() else "workspace"
                yield thing(kind, name, f"cannot be read: {error}", "workspace.json")
    names = sorted(entry.name for entry in os.scandir(place) if entry.is_dir(follow_symlinks=False)) if depth else []
    for below in names:
        if not below.startswith(".") and below not in _INNER:
            yield from _below(place / below, root, number, depth - 1)


def _of_workspace(workspace: Workspace, thing: Any, name: str) -> Iterator[Thing]:
    """A folder may hold footage, predictions and scores at once."""
    tables = workspace.path / "tables"
    if (tables / "clips").is_dir():
        clips = workspace.columns("clips", Clip, columns=["clip_id"]).num_rows
        yield thing("workspace", name, count(clips, "clip"), "tables/clips")
    predicted = {label: rows for label, rows in _predicted(workspace).items() if rows}
    if predicted or (workspace.path / "dataset.sha256").is_file():
        scored = scored_in(workspace)
        protocols = list(dict.fromkeys(protocol for protocol, *_ in scored))
        what = f"{count(len(predicted), 'method')}, {', '.join(protocols) or 'not scored'}"
        report = "report/report.html" if (workspace.path / "report" / REPORT_PAGE).is_file() else ""
        file = "tables/scores" if (tables / "scores").is_dir() else "workspace.json"
        made = thing("run", name, what, file, methods=scored, predicted=predicted)
        yield Thing(**{**asdict(made), "page": f"{made.key.rstrip('/')}/{report}" if report else ""})


def _predicted(workspace: Workspace) -> dict[str, int]:
    steps = {label: step for step in workspace.steps("predictions") if (label := predicted_label(step)) is not None}
    folder = workspace.path / "tables" / "predictions"
    return {label: pq.read_metadata(folder / f"{step}.parquet").num_rows for label, step in steps.items()}


def scored_in(workspace: Workspace) -> tuple[tuple[str, str, str], ...]:
    """Protocol, fingerprint and label of whatever was scored, sorted."""
    found: dict[tuple[str, str, str], None] = {}
    for step in workspace.steps("scores"):
        path = workspace.path / "tables" / "scores" / f"{step}.parquet"
        found |= dict.fromkeys(_scored_by(path, path.stat().st_mtime_ns))
    return tuple(sorted(found))


@lru_cache(maxsize=1024)
def _scored_by(path: Path, _changed: int) -> tuple[tuple[str, str, str], ...]:
    names = ["protocol", "fingerprint", "method"]
    rows = Workspace(path.parents[2], create=False).columns("scores", Score, step=path.stem, columns=names)
    first = rows.select(names).group_by(names).aggregate([]).to_pylist()
    return tuple((row["protocol"], row["fingerprint"], row["method"]) for row in first)


def opened(root: Path) -> Dataset:
    """A dataset, read once until its manifest changes.

    Raises:
        InpaintBenchError: it cannot be read.
    """
    return _opened(root, (root / manifest.MANIFEST).stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _opened(root: Path, _changed: int) -> Dataset:
    return manifest.load(root)


def dataset_of(run: Path, datasets: Sequence[tuple[str, Path]]) -> str:
    """Key of the dataset that a run folder is of, by the hash that it keeps, else by the items that it has; empty for none."""
    known = {key: root for key, root in datasets if not root.is_relative_to(run)}
    inside = {key: root for key, root in datasets if root.is_relative_to(run)}
    marker, content = run / "dataset.sha256", run / "dataset.content"
    bound = marker.read_text(errors="replace").strip() if marker.is_file() else ""
    same = content.read_text(errors="replace").strip() if content.is_file() else ""
    ordered = {**inside, **known}
    if bound:
        exact = (key for key, root in ordered.items() if measured_sha256(root / manifest.MANIFEST) == bound)
        alike = (key for key, root in ordered.items() if manifest.content_of(opened(root)) == same)
        return next(exact, None) or next(alike, "")
    ids = Workspace(run, create=False).columns("predictions", Prediction, columns=["item_id"])["item_id"].to_pylist()
    wanted = set(ids)
    return next((key for key, root in ordered.items() if wanted and wanted <= set(manifest.column(opened(root), "item_id"))), "")


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
