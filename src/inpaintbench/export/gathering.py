"""Rows of tables brought to where they are needed through files: what belongs to one item together, and rows into their order.

A table of millions of rows is read once, in pieces, and its rows go to buckets, each a file in Arrow; then one bucket at a time
is in memory. Small tables stay there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench.lazily import lazily
from inpaintbench.manifest import SHARD_ROWS
from inpaintbench.tables import to_columns, to_records
from inpaintbench.types import Attribute, Clip, Corruption, Item, Source

pc = lazily("pyarrow.compute")

Batches = Callable[[], Iterable[pa.Table]]
"""Gives the rows of a table in pieces, again at every call."""
# Items that are made rows of at once, with all that is known of them: 30 KiB each.
ITEMS_AT_ONCE = 8_192
# Buckets are open at once, and so are their files.
_MOST_BUCKETS = 400
# Rows whose owners are looked up at once: each look-up goes over all owners.
_LOOKED_UP = 1 << 20
_PLACE = "place"


class Spill:
    """Rows in buckets, which lie in files of their own where there are several."""

    def __init__(self, folder: Path, buckets: int) -> None:
        self._folder, self._many = folder, buckets > 1
        self._tables: dict[int, list[pa.Table]] = {}
        self._writers: dict[int, Any] = {}

    def add(self, table: pa.Table, bucket_of: npt.NDArray[np.int64]) -> None:
        """Put each row into its bucket; one of -1 goes nowhere."""
        order = np.argsort(bucket_of, kind="stable")
        ordered = bucket_of[order]
        for bucket in np.unique(ordered[ordered >= 0]).tolist():
            low, high = np.searchsorted(ordered, bucket), np.searchsorted(ordered, bucket, side="right")
            rows = table.take(pa.array(order[low:high]))
            if self._many:
                self._writer(bucket, table.schema).write_table(rows)
            else:
                self._tables.setdefault(bucket, []).append(rows)

    def _writer(self, bucket: int, schema: pa.Schema) -> Any:
        if bucket not in self._writers:
            self._folder.mkdir(parents=True, exist_ok=True)
            options = pa.ipc.IpcWriteOptions(compression="lz4")
            self._writers[bucket] = pa.ipc.new_stream(str(self._folder / str(bucket)), schema, options=options)
        return self._writers[bucket]

    def close(self) -> None:
        """End the writing."""
        for writer in self._writers.values():
            writer.close()
        self._writers = {}

    def take(self, bucket: int) -> pa.Table | None:
        """The rows of a bucket, which then are no longer kept; None of an empty one."""
        if bucket in self._tables:
            return pa.concat_tables(self._tables.pop(bucket))
        path = self._folder / str(bucket)
        if not path.exists():
            return None
        with pa.ipc.open_stream(str(path)) as stream:
            rows = stream.read_all()
        path.unlink()
        return rows


class Placed:
    """Rows that come in any order and are given by their places, ``0`` to ``rows - 1``, some thousands at a time."""

    def __init__(self, folder: Path, rows: int) -> None:
        self._size = max(SHARD_ROWS, -(-rows // _MOST_BUCKETS))
        self._buckets = max(1, -(-rows // self._size))
        self._spill = Spill(folder, self._buckets)

    def add(self, table: pa.Table, places: npt.NDArray[np.int64]) -> None:
        """Rows and their places."""
        self._spill.add(table.append_column(_PLACE, pa.array(places, pa.int64())), places // self._size)

    def tables(self) -> Iterator[pa.Table]:
        """All rows in order."""
        self._spill.close()
        for bucket in range(self._buckets):
            if (rows := self._spill.take(bucket)) is not None:
                yield rows.take(pc.sort_indices(rows[_PLACE])).drop_columns([_PLACE]).combine_chunks()


class Together(NamedTuple):
    """Some items with all that is known of them."""

    items: list[Item]
    sources: list[Source]
    clips: list[Clip]
    corruptions: list[Corruption]
    attributes: list[Attribute]


@dataclass(frozen=True)
class Tables:
    """What items are made from."""

    items: Batches
    sources: Batches
    clips: Batches
    corruptions: Batches
    attributes: Batches

    def together(self, folder: Path) -> Iterator[Together]:
        """Yield all items, those of one source at once; ``folder`` is for files on the way."""
        of_source = _column(self.sources, "source_id")
        wanted = _column(self.items, "item_id")
        buckets = min(_MOST_BUCKETS, max(1, -(-len(wanted) // ITEMS_AT_ONCE), 1), max(1, len(of_source)))
        del wanted
        owners, bucket_of = of_source, np.arange(len(of_source)) * buckets // max(1, len(of_source))
        own = {"sources": _Owned("source_id", Source, self.sources)}
        spills = {"sources": _spilled(own["sources"], folder / "sources", buckets, owners, bucket_of)}
        for name, key, found in (
            ("clips", "source_id", _Owned("clip_id", Clip, self.clips)),
            ("corruptions", "clip_id", _Owned("corruption_id", Corruption, self.corruptions)),
        ):
            ids, keys = _column(found.batches, found.key), _column(found.batches, key)
            places = _places(keys, owners)
            of_ids = np.where(places < 0, -1, bucket_of[places])
            own[name] = found
            spills[name] = _spilled(found, folder / name, buckets, ids, of_ids)
            owners, bucket_of = pa.concat_arrays([owners, ids]), np.concatenate([bucket_of, of_ids])
        for name, key, record, batches in (
            ("items", "clip_id", Item, self.items), ("attributes", "subject_id", Attribute, self.attributes),
        ):  # fmt: skip
            own[name] = _Owned(key, record, batches)
            spills[name] = _spilled(own[name], folder / name, buckets, owners, bucket_of)
        del owners, bucket_of
        for bucket in range(buckets):
            parts = {name: _records(spills[name].take(bucket), own[name].record) for name in Together._fields}
            if parts["items"]:
                yield Together(**parts)


class _Owned(NamedTuple):
    """A table, and the column that says whose a row is."""

    key: str
    record: type
    batches: Batches


def of_records(records: Sequence[Any], record: type) -> Batches:
    """Records as what gives their tables."""
    table = to_columns(records, record)
    return lambda: [table]


def _spilled(owned: _Owned, folder: Path, buckets: int, owners: pa.Array, bucket_of: npt.NDArray[np.int64]) -> Spill:
    spill = Spill(folder, buckets)
    held: list[pa.Table] = []

    def put() -> None:
        if held:
            whole = pa.concat_tables(held)
            places = _places(_flat(whole[owned.key]), owners)
            spill.add(whole, np.where(places < 0, -1, bucket_of[places]))
            held.clear()

    for batch in owned.batches():
        held.append(batch)
        if sum(table.num_rows for table in held) >= _LOOKED_UP:
            put()
    put()
    spill.close()
    return spill


def _places(ids: pa.Array, owners: pa.Array) -> npt.NDArray[np.int64]:
    """Place of each id among ``owners``, -1 of one that is not there."""
    found = pc.fill_null(pc.index_in(ids, value_set=owners), -1).to_numpy(zero_copy_only=False)
    return np.asarray(found, np.int64)


def _column(batches: Batches, name: str) -> pa.Array:
    parts = [chunk for batch in batches() for chunk in batch[name].chunks]
    return pa.concat_arrays(parts) if parts else pa.array([], pa.string())


def _flat(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _records(table: pa.Table | None, record: type) -> list[Any]:
    return [] if table is None else to_records(table.combine_chunks(), record)
