"""Tables as columns: what a million rows are read, judged and written with, since records would take minutes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from inpaintbench.errors import WorkspaceError
from inpaintbench.workspace import Workspace, schema_of, unreadable, write_atomically


def read_columns(
    workspace: Workspace, table: str, record: type, *, columns: Sequence[str] | None = None,
    where: tuple[str, Collection[str]] | None = None,
) -> pa.Table:  # fmt: skip
    """The rows of all steps of ``table``, in name order of the steps.

    Args:
        workspace: to read.
        table: its name; a table that is not there has no rows.
        record: what its rows are.
        columns: all by default.
        where: a column and the values that it must have.

    Raises:
        WorkspaceError: not readable, or written by another version.
    """
    schema = schema_of(record)
    names = list(columns or schema.names)
    wanted = pa.schema([schema.field(name) for name in names])
    keep = None if where is None else pc.field(where[0]).isin(pa.array(sorted(where[1]), pa.string()))
    parts = [wanted.empty_table()]
    for path in sorted((workspace.path / "tables" / table).glob("*.parquet")):
        try:
            parts.append(pq.read_table(path, columns=names, filters=keep).select(names).cast(wanted))
        except (pa.ArrowInvalid, pa.ArrowKeyError, KeyError, ValueError, OSError) as error:
            raise WorkspaceError(unreadable(path, error)) from error
    return pa.concat_tables(parts).combine_chunks()


def write_columns(workspace: Workspace, table: str, step: str, rows: pa.Table) -> None:
    """Replace what ``step`` wrote to ``table``, with the bytes that equal records would give."""
    path = workspace.path / "tables" / table / f"{step}.parquet"
    if not rows.num_rows:
        path.unlink(missing_ok=True)
        return
    sink = pa.BufferOutputStream()
    pq.write_table(rows.combine_chunks(), sink, compression="zstd")
    write_atomically(path, sink.getvalue().to_pybytes())


def rows_of(table: pa.Table) -> list[dict[str, object]]:
    """The rows of a small table."""
    found: list[dict[str, object]] = table.to_pylist()
    return found
