"""Records as columns: the rows of tables and of ledgers in Arrow.

Mappings and tuples become JSON text; an attribute's value, which is a number or a text, takes two columns.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_type_hints

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.json as pj
import pyarrow.parquet as pq

from inpaintbench.errors import WorkspaceError
from inpaintbench.files import write_atomically
from inpaintbench.lazily import lazily
from inpaintbench.types import canonical_json

pc = lazily("pyarrow.compute")  # registers its functions for 20 ms or more

Record = TypeVar("Record")
_COLUMNS: dict[str, pa.DataType] = {"str": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}
# Of an entry, as columns; its rows come last, in the schema of the step's records.
_ENTRY = pa.schema([
    ("key", pa.string()), ("subject_id", pa.string()), ("status", pa.string()), ("reason", pa.string()),
    ("finished_at", pa.float64()), ("lacks", pa.list_(pa.string())),
])  # fmt: skip
# Arrow reads JSON in such blocks; a line that is longer makes it give up.
_BLOCK_BYTES = 1 << 24
# Of a Parquet file: who looks for a few rows reads the other columns of their groups alone.
_ROWS_OF_GROUP = 1 << 16
# In the details of a row: kind of the error, the program's or the machine's, that kept it from a value; tried in every run.
UNEXPECTED = "unexpected_error"
_BLOB_FIELDS = ("blob", "hole", "alpha", "input", "object_mask", "effect_mask", "features", "truth_features")
# The beginning of TABLE/STEP -> the command that writes it; the first that fits counts. What is refused has the step's name.
_WRITTEN_BY = (
    ("/annotate.", "annotate resolve"),
    ("downloads/", "curation fetch"), ("/fetch.", "curation fetch"), ("licence_checks/", "curation recheck"),
    ("/measure.masks", "masks render"), ("/measure.", "curation measure"), ("/labels", "curation label"),
    ("/duplicates", "curation duplicates"), ("/levels", "curation select"), ("selection/", "curation select"),
    ("answers/", "curation answers"), ("/render", "masks render"), ("/mask_levels", "masks pair"), ("/pair", "masks pair"),
    ("scores/", "eval score"), ("predictions/", "eval predict"),
    ("sources/", "curation clips"), ("clips/", "curation clips"), ("attributes/", "curation clips"),
    ("rejected/", "curation clips"),
)  # fmt: skip


@cache  # asked for every row of every table, and reading annotations takes longer than the row
def schema_of(record_type: type) -> pa.Schema:
    """The Arrow schema of a record type."""
    hints = get_type_hints(record_type)
    columns: list[tuple[str, pa.DataType]] = []
    for field in fields(record_type):
        kinds = {kind.__name__ for kind in getattr(hints[field.name], "__args__", ()) if isinstance(kind, type)}
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
    return {name: "Mapping" not in hint for name, hint in plain.items() if "Mapping" in hint or "tuple" in hint}


def read(
    paths: Iterable[Path],
    record_type: type,
    *,
    columns: Sequence[str] | None = None,
    where: tuple[str, Collection[str]] | None = None,
) -> pa.Table:
    """Return the rows of Parquet files, of which those that are not there have none; see ``Workspace.columns``.

    Columns that were added later, whose fields are None unless said, may be missing in a file.

    Raises:
        WorkspaceError: not readable, or written by another version.
    """
    schema = schema_of(record_type)
    names = list(columns or schema.names)
    wanted = pa.schema([schema.field(name) for name in names])
    parts = [wanted.empty_table()]
    if where is not None and not where[1]:
        return parts[0]
    later = {field.name for field in fields(record_type) if field.default is None}
    for path in paths:
        try:
            with pq.ParquetFile(path) as file:
                known = [name for name in names if name not in later or name in file.schema_arrow.names]
                found = file.read(columns=known) if where is None else _rows_with(file, known, *where)
            for name in set(names) - set(known):
                found = found.append_column(name, pa.nulls(found.num_rows, wanted.field(name).type))
            parts.append(found.select(names).cast(wanted))
        except FileNotFoundError:
            continue
        except (pa.ArrowInvalid, pa.ArrowKeyError, KeyError, ValueError, OSError) as error:
            raise WorkspaceError(unreadable(path, error)) from error
    return pa.concat_tables(parts).combine_chunks()


def _rows_with(file: pq.ParquetFile, names: list[str], column: str, values: Collection[str]) -> pa.Table:
    """The rows with one of ``values`` in ``column``: other columns are read of the groups of rows alone that have any."""
    asked, place = pa.array(sorted(values), pa.string()), file.schema_arrow.names.index(column)
    parts = [file.schema_arrow.empty_table().select(names)]
    for group in range(file.num_row_groups):
        held = file.metadata.row_group(group).column(place).statistics
        if held is not None and (held.num_values == 0 or not _may_hold(held, values)):
            continue
        keep = pc.is_in(file.read_row_group(group, columns=[column])[column], value_set=asked)
        if pc.any(keep).as_py():
            parts.append(file.read_row_group(group, columns=names).filter(keep))
    return pa.concat_tables(parts)


def _may_hold(statistics: pq.Statistics, values: Collection[str]) -> bool:
    return not statistics.has_min_max or any(statistics.min <= value <= statistics.max for value in values)


def unreadable(path: Path, error: Exception) -> str:
    """One sentence about the file of a table that ``error`` kept from being read: which table it is, and what makes it anew."""
    if isinstance(error, OSError) and error.strerror and error.errno:
        return f"{str(path)!r} cannot be read: {os.strerror(error.errno)}"
    table = path.parent.name
    written_by = next((command for part, command in _WRITTEN_BY if part in f"{table}/{path.stem}"), None)
    anew = f"`inpaintbench {written_by}`" if written_by else f"the step {path.stem!r}"
    return f"the table {table!r} is damaged or was written by another version: delete {str(path)!r}, then {anew} makes it anew"


def write_parquet(path: Path, table: pa.Table) -> None:
    """Write a table with pyarrow alone, so that the bytes depend on the rows only."""
    sink = pa.BufferOutputStream()
    pq.write_table(table.combine_chunks(), sink, compression="zstd", row_group_size=_ROWS_OF_GROUP)
    write_atomically(path, sink.getvalue().to_pybytes())


class Entries(NamedTuple):
    """Columns of a ledger."""

    columns: pa.Table
    """One entry a key: the one that was finished last."""

    def of(self, keys: pa.Array) -> pa.Table:
        """Those of ``keys``, in that order, that are there."""
        own = flat(self.columns["key"])
        if keys.equals(own):
            return self.columns
        return self.columns.take(pc.drop_null(pc.index_in(keys, value_set=own))).combine_chunks()


def read_entries(paths: Iterable[Path], record_type: type) -> Entries:
    """Return the entries of the files of a ledger; of those with one key, the one that was finished last has its place."""
    rows = pa.list_(pa.struct(list(schema_of(record_type))))
    schema = pa.schema([*_ENTRY, pa.field("rows", rows)])
    parts = [_entry_columns(path, schema, record_type) for path in paths]
    whole = pa.concat_tables([schema.empty_table(), *parts]).combine_chunks()
    del parts
    distinct = pc.unique(whole["key"])
    if len(distinct) == whole.num_rows:
        return Entries(whole)
    order = np.argsort(pc.fill_null(whole["finished_at"], 0.0).to_numpy(), kind="stable")
    places = last_places(flat(whole["key"]).take(pa.array(order)), distinct)
    return Entries(whole.take(pa.array(order[places])).combine_chunks())


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


def _entry_columns(path: Path, schema: pa.Schema, record_type: type) -> pa.Table:
    """The entries of one file of a ledger."""
    parsing = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        whole = pj.read_json(path, pj.ReadOptions(block_size=_BLOCK_BYTES), parsing)
        if not whole["key"].null_count:
            return whole
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    # A line that a crash tore, or rows as release 0.2 wrote them, which are not flat.
    return pa.Table.from_pylist([_flat_entry(entry, record_type) for entry in entries_of(path)], schema=schema)


def entries_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the entries of one file of a ledger, but for damaged lines."""
    for line in path.read_bytes().splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and "key" in entry:
            yield entry


