"""Pages that the server makes when they are asked for: the list, two reports side by side, the items of a dataset."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Literal, NamedTuple
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from inpaintbench import frozen, manifest, pages
from inpaintbench.errors import InpaintBenchError, InputError, VerifyError
from inpaintbench.eval.results.quantity import metric_label, metric_leaf, slice_label
from inpaintbench.eval.results.slices import split_step
from inpaintbench.pages import Cell, Column, Link, Row, Table
from inpaintbench.pages.words import DASH, count, number
from inpaintbench.types import Dataset, Plain

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


ITEMS_A_PAGE = 24
_Means = Mapping[tuple[str, str, str, str], float | None]
"""(Metric, region, method, slice) -> mean."""


def address(path: Path | PurePosixPath) -> str:
    """The address of a file below the folder that is shown."""
    return "/" + quote(path.as_posix())


def listing(entries: Sequence[Entry], folder: Path) -> str:
    """The list of everything below a folder, with a choice of two reports to compare."""
    reports = [entry for entry in entries if entry.kind == "report"]
    first, *others = [entry.path.parent.as_posix() for entry in reports] or [""]
    rows = [
        Row(
            (
                Cell(entry.title, entry.title, href=_opened(entry)),
                Cell(entry.kind if entry.kind != "page" else entry.what),
                Cell("" if entry.kind == "page" else entry.what),
                Cell(entry.path.as_posix(), href=_opened(entry)),
                _comparison(entry, first, others),
            )
        )
        for entry in entries
    ]
    heads = (Column("Title", sorts=True), Column("Kind", sorts=True), Column("What", wide=True), Column("Where", sorts=True))
    table = Table((*heads, Column("Compare")), tuple(rows), label="Everything below this folder", finds=len(rows) > 8)
    return pages.page(
        "pages/templates/plain.html",
        title=folder.name or str(folder),
        subtitle=f"{count(len(entries), 'thing')} to open below {folder}.",
        sections=[("all", "Reports, pages and datasets", "", [table])],
    )


def _opened(entry: Entry) -> str:
    return f"/.dataset?{urlencode({'at': entry.path.as_posix()})}" if entry.kind == "dataset" else address(entry.path)


def _comparison(entry: Entry, first: str, others: Sequence[str]) -> Cell:
    """A link that compares a report with the first one; the first, with the second."""
    mine = entry.path.parent.as_posix()
    if entry.kind != "report" or not others:
        return Cell("")
    other = others[0] if mine == first else first
    return Cell(f"with {other}", href=f"/.compare?{urlencode({'one': other, 'other': mine})}")


def comparison(root: Path, one: str, other: str) -> str:
    """Means of two reports side by side: of each metric and region both have, the methods by slice, with the difference.

    Raises:
        InputError: a report cannot be read, or they have no metric in common.
    """
    told = [report_data(root / name) for name in (one, other)]
    means = [_means(report) for report in told]
    common = [key for key in dict.fromkeys(key[:2] for key in means[0]) if any(key == found[:2] for found in means[1])]
    if not common:
        raise InputError(f"{one} and {other} have no metric in common")
    warned = _differences(told)
    tables = [_difference_table(means, key, names=(one, other)) for key in common]
    return pages.page(
        "pages/templates/plain.html",
        title="Two reports",
        subtitle=f"{one} against {other}. {warned}",
        links=[Link("/", "All")],
        sections=[
            (f"t{place}", f"{metric_label(metric)}, {region}", "", [table])
            for place, ((metric, region), table) in enumerate(zip(common, tables, strict=True))
        ],
    )


def _means(report: Mapping[str, Any]) -> _Means:
    # JSON has no infinite numbers, so reports state them as text.
    return {
        (row["metric"], row["region"], row["method"], row["slice"]): None if row["mean"] is None else float(row["mean"])
        for row in report.get("summary", ())
    }


def _differences(told: Sequence[Mapping[str, Any]]) -> str:
    kinds = {"dataset_sha256": "of different datasets", "fingerprint": "by protocols with other constants"}
    named = [words for key, words in kinds.items() if told[0].get(key) != told[1].get(key)]
    return (
        f"They are {' and '.join(named)}, so a difference is not of the methods alone."
        if named
        else ("Both are of the same dataset under the same protocol.")
    )


def _difference_table(means: Sequence[_Means], key: tuple[str, str], names: tuple[str, str]) -> Table:
    decimals = metric_leaf(key[0]).decimals
    keys = [found for found in dict.fromkeys((*means[0], *means[1])) if found[:2] == key]
    slices = [
        name
        for name in dict.fromkeys(found[3] for found in keys)
        if all(any(one[:2] == key and one[3] == name for one in found) for found in means)
    ]
    methods = list(dict.fromkeys(found[2] for found in keys))
    rows = []
    for method in methods:
        cells = [Cell(method, method)]
        for part in slices:
            first, second = (found.get((*key, method, part)) for found in means)
            change = None if first is None or second is None or math.isinf(first - second) else second - first
            texts = [DASH if value is None else number(value, decimals) for value in (first, second)]
            same = change is not None and f"{change:.{decimals}f}".strip("-0.") == ""
            note = "" if change is None else "the same" if same else f"{change:+.{decimals}f}"
            cells.append(Cell(" → ".join(texts) if not same else texts[0], change, note=note))
        rows.append(Row(tuple(cells)))
    columns = [Column("Method", sorts=True)]
    for part in slices:
        label, level = slice_label(part), split_step(part)[1]
        columns.append(Column(level or label, numeric=True, sorts=True, group=label if level else ""))
    return Table(tuple(columns), tuple(rows), label=f"{names[0]} against {names[1]}", picks_columns=len(slices) > 4)


def _words(name: str) -> str:
    return " ".join(filter(None, (slice_label(name), split_step(name)[1])))


class _Shown(NamedTuple):
    """An item of a dataset on its page."""

    item: str
    words: str
    media: tuple[tuple[str, str, bool], ...]
    """Name, address, whether it is a video."""


def dataset_page(root: Path, at: str, *, part: str = "", start: int = 0) -> str:
    """Slices of a dataset and the media of some of its items.

    Raises:
        InputError: no such dataset or slice.
    """
    dataset = manifest.load(root / at)
    chosen = next((one for one in dataset.slices if one.name == part), None)
    if part and chosen is None:
        raise InputError(f"{dataset.name} has no slice {part!r}")
    ids = list(chosen.item_ids) if chosen else [row["item_id"] for row in dataset.items[:10_000]]
    start = max(0, min(start, len(ids) - 1))
    by_id = {row["item_id"]: row for row in dataset.items} if chosen else {row["item_id"]: row for row in dataset.items[:10_000]}
    shown = [_item(by_id[name], PurePosixPath(at), root) for name in ids[start : start + ITEMS_A_PAGE]]

    def link(words: str, **query: object) -> Link:
        return Link(f"/.dataset?{urlencode({'at': at, **query})}", words)

    return pages.page(
        "eval/viewing/dataset.html",
        title=dataset.name,
        subtitle=f"Version {dataset.version}: {count(len(dataset.items), 'item')} in {count(len(dataset.slices), 'slice')}.",
        links=[Link("/", "All")],
        slices=_slice_table(dataset, link),
        heading=f"{_words(part) if part else 'All items'}, {start + 1:,} to {start + len(shown):,} of {len(ids):,}",
        shown=shown,
        steps=[
            *([link("Earlier items", part=part, start=max(0, start - ITEMS_A_PAGE))] if start else []),
            *([link("More items", part=part, start=start + ITEMS_A_PAGE)] if start + ITEMS_A_PAGE < len(ids) else []),
        ],
    )


def _slice_table(dataset: Dataset, link: Any) -> Table:
    rows = [
        Row(
            (
                Cell(_words(one.name), one.name, href=link("", part=one.name).href),
                Cell(one.rule),
                Cell(f"{len(one.item_ids):,}"),
            )
        )
        for one in dataset.slices
    ]
    return Table(
        (Column("Slice", sorts=True), Column("Rule", wide=True), Column("Items", numeric=True)), tuple(rows), label="Slices"
    )


def _item(row: Plain, at: PurePosixPath, root: Path) -> _Shown:
    media = []
    words = f"{row['width']}x{row['height']}, {count(row['frames'], 'frame')}, {row.get('licence') or 'licence not stated'}"
    for column in ("truth", "hole", "input"):
        name = row.get(f"{column}_file_name")
        if not name:
            continue
        try:
            frozen.proved(root / at, row, column)
        except VerifyError as error:
            words += f"; {error}"
        else:
            media.append((column, address(at / name), os.path.splitext(name)[1] == ".mp4"))
    return _Shown(row["item_id"], words, tuple(media))


_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


def server(folder: Path, *, host: str = "127.0.0.1", port: int = 0) -> ThreadingHTTPServer:
    """A server that listens; ``serve_forever`` answers. With port 0 the system chooses one.

    Raises:
        OSError: the port is taken.
    """
    root = folder.resolve()

    class Handler(_Handler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(root))

    return ThreadingHTTPServer((host, port), Handler)


class _Handler(SimpleHTTPRequestHandler):
    """Files as they are, but for the addresses of pages that are made when they are asked for."""

    _left: int | None = None
    """Bytes that are still to be sent of the part that was asked for; None for whole files."""

    def do_GET(self) -> None:
        """Answer with a page or with a file."""
        asked = urlsplit(self.path)
        try:
            page = self._made(asked.path, {name: values[0] for name, values in parse_qs(asked.query).items()})
        except (InpaintBenchError, ValueError) as error:
            self.send_error(HTTPStatus.NOT_FOUND, explain=str(error))
            return
        if page is None:
            super().do_GET()
            return
        data = page.encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _made(self, path: str, query: dict[str, str]) -> str | None:
        root = Path(self.directory)
        if path == "/":
            return listing(entries(root), root)
        if path == "/.compare":
            one, other = (self._inside(query.get(name, "")) for name in ("one", "other"))
            return comparison(root, one, other)
        if path == "/.dataset":
            at = self._inside(query.get("at", ""))
            return dataset_page(root, at, part=query.get("part", ""), start=int(query.get("start", "0")))
        return None

    def _inside(self, name: str) -> str:
        root = Path(self.directory)
        if not (root / name).resolve().is_relative_to(root):
            raise ValueError(f"{name!r} lies outside the folder that is shown")
        return name

    def send_head(self) -> Any:
        """The head of a file, or of the part of it that was asked for."""
        place = Path(self.translate_path(self.path))
        asked = _RANGE.fullmatch(self.headers.get("Range", ""))
        self._left = None
        if not place.resolve().is_relative_to(Path(self.directory)):
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        if asked is None or not place.is_file():
            return super().send_head()
        size = place.stat().st_size
        begin = int(asked[1]) if asked[1] else max(0, size - int(asked[2] or 0))
        end = min(int(asked[2]), size - 1) if asked[1] and asked[2] else size - 1
        if begin > end:
            self.send_error(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
            return None
        file = place.open("rb")
        file.seek(begin)
        self._left = end - begin + 1
        self.send_response(HTTPStatus.PARTIAL_CONTENT)
        self.send_header("Content-Type", self.guess_type(str(place)))
        self.send_header("Content-Range", f"bytes {begin}-{end}/{size}")
        self.send_header("Content-Length", str(self._left))
        self.end_headers()
        return file

    def end_headers(self) -> None:
        """Files may be written anew while they are looked at, so nothing is kept, and parts may be asked for."""
        self.send_header("Cache-Control", "no-store")
        self.send_header("Accept-Ranges", "bytes")
        super().end_headers()

    def copyfile(self, source: Any, outputfile: BinaryIO) -> None:  # type: ignore[override]
        """Send a file, or as much of it as was asked for."""
        if self._left is None:
            shutil.copyfileobj(source, outputfile)
            return
        while self._left > 0 and (piece := source.read(min(1 << 16, self._left))):
            outputfile.write(piece)
            self._left -= len(piece)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the name that the library gives it
        """Say nothing of requests."""
