"""Lists of addresses in CSV, TSV, JSON lines, Parquet or plain text, and what their columns say of the footage."""

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
import pyarrow.parquet as pq

from inpaintbench.catalogue import unknown_name
from inpaintbench.download import Limits, ask, download, safe_name, utc_now, without_query
from inpaintbench.errors import InputError, UnknownNameError, reason_of
from inpaintbench.files import open_text, read_text
from inpaintbench.types import content_id
from inpaintbench.wings.fetch.base import Candidate, Fetched, Fetcher, Licence

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
        if fault := entry.fault or _fault(url):
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
            if line.strip():
                yield _object(line, f"{path.name}, line {number}")


def _object(line: str, where: str) -> Entry:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Entry(where, {}, fault=f"not JSON: {error}")
    if not isinstance(value, dict):
        return Entry(where, {}, fault=f"not a JSON object but {line.strip()[:40]!r}")
    return Entry(where, {name.strip().lower(): part for name, part in value.items()})


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


def _fault(url: str) -> str | None:
    """Why ``url`` is not an address, or None."""
    if not url:
        return "there is no address in the column 'url'"
    try:
        parts = urlsplit(url)
        whole = bool(parts.scheme and parts.netloc)
    except ValueError:
        whole = False
    if not whole or not url.isprintable() or " " in url:
        return f"{without_query(url)!r} is not an address such as https://host/video.mp4"
    return None


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
    text = _list_text(name)
    found = _of_table(text, name) if name in SHIPPED or Path(name).suffix.lower() == ".csv" else _of_lines(text)
    ids = tuple(dict.fromkeys(_id_of(entry) for entry in found))
    if not any(map(IS_ID.fullmatch, ids)):
        raise InputError(f"{name!r} holds no id of a video of Flickr, such as 40678437973" + (f", but {ids[0]!r}" if ids else ""))
    return ids


def _list_text(name: str) -> str:
    try:
        if name in SHIPPED:
            return (files(__package__) / SHIPPED[name]).read_text(encoding="utf-8")
        return read_text(Path(name))
    except (OSError, UnicodeError) as error:
        known = f"; lists that come with the program: {', '.join(SHIPPED)}"
        raise InputError(f"the list of ids {name!r} cannot be read: {reason_of(error)}{known}") from error


def _of_table(text: str, name: str) -> list[str]:
    rows = list(csv.DictReader(text.splitlines()))
    columns = list(rows[0]) if rows else []
    column = next((column for column in _COLUMNS if column in columns), None)
    if column is None:
        raise InputError(f"the list of ids {name!r} has none of the columns {', '.join(_COLUMNS)}")
    wanted = (row for row in rows if (row.get("kind") or "video") == "video" and row.get("what") != "excluded")
    return [entry for row in wanted if (entry := (row[column] or "").strip())]


def _of_lines(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _id_of(entry: str) -> str:
    page = _PAGE.fullmatch(entry)
    return page[1] if page else entry
