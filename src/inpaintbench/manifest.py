"""Manifest of a frozen dataset: a small root over tables in Parquet, read where they are asked for; reading and writing of both.

    dataset.json                 the root: recipe, versions, facts, amounts, SHA-256 of the tables of manifest/ and of itself
    manifest/files.parquet       path, SHA-256 and bytes of every other file, by path
    manifest/members.parquet     the items of every slice, in its order
    all.parquet                  the rows of all items by id, which are the config ``all`` too; with splits all.<split>.parquet

A table of more than ``SHARD_ROWS`` rows lies in several files, ``NAME-00000-of-00002.parquet``, and is read by groups of
``GROUP_ROWS``. Equal rows give equal bytes, whoever made them in whichever pieces. Up to format 3 everything was in dataset.json;
such datasets are read for ever.
"""

from __future__ import annotations

import bisect
import hashlib
import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench.errors import InputError, VerifyError
from inpaintbench.files import write_atomically
from inpaintbench.lazily import lazily
from inpaintbench.types import Dataset, Plain, Slice, canonical_json

pc = lazily("pyarrow.compute")  # each takes 20 ms or more, and most commands read no table
pq = lazily("pyarrow.parquet")

MANIFEST = "dataset.json"
OWN_HASH = "manifest_sha256"
FORMAT_VERSION = 4
# The last one with everything in its root.
ONE_FILE = 3
FOLDER = "manifest"
# Fact of a dataset: earlier versions, oldest first: ``id``, ``version``, ``manifest_sha256``, ``items``, how many are ``kept``.
EARLIER = "earlier_versions"
# The config of all items, and the slice where a recipe has one of them.
ALL = "all"
# Of a file, and of a group of rows in it, which is what reading a single row costs.
SHARD_ROWS, GROUP_ROWS = 16_384, 2_048
# Columns of rows that hold mappings, as canonical JSON.
JSON_COLUMNS = ("attributes", "generator_parameters")
FILES = pa.schema([("path", pa.string()), ("sha256", pa.binary(32)), ("bytes", pa.int64())])
MEMBERS = pa.schema([("slice", pa.string()), ("item_id", pa.string())])
_GROUPS_KEPT = 8
_OLD_FIELDS = (
    "name", "recipe", "items", "slices", "left_out", "files", "versions", "format_version", "about", "version", "removed",
    "facts",
)  # fmt: skip


# Writing


