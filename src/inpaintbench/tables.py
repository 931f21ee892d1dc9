"""Records as columns: the rows of tables in Arrow.

Mappings and tuples become JSON text; an attribute's value, which is a number or a text, takes two columns.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import fields
from functools import cache, lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench.catalogue import joined
from inpaintbench.errors import WorkspaceError
from inpaintbench.files import file_sha256, measured_sha256, write_atomically, written_atomically
from inpaintbench.lazily import lazily
from inpaintbench.types import canonical_json

pc = lazily("pyarrow.compute")  # registers its functions for 20 ms or more
pq = lazily("pyarrow.parquet")

Record = TypeVar("Record")
_COLUMNS: dict[str, pa.DataType] = {"str": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}
# Of a Parquet file: who looks for a few rows reads the other columns of their groups alone.
_ROWS_OF_GROUP = 1 << 16
# What reading a damaged file raises, or one of other columns.
UNREADABLE = (pa.ArrowException, KeyError, ValueError, TypeError, OverflowError, RecursionError, OSError)
# Tables of run folders, whose rows become published numbers: the hash of their bytes lies beside them.
PROVED = ("predictions", "repeats", "scores", "slice_scores", *joined("table of results"), "rejected")
# In the details of a row: kind of the error, the program's or the machine's, that kept it from a value; tried in every run.
UNEXPECTED = "unexpected_error"
# The beginning of TABLE/STEP -> the command that writes it; the first that fits counts. What is refused has the step's name.
_WRITTEN_BY = (
    ("/annotate.", "annotate resolve"),
    ("downloads/", "curation fetch"), ("/fetch.", "curation fetch"), ("licence_checks/", "curation recheck"),
    ("/measure.masks", "masks render"), ("/measure.", "curation measure"), ("/labels", "curation label"),
    ("/duplicates", "curation duplicates"), ("/levels", "curation select"), ("selection/", "curation select"),
    ("answers/", "curation answers"), ("/render", "masks render"), ("/mask_levels", "masks pair"), ("/pair", "masks pair"),
    ("sources/", "curation clips"), ("clips/", "curation clips"), ("attributes/", "curation clips"),
    ("rejected/", "curation clips"),
)  # fmt: skip


@cache  # asked for every row of every table, and reading annotations takes longer than the row
def schema_of(record_type: type) -> pa.Schema:
    """The Arrow schema of a record type."""
    hints = get_type_hints(record_type)
    columns: list[tuple[str, pa.DataType]] = []
    for field in fields(record_type):
        kinds = {kind.__name__ for kind in get_args(hints[field.name]) if isinstance(kind, type)}
        if {"float", "str"} <= kinds:
            columns += [(field.name, pa.float64()), (f"{field.name}_text", pa.string())]
        else:
            name = next((kind for kind in kinds - {"NoneType"} if kind in _COLUMNS), getattr(hints[field.name], "__name__", ""))
            columns.append((field.name, _COLUMNS.get(name, pa.string())))
    return pa.schema(columns)


def to_columns(records: Sequence[Any], record_type: type) -> pa.Table:
    """Records as columns of their schema."""
    return pa.table(_cells(records, record_type), schema=schema_of(record_type))


def to_records(rows: pa.Table, record_type: type[Record]) -> list[Record]:
    """The records that ``to_columns`` made the columns of."""
    tuples = _written_as_json(record_type)  # type: ignore[arg-type]
    columns = []
    for name in (field.name for field in fields(record_type)):  # type: ignore[arg-type]
        values = _cells_of(rows[name], load=name in tuples)
        if f"{name}_text" in rows.column_names:
            texts = _cells_of(rows[f"{name}_text"], load=False)
            values = [text if value is None else value for value, text in zip(values, texts, strict=True)]
        if tuples.get(name):
            values = [tuple(value) if isinstance(value, list) else value for value in values]
        columns.append(values)
    return list(map(record_type, *columns))


def _cells_of(column: pa.ChunkedArray, *, load: bool) -> list[Any]:
    """The values of a column, from JSON if asked to; of texts that repeat, which most do, each is made once."""
    if not pa.types.is_string(column.type):
        values: list[Any] = column.to_pylist()
        return values
    encoded = flat(column).dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    distinct: list[Any] = [*(map(json.loads, texts) if load else texts), None]
    return [distinct[place] for place in pc.fill_null(encoded.indices, len(texts)).to_pylist()]


@cache
def _written_as_json(record_type: type) -> dict[str, bool]:
    """The fields that hold mappings or tuples -> whether it is a tuple."""
    plain = {name: str(hint) for name, hint in get_type_hints(record_type).items()}
    many = ("Mapping", "tuple", "Sequence")
    return {name: "Mapping" not in hint for name, hint in plain.items() if any(kind in hint for kind in many)}


def read(
    paths: Iterable[Path],
    record_type: type,
    *,
    columns: Sequence[str] | None = None,
    where: tuple[str, Collection[str]] | None = None,
    together: bool = False,
) -> pa.Table:
    """Return the rows of Parquet files, of which those that are not there have none; see ``Workspace.columns``.

    Columns that were added later, whose fields are None unless said, may be missing in a file.

    Raises:
        WorkspaceError: not readable, written by another version, or other bytes than were written.
    """
    wanted, group = _schema_of_some(record_type, columns), 0
    parts = [wanted.empty_table()]
    if where is not None and not where[1]:
        return parts[0]
    for path in paths:
        try:
            prove(path)
            with pq.ParquetFile(path) as file:
                known = _there(file, wanted, record_type)
                if where is None:
                    found = file.read(columns=known)
                elif together:
                    found, group = _rows_together(file, known, *where, first=group)
                else:
                    found = _rows_with(file, known, *where)
            parts.append(_completed(found, wanted, known))
        except FileNotFoundError:
            continue
        except UNREADABLE as error:
            raise WorkspaceError(unreadable(path, error)) from error
    return pa.concat_tables(parts).combine_chunks()


def batches(path: Path, record_type: type, *, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """Yield the rows of a Parquet file, group by group; one that is not there has none. Raises what ``read`` raises."""
    wanted = _schema_of_some(record_type, columns)
    try:
        prove(path)
        with pq.ParquetFile(path) as file:
            known = _there(file, wanted, record_type)
            for group in range(file.num_row_groups):
                yield _completed(file.read_row_group(group, columns=known), wanted, known)
    except FileNotFoundError:
        return
    except UNREADABLE as error:
        raise WorkspaceError(unreadable(path, error)) from error


def _schema_of_some(record_type: type, columns: Sequence[str] | None) -> pa.Schema:
    schema = schema_of(record_type)
    return pa.schema([schema.field(name) for name in columns or schema.names])


def _there(file: Any, wanted: pa.Schema, record_type: type) -> list[str]:
    """The wanted columns, but for those that were added after the file was written."""
    later = {field.name for field in fields(record_type) if field.default is None}
    return [name for name in wanted.names if name not in later or name in file.schema_arrow.names]


def _completed(found: pa.Table, wanted: pa.Schema, known: Collection[str]) -> pa.Table:
    """Rows with empty columns for those that were added later; ``KeyError`` where their file lacks another."""
    for name in set(wanted.names) - set(known):
        found = found.append_column(name, pa.nulls(found.num_rows, wanted.field(name).type))
    return found.select(wanted.names).cast(wanted)


def reader(path: Path, columns: Sequence[str]) -> Callable[[int], dict[str, Any]]:
    """Return a function from the place of a row of a Parquet file to its cells: groups of rows are read when they are needed."""
    ends = None

    @lru_cache(maxsize=1)
    def group(number: int) -> pa.Table:
        with pq.ParquetFile(path) as file:
            return file.read_row_group(number, columns=list(columns))

    def row(place: int) -> dict[str, Any]:
        nonlocal ends
        if ends is None:
            metadata = pq.read_metadata(path)
            ends = np.cumsum([0, *(metadata.row_group(number).num_rows for number in range(metadata.num_row_groups))])
        number = int(np.searchsorted(ends, place, side="right")) - 1
        (cells,) = group(number).slice(place - int(ends[number]), 1).to_pylist()
        return dict(cells)

    return row


def texts(values: Iterable[str]) -> pa.Array:
    """``string[n]`` of texts that are made one after the other, without ever holding all of them as objects."""
    values, parts = iter(values), []
    while some := list(islice(values, _ROWS_OF_GROUP)):
        parts.append(pa.array(some, pa.string()))
    return pa.chunked_array(parts, pa.string()).combine_chunks()


def _rows_with(file: Any, names: list[str], column: str, values: Collection[str]) -> pa.Table:
    """The rows with one of ``values`` in ``column``: other columns are read of the groups of rows alone that have any."""
    asked, place = pa.array(sorted(values), pa.string()), file.schema_arrow.names.index(column)
    parts = [file.schema_arrow.empty_table().select(names)]
    for group in range(file.num_row_groups):
        held = file.metadata.row_group(group).column(place).statistics
        if held is not None and held.num_values == 0:
            continue
        if held is not None and held.has_min_max and not any(held.min <= value <= held.max for value in values):
            continue
        keep = pc.is_in(file.read_row_group(group, columns=[column])[column], value_set=asked)
        if pc.any(keep).as_py():
            parts.append(file.read_row_group(group, columns=names).filter(keep))
    return pa.concat_tables(parts)


def _rows_together(file: Any, names: list[str], column: str, values: Collection[str], *, first: int) -> tuple[Any, int]:
    """``_rows_with`` of rows that lie together, looked for from the group ``first`` on; and the group that they begin in."""
    asked, count = pa.array(sorted(values), pa.string()), file.num_row_groups
    kept: dict[int, Any] = {}

    def rows_of(group: int) -> int:
        return int(file.metadata.row_group(group).num_rows)

    def look(group: int) -> npt.NDArray[np.int64]:
        keep = pc.is_in(file.read_row_group(group, columns=[column])[column], value_set=asked)
        places = np.flatnonzero(keep)
        if len(places):
            kept[group] = file.read_row_group(group, columns=names).filter(keep)
        return places

    for group in (*range(first, count), *range(min(first, count))):
        places = look(group)
        if not len(places):
            continue
        for step in (-1, 1):
            at, found = group, places
            while len(found) and 0 <= at + step < count and found[0 if step < 0 else -1] == (0 if step < 0 else rows_of(at) - 1):
                at += step
                found = look(at)
        break
    parts = [file.schema_arrow.empty_table().select(names), *(kept[group] for group in sorted(kept))]
    return pa.concat_tables(parts), min(kept, default=first)


def prove(path: Path) -> bool:
    """Compare the bytes of a table with the hash beside it, once a process; False where none was kept, as by earlier releases.

    Raises:
        ValueError: they are others than were written, or of a table of another name. OSError: not readable.
    """
    try:
        stated = hash_file(path).read_bytes().splitlines()
    except FileNotFoundError:
        return False
    if _stated(measured_sha256(path), path) not in stated:
        raise ValueError("its bytes have another SHA-256 than was written beside them")
    return True


def hash_file(path: Path) -> Path:
    """The file beside a table that states its hash, in the form of ``sha256sum``.

    While the table is written it states two, so that a killed run leaves a table that one of them is of.
    """
    return path.with_name(f"{path.name}.sha256")


def _stated(sha256: str, path: Path) -> bytes:
    return f"{sha256}  {path.name}".encode()


def unreadable(path: Path, error: Exception) -> str:
    """One sentence about the file of a table that ``error`` kept from being read: which table it is, and what makes it anew."""
    if isinstance(error, OSError) and error.strerror and error.errno:
        return f"{str(path)!r} cannot be read: {os.strerror(error.errno)}"
    table = path.parent.name
    if table in PROVED and table != "rejected":
        again = f"`inpaintbench eval verify {shlex.quote(str(path.parents[2]))} --repair`"
        return f"the table {table!r} is damaged or was written by another version: {again} makes {str(path)!r} anew"
    written_by = next((command for part, command in _WRITTEN_BY if part in f"{table}/{path.stem}"), None)
    anew = f"`inpaintbench {written_by}`" if written_by else f"the step {path.stem!r}"
    return f"the table {table!r} is damaged or was written by another version: delete {str(path)!r}, then {anew} makes it anew"


def write_parquet(path: Path, table: pa.Table) -> None:
    """Write a table with pyarrow alone, so that the bytes depend on the rows only."""
    write_rows(path, [table])


def write_rows(path: Path, tables: Iterable[pa.Table], *, proved: bool = False) -> int:
    """Write the rows of tables, at least one, of one schema as one, and return how many there are.

    The bytes are the same however the rows are divided. Where they are to be ``proved`` when they are read, their hash is kept
    beside them.
    """
    count, groups = 0, _in_groups(tables)
    first = next(groups)
    stated: list[bytes] = []
    with written_atomically(path) as temporary:
        with temporary.open("wb") as file, pq.ParquetWriter(file, first.schema, compression="zstd") as writer:
            for rows in chain([first], groups):
                writer.write_table(rows, row_group_size=_ROWS_OF_GROUP)
                count += rows.num_rows
        if proved:
            own, beside = _stated(file_sha256(temporary), path), hash_file(path)
            before = beside.read_bytes().splitlines() if beside.exists() else []
            stated = [own, *(line for line in before if line != own)]
            if stated != before:
                write_atomically(beside, b"".join(line + b"\n" for line in stated))
    if len(stated) > 1:
        write_atomically(hash_file(path), stated[0] + b"\n")
    return count


def _in_groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The same rows in tables of ``_ROWS_OF_GROUP`` rows, the last one of what is left; one without rows where there are none."""
    held: list[pa.Table] = []
    count, any_yet = 0, False
    for table in tables:
        held, count = [*held, table], count + table.num_rows
        if count < _ROWS_OF_GROUP:
            continue
        whole = pa.concat_tables(held)
        for begin in range(0, count - _ROWS_OF_GROUP + 1, _ROWS_OF_GROUP):
            yield whole.slice(begin, _ROWS_OF_GROUP).combine_chunks()
        any_yet, left = True, count % _ROWS_OF_GROUP
        held, count = [whole.slice(count - left)], left
    if count or not any_yet:
        yield pa.concat_tables(held).combine_chunks()


