"""Tables that people keep, one row a line, as CSV, JSON lines or Parquet: read row by row, whoever wrote them; and data that are
written with equal bytes for equal input."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, TextIO

import pyarrow as pa

from inpaintbench.errors import InputError, reason_of
from inpaintbench.files import open_text, read_text
from inpaintbench.lazily import lazily
from inpaintbench.types import canonical_json

pq = lazily("pyarrow.parquet")

SUFFIXES = (".parquet", ".csv", ".jsonl")
# What a spreadsheet takes for the beginning of a formula, or skips before one; exports write a quote before such a text.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
_DELIMITERS = (",", ";", "\t")


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows, the heads first, as CSV whose lines end in ``\\n``."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def csv_bytes(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, errors: Literal["strict", "replace"] = "strict") -> bytes:
    """CSV in UTF-8 with a line of heads: None is an empty cell, infinity is ``inf``.

    Args:
        columns: the heads.
        rows: cells, as many in each as there are heads.
        errors: ``replace`` writes ``?`` for what UTF-8 cannot hold, such as odd bytes of file names.
    """
    return csv_text([columns, *rows]).encode("utf-8", errors)


def json_bytes(value: Any) -> bytes:
    """JSON in UTF-8 with an indent of 1.

    Raises:
        ValueError: a number is infinite or NaN.
    """
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def canonical_bytes(value: Any) -> bytes:
    """Canonical JSON on one line; infinity, which JSON has no number for, is the text ``inf``."""
    return canonical_json(_without_infinity(value)).encode() + b"\n"


def _without_infinity(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {key: _without_infinity(inner) for key, inner in value.items()}
    return [_without_infinity(inner) for inner in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class Row:
    """One line of a file, whose columns may go by several names; what is empty or null is left out."""

    where: str
    """``votes.csv line 4``, as an editor counts; rows of Parquet files count from 1."""
    fields: Mapping[str, Any]
    """Column -> number, truth value, list, mapping or text; all texts where the file is CSV."""

    def first(self, *columns: str) -> str | None:
        """The text of the first of these columns that has one."""
        found = (self.fields[name] for name in columns if name in self.fields)
        return next((str(value).strip() for value in found), None)

    def needed(self, *columns: str) -> str:
        """As ``first``; ``InputError`` where none of them has a text."""
        found = self.first(*columns)
        if not found:
            raise InputError(f"{self.where}: no {' or '.join(columns)}; the line has {', '.join(self.fields) or 'nothing'}")
        return found

    def names(self, column: str) -> tuple[str, ...]:
        """A list of texts: a list, its JSON, or texts divided by ``|``; none where the column is empty."""
        value = self.fields.get(column, ())
        if isinstance(value, str):
            try:
                value = json.loads(value) if value.startswith("[") else value.split("|")
            except ValueError as error:
                raise InputError(f"{self.where}: {column} is {value!r}, which is not JSON: {error}") from error
        if not isinstance(value, list | tuple):
            raise InputError(f"{self.where}: {column} is {value!r}, not a list of names")
        return tuple(str(name).strip() for name in value)


def suffix_of(path: Path, *, called: str = "table") -> str:
    """The suffix in lower case; ``InputError`` where it is none of ``SUFFIXES``."""
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder; give the table itself, one of {', '.join(SUFFIXES)}")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{called} {str(path)!r} has the suffix {path.suffix!r}, choose from {', '.join(SUFFIXES)}")
    return suffix


def read_rows(path: Path, *, called: str = "table", known: Collection[str] = ()) -> list[Row]:
    """The rows of a file; commas, semicolons or tabs may divide those of a CSV file.

    Args:
        path: the file.
        called: what it is called in errors.
        known: columns that tell what divides the cells of a CSV file, where a head may hold other such signs.

    Raises:
        InputError: another suffix, not readable, or a line that is no row.
    """
    suffix = suffix_of(path, called=called)
    read = _from_csv(path, known) if suffix == ".csv" else _from_jsonl(path) if suffix == ".jsonl" else _from_parquet(path)
    try:
        return [
            Row(f"{path.name} {place}", {name: value for name, value in fields.items() if value not in (None, "")})
            for place, fields in read
        ]
    except UnicodeDecodeError as error:
        raise InputError(f"{called} {str(path)!r} is not {error.encoding.upper()}") from error
    except (OSError, csv.Error, pa.ArrowInvalid) as error:
        raise InputError(f"{called} {str(path)!r} cannot be read: {reason_of(error)}") from error


def _from_csv(path: Path, known: Collection[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    with open_text(path, newline="") as file:
        columns, lines = _divided(file, path.name, known)
        for place, cells in lines:
            # Without the quote of an export; a quote before anything harmless is somebody's own.
            quoted = (*(f"'{sign}" for sign in FORMULA), "''")
            plain = [cell[1:] if cell.startswith(quoted) else cell for cell in cells]
            yield place, dict(zip(columns, plain, strict=False))


@dataclass(frozen=True)
class Line:
    """One line of a CSV file that is not empty."""

    where: str
    """``labels.csv line 4``, as an editor counts."""
    fields: dict[str, str]
    """Column -> text without blanks around it, empty where the line ends before."""


def read_lines(path: Path, *, kind: str, needed: Sequence[str], known: Collection[str] = ()) -> list[Line]:
    """The lines of a CSV file that people filled in, with commas, semicolons or tabs; the first line names its columns.

    Args:
        path: the file, UTF-8.
        kind: what people call its content, such as ``labels``.
        needed: columns that have to be there.
        known: further columns that tell what divides the cells.

    Raises:
        InputError: not readable, a column is missing or there twice, or a line has more fields than the first.
    """
    try:
        with open_text(path, newline="") as file:
            columns, lines = _divided(file, path.name, {*needed, *known})
            if missing := [column for column in needed if column not in columns]:
                raise InputError(f"{kind} {str(path)!r} have no column {missing[0]!r}; needed are {', '.join(needed)}")
            return [
                Line(f"{path.name} {place}", {name: text.strip() for name, text in zip_longest(columns, cells, fillvalue="")})
                for place, cells in lines
            ]
    except UnicodeDecodeError as error:
        raise InputError(f"{kind} {str(path)!r} is not {error.encoding.upper()}: save it as CSV UTF-8") from error
    except (OSError, csv.Error) as error:
        raise InputError(f"{kind} {str(path)!r} cannot be read: {reason_of(error)}") from error


def _divided(file: TextIO, name: str, known: Collection[str]) -> tuple[list[str], Iterator[tuple[str, list[str]]]]:
    """The columns that the first line names, and place and cells of each further line that holds anything."""
    first = file.readline()
    # Where no sign leaves a head that is known, the one that there is most of.
    sign = max(
        _DELIMITERS,
        key=lambda sign: (len({head.strip().strip('"') for head in first.split(sign)} & {*known}), first.count(sign)),
    )
    columns = [head.strip() for head in next(csv.reader([first], delimiter=sign), [])]
    if twice := [column for column in columns if column and columns.count(column) > 1]:
        raise InputError(f"{name} has two columns {twice[0]!r}; keep one")
    return columns, _lines(file, name, columns, sign)


def _lines(file: TextIO, name: str, columns: Sequence[str], sign: str) -> Iterator[tuple[str, list[str]]]:
    reader, end = csv.reader(file, delimiter=sign), 1
    for cells in reader:
        place, end = f"line {end + 1}", reader.line_num + 1  # a field in quotes may span several lines
        while len(cells) > len(columns) and not cells[-1].strip():
            cells.pop()
        if len(cells) > len(columns):
            raise InputError(
                f"{name} {place} has {len(cells)} fields, {len(columns)} expected: put a text with {sign!r} in double quotes"
            )
        if any(cell.strip() for cell in cells):
            yield place, cells


def _from_jsonl(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except ValueError as error:
            raise InputError(f"{path.name} line {number} is not JSON: {error}") from error
        if not isinstance(fields, dict):
            raise InputError(f"{path.name} line {number} is {line.strip()[:40]!r}, not an object with columns")
        yield f"line {number}", fields


def _from_parquet(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, fields in enumerate(pq.read_table(path).to_pylist(), 1):
        yield f"row {number}", fields
