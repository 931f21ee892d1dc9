"""Lists of the user's own: addresses in CSV, TSV, JSON lines, Parquet or plain text, and ids of single videos of Flickr.

``devil_flickr.csv`` holds facts of the configuration of DEVIL's released devkit (CVPR 2022, github.com/MichiganCOG/devil, MIT):
234 ids of videos that were used, 95 that its filter excludes, and the four accounts whose uploads were searched. That filter asks
for landscape, more than 1,000 kbit/s on average and 1920x1080. Nothing of it says what is still there, or under which licence:
Flickr is asked.
"""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa

from inpaintbench.catalogue import unknown_name
from inpaintbench.download import Limits, ask, download, safe_name, utc_now, without_query
from inpaintbench.errors import InputError, UnknownNameError, reason_of
from inpaintbench.files import open_text, read_text
from inpaintbench.lazily import lazily
from inpaintbench.types import content_id
from inpaintbench.wings.fetch.base import Candidate, Fetched, Fetcher, Licence

pq = lazily("pyarrow.parquet")

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".txt")
# Columns with a meaning -> field of `Candidate`; all others are kept as details.
COLUMNS = {
    "url": "url", "licence": "licence", "license": "licence", "licence_url": "licence_url", "license_url": "licence_url",
    "author": "author", "page": "page_url", "page_url": "page_url", "title": "title",
}  # fmt: skip
_LONGEST_NUMBER = 15  # digits that a float holds exactly; longer ones are names
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
_BATCH_ROWS = 4096


@dataclass(frozen=True)
class Entry:
    """One row of a list."""

    where: str
    """Such as ``list.csv, line 3``, for errors."""
    values: Mapping[str, Any]
    """By column, names in lower case."""
    fault: str | None = None
    """Why the row cannot be read; None where it can."""


def listed(path: Path, *, version: str) -> Iterator[Candidate]:
    """Every address of a list once, in the list's order; lines without one are refused candidates, named by their lines.

    Args:
        path: the list.
        version: of the leaf that fetches them; part of each candidate's content.

    Raises:
        InputError: it cannot be read, has no column `url`, or holds not one address; the first line's fault is told.
    """
    seen: set[str] = set()
    refused: list[Candidate] = []
    for entry in entries(path):
        url = "" if entry.values.get("url") is None else str(entry.values["url"]).strip()
        fault = entry.fault or (None if url else "there is no address in the column 'url'")
        if not fault:
            try:
                parts = urlsplit(url)
                whole = bool(parts.scheme and parts.netloc)
            except ValueError:
                whole = False
            if not whole or not url.isprintable() or " " in url:
                fault = f"{without_query(url)!r} is not an address such as https://host/video.mp4"
        if fault:
            shown = without_query(url) if url.isprintable() else ""
            refused.append(Candidate(name=entry.where, url=shown, content=content_id(version, url, fault), refused=fault))
            if seen:
                yield refused.pop()
        elif url not in seen:
            if not seen:
                yield from refused
            seen.add(url)
            named, details = described(entry.values)
            name = name_of(url, title=named.get("title"))
            yield Candidate(name=name, url=url, content=content_id(version, url), details=details, key=content_id(url), **named)
    if not seen and refused:
        raise InputError(f"{refused[0].name}: {refused[0].refused}")
    if not seen:
        raise InputError(f"the list {str(path)!r} holds no addresses")


def name_of(url: str, *, title: str | None = None) -> str:
    """A short name that is the same for the same address and for no other: words of the title, else of the address."""
    path = urlsplit(without_query(url)).path
    last = Path(path.rstrip("/")).name
    stem, suffix = Path(last).stem, Path(last).suffix.lower()
    suffix = suffix if re.fullmatch(r"\.[a-z0-9]{1,5}", suffix) else ""
    words = re.sub(r"[^\w-]+", "_", unicodedata.normalize("NFC", title or "")).strip("_-")[:60].rstrip("_-")
    return f"{words or safe_name(stem or 'index')[:60]}-{content_id(url)}{suffix}"


def described(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str | float]]:
    """Contents of columns: fields of ``Candidate`` but for the address, and further facts that are numbers or words."""
    named: dict[str, Any] = {}
    details: dict[str, str | float] = {}
    for column, value in values.items():
        field = COLUMNS.get(column)
        if value is None or value == "" or field == "url":
            continue
        if field is not None:
            named.setdefault(field, str(value).strip() or None)
        elif isinstance(value, bool | int | float | str) and value == value:  # not NaN
            details[column] = value if isinstance(value, str) else float(value)
    return named, details


