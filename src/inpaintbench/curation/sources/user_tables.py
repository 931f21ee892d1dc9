"""Tables that others wrote, of edits or of clips: their rows, and which of their columns is which of ours."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError
from inpaintbench.files import read_text
from inpaintbench.table_files import read_lines, read_rows

TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet")


class Entry(NamedTuple):
    """One row of a table, as it stands there."""

    where: str
    """``clips.csv line 4``."""
    fields: Mapping[str, Any]
    key: str | None = None
    """What it, or the list that it stands in, is called in an object of JSON."""


def entries(path: Path, *, kind: str, known: Collection[str]) -> list[Entry]:
    """The rows of a table, or of all tables in a folder.

    Args:
        path: by its ending Parquet, JSON lines, or JSON (a list of rows; an object whose keys name rows or lists of them); else
            CSV with commas, semicolons or tabs.
        kind: what the table is called in errors.
        known: columns that tell what divides the cells of CSV.

    Raises:
        InputError: not readable.
    """
    if path.is_dir():
        tables = [one for one in sorted(path.iterdir()) if one.suffix.lower() in TABLES]
        return [entry for one in tables for entry in entries(one, kind=kind, known=known)]
    suffix = path.suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        return list(_of_json_lines(path, kind))
    if suffix == ".json":
        return list(_of_json(path, kind))
    if suffix == ".parquet":
        return [Entry(row.where, row.fields) for row in read_rows(path, called=kind)]
    return [Entry(line.where, line.fields) for line in read_lines(path, kind=kind, needed=(), known=known)]


def read_columns(text: str, ours: Sequence[str]) -> dict[str, str]:
    """``OURS=THEIRS,OURS=THEIRS`` as a mapping; raises ``ValueError`` for anything else, or a column that is none of ``ours``."""
    found: dict[str, str] = {}
    for part in text.split(","):
        name, sign, theirs = (piece.strip() for piece in part.partition("="))
        if not (name and sign and theirs):
            raise ValueError(f"{part.strip()!r} is not OURS=THEIRS, such as {ours[0]}=video_name")
        if name not in ours:
            raise ValueError(unknown_name("column", name, list(ours)))
        if name in found:
            raise ValueError(f"{name} is {found[name]!r} and {theirs!r}; name one")
        found[name] = theirs
    return found


def option(columns: Mapping[str, str]) -> str:
    """The option that says which columns are which, as it is typed."""
    return f"--columns {shlex.quote(','.join(f'{ours}={theirs}' for ours, theirs in columns.items()))}"


def heads(rows: Iterable[Entry], columns: Mapping[str, str], *, where: str) -> list[str]:
    """The columns of a table in their order; raises ``InputError`` where ``columns`` names one that is not there."""
    there = list(dict.fromkeys(name for entry in rows for name in entry.fields))
    for theirs in columns.values():
        if theirs not in there:
            raise InputError(f"{where}: {unknown_name('column', theirs, there)}")
    return there


def guessed(
    free: Sequence[str], known: Collection[str], theirs: Mapping[str, Sequence[str]], *, without: Sequence[str] = ()
) -> dict[str, str]:
    """Our columns that a table lacks -> which of its columns they may be, by their names.

    Args:
        free: columns of the table that are none of ours yet.
        known: ours that need no guess.
        theirs: ours -> what others call them, the likeliest first, in small letters, blanks and hyphens as ``_``.
        without: of these names, those that say nothing here.
    """
    spelt = {re.sub(r"[\s-]+", "_", name.strip().casefold()): name for name in free}
    found: dict[str, str] = {}
    for ours, names in theirs.items():
        taken = (spelt[name] for name in names if name in spelt and name not in without and spelt[name] not in found.values())
        if ours not in known and (name := next(taken, None)) is not None:
            found[ours] = name
    return found


def _text_of(path: Path, kind: str) -> str:
    try:
        return read_text(path)
    except UnicodeDecodeError as error:
        raise InputError(f"{kind} {str(path)!r} is not {error.encoding.upper()}") from error
    except OSError as error:
        raise InputError(f"{kind} {str(path)!r} cannot be read: {error.strerror}") from error


def _of_json_lines(path: Path, kind: str) -> Iterator[Entry]:
    for number, text in enumerate(_text_of(path, kind).splitlines(), start=1):
        where = f"{path.name} line {number}"
        if not text.strip():
            continue
        try:
            entry: Any = json.loads(text)
        except ValueError as error:
            raise InputError(f"{where} is not JSON: {error}") from error
        if not isinstance(entry, dict):
            raise InputError(f'{where} is not an object such as {{"clip": "bear", "task": "SE", "target_prompt": "..."}}')
        yield Entry(where, entry)


def _of_json(path: Path, kind: str) -> Iterator[Entry]:
    try:
        found: Any = json.loads(_text_of(path, kind))
    except ValueError as error:
        raise InputError(f"{kind} {str(path)!r} is not JSON: {error}") from error
    if isinstance(found, list):
        yield from _of_list(found, path.name)
    elif isinstance(found, dict):
        for key, value in found.items():
            where = f"{path.name} {key!r}"
            if isinstance(value, list):
                yield from _of_list(value, where, key=key)
            elif isinstance(value, dict):
                yield Entry(where, value, key)
            else:
                raise InputError(f"{where} is {json.dumps(value)[:40]}, not an edit and not a list of edits")
    else:
        raise InputError(f"{kind} {str(path)!r} hold neither a list of edits nor an object whose keys name clips")


def _of_list(found: Sequence[Any], name: str, *, key: str | None = None) -> Iterator[Entry]:
    for number, entry in enumerate(found, start=1):
        if not isinstance(entry, dict):
            raise InputError(f"{name} entry {number} is {json.dumps(entry)[:40]}, not an object that says what is asked")
        yield Entry(f"{name} entry {number}", entry, key)