def _flat_entry(entry: Mapping[str, Any], record_type: type) -> dict[str, Any]:
    """An entry with rows of the schema, whichever release wrote it: 0.2 kept mappings, tuples and values as they are."""
    names, rows = schema_of(record_type).names, []
    for row in entry.get("rows") or ():
        flat: dict[str, Any] = {}
        for field in fields(record_type):
            default = field.default_factory() if field.default_factory is not MISSING else field.default
            value = row.get(field.name, None if default is MISSING else default)
            flat |= {name: one for name, (one,) in _columns_of(field.name, [value], names).items()}
        rows.append({**flat, **{name: value for name, value in row.items() if name.endswith("_text") and value is not None}})
    spoilt = any(UNEXPECTED in (row.get("details") or ()) for row in rows)
    status = "spoilt" if spoilt and entry.get("status") == "done" else entry.get("status")
    return {**entry, "status": status, "rows": rows if "rows" in entry else None}


def rows_json(records: Sequence[Any]) -> str:
    """Records of one type as rows of a ledger, which may hold infinite scores: JSON proper, as in tables, cannot say them."""
    cells = _cells(records, type(records[0])) if records else {}
    return json.dumps([dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)])


def _cells(records: Sequence[Any], record_type: type) -> dict[str, list[Any]]:
    names = schema_of(record_type).names
    cells: dict[str, list[Any]] = {}
    for field in fields(record_type):
        cells |= _columns_of(field.name, [getattr(record, field.name) for record in records], names)
    return cells


def _columns_of(name: str, values: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]]:
    if f"{name}_text" not in names:
        return {name: [canonical_json(value) if isinstance(value, dict | list | tuple) else value for value in values]}
    texts = [value if isinstance(value, str) else None for value in values]
    return {name: [None if isinstance(value, str) else value for value in values], f"{name}_text": texts}


def lost_blobs(entries: pa.Table, path_of: Callable[[str], Path]) -> npt.NDArray[np.bool_]:
    """Return which of ``N`` entries of a ledger have rows that name a blob that is not there, ``bool[N]``."""
    lists = entries["rows"].combine_chunks()
    rows, parents, lost = lists.flatten(), pc.list_parent_indices(lists), np.zeros(len(lists), np.bool_)
    for field in (name for name in _BLOB_FIELDS if rows.type.get_field_index(name) >= 0):
        names = pc.struct_field(rows, field)
        gone = [name for name in names.unique().to_pylist() if name and not path_of(name).exists()]
        lost[parents.filter(pc.is_in(names, pa.array(gone, pa.string()))).to_numpy()] = True
    return lost