def entries(path: Path) -> Iterator[Entry]:
    """The rows of a list.

    Raises:
        InputError: not a list of a known kind, or damaged.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{str(path)!r} is no list: its name must end in {', '.join(SUFFIXES)}")
    read = {".csv": _table, ".tsv": _table, ".parquet": _parquet, ".txt": _text}.get(suffix, _json_lines)
    try:
        yield from read(path)
    except (OSError, UnicodeError, csv.Error, pa.ArrowException) as error:
        why = reason_of(error)
        raise InputError(f"the list {str(path)!r} cannot be read: {why}") from error


def _table(path: Path) -> Iterator[Entry]:
    with open_text(path, newline="") as file:
        rows = csv.reader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True)
        columns = [column.strip().lower() for column in next(rows, [])]
        _need_url(path, columns)
        for row in rows:
            where = f"{path.name}, line {rows.line_num}"
            if not row:
                continue
            if len(row) != len(columns):
                yield Entry(where, {}, fault=f"{len(row)} values for {len(columns)} columns")
                continue
            yield Entry(where, {column: _number(value) for column, value in zip(columns, row, strict=True)})


def _number(text: str) -> str | float:
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) and len(text) <= _LONGEST_NUMBER else text


def _text(path: Path) -> Iterator[Entry]:
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield Entry(f"{path.name}, line {number}", {"url": line.strip()})


def _json_lines(path: Path) -> Iterator[Entry]:
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            where = f"{path.name}, line {number}"
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield Entry(where, {}, fault=f"not JSON: {error}")
                continue
            if isinstance(value, dict):
                yield Entry(where, {name.strip().lower(): part for name, part in value.items()})
            else:
                yield Entry(where, {}, fault=f"not a JSON object but {line.strip()[:40]!r}")


def _parquet(path: Path) -> Iterator[Entry]:
    with pq.ParquetFile(path) as file:
        _need_url(path, [name.strip().lower() for name in file.schema_arrow.names])
        number = 0
        for batch in file.iter_batches(_BATCH_ROWS):
            for row in batch.to_pylist():
                number += 1
                yield Entry(f"{path.name}, row {number}", {name.strip().lower(): value for name, value in row.items()})


def _need_url(path: Path, columns: list[str]) -> None:
    if twice := [column for column in columns if column and columns.count(column) > 1]:
        raise InputError(f"the list {str(path)!r} has two columns {twice[0]!r}; keep one")
    if "url" not in columns:
        raise InputError(f"the list {str(path)!r} has no column 'url'; it has {', '.join(columns) or 'none at all'}")


MEDIA = ["video", "image"]


class UrlList(Fetcher):
    """Every address of a list, once each, in the list's order.

    The list is CSV, TSV, JSON lines or Parquet with the column ``url`` and, where they are known, ``licence``, ``licence_url``,
    ``author``, ``page`` and ``title``; further columns are kept as facts for rules. A ``.txt`` list holds an address a line.

    Args:
        list: path of the list; read where candidates are listed, not where they are fetched.
        media: ``video`` or ``image``: what the files are.
        allow_private, allow_hosts, allow_nets: hosts of one's own network that are asked for licences again, as in ``Limits``.

    Raises:
        InputError: no such kind of media.
    """

    name = "urls"
    version = "1"
    reads_list = True

    def __init__(
        self, *, list: str, media: str = "video", allow_private: bool = False,  # noqa: A002 - what people say
        allow_hosts: Sequence[str] = (), allow_nets: Sequence[str] = (),
    ) -> None:  # fmt: skip
        if media not in MEDIA:
            raise UnknownNameError(unknown_name("kind of media", media, MEDIA))
        self._list, self.media = Path(list), media
        self._limits = Limits(allow_private=allow_private, allow_hosts=tuple(allow_hosts), allow_nets=tuple(allow_nets))

    def candidates(self) -> Iterator[Candidate]:
        """Every address of the list; lines that hold none are refused.

        Raises:
            InputError: the list cannot be read, or holds no address.
        """
        return listed(self._list, version=self.version)

    def fetch(self, candidate: Candidate, *, part: Path, limits: Limits) -> Fetched:
        """Download it."""
        return Fetched(part, download(candidate.url, part, limits=limits))

    def licence_of(self, candidate: Candidate) -> Licence:
        """The list's word; the server is asked whether the file is still there."""
        ask(candidate.url, limits=self._limits)
        return Licence(candidate.licence, candidate.licence_url, checked_at=utc_now())


# Name that stands for a list -> its file in this folder.
SHIPPED = {"devil": "devil_flickr.csv"}
# Columns that ids may stand in, the first that there is.
_COLUMNS = ("flickr_id", "photo_id", "id", "url", "page")
_PAGE = re.compile(r"https?://(?:www\.)?flickr\.com/photos/[^/]+/(\d+)(?:[/?#].*)?")
IS_ID = re.compile(r"\d{1,20}")


def read_ids(name: str) -> tuple[str, ...]:
    """The ids of a list, each once, in its order; what is no id stays as it is, to be refused by its name.

    Args:
        name: of ``SHIPPED``; or the path of a CSV with the column ``flickr_id``, ``photo_id``, ``id``, ``url`` or ``page``, whose
            rows of another ``kind`` than video or with ``excluded`` as their ``what`` are left out; or of a text with one id or
            page a line.

    Raises:
        InputError: a list that cannot be read, or in which no id stands.
    """
    try:
        text = (files(__package__) / SHIPPED[name]).read_text(encoding="utf-8") if name in SHIPPED else read_text(Path(name))
    except (OSError, UnicodeError) as error:
        known = f"; lists that come with the program: {', '.join(SHIPPED)}"
        raise InputError(f"the list of ids {name!r} cannot be read: {reason_of(error)}{known}") from error
    if name in SHIPPED or Path(name).suffix.lower() == ".csv":
        rows = list(csv.DictReader(text.splitlines()))
        column = next((column for column in _COLUMNS if rows and column in rows[0]), None)
        if column is None:
            raise InputError(f"the list of ids {name!r} has none of the columns {', '.join(_COLUMNS)}")
        wanted = [row for row in rows if (row.get("kind") or "video") == "video" and row.get("what") != "excluded"]
        found = [(row[column] or "").strip() for row in wanted]
    else:
        found = [line.strip() for line in text.splitlines() if not line.strip().startswith("#")]
    pages = [(entry, _PAGE.fullmatch(entry)) for entry in found if entry]
    ids = tuple(dict.fromkeys(page[1] if page else entry for entry, page in pages))
    if not any(map(IS_ID.fullmatch, ids)):
        raise InputError(f"{name!r} holds no id of a video of Flickr, such as 40678437973" + (f", but {ids[0]!r}" if ids else ""))
    return ids
