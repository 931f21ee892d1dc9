"""CSV files that people filled in: with commas, semicolons or tabs, as their programs write them."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from inpaintbench.errors import InputError, reason_of

_DELIMITERS = (",", ";", "\t")


@dataclass(frozen=True)
class Line:
    """One line that is not empty."""

    where: str
    """``labels.csv line 4``, as an editor counts."""
    fields: dict[str, str]
    """Column -> text without blanks around it, empty where the line ends before."""


def read_lines(path: Path, *, kind: str, needed: Sequence[str]) -> list[Line]:
    """The lines of a CSV file whose first line names its columns; the delimiter is the one that the first line shows.

    Args:
        path: the file, UTF-8.
        kind: what people call its content, such as ``labels``.
        needed: columns that have to be there.

    Raises:
        InputError: not readable, a column is missing or there twice, or a line has more fields than the first.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            first = file.readline()
            delimiter = _delimiter(first, needed)
            columns = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
            _check(path, kind, columns, needed)
            return list(_lines(file, columns, delimiter, path.name))
    except UnicodeDecodeError as error:
        raise InputError(f"{kind} {str(path)!r} is not UTF-8: save it as CSV UTF-8") from error
    except (OSError, csv.Error) as error:
        raise InputError(f"{kind} {str(path)!r} cannot be read: {reason_of(error)}") from error


def _delimiter(first: str, needed: Collection[str]) -> str:
    """The one that cuts the most needed columns out of the first line."""

    def found(delimiter: str) -> int:
        return len({name.strip().strip('"') for name in first.split(delimiter)} & set(needed))

    return max(_DELIMITERS, key=found)


def _check(path: Path, kind: str, columns: Sequence[str], needed: Sequence[str]) -> None:
    if missing := [column for column in needed if column not in columns]:
        raise InputError(f"{kind} {str(path)!r} have no column {missing[0]!r}; needed are {', '.join(needed)}")
    if twice := [column for column in columns if column and columns.count(column) > 1]:
        raise InputError(f"{kind} {str(path)!r} have the column {twice[0]!r} twice")


def _lines(rows: Iterator[str], columns: Sequence[str], delimiter: str, name: str) -> Iterator[Line]:
    reader = csv.reader(rows, delimiter=delimiter)
    end = 1
    for fields in reader:
        number, end = end + 1, reader.line_num + 1  # a field in quotes may span several lines
        while len(fields) > len(columns) and not fields[-1].strip():
            fields.pop()
        if len(fields) > len(columns):
            raise InputError(
                f"{name} line {number} has {len(fields)} fields, {len(columns)} expected: "
                f"put a path with {delimiter!r} in double quotes"
            )
        if any(field.strip() for field in fields):
            padded = [*fields, *[""] * (len(columns) - len(fields))]
            yield Line(f"{name} line {number}", {key: text.strip() for key, text in zip(columns, padded, strict=True)})
