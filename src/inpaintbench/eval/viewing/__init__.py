"""Opening reports, datasets and runs in a browser: what lies in a folder, and a server of this machine with its pages.

They are made when they are asked for: the list, two reports side by side, the items of a dataset.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Literal
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from inpaintbench import frozen, manifest, pages
from inpaintbench.catalogue import joined
from inpaintbench.errors import InpaintBenchError, InputError, VerifyError
from inpaintbench.eval.results.quantity import metric_label, metric_leaf, slice_label
from inpaintbench.eval.results.slices import split_step
from inpaintbench.pages import Cell, Column, Link, Row, Table
from inpaintbench.pages.words import DASH, count, number
from inpaintbench.types import Plain

Kind = Literal["report", "page", "dataset"]
REPORT_PAGE, REPORT_DATA = "report.html", "report.json"
# Pages that commands write besides reports, by the name of their file.
PAGES = {"analysis.html": "analysis", "funnel.html": "funnel", **joined("page of a command"), "index.html": "page"}
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
    found = list(_below(folder, folder, DEEPEST))
    if not found:
        raise InputError(f"{str(folder)!r} holds no report, leaderboard or dataset down to {DEEPEST} folders below it")
    return found


def _below(place: Path, root: Path, depth: int) -> Iterator[Entry]:
    """What lies in a folder, then what lies below it."""
    at = place.relative_to(root)
    if (place / manifest.MANIFEST).is_file():
        with suppress(InpaintBenchError):  # a file of that name that is no dataset
            dataset = manifest.load(place)
            yield Entry("dataset", at, dataset.name, f"version {dataset.version}, {len(dataset.items):,} items")
    else:
        if (place / REPORT_PAGE).is_file() and (place / REPORT_DATA).is_file():
            try:
                told = report_data(place)
            except InputError:
                told = {"protocol": f"{REPORT_DATA} cannot be read"}  # one damaged report hides no other
            yield Entry("report", at / REPORT_PAGE, str(told.get("title", place.name)), str(told.get("protocol", "")))
        yield from (Entry("page", at / name, place.name, what) for name, what in PAGES.items() if (place / name).is_file())
    names = sorted(entry.name for entry in os.scandir(place) if entry.is_dir(follow_symlinks=False)) if depth else []
    for name in names:
        if not name.startswith(".") and name not in _INNER:
            yield from _below(place / name, root, depth - 1)


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
    """The list of everything below a folder; each report is compared with the first, and that with the second."""
    reports = [entry.path.parent.as_posix() for entry in entries if entry.kind == "report"]
    rows = []
    for entry in entries:
        own, where = entry.path.parent.as_posix(), entry.path.as_posix()
        href = f"/.dataset?{urlencode({'at': where})}" if entry.kind == "dataset" else address(entry.path)
        kind, what = (entry.what, "") if entry.kind == "page" else (entry.kind, entry.what)
        beside = Cell("")
        if entry.kind == "report" and len(reports) > 1:
            other = reports[1] if own == reports[0] else reports[0]
            beside = Cell(f"with {other}", href=f"/.compare?{urlencode({'one': other, 'other': own})}")
        rows.append(Row((Cell(entry.title, entry.title, href=href), Cell(kind), Cell(what), Cell(where, href=href), beside)))
    heads = (Column("Title", sorts=True), Column("Kind", sorts=True), Column("What", wide=True), Column("Where", sorts=True))
    table = Table((*heads, Column("Compare")), tuple(rows), label="Everything below this folder", finds=len(rows) > 8)
    return pages.page(
        "pages/templates/plain.html",
        title=folder.name or str(folder),
        subtitle=f"{count(len(entries), 'thing')} to open below {folder}.",
        sections=[("all", "Reports, pages and datasets", "", [table])],
    )


def comparison(root: Path, one: str, other: str) -> str:
    """Means of two reports side by side: of each metric and region both have, the methods by slice, with the difference.

    Raises:
        InputError: a report cannot be read, or they have no metric in common.
    """
    told = [report_data(root / name) for name in (one, other)]
    # JSON has no infinite numbers, so reports state them as text.
    means = [
        {
            (row["metric"], row["region"], row["method"], row["slice"]): None if row["mean"] is None else float(row["mean"])
            for row in report.get("summary", ())
        }
        for report in told
    ]
    theirs = {key[:2] for key in means[1]}
    common = [key for key in dict.fromkeys(key[:2] for key in means[0]) if key in theirs]
    if not common:
        raise InputError(f"{one} and {other} have no metric in common")
    kinds = {"dataset_sha256": "of different datasets", "fingerprint": "by protocols with other constants"}
    named = [words for key, words in kinds.items() if told[0].get(key) != told[1].get(key)]
    warned = "Both are of the same dataset under the same protocol."
    if named:
        warned = f"They are {' and '.join(named)}, so a difference is not of the methods alone."
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


def _difference_table(means: Sequence[_Means], key: tuple[str, str], names: tuple[str, str]) -> Table:
    """The methods that either report has, over the slices that both have."""
    decimals = metric_leaf(key[0]).decimals
    keys = [found for found in dict.fromkeys((*means[0], *means[1])) if found[:2] == key]
    both = set.intersection(*({name for *of, _, name in found if tuple(of) == key} for found in means))
    slices = [name for name in dict.fromkeys(found[3] for found in keys) if name in both]
    rows = []
    for method in dict.fromkeys(found[2] for found in keys):
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


def dataset_page(root: Path, at: str, *, part: str = "", start: int = 0) -> str:
    """Slices of a dataset and the media of some of its items.

    Raises:
        InputError: no such dataset or slice.
    """
    dataset = manifest.load(root / at)
    chosen = next((one for one in dataset.slices if one.name == part), None)
    if part and chosen is None:
        raise InputError(f"{dataset.name} has no slice {part!r}")
    rows = {row["item_id"]: row for row in (dataset.items if chosen else dataset.items[:10_000])}
    ids = list(chosen.item_ids) if chosen else list(rows)
    start = max(0, min(start, len(ids) - 1))
    shown = [_item(rows[name], PurePosixPath(at), root) for name in ids[start : start + ITEMS_A_PAGE]]

    def link(words: str, **query: object) -> Link:
        return Link(f"/.dataset?{urlencode({'at': at, **query})}", words)

    named = [(Cell(_words(one.name), one.name, href=link("", part=one.name).href), one) for one in dataset.slices]
    heads = (Column("Slice", sorts=True), Column("Rule", wide=True), Column("Items", numeric=True))
    slices = tuple(Row((name, Cell(one.rule), Cell(f"{len(one.item_ids):,}"))) for name, one in named)
    steps = [link("Earlier items", part=part, start=max(0, start - ITEMS_A_PAGE))] if start else []
    steps += [link("More items", part=part, start=start + ITEMS_A_PAGE)] if start + ITEMS_A_PAGE < len(ids) else []
    return pages.page(
        "eval/viewing/dataset.html",
        title=dataset.name,
        subtitle=f"Version {dataset.version}: {count(len(dataset.items), 'item')} in {count(len(dataset.slices), 'slice')}.",
        links=[Link("/", "All")],
        slices=Table(heads, slices, label="Slices"),
        heading=f"{_words(part) if part else 'All items'}, {start + 1:,} to {start + len(shown):,} of {len(ids):,}",
        shown=shown,
        steps=steps,
    )


def _item(row: Plain, at: PurePosixPath, root: Path) -> dict[str, Any]:
    """An item's name and words, and of each of its media the name, the address, and whether it is a video."""
    media = []
    words = f"{row['width']}x{row['height']}, {count(row['frames'], 'frame')}, {row.get('licence') or 'licence not stated'}"
    for column in ("truth", "hole", "input"):
        if name := row.get(f"{column}_file_name"):
            try:
                frozen.proved(root / at, row, column)
            except VerifyError as error:
                words += f"; {error}"
            else:
                media.append((column, address(at / name), os.path.splitext(name)[1] == ".mp4"))
    return {"item": row["item_id"], "words": words, "media": media}


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
        asked, root = urlsplit(self.path), Path(self.directory)
        query = {name: values[0] for name, values in parse_qs(asked.query).items()}
        try:
            for name in (query.get(key, "") for key in ("one", "other", "at")):
                if not (root / name).resolve().is_relative_to(root):
                    raise ValueError(f"{name!r} lies outside the folder that is shown")
            if asked.path == "/":
                page = listing(entries(root), root)
            elif asked.path == "/.compare":
                page = comparison(root, query.get("one", ""), query.get("other", ""))
            elif asked.path == "/.dataset":
                start = int(query.get("start", "0"))
                page = dataset_page(root, query.get("at", ""), part=query.get("part", ""), start=start)
            else:
                super().do_GET()
                return
        except (InpaintBenchError, ValueError) as error:
            self.send_error(HTTPStatus.NOT_FOUND, explain=str(error))
            return
        data = page.encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

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
