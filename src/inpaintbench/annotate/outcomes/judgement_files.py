"""Tables of judgements as files: Parquet, CSV or JSON lines, by the suffix, all with the same columns."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from inpaintbench import table_files
from inpaintbench.errors import InputError
from inpaintbench.files import write_atomically
from inpaintbench.tables import write_parquet

_LIST = pa.list_(pa.string())
# `rater` is a name or pseudonym; `given` is JSON; `at` is in seconds since 1970.
SCHEMA = pa.schema(
    [
        ("study_id", pa.string()), ("submission_id", pa.string()), ("rater", pa.string()), ("rater_id", pa.string()),
        ("task_id", pa.string()), ("question", pa.string()), ("subject_id", pa.string()), ("cluster", pa.string()),
        ("candidates", _LIST), ("shown", _LIST), ("purpose", pa.string()), ("given", pa.string()), ("choice", pa.string()),
        ("seconds", pa.float64()), ("at", pa.float64()), ("stuttered", pa.bool_()), ("suggestion_shown", pa.string()),
        ("revision", pa.int64()),
    ]
)  # fmt: skip
# In errors.
_CALLED = "table of judgements"


class Row(table_files.Row):
    """One line, whose fields are checked as they are asked for."""

    def value(self, name: str) -> Any:
        """The value of a column; ``InputError`` where there is none."""
        if name not in self.fields:
            raise InputError(f"{name} is missing")
        return self.fields[name]

    def text(self, name: str) -> str | None:
        """The value of a column as a CSV file would spell it (a grade may be a number); None where there is none."""
        value = self.fields.get(name)
        return f"{value:g}" if isinstance(value, float) else None if value is None else str(value)

    def number(self, name: str) -> float:
        """A number of 0 or more; ``InputError`` otherwise."""
        try:
            number = float(self.value(name))
        except (TypeError, ValueError) as error:
            raise InputError(f"{name} is {self.fields[name]!r}, not a number") from error
        if not math.isfinite(number) or number < 0:
            raise InputError(f"{name} is {number}, it must be 0 or more")
        return number

    def names(self, name: str) -> tuple[str, ...]:
        """A list of texts, in JSON or divided by ``|``; none where the column is empty."""
        value = self.fields.get(name, ())
        if isinstance(value, str):
            value = _json(value) if value.startswith("[") else value.split("|")
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise InputError(f"{name} is {value!r}, not a list of names")
        return tuple(value)

    def mapping(self, name: str) -> Mapping[str, Any]:
        """A mapping, or its JSON; ``InputError`` otherwise."""
        value = self.value(name)
        parsed = _json(value) if isinstance(value, str) else value
        if not isinstance(parsed, Mapping):
            raise InputError(f"{name} is {value!r}, not a mapping of parts to values")
        return parsed


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows with the columns of ``SCHEMA``; equal rows give equal bytes.

    Texts that a spreadsheet would run as a formula get a ``'`` in front in CSV files, which ``read_rows`` takes away.

    Raises:
        InputError: another suffix, or not writable.
    """
    suffix = table_files.suffix_of(path, called=_CALLED)
    try:
        if suffix == ".parquet":
            write_parquet(path, pa.Table.from_pylist([dict(row) for row in rows], SCHEMA))
        elif suffix == ".csv":
            lines = _Lines()
            writer = csv.writer(lines)  # its lines end in both signs: then it puts quotes around a lone carriage return
            writer.writerow(SCHEMA.names)
            writer.writerows([_cell(row[name]) for name in SCHEMA.names] for row in rows)
            write_atomically(path, "".join(line.removesuffix("\r\n") + "\n" for line in lines).encode())
        else:
            told = (json.dumps({**row, "given": json.loads(row["given"])}, ensure_ascii=False) for row in rows)
            write_atomically(path, "".join(f"{line}\n" for line in told).encode())
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error.strerror}") from error


def read_rows(path: Path) -> list[Row]:
    """The rows of a file with any of the columns of ``SCHEMA``; commas, semicolons or tabs may divide those of a CSV file.

    Raises:
        InputError: another suffix, not readable, or a line that is no row.
    """
    rows = table_files.read_rows(path, called=_CALLED, known={*SCHEMA.names, "subject"})
    return [Row(row.where, row.fields) for row in rows]


class _Lines(list[str]):
    write = list.append


def _cell(value: Any) -> str:
    if isinstance(value, str):
        # What a spreadsheet takes for a formula is guarded, and so is the sign that guards it.
        return f"'{value}" if value.startswith((*table_files.FORMULA, "'")) else value
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return _listed(tuple(value))
    return json.dumps(value) if isinstance(value, bool) else repr(value)


@lru_cache(maxsize=4096)
def _listed(names: tuple[str, ...]) -> str:
    return json.dumps(names, ensure_ascii=False)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"{text!r} is not JSON: {error}") from error
