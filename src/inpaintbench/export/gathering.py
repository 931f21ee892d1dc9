"""Rows of tables brought to where they are needed through files: what belongs to one item together, and rows into their order.

A table of millions of rows is read once, in pieces, and its rows go to buckets, each a file in Arrow; then one bucket at a time
is in memory. Small tables stay there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench.lazily import lazily
from inpaintbench.manifest import SHARD_ROWS
from inpaintbench.tables import to_columns, to_records
from inpaintbench.types import Attribute, Clip, Corruption, Item, Source

pc = lazily("pyarrow.compute")


class Batches(Protocol):
    """Gives the rows of a table in pieces, the same at every call; of some columns alone where these are named."""

    def __call__(self, columns: Sequence[str] | None = None) -> Iterable[pa.Table]:
        """The pieces."""
        ...


# Items that are made rows of at once, with all that is known of them: 30 KiB each.
ITEMS_AT_ONCE = 8_192
# Buckets are open at once, and so are their files.
_MOST_BUCKETS = 400
# Different ids whose owners are looked up at once: each look-up goes over all owners.
_LOOKED_UP = 1 << 20
# Rows that are put into buckets at once.
_ROWS_AT_ONCE = 1 << 18
_PLACE = "place"


class Spill:
    """Rows in buckets, which lie in files of their own where there are several."""

    def __init__(self, folder: Path, buckets: int) -> None:
        self._folder, self._many = folder, buckets > 1
        self._tables: dict[int, list[pa.Table]] = {}
        self._writers: dict[int, Any] = {}

    def add(self, table: pa.Table, bucket_of: npt.NDArray[Any]) -> None:
        """Put each row into its bucket; one of -1 goes nowhere."""
        order = np.argsort(bucket_of, kind="stable")
        ordered = bucket_of[order]
        rows_in_order = table.take(pa.array(order))
        for bucket in np.unique(ordered[ordered >= 0]).tolist():
            low, high = (int(np.searchsorted(ordered, bucket, side=side)) for side in ("left", "right"))
            rows = rows_in_order.slice(low, high - low)
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
        owners = _Owners()
        of_source = _column(self.sources, "source_id")
        count = sum(batch.num_rows for batch in self.items(["item_id"]))
        buckets = min(_MOST_BUCKETS, max(1, -(-count // ITEMS_AT_ONCE)), max(1, len(of_source)))
        bucket_of = (np.arange(len(of_source)) * buckets // max(1, len(of_source))).astype(np.int16)
        spills = {"sources": _spilled(self.sources, folder / "sources", buckets, bucket_of)}
        owners.add(of_source, bucket_of)
        del of_source
        for name, key, own_id in (("clips", "source_id", "clip_id"), ("corruptions", "clip_id", "corruption_id")):
            batches = getattr(self, name)
            bucket_of = owners.buckets_of(batches, key)
            spills[name] = _spilled(batches, folder / name, buckets, bucket_of)
            owners.add(_column(batches, own_id), bucket_of)
        for name, key in (("items", "clip_id"), ("attributes", "subject_id")):
            batches = getattr(self, name)
            spills[name] = _spilled(batches, folder / name, buckets, owners.buckets_of(batches, key))
        del owners, bucket_of
        for bucket in range(buckets):
            parts = {name: _records(spills[name].take(bucket), record) for name, record in _RECORDS.items()}
            if parts["items"]:
                yield Together(**parts)


_RECORDS: dict[str, type] = {
    "items": Item, "sources": Source, "clips": Clip, "corruptions": Corruption, "attributes": Attribute,
}  # fmt: skip


def of_records(records: Sequence[Any], record: type) -> Batches:
    """Records as what gives their tables."""
    return of_table(to_columns(records, record))


def of_table(table: pa.Table) -> Batches:
    """A table in memory as what gives it."""
    return lambda columns=None: [table if columns is None else table.select(columns)]


class _Owners:
    """Ids of what rows belong to, each with its bucket; of equal ids the first counts."""

    def __init__(self) -> None:
        self._levels: list[tuple[pa.Array, npt.NDArray[np.int16]]] = []

    def add(self, ids: pa.Array, bucket_of: npt.NDArray[np.int16]) -> None:
        """Take further ids."""
        self._levels.append((ids, bucket_of))

    def buckets_of(self, batches: Batches, key: str) -> npt.NDArray[np.int16]:
        """The bucket of every row of a table by its column ``key``, -1 of those whose owner is not there."""
        found: list[npt.NDArray[np.int16]] = []
        held: list[Any] = []
        for batch in batches([key]):
            held.append(_flat(batch[key]).dictionary_encode())
            if sum(len(part.dictionary) for part in held) >= _LOOKED_UP:
                found += self._looked_up(held)
                held = []
        return np.concatenate([np.empty(0, np.int16), *found, *self._looked_up(held)])

    def _looked_up(self, held: Sequence[Any]) -> list[npt.NDArray[np.int16]]:
        """The same of keys in pieces, each of which names its different values once."""
        if not held:
            return []
        wanted = pa.concat_arrays([part.dictionary for part in held])
        bucket_of = np.full(len(wanted) + 1, -1, np.int16)  # the last stands for a key that is missing
        for ids, own in self._levels:
            places = _places(wanted, ids)
            fits = (places >= 0) & (bucket_of[:-1] < 0)
            bucket_of[:-1][fits] = own[places[fits]]
        starts = np.cumsum([0, *(len(part.dictionary) for part in held)]).tolist()
        rows = (
            pc.fill_null(part.indices, len(wanted) - start).to_numpy() + start for part, start in zip(held, starts, strict=False)
        )
        return [bucket_of[places] for places in rows]


def _spilled(batches: Batches, folder: Path, buckets: int, bucket_of: npt.NDArray[np.int16]) -> Spill:
    spill, start = Spill(folder, buckets), 0
    for some in _regrouped(batches()):
        spill.add(some, bucket_of[start : start + some.num_rows])
        start += some.num_rows
    spill.close()
    return spill


def _regrouped(batches: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The same rows in fewer pieces."""
    held: list[pa.Table] = []
    for batch in batches:
        held.append(batch)
        if sum(table.num_rows for table in held) >= _ROWS_AT_ONCE:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)


def _places(ids: pa.Array, owners: pa.Array) -> npt.NDArray[np.int64]:
    """Place of each id among ``owners``, -1 of one that is not there."""
    found = pc.fill_null(pc.index_in(ids, value_set=owners), -1).to_numpy(zero_copy_only=False)
    return np.asarray(found, np.int64)


def _column(batches: Batches, name: str) -> pa.Array:
    parts = [chunk for batch in batches([name]) for chunk in batch[name].chunks]
    return pa.concat_arrays(parts) if parts else pa.array([], pa.string())


def _flat(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _records(table: pa.Table | None, record: type) -> list[Any]:
    return [] if table is None else to_records(table.combine_chunks(), record)
