"""Tables and records as files: what is written has equal bytes for equal input; what others wrote is read row by row."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from inpaintbench import table_files
from inpaintbench.errors import InputError
from inpaintbench.types import canonical_json


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


class Row(table_files.Row):
    """One line, whose columns may go by several names."""

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


def read_table(path: Path) -> list[Row]:
    """The rows of a file; see ``table_files.read_rows``.

    Raises:
        InputError: another suffix, not readable, or a line that is no row.
    """
    return [Row(row.where, row.fields) for row in table_files.read_rows(path)]