def last_places(subjects: pa.Array, wanted: pa.Array) -> npt.NDArray[np.int64]:
    """For each of ``wanted`` the place of its last row among ``subjects``, -1 where there is none."""
    if not len(subjects):
        return np.full(len(wanted), -1, np.int64)
    turned = subjects.take(pa.array(np.arange(len(subjects))[::-1]))
    places = pc.fill_null(pc.index_in(wanted, value_set=turned), len(subjects)).to_numpy(zero_copy_only=False)
    found: npt.NDArray[np.int64] = len(subjects) - 1 - places.astype(np.int64)
    return found


def flat(column: Any) -> pa.Array:
    """A column in one piece."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def rows_json(records: Sequence[Any]) -> str:
    """Records of one type as rows of a ledger, which may hold infinite scores: JSON proper, as in tables, cannot say them."""
    cells = _cells(records, type(records[0])) if records else {}
    return json.dumps([dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)])


def rows_of_json(rows: str, record_type: type[Record]) -> list[Record]:
    """The records that ``rows_json`` was given."""
    schema = schema_of(record_type)  # type: ignore[arg-type]
    return to_records(pa.Table.from_pylist(json.loads(rows), schema=schema), record_type)


def _cells(records: Sequence[Any], record_type: type) -> dict[str, list[Any]]:
    names = schema_of(record_type).names
    cells: dict[str, list[Any]] = {}
    for field in fields(record_type):
        cells |= columns_of(field.name, [getattr(record, field.name) for record in records], names)
    return cells


def columns_of(name: str, values: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]]:
    """The cells of a field of records, by column; ``names`` are all columns."""
    if f"{name}_text" not in names:
        return {name: [canonical_json(value) if isinstance(value, dict | list | tuple) else value for value in values]}
    texts = [value if isinstance(value, str) else None for value in values]
    return {name: [None if isinstance(value, str) else value for value in values], f"{name}_text": texts}