def shard_names(stem: str, rows: int) -> list[str]:
    """Names of the files of a table of so many rows, at least one."""
    count = max(1, -(-rows // SHARD_ROWS))
    return [f"{stem}.parquet"] if count == 1 else [f"{stem}-{place:05d}-of-{count:05d}.parquet" for place in range(count)]


def shards(stem: str, batches: Iterable[pa.Table], *, rows: int, schema: pa.Schema) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a table: name and bytes, which depend on the rows alone and not on how they come.

    Args:
        stem: the names without number and suffix.
        batches: the rows, of ``schema``, in any pieces; in memory are those of one file.
        rows: how many they are in all.
        schema: their columns.
    """
    pieces = _regrouped(batches, SHARD_ROWS, schema)
    for name in shard_names(stem, rows):
        yield name, _file_of(next(pieces, schema.empty_table()))


def _file_of(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table.combine_chunks(), sink, compression="zstd", row_group_size=GROUP_ROWS)
    return bytes(sink.getvalue().to_pybytes())


class ShardWriter:
    """Writes the files of a table as its rows come: the same as ``shards``."""

    def __init__(self, folder: Path, names: Sequence[str], schema: pa.Schema) -> None:
        self._folder, self._names, self._schema = folder, list(names), schema
        self._held: list[pa.Table] = []

    def add(self, table: pa.Table) -> None:
        """Take the next rows."""
        self._held.append(table)
        while sum(part.num_rows for part in self._held) >= SHARD_ROWS:
            whole = pa.concat_tables(self._held)
            self._write(whole.slice(0, SHARD_ROWS))
            self._held = [whole.slice(SHARD_ROWS)]

    def close(self) -> None:
        """Write what is left."""
        if self._names:
            self._write(pa.concat_tables([self._schema.empty_table(), *self._held]))

    def _write(self, table: pa.Table) -> None:
        write_atomically(self._folder / self._names.pop(0), _file_of(table))


def _regrouped(batches: Iterable[pa.Table], rows: int, schema: pa.Schema) -> Iterator[pa.Table]:
    """The same rows in tables of exactly ``rows``, the last with what is left."""
    held, count = [], 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        while count >= rows:
            whole = pa.concat_tables(held)
            yield whole.slice(0, rows)
            held, count = [whole.slice(rows)], count - rows
    if count:
        yield pa.concat_tables([schema.empty_table(), *held])


def tables(dataset: Dataset, sizes: Mapping[str, int]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the folder ``manifest``: path and bytes.

    Args:
        dataset: ``files`` has every file but those of the folder and the root.
        sizes: of these files, in bytes.
    """
    count = sum(len(part.item_ids) for part in dataset.slices)
    yield from shards(f"{FOLDER}/members", _member_batches(dataset.slices), rows=count, schema=MEMBERS)
    names = sorted(name for name in dataset.files if not is_table(name))
    batches = (_file_batch(names[start : start + SHARD_ROWS], dataset.files, sizes) for start in range(0, len(names), SHARD_ROWS))
    yield from shards(f"{FOLDER}/files", batches, rows=len(names), schema=FILES)


def is_table(name: str) -> bool:
    """Whether a file of a dataset is one of the tables of its manifest."""
    return name.startswith(f"{FOLDER}/")


def _member_batches(slices: Sequence[Slice]) -> Iterator[pa.Table]:
    for part in slices:
        for start in range(0, len(part.item_ids), SHARD_ROWS):
            ids = list(part.item_ids[start : start + SHARD_ROWS])
            yield pa.table([pa.repeat(pa.scalar(part.name), len(ids)), pa.array(ids, pa.string())], schema=MEMBERS)


def _file_batch(names: Sequence[str], hashes: Mapping[str, str], sizes: Mapping[str, int]) -> pa.Table:
    digests = pa.array([bytes.fromhex(hashes[name]) for name in names], pa.binary(32))
    return pa.table([pa.array(names, pa.string()), digests, pa.array([sizes.get(name) for name in names], pa.int64())], FILES)


def root(dataset: Dataset, *, item_tables: Mapping[str, int]) -> bytes:
    """Bytes of ``dataset.json``, which state their own SHA-256: that of the same text without the hash and without ``versions``.

    So a dataset that is rebuilt under other versions of packages keeps its hash.

    Args:
        dataset: ``files`` has every file but the root, the tables of the manifest among them.
        item_tables: file of the rows of all items -> its rows, in order.
    """
    parts = {name: sha256 for name, sha256 in dataset.files.items() if is_table(name)}
    fields = {
        "name": dataset.name, "version": dataset.version, "about": dataset.about, "recipe": dataset.recipe,
        "versions": dataset.versions, "left_out": dataset.left_out, "facts": dataset.facts, "removed": dataset.removed,
        "format_version": FORMAT_VERSION, "content": content_of(dataset), "items": len(dataset.items),
        "slices": [{"name": part.name, "rule": part.rule, "items": len(part.item_ids)} for part in dataset.slices],
        "item_tables": [{"path": path, "rows": rows} for path, rows in item_tables.items()],
        "files": len(dataset.files), "tables": parts,
    }  # fmt: skip
    return _signed(fields)


def one_file(dataset: Dataset) -> bytes:
    """Bytes of ``dataset.json`` of format 3, which holds everything."""
    return _signed(_old_fields(dataset))


def _old_fields(dataset: Dataset) -> dict[str, Any]:
    slices = [{"name": part.name, "rule": part.rule, "item_ids": list(part.item_ids)} for part in dataset.slices]
    found = {name: getattr(dataset, name) for name in _OLD_FIELDS}
    lists = {"items": list(dataset.items), "slices": slices, "files": dict(dataset.files)}
    return found | lists | {"format_version": ONE_FILE}


def _signed(fields: Mapping[str, Any], *, without: Sequence[str] = ("versions",)) -> bytes:
    own = hashlib.sha256(_text({name: inner for name, inner in fields.items() if name not in without})).hexdigest()
    return _text({**fields, OWN_HASH: own})


def _text(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, indent=1, sort_keys=True, ensure_ascii=True, allow_nan=False).encode() + b"\n"


def is_as_stated(text: bytes) -> bool:
    """True if ``text`` is a root that states its own hash, which in old ones covers ``versions`` too.

    Raises:
        ValueError: it is no JSON object.
    """
    fields = json.loads(text)
    if not isinstance(fields, dict) or OWN_HASH not in fields:
        return False
    del fields[OWN_HASH]
    return text in (_signed(fields), _signed(fields, without=()))


def own_hash(dataset: Dataset) -> str:
    """The SHA-256 that the manifest of a dataset states of itself; of one that was not read, that of format 3."""
    return dataset.manifest_sha256 or str(json.loads(one_file(dataset))[OWN_HASH])


# Reading


def load(folder: Path | str) -> Dataset:
    """Read the manifest of a frozen dataset. Of rows, members and files, nothing is read before it is asked for.

    Raises:
        InputError: no manifest there.
        VerifyError: the manifest is damaged or of another format.
    """
    path = Path(folder) / MANIFEST
    if not path.is_file():
        raise InputError(f"{str(folder)!r} is not a frozen dataset (no {MANIFEST}){_workspace_hint(Path(folder))}")
    try:
        stated: dict[str, Any] = json.loads(path.read_text())
        if stated["format_version"] not in (ONE_FILE, FORMAT_VERSION):
            way_out = f"this program reads {ONE_FILE} and {FORMAT_VERSION}; export the dataset again"
            raise VerifyError(f"{path.name} has format {stated['format_version']}, {way_out}")
        return _of_one_file(stated) if stated["format_version"] == ONE_FILE else _of_root(Path(folder), stated)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise VerifyError(f"{str(path)!r} is damaged: {error}") from error


def _of_one_file(stated: dict[str, Any]) -> Dataset:
    known = {name: inner for name, inner in stated.items() if name in _OLD_FIELDS or name == OWN_HASH}
    if strange := set(stated) - set(known):
        raise ValueError(f"unknown {sorted(strange)[0]!r}")
    known["slices"] = tuple(Slice(part["name"], part["rule"], tuple(part["item_ids"])) for part in stated["slices"])
    known["items"], known["removed"] = tuple(stated["items"]), tuple(stated.get("removed", ()))
    dataset = Dataset(**known)
    check_inside([*dataset.files, *(name for row in dataset.items for name in _media_of(row))])
    return dataset


def _of_root(folder: Path, stated: Mapping[str, Any]) -> Dataset:
    hashes: dict[str, str] = dict(stated["tables"])
    items = [(str(part["path"]), int(part["rows"])) for part in stated["item_tables"]]
    check_inside([*hashes, *(name for name, _ in items)])
    files, members = ([name for name in sorted(hashes) if name.startswith(f"{FOLDER}/{kind}")] for kind in ("files", "members"))
    rows = Rows(_Shards.of(folder, [name for name, _ in items], sum(count for _, count in items)))
    slices, start = [], 0
    ids = _Shards.of(folder, members, sum(int(part["items"]) for part in stated["slices"]))
    for part in stated["slices"]:
        stop = start + int(part["items"])
        slices.append(Slice(str(part["name"]), str(part["rule"]), Ids(ids, start, stop)))
        start = stop
    dataset = Dataset(
        name=stated["name"], recipe=stated["recipe"], items=rows, slices=tuple(slices), left_out=stated["left_out"],
        files=Files(_Shards.of(folder, files, int(stated["files"]) - len(hashes)), hashes), versions=stated["versions"],
        format_version=FORMAT_VERSION, about=stated["about"], version=stated["version"], removed=tuple(stated["removed"]),
        facts=stated["facts"], manifest_sha256=str(stated[OWN_HASH]),
    )  # fmt: skip
    rows.identity = Identity(str(stated["content"]), dataset.slices, dataset.left_out, dataset.recipe)
    return dataset


def _workspace_hint(folder: Path) -> str:
    """Hint at the datasets of a workspace, for an error about the workspace's folder; empty where there are none."""
    datasets = sorted(str(manifest.parent) for manifest in folder.glob(f"exports/*/{MANIFEST}"))
    return f"; it is a workspace, and its dataset is {' or '.join(datasets)}" if datasets else ""


def table_names(text: bytes) -> list[str]:
    """Files of rows, members and files that a root is read with, besides itself; none of format 3.

    Raises:
        VerifyError: the root is damaged, or names files outside of its folder.
    """
    try:
        stated = json.loads(text)
        names = [*stated.get("tables", {}), *(str(part["path"]) for part in stated.get("item_tables", ()))]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise VerifyError(f"{MANIFEST} is damaged: {error}") from error
    check_inside(names)
    return names


def check_inside(names: Iterable[str]) -> None:
    """Raise ``VerifyError`` unless all are paths inside the dataset's folder; a stranger's manifest may name files elsewhere."""
    for name in names:
        path = PurePosixPath(name)
        inside = bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\\" not in name and "\0" not in name
        if not inside:
            raise VerifyError(f"{MANIFEST} names a file {name!r}, which cannot lie in a dataset")


def _media_of(row: Plain) -> Iterator[str]:
    for column, value in row.items():
        if column.endswith("_file_name") and value is not None:
            yield str(value)
        elif column.endswith("_file_names"):
            yield from map(str, value or ())


@dataclass(frozen=True)
class _Group:
    """A group of rows of a file."""

    path: Path
    number: int
    first: int
    """Place of its first row in the whole table."""
    rows: int


@dataclass(frozen=True)
class _Shards:
    """A table in several files, of which the groups that were read last are kept."""

    paths: tuple[Path, ...]
    rows: int
    """As the root says."""
    _kept: dict[int, pa.Table] = field(default_factory=dict, init=False, compare=False, repr=False)

    @classmethod
    def of(cls, folder: Path, names: Sequence[str], rows: int) -> _Shards:
        return cls(tuple(folder / name for name in names), rows)

    @cached_property
    def groups(self) -> list[_Group]:
        """All groups, in order."""
        found, first = [], 0
        for path in self.paths:
            with _opened(path) as file:
                counts = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
            for number, count in enumerate(counts):
                found.append(_Group(path, number, first, count))
                first += count
        if first != self.rows:
            names = ", ".join(path.name for path in self.paths) or "no table"
            raise VerifyError(f"{names} of the manifest: {first} rows, not the {self.rows} that {MANIFEST} says")
        return found

    def batches(self, columns: Sequence[str] | None = None, start: int = 0, stop: int | None = None) -> Iterator[pa.Table]:
        """The rows from ``start`` to ``stop``, a group at a time."""
        end = self.rows if stop is None else stop
        for group in self.groups:
            low, high = max(start - group.first, 0), min(end - group.first, group.rows)
            if low < high:
                yield _read(group, columns).slice(low, high - low)

    def column(self, name: str, start: int = 0, stop: int | None = None) -> pa.Array:
        """One column in one piece."""
        parts = [chunk for batch in self.batches([name], start, stop) for chunk in batch[name].chunks]
        return pa.concat_arrays(parts) if parts else pa.array([], pa.string())

    def take(self, places: npt.NDArray[np.int64]) -> pa.Table:
        """The rows at ``places``, in that order."""
        firsts = np.array([group.first for group in self.groups], np.int64)
        of_group = np.searchsorted(firsts, places, side="right") - 1
        order = np.argsort(of_group, kind="stable")
        parts = []
        for number in np.unique(of_group).tolist():
            inside = order[np.searchsorted(of_group[order], number) : np.searchsorted(of_group[order], number, side="right")]
            parts.append(self._group(number).take(pa.array(places[inside] - firsts[number])))
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return pa.concat_tables(parts).take(pa.array(back)) if len(places) else self._group(0).slice(0, 0)

    def _group(self, number: int) -> pa.Table:
        """A whole group; the last few stay in memory."""
        if (table := self._kept.pop(number, None)) is None:
            table = _read(self.groups[number], None)
            for oldest in list(self._kept)[: max(0, len(self._kept) - _GROUPS_KEPT + 1)]:
                self._kept.pop(oldest, None)
        self._kept[number] = table
        return table


def _opened(path: Path) -> Any:
    try:
        return pq.ParquetFile(path)
    except (OSError, pa.ArrowInvalid) as error:
        _refuse(path, error)


def _read(group: _Group, columns: Sequence[str] | None) -> pa.Table:
    try:
        with _opened(group.path) as file:
            return file.read_row_group(group.number, columns=columns if columns is None else list(columns), use_threads=False)
    except (OSError, pa.ArrowInvalid, KeyError) as error:
        _refuse(group.path, error)


def _refuse(path: Path, error: Exception) -> NoReturn:
    what = "missing" if isinstance(error, FileNotFoundError) else "damaged"
    raise VerifyError(f"{path.name}, a table of the manifest in {str(path.parent)!r}, is {what}") from error


@dataclass(frozen=True)
class Identity:
    """Content of a dataset, as its root states it, with what else it is made of: see ``content_of``."""

    content: str
    slices: Sequence[Slice]
    left_out: Mapping[str, str]
    recipe: Plain


class KeyedRows(Sequence[Plain]):
    """Rows of items in the order of their ids, found by id without making those that are not asked for."""

    ids: Any
    """The ids of all items in Arrow, ascending."""
    identity: Identity | None = None
    """What the dataset was known as when the rows were read or written."""

    @abstractmethod
    def rows_of(self, ids: Iterable[str]) -> Sequence[Plain]:
        """The rows of these items, in their order."""


class Rows(KeyedRows):
    """Rows of the items of a dataset in the order of their ids, made one by one where they are asked for.

    ``columns`` and ``batches`` give them as they lie there, in Arrow: mappings are JSON.
    """

    def __init__(self, table: _Shards) -> None:
        self._table = table

    @classmethod
    def at(cls, folder: Path, names: Sequence[str], rows: int) -> Rows:
        """The rows that lie in some files of a folder."""
        return cls(_Shards.of(folder, names, rows))

    def __len__(self) -> int:
        return self._table.rows

    @overload
    def __getitem__(self, place: int) -> Plain: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Plain, ...]: ...
    def __getitem__(self, place: int | slice) -> Plain | tuple[Plain, ...]:
        if isinstance(place, slice):
            return tuple(_plain(self._at(range(len(self))[place])))
        return next(_plain(self._at([range(len(self))[place]])))

    def __iter__(self) -> Iterator[Plain]:
        for batch in self.batches():
            yield from _plain(batch)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows | tuple | list):
            return NotImplemented
        return len(self) == len(other) and all(mine == yours for mine, yours in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Callable[..., Rows], tuple[_Shards]]:
        return Rows, (_Shards(self._table.paths, self._table.rows),)

    @cached_property
    def _stored_ids(self) -> pa.Array:
        return self._table.column("item_id")

    @cached_property
    def _order(self) -> npt.NDArray[np.int64] | None:
        """Places of the rows in the files, in the order of ids; None where they lie so, as they do without splits."""
        ids = self._stored_ids
        if len(ids) < 2 or pc.all(pc.less(ids.slice(0, len(ids) - 1), ids.slice(1))).as_py():
            return None
        order: npt.NDArray[np.int64] = pc.sort_indices(ids).to_numpy().astype(np.int64)
        return order

    @cached_property
    def ids(self) -> pa.Array:
        """The ids of all items, ascending."""
        return self._stored_ids if self._order is None else self._stored_ids.take(pa.array(self._order))

    def _at(self, places: Sequence[int]) -> pa.Table:
        wanted = np.array(places, np.int64)
        return self._table.take(wanted if self._order is None else self._order[wanted])

    def find(self, item_id: str) -> Plain:
        """The row of an item.

        Raises:
            KeyError: no such item.
        """
        place = _place(self.ids, item_id)
        if place is None:
            raise KeyError(item_id)
        return self[place]

    def rows_of(self, ids: Iterable[str]) -> list[Plain]:
        """The rows of these items, in their order; of many at once, each group of rows is read once.

        Raises:
            KeyError: an item is not there.
        """
        wanted = arrow_ids(ids)
        places = pc.index_in(wanted, value_set=self.ids)
        if places.null_count:
            raise KeyError(wanted.filter(pc.is_null(places))[0].as_py())
        return list(_plain(self._at(places.to_pylist())))

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        with _opened(self._table.paths[0]) as file:
            names: list[str] = file.schema_arrow.names
        return names

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Some columns of all rows; nothing else is read."""
        table = pa.concat_tables(list(self._table.batches(names)))
        return table if self._order is None else table.take(pa.array(self._order))

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """All rows, some thousands at a time; some columns or, by default, all."""
        if self._order is None:
            yield from self._table.batches(names)
            return
        for start in range(0, len(self), GROUP_ROWS):
            rows = self._table.take(self._order[start : start + GROUP_ROWS])
            yield rows if names is None else rows.select(names)


def column(dataset: Dataset, name: str) -> list[Any]:
    """One column of the rows of a dataset, None where a row lacks it; no rows are made."""
    if isinstance(dataset.items, Rows):
        return dataset.items.columns([name])[name].to_pylist() if name in dataset.items.names else [None] * len(dataset.items)
    return [row.get(name) for row in dataset.items]


def _plain(table: pa.Table) -> Iterator[dict[str, Any]]:
    """The rows of a table as ``Dataset.items`` has them."""
    for row in table.select(sorted(table.column_names)).to_pylist():
        for name in JSON_COLUMNS:
            row[name] = json.loads(row[name])
        check_inside(_media_of(row))
        yield row


def _place(ids: pa.Array, wanted: str) -> int | None:
    """The place of a text among ascending ones; None where it is not."""
    place = bisect.bisect_left(range(len(ids)), wanted, key=lambda at: ids[at].as_py())
    return place if place < len(ids) and ids[place].as_py() == wanted else None


class Ids(Sequence[str]):
    """Ids of the items of a slice in its order, read when the first of them is asked for."""

    def __init__(self, table: _Shards, start: int, stop: int) -> None:
        self._table, self._start, self._stop = table, start, stop

    @cached_property
    def array(self) -> pa.Array:
        """All of them in Arrow."""
        return self._table.column("item_id", self._start, self._stop)

    def __len__(self) -> int:
        return self._stop - self._start

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            return tuple(self.array.take(pa.array(range(len(self))[place])).to_pylist())
        return str(self.array[range(len(self))[place]].as_py())

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), SHARD_ROWS):
            yield from self.array.slice(start, SHARD_ROWS).to_pylist()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ids | tuple | list):
            return NotImplemented
        return len(self) == len(other) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Callable[..., Ids], tuple[_Shards, int, int]]:
        return Ids, (_Shards(self._table.paths, self._table.rows), self._start, self._stop)


class ArrayIds(Ids):
    """Ids that are in memory already."""

    def __init__(self, ids: pa.Array) -> None:
        self.__dict__["array"] = ids
        self._start, self._stop = 0, len(ids)

    def __reduce__(self) -> tuple[Callable[..., Ids], Any]:
        return ArrayIds, (self.array,)


def arrow_ids(ids: Iterable[str]) -> pa.Array:
    """Ids in Arrow, as they lie there where they do."""
    return ids.array if isinstance(ids, Ids) else pa.array(ids, pa.string())


class Files(Mapping[str, str]):
    """Path of every file of a dataset but its root -> SHA-256, read when the first of them is asked for."""

    def __init__(self, table: _Shards, tables: Mapping[str, str]) -> None:
        self._table, self._tables = table, tables

    @cached_property
    def _listed(self) -> pa.Table:
        found = pa.concat_tables([FILES.empty_table().select(["path", "sha256"]), *self._table.batches(["path", "sha256"])])
        own = [{"path": name, "sha256": bytes.fromhex(sha256)} for name, sha256 in self._tables.items()]
        whole = pa.concat_tables([found, pa.Table.from_pylist(own, found.schema)]).combine_chunks()
        odd = pc.match_substring_regex(whole["path"], r"^/|^\.?$|\.\.|\\|\x00")
        check_inside(whole["path"].filter(odd).to_pylist())
        return whole.take(pc.sort_indices(whole["path"])).combine_chunks()

    def __len__(self) -> int:
        return self._table.rows + len(self._tables)

    def __iter__(self) -> Iterator[str]:
        for batch in self._listed.to_batches(SHARD_ROWS):
            yield from batch["path"].to_pylist()

    def __getitem__(self, name: str) -> str:
        if name in self._tables:
            return self._tables[name]
        place = _place(self._listed["path"].chunk(0), name)
        if place is None:
            raise KeyError(name)
        return str(self._listed["sha256"][place].as_py().hex())

    def items(self) -> Any:
        """Path and hash of every file, by path."""
        return [pair for batch in self._listed.to_batches(SHARD_ROWS) for pair in _pairs(batch)]

    def __reduce__(self) -> tuple[Callable[..., Files], tuple[_Shards, Mapping[str, str]]]:
        return Files, (_Shards(self._table.paths, self._table.rows), self._tables)


def _pairs(batch: Any) -> Iterator[tuple[str, str]]:
    return zip(batch["path"].to_pylist(), (digest.hex() for digest in batch["sha256"].to_pylist()), strict=True)


# Identity


def content_of(dataset: Dataset) -> str:
    """Hash of rows, slices and recipe, 16 hex digits: the identity of a dataset, whatever its folder is called.

    The root states it; of a dataset that is not as it was read it is computed.
    """
    known = dataset.items.identity if isinstance(dataset.items, KeyedRows) else None
    same = known and known.slices is dataset.slices and known.left_out is dataset.left_out and known.recipe is dataset.recipe
    return known.content if known and same else computed_content(dataset)


def computed_content(dataset: Dataset) -> str:
    """``content_of`` from the rows themselves: that of the canonical JSON of rows, slices, ``left_out`` and recipe."""
    digest = hashlib.sha256(b"[[")
    _update(digest, map(canonical_json, dataset.items))
    digest.update(b"],[")
    for place, part in enumerate(dataset.slices):
        digest.update(b',{"item_ids":[' if place else b'{"item_ids":[')
        _update(digest, map(json.dumps, part.item_ids))
        digest.update(f'],"name":{canonical_json(part.name)},"rule":{canonical_json(part.rule)}}}'.encode())
    digest.update(f"],{canonical_json(dict(dataset.left_out))},{canonical_json(dict(dataset.recipe))}]".encode())
    return digest.hexdigest()[:16]


def _update(digest: Any, texts: Iterable[str]) -> None:
    """Add JSON values with commas between them."""
    for place, text in enumerate(texts):
        digest.update(f",{text}".encode() if place else text.encode())


def dataset_id(dataset: Dataset) -> str:
    """Citable id of a dataset, ``NAME@VERSION+CONTENT``: its name, its publisher's version, 12 hex digits of ``content_of``."""
    return f"{dataset.name}@{dataset.version}+{content_of(dataset)[:12]}"


def version_of(dataset: Dataset, manifest_sha256: str) -> str | None:
    """Id of the earlier version of a dataset that a manifest is of; None where it is of none."""
    earlier: Sequence[Plain] = dataset.facts.get(EARLIER, ())
    return next((str(step["id"]) for step in earlier if step["manifest_sha256"] == manifest_sha256), None)
