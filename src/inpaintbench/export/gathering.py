"""Rows of tables brought to where they are needed through files: what belongs to one item together, and rows into their order.

A table of millions of rows is read once, in pieces, and its rows go to buckets, each a file in Arrow; then one bucket at a time
is in memory. Small tables stay there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench.export.layout import MEDIA, media_names
from inpaintbench.files import all_without_controls, copy_file
from inpaintbench.lazily import lazily
from inpaintbench.manifest import EDIT_COLUMNS, INSTRUCTION, SHARD_ROWS
from inpaintbench.tables import flat, to_columns, to_records
from inpaintbench.types import EDIT, UNPAIRED, Attribute, Clip, Corruption, Item, Plain, Source
from inpaintbench.workspace import Blobs

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
                if bucket not in self._writers:
                    self._folder.mkdir(parents=True, exist_ok=True)
                    options = pa.ipc.IpcWriteOptions(compression="lz4")
                    self._writers[bucket] = pa.ipc.new_stream(str(self._folder / str(bucket)), table.schema, options=options)
                self._writers[bucket].write_table(rows)
            else:
                self._tables.setdefault(bucket, []).append(rows)

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
        of_source = column(self.sources, "source_id")
        count = sum(batch.num_rows for batch in self.items(["item_id"]))
        buckets = min(_MOST_BUCKETS, max(1, -(-count // ITEMS_AT_ONCE)), max(1, len(of_source)))
        bucket_of = (np.arange(len(of_source)) * buckets // max(1, len(of_source))).astype(np.int16)
        spills = {"sources": _spilled(self.sources, folder / "sources", buckets, bucket_of)}
        owners: list[_Owners] = [(of_source, bucket_of)]
        del of_source
        for name, key, own_id in (("clips", "source_id", "clip_id"), ("corruptions", "clip_id", "corruption_id")):
            batches = getattr(self, name)
            bucket_of = _buckets_of(batches, key, owners)
            spills[name] = _spilled(batches, folder / name, buckets, bucket_of)
            owners.append((column(batches, own_id), bucket_of))
        for name, key in (("items", "clip_id"), ("attributes", "subject_id")):
            batches = getattr(self, name)
            spills[name] = _spilled(batches, folder / name, buckets, _buckets_of(batches, key, owners))
        del owners, bucket_of
        for bucket in range(buckets):
            taken = {name: spills[name].take(bucket) for name in _RECORDS}
            if taken["items"] is not None:
                rows_of = {name: table.combine_chunks() for name, table in taken.items() if table is not None}
                yield Together(*(to_records(rows_of[name], of) if name in rows_of else [] for name, of in _RECORDS.items()))


_RECORDS: dict[str, type] = {
    "items": Item, "sources": Source, "clips": Clip, "corruptions": Corruption, "attributes": Attribute,
}  # fmt: skip


def of_records(records: Sequence[Any], record: type) -> Batches:
    """Records as what gives their tables."""
    return of_table(to_columns(records, record))


def of_table(table: pa.Table) -> Batches:
    """A table in memory as what gives it."""
    return lambda columns=None: [table if columns is None else table.select(columns)]


# Ids of what rows belong to, with the bucket of each; of equal ids the first counts.
_Owners = tuple[pa.Array, npt.NDArray[np.int16]]


def _buckets_of(batches: Batches, key: str, owners: Sequence[_Owners]) -> npt.NDArray[np.int16]:
    """The bucket of every row of a table by its column ``key``, -1 of those whose owner is not there."""
    found: list[npt.NDArray[np.int16]] = []
    held: list[Any] = []
    for batch in batches([key]):
        held.append(flat(batch[key]).dictionary_encode())
        if sum(len(part.dictionary) for part in held) >= _LOOKED_UP:
            found += _looked_up(held, owners)
            held = []
    return np.concatenate([np.empty(0, np.int16), *found, *_looked_up(held, owners)])


def _looked_up(held: Sequence[Any], owners: Sequence[_Owners]) -> list[npt.NDArray[np.int16]]:
    """The same of keys in pieces, each of which names its different values once."""
    if not held:
        return []
    wanted = pa.concat_arrays([part.dictionary for part in held])
    bucket_of = np.full(len(wanted) + 1, -1, np.int16)  # the last stands for a key that is missing
    for ids, own in owners:
        places = pc.fill_null(pc.index_in(wanted, value_set=ids), -1).to_numpy(zero_copy_only=False)
        fits = (places >= 0) & (bucket_of[:-1] < 0)
        bucket_of[:-1][fits] = own[places[fits]]
    starts = np.cumsum([0, *(len(part.dictionary) for part in held)]).tolist()
    rows = (pc.fill_null(part.indices, len(wanted) - start).to_numpy() + start for part, start in zip(held, starts, strict=False))
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


def column(batches: Batches, name: str) -> pa.Array:
    """One column of all rows."""
    parts = [chunk for batch in batches([name]) for chunk in batch[name].chunks]
    return pa.concat_arrays(parts) if parts else pa.array([], pa.string())


# Columns of a row that a clip, or a corruption, has under the same name.
_OF_CLIP = (
    "clip_id", "source_id", "start_frame", "end_frame", "frames", "width", "height", "fps", "encode_crf", "encode_psnr_db",
    "encoder",
)  # fmt: skip
_OF_CORRUPTION = ("generator", "hole_sha256", "input_sha256", "object_mask_sha256", "effect_mask_sha256")
_BLOBS = ("hole", "input", "alpha", "object_mask", "effect_mask")


def item_rows(some: Together, blobs: Blobs) -> list[dict[str, Any]]:
    """Rows of items, by id, with every column that a row may have."""
    source_of = {source.source_id: source for source in some.sources}
    clip_of = {clip.clip_id: clip for clip in some.clips}
    corruption_of = {corruption.corruption_id: corruption for corruption in some.corruptions}
    children: dict[str, list[Corruption]] = {}
    for corruption in sorted(some.corruptions, key=lambda row: row.corruption_id):
        children.setdefault(corruption.parent_id or "", []).append(corruption)
    facts: dict[str, dict[str, Any]] = {}
    for row in some.attributes:
        value: Any = row.value
        if row.blob and row.blob.endswith(".json"):  # the attribute is the data itself
            value = json.loads(blobs.proved(row.blob).read_bytes())
        elif row.producer == "masks.measure" and isinstance(value, str) and value.startswith("["):
            value = json.loads(value)
        facts.setdefault(row.subject_id, {})[row.name] = value
    rows = []
    for item in sorted(some.items, key=lambda item: item.item_id):
        clip, corruption = clip_of[item.clip_id], corruption_of[item.corruption_id]
        row_facts = facts.get(clip.source_id, {}) | facts.get(clip.clip_id, {}) | facts.get(corruption.corruption_id, {})
        second = children.get(corruption.corruption_id, [])
        if second:  # in the order of the files
            row_facts["second_holes"] = [
                {"corruption_id": one.corruption_id, "hole_sha256": one.hole_sha256}
                | {name: value for name, value in facts.get(one.corruption_id, {}).items() if value is not None}
                for one in second
            ]
        columns = _columns(item, clip, corruption, source_of[clip.source_id], second)
        rows.append(all_without_controls(columns | {"attributes": row_facts}))
    return rows


def _columns(item: Item, clip: Clip, corruption: Corruption, source: Source, second: Sequence[Corruption]) -> dict[str, Any]:
    unpaired, edited = corruption.generator == UNPAIRED, corruption.generator == EDIT
    files: dict[str, Any] = {f"{part}_file_name": _file_name(part, getattr(corruption, part)) for part in _BLOBS}
    files["second_hole_file_names"] = [_file_name("second_hole", one.hole) for one in second]
    files["truth_file_name"] = None if unpaired else _truth_name(clip)
    if edited:  # the input of an edit is its truth
        files["input_file_name"] = _truth_name(clip)
    return {
        **files,
        "item_id": item.item_id,
        "split": item.split,
        "source_uri": source.uri,
        "licence": source.licence,
        "author": source.author,
        "page_url": source.page_url,
        "generator_parameters": dict(corruption.parameters) | {"seed": corruption.seed},
        "truth_yuv_sha256": None if unpaired else clip.yuv_sha256,
        "truth_rgb_sha256": None if unpaired else clip.rgb_sha256,
        **{name: getattr(clip, name) for name in _OF_CLIP},
        **{name: corruption.parameters.get(name) if edited else None for name in (*EDIT_COLUMNS, INSTRUCTION)},
        **{name: getattr(corruption, name) for name in _OF_CORRUPTION},
    }


def _truth_name(clip: Clip) -> str:
    return f"{MEDIA['truth']}/{clip.clip_id}{Path(clip.blob).suffix}"


def _file_name(part: str, blob: str | None) -> str | None:
    return None if blob is None else f"{MEDIA[part]}/{blob[:16]}{Path(blob).suffix}"


def copy_media(folder: Path, rows: Sequence[Plain], some: Together, blobs: Blobs) -> None:
    """Copy the media of rows into a dataset, those that are not there."""
    blob_of: dict[str | None, str] = {_truth_name(clip): clip.blob for clip in some.clips}
    for row in some.corruptions:
        blob_of |= {_file_name(part, blob): blob for part in _BLOBS if (blob := getattr(row, part))}
    for name in sorted({name for row in rows for name in media_names(row)}):
        (folder / name).parent.mkdir(exist_ok=True)
        if not (folder / name).exists():
            copy_file(blobs.proved(blob_of[name]), folder / name)
