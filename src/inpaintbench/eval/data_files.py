"""Tables and records as files: what is written has equal bytes for equal input; what others wrote is read row by row."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from inpaintbench.errors import InputError, reason_of
from inpaintbench.types import canonical_json

SUFFIXES = (".csv", ".jsonl", ".parquet")
# Exports of judgements write a quote before texts that begin so, which a spreadsheet would run or drop.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
_DELIMITERS = (",", ";", "\t")


def csv_bytes(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """CSV with a line of heads: None is an empty cell, infinity is ``inf``, lines end in ``\\n``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()


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
    """One line; cells that are empty or null are left out."""

    where: str
    """``votes.csv line 4``, as an editor counts; rows of Parquet files count from 1."""
    cells: Mapping[str, Any]

    def first(self, *columns: str) -> str | None:
        """The text of the first of these columns that has one."""
        found = (self.cells[name] for name in columns if name in self.cells)
        return next((str(value).strip() for value in found), None)

    def needed(self, *columns: str) -> str:
        """As ``first``; ``InputError`` where none of them has a text."""
        found = self.first(*columns)
        if not found:
            raise InputError(f"{self.where}: no {' or '.join(columns)}; the line has {', '.join(self.cells) or 'nothing'}")
        return found

    def names(self, column: str) -> tuple[str, ...]:
        """A list of texts: a list, its JSON, or texts divided by ``|``; none where the column is empty."""
        value = self.cells.get(column, ())
        if isinstance(value, str):
            try:
                value = json.loads(value) if value.startswith("[") else value.split("|")
            except ValueError as error:
                raise InputError(f"{self.where}: {column} is {value!r}, which is not JSON: {error}") from error
        if not isinstance(value, list | tuple):
            raise InputError(f"{self.where}: {column} is {value!r}, not a list of names")
        return tuple(str(name).strip() for name in value)


def read_table(path: Path) -> list[Row]:
    """The rows of a file; commas, semicolons or tabs may divide those of a CSV file.

    Raises:
        InputError: another suffix, not readable, or a line that is no row.
    """
    readers = {".csv": _from_csv, ".jsonl": _from_jsonl, ".parquet": _from_parquet}
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder; give the table itself, one of {', '.join(SUFFIXES)}")
    if path.suffix.lower() not in readers:
        raise InputError(f"table {str(path)!r} has the suffix {path.suffix!r}, choose from {', '.join(SUFFIXES)}")
    try:
        return [
            Row(f"{path.name} {place}", {name: value for name, value in cells.items() if value not in (None, "")})
            for place, cells in readers[path.suffix.lower()](path)
        ]
    except UnicodeDecodeError as error:
        raise InputError(f"table {str(path)!r} is not UTF-8") from error
    except (OSError, csv.Error, pa.ArrowInvalid) as error:
        raise InputError(f"table {str(path)!r} cannot be read: {reason_of(error)}") from error


def _from_csv(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        first = file.readline()
        delimiter = max(_DELIMITERS, key=first.count)
        columns = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
        if twice := [name for name in dict.fromkeys(columns) if name and columns.count(name) > 1]:
            raise InputError(f"{path.name} has two columns {twice[0]!r}; keep one")
        lines = csv.reader(file, delimiter=delimiter)
        for cells in lines:
            place = f"line {lines.line_num + 1}"
            if len(cells) > len(columns):
                raise InputError(f"{path.name} {place} has {len(cells)} fields, the first line only {len(columns)}")
            if any(cells):
                yield place, {name: _plain(cell) for name, cell in zip(columns, cells, strict=False)}


def _plain(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(_FORMULA) else cell


def _from_jsonl(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line.strip():
            continue
        try:
            cells = json.loads(line)
        except ValueError as error:
            raise InputError(f"{path.name} line {number} is not JSON: {error}") from error
        if not isinstance(cells, dict):
            raise InputError(f"{path.name} line {number} is {line.strip()[:40]!r}, not an object with columns")
        yield f"line {number}", cells


def _from_parquet(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, cells in enumerate(pq.read_table(path).to_pylist(), 1):
        yield f"row {number}", cells
