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
import math
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench.errors import InputError, VerifyError, reason_of
from inpaintbench.files import all_without_controls, measured_sha256, without_controls, write_atomically
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
# What reading damaged or hostile data raises.
_DAMAGED = (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError, pa.ArrowException)
# Columns of edits alone, but for the hash of the object mask.
EDIT_COLUMNS: dict[str, pa.DataType] = {
    "task": pa.string(),
    "source_prompt": pa.string(),
    "target_prompt": pa.string(),
    "object_mask_sha256": pa.string(),
}
# Of edits, where some item has one.
INSTRUCTION = "instruction"
# Share of an item's hole pixels, 0..1, that the inputs of others show; null where it hides nothing.
SHOWN = "shown_by_other_inputs"
OPTIONAL_COLUMNS: dict[str, pa.DataType] = {
    **EDIT_COLUMNS, INSTRUCTION: pa.string(), "effect_mask_sha256": pa.string(), "encoder": pa.string(), SHOWN: pa.float64(),
}  # fmt: skip
# Of the rows of every dataset, besides its media.
PLAIN_COLUMNS: dict[str, pa.DataType] = {
    "item_id": pa.string(),
    "split": pa.string(),
    "clip_id": pa.string(),
    "source_id": pa.string(),
    "source_uri": pa.string(),
    "licence": pa.string(),
    "author": pa.string(),
    "page_url": pa.string(),
    "start_frame": pa.int64(),
    "end_frame": pa.int64(),
    "frames": pa.int64(),
    "width": pa.int64(),
    "height": pa.int64(),
    "fps": pa.float64(),
    "encode_crf": pa.int64(),
    "encode_psnr_db": pa.float64(),
    "generator": pa.string(),
    "generator_parameters": pa.string(),
    "fill": pa.int64(),
    "hole_is_given": pa.bool_(),
    "attributes": pa.string(),
    "truth_yuv_sha256": pa.string(),
    "truth_rgb_sha256": pa.string(),
    "hole_sha256": pa.string(),
    "input_sha256": pa.string(),
}
# Columns without which no table of a manifest can be read; each of its rows has a value there.
_NEEDED = {
    "item_id", "split", "clip_id", "source_id", "frames", "width", "height", "fps", "generator", *JSON_COLUMNS,
    "path", "sha256", "slice",
}  # fmt: skip
# What folders and files are named after.
_NAMING = ("item_id", "clip_id")
SPLITS = ("train", "validation", "test")
# Frames of a clip and pixels of a side, far beyond any; rows and files of a dataset.
_MOST, _MOST_ROWS = 1 << 26, 1 << 40
ROW_COLUMNS = PLAIN_COLUMNS | OPTIONAL_COLUMNS
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
    names, held = shard_names(stem, rows), schema.empty_table()
    for batch in batches:
        held = pa.concat_tables([held, batch])
        while held.num_rows >= SHARD_ROWS and names:
            yield names.pop(0), _file_of(held.slice(0, SHARD_ROWS))
            held = held.slice(SHARD_ROWS)
    if names:
        yield names.pop(0), _file_of(held)


def _file_of(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table.combine_chunks(), sink, compression="zstd", row_group_size=GROUP_ROWS)
    return bytes(sink.getvalue().to_pybytes())


class ShardWriter:
    """Writes the files of a table as its rows come: the same as ``shards``."""

    def __init__(self, folder: Path, names: Sequence[str], schema: pa.Schema) -> None:
        self._folder, self._names, self._held = folder, list(names), schema.empty_table()

    def add(self, table: pa.Table) -> None:
        """Take the next rows."""
        self._held = pa.concat_tables([self._held, table])
        while self._held.num_rows >= SHARD_ROWS:
            self._write(self._held.slice(0, SHARD_ROWS))
            self._held = self._held.slice(SHARD_ROWS)

    def close(self) -> None:
        """Write what is left."""
        if self._names:
            self._write(self._held)

    def _write(self, table: pa.Table) -> None:
        write_atomically(self._folder / self._names.pop(0), _file_of(table))


def tables(dataset: Dataset, sizes: Mapping[str, int]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the folder ``manifest``: path and bytes.

    Args:
        dataset: ``files`` has every file but those of the folder and the root.
        sizes: of these files, in bytes.
    """
    members = sum(len(part.item_ids) for part in dataset.slices)
    yield from shards(f"{FOLDER}/members", _member_batches(dataset.slices), rows=members, schema=MEMBERS)
    names = sorted(name for name in dataset.files if not is_table(name))
    yield from shards(f"{FOLDER}/files", _file_batches(names, dataset.files, sizes), rows=len(names), schema=FILES)


def is_table(name: str) -> bool:
    """Whether a file of a dataset is one of the tables of its manifest."""
    return name.startswith(f"{FOLDER}/")


def _member_batches(slices: Sequence[Slice]) -> Iterator[pa.Table]:
    for part in slices:
        for start in range(0, len(part.item_ids), SHARD_ROWS):
            ids = list(part.item_ids[start : start + SHARD_ROWS])
            yield pa.table([pa.repeat(pa.scalar(part.name), len(ids)), pa.array(ids, pa.string())], schema=MEMBERS)


def _file_batches(names: Sequence[str], hashes: Mapping[str, str], sizes: Mapping[str, int]) -> Iterator[pa.Table]:
    for start in range(0, len(names), SHARD_ROWS):
        some = names[start : start + SHARD_ROWS]
        digests = pa.array([bytes.fromhex(hashes[name]) for name in some], pa.binary(32))
        yield pa.table([pa.array(some, pa.string()), digests, pa.array([sizes.get(name) for name in some], pa.int64())], FILES)


def root(dataset: Dataset, *, item_tables: Mapping[str, int]) -> bytes:
    """Bytes of ``dataset.json``, which state their own SHA-256: that of the same text without the hash and without ``versions``.

    So a dataset that is rebuilt under other versions of packages keeps its hash.

    Args:
        dataset: ``files`` has every file but the root, the tables of the manifest among them.
        item_tables: file of the rows of all items -> its rows, in order.
    """
    parts = {name: sha256 for name, sha256 in dataset.files.items() if is_table(name)}
    return _signed({
        "name": dataset.name, "version": dataset.version, "about": dataset.about, "recipe": dataset.recipe,
        "versions": dataset.versions, "left_out": dataset.left_out, "facts": dataset.facts, "removed": dataset.removed,
        "format_version": FORMAT_VERSION, "content": content_of(dataset), "items": len(dataset.items),
        "slices": [{"name": part.name, "rule": part.rule, "items": len(part.item_ids)} for part in dataset.slices],
        "item_tables": [{"path": path, "rows": rows} for path, rows in item_tables.items()],
        "files": len(dataset.files), "tables": parts,
    })  # fmt: skip


def one_file(dataset: Dataset) -> bytes:
    """Bytes of ``dataset.json`` of format 3, which holds everything."""
    slices = [{"name": part.name, "rule": part.rule, "item_ids": list(part.item_ids)} for part in dataset.slices]
    fields = {name: getattr(dataset, name) for name in _OLD_FIELDS}
    lists = {"items": list(dataset.items), "slices": slices, "files": dict(dataset.files)}
    return _signed(fields | lists | {"format_version": ONE_FILE})


def _signed(fields: Mapping[str, Any], *, without: Sequence[str] = ("versions",)) -> bytes:
    own = hashlib.sha256(_text({name: inner for name, inner in fields.items() if name not in without})).hexdigest()
    return _text({**fields, OWN_HASH: own})


def _text(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, indent=1, sort_keys=True, ensure_ascii=True, allow_nan=False).encode() + b"\n"


@lru_cache(maxsize=4)  # every command reads its root several times
def is_as_stated(text: bytes) -> bool:
    """True if ``text`` is a root that states its own hash, which in old ones covers ``versions`` too.

    Raises:
        ValueError: it is no JSON object.
    """
    fields = json.loads(text)
    if not isinstance(fields, dict) or OWN_HASH not in fields:
        return False
    del fields[OWN_HASH]
    return text == _signed(fields) or text == _signed(fields, without=())


def own_hash(dataset: Dataset) -> str:
    """The SHA-256 that the manifest of a dataset states of itself; of one that was not read, that of format 3."""
    return dataset.manifest_sha256 or str(json.loads(one_file(dataset))[OWN_HASH])


# Reading


def load(folder: Path | str, *, as_stored: bool = False) -> Dataset:
    """Read the manifest of a frozen dataset. Of rows, members and files, nothing is read before it is asked for.

    Words of strangers come without control characters (``files.without_controls``), unless they are wanted ``as_stored``.

    The root is compared with the hash that it states, and every table with its hash in the root when it is opened.

    Raises:
        InputError: no manifest there.
        VerifyError: the manifest is damaged, or of another format. Whatever is read of it later raises that, too.
    """
    path = Path(folder) / MANIFEST
    if not path.is_file():
        exports = sorted(str(manifest.parent) for manifest in Path(folder).glob(f"exports/*/{MANIFEST}"))
        hint = "; give a folder that `inpaintbench build` or `export freeze` made, such as WORKSPACE/exports/devil"
        hint = f"; it is a workspace, and its dataset is {' or '.join(exports)}" if exports else hint
        raise InputError(f"{str(folder)!r} is not a frozen dataset (no {MANIFEST}){hint}")
    try:
        text = inside(folder, MANIFEST).read_bytes()
        stated: dict[str, Any] = json.loads(text)
        if stated["format_version"] not in (ONE_FILE, FORMAT_VERSION):
            way_out = f"this program reads {ONE_FILE} and {FORMAT_VERSION}; export the dataset again"
            raise VerifyError(f"{path.name} has format {stated['format_version']!r}, {way_out}")
        if OWN_HASH in stated and not is_as_stated(text):
            raise ValueError("its text is not what its own SHA-256 says")
        if not as_stored:
            stated = {**stated, **{name: all_without_controls(inner) for name, inner in stated.items() if name != "recipe"}}
        if "facts" in stated:
            stated = {**stated, "facts": {name: fact for name, fact in stated["facts"].items() if fact is not None}}
        if stated["format_version"] == ONE_FILE:
            return _of_one_file(stated)
        return _of_root(Path(folder), stated, as_stored=as_stored)
    except OSError as error:
        raise VerifyError(f"{str(path)!r} cannot be read: {reason_of(error)}") from error
    except _DAMAGED as error:
        raise VerifyError(f"{str(path)!r} is damaged: {_in_words(error)}; export the dataset again, or fetch it again") from error


def _in_words(error: BaseException) -> str:
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _of_one_file(stated: dict[str, Any]) -> Dataset:
    known = {name: inner for name, inner in stated.items() if name in _OLD_FIELDS or name == OWN_HASH}
    if strange := set(stated) - set(known):
        raise ValueError(f"unknown {sorted(strange)[0]!r}")
    known["slices"] = tuple(Slice(part["name"], part["rule"], tuple(part["item_ids"])) for part in stated["slices"])
    known["items"], known["removed"] = tuple(stated["items"]), tuple(stated.get("removed", ()))
    dataset = Dataset(**known)
    _check_root(dataset)
    for row in dataset.items:
        _check_row(row)
    if strange := {name for part in dataset.slices for name in part.item_ids} - {row["item_id"] for row in dataset.items}:
        raise ValueError(f"a slice has the item {min(strange)!r}, which has no row")
    check_inside([*dataset.files, *(name for row in dataset.items for name in _media_of(row))])
    return dataset


def _of_root(folder: Path, stated: Mapping[str, Any], *, as_stored: bool) -> Dataset:
    hashes = {str(name): _sha256(digest) for name, digest in dict(stated["tables"]).items()}
    items = {str(part["path"]): _count(part["rows"]) for part in stated["item_tables"]}
    check_inside([*hashes, *items])
    files, members = ([name for name in sorted(hashes) if name.startswith(f"{FOLDER}/{kind}")] for kind in ("files", "members"))
    listed = Files(_Shards(folder, tuple(files), _count(stated["files"] - len(hashes)), hashes, FILES), hashes)
    rows = Rows(_Shards(folder, tuple(items), sum(items.values()), listed, pa.schema(ROW_COLUMNS), as_stored))
    slices, start = [], 0
    ids = _Shards(folder, tuple(members), sum(_count(part["items"]) for part in stated["slices"]), hashes, MEMBERS)
    for part in stated["slices"]:
        stop = start + int(part["items"])
        slices.append(Slice(part["name"], part["rule"], Ids(ids, start, stop, name=part["name"], rows=rows)))
        start = stop
    dataset = Dataset(
        name=stated["name"], recipe=stated["recipe"], items=rows, slices=tuple(slices), left_out=stated["left_out"],
        files=listed, versions=stated["versions"],
        format_version=FORMAT_VERSION, about=stated["about"], version=stated["version"], removed=tuple(stated["removed"]),
        facts=stated["facts"], manifest_sha256=_sha256(stated[OWN_HASH]),
    )  # fmt: skip
    _check_root(dataset)
    rows.identity = Identity(_name(stated["content"], "the content"), dataset.slices, dataset.left_out, dataset.recipe)
    return dataset


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < _MOST_ROWS:
        raise ValueError(f"{value!r} is no number of rows or files")
    return value


def _sha256(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{64}", value):
        raise ValueError(f"{value!r} is no SHA-256")
    return value


def _name(value: Any, called: str) -> str:
    """A text of one line, which may be in the name of a file.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(value, str) or not value.isprintable() or value in ("", ".", "..") or set(value) & set("/\\"):
        raise ValueError(f"{called} is {value!r}, which cannot be a name")
    return str(value)


class _Whole(dict[str, Any]):
    """Shape of a mapping that has all of these names, none of them None."""


# The parts of a root that are read by name; what else it holds is only shown.
_SHAPES: dict[str, Any] = {
    "recipe": {"recipe": str, "leaves": {"*": {"*": str}}},
    "left_out": {"*": str},
    "versions": {"*": str},
    "about": str,
    "removed": [_Whole(item_id=str, reason=str)],
    "facts": {
        EARLIER: [_Whole(id=str, version=str, manifest_sha256=str, items=int, kept=int)],
        "held_back": {"truth_dataset": str, "splits": [str]},
        "truth_of": {"splits": [str]},
        "part_of": {"*": object},
        "dataset": {"*": object},
        "titles": {"*": object},
        "rai": {"*": object},
        "selection": {"rules": [{"*": object}], "unasked": [_Whole(rule=str, missing=int, clips=int, reason=str)]},
        "protocols": [{"name": str, "fingerprint": str}],
        "raters": [{"*": object}],
        "leakage": {"*": object},
    },
}


def _check_shape(value: Any, shape: Any, called: str) -> None:
    """Raise ``ValueError`` unless ``value`` is None or of ``shape``: a kind, or a list or mapping of shapes, "*" for any name."""
    if value is None:
        return
    kind = (tuple, list) if isinstance(shape, list) else Mapping if isinstance(shape, dict) else shape
    if not isinstance(value, kind):
        raise ValueError(f"{called} is {str(value)[:40]!r}")
    if isinstance(shape, list):
        for one in value:
            if one is None:
                raise ValueError(f"{called} has an empty entry")
            _check_shape(one, shape[0], called)
    elif isinstance(shape, dict):
        if lacking := [name for name in shape if isinstance(shape, _Whole) and dict(value).get(name) is None]:
            raise ValueError(f"{called} lacks {lacking[0]}")
        for name, inner in dict(value).items():
            if name in shape or "*" in shape:
                _check_shape(inner, shape.get(name, shape.get("*")), f"{called}, {name}")


def _check_root(dataset: Dataset) -> None:
    _check_shape(dataset.name, str, "the name of the dataset")
    _check_shape(dataset.version, str, "its version")
    for name, shape in _SHAPES.items():
        _check_shape(getattr(dataset, name), shape, name)
    for part in dataset.slices:
        _name(part.name, "the name of a slice")
        _check_shape(part.rule, str, f"the rule of {part.name}")
    if len({part.name for part in dataset.slices}) < len(dataset.slices):
        raise ValueError("two slices have one name")


def _check_row(row: Plain) -> None:
    """Raise ``ValueError`` or ``TypeError`` where the value of a column cannot be one."""
    check_inside(_media_of(row))
    called = f"of item {row['item_id']!r}"
    for column in _NAMING:
        if row.get(column) is not None:
            _name(row[column], f"the {column} {called}")
    for column in ("frames", "width", "height"):
        if type(row[column]) is not int or not 0 < row[column] <= _MOST:
            raise ValueError(f"the {column} {called} are {row[column]!r}")
    if not (math.isfinite(row["fps"]) and row["fps"] > 0) or not 0 <= (row.get("fill") or 0) <= 255:
        raise ValueError(f"fps or fill {called} are {row['fps']!r} and {row['fill']!r}")
    if not 0 <= (row.get(SHOWN) or 0) <= 1:
        raise ValueError(f"the share of the hole that others show {called} is {row[SHOWN]!r}")
    if row.get("split", "test") not in SPLITS:
        raise ValueError(f"the split {called} is {row['split']!r}")
    _check_shape(row["source_id"], str, f"the source {called}")
    _check_shape(
        row.get("attributes"), {"joints": [{"*": object}], "second_holes": [_Whole(hole_sha256=str)]}, f"attributes {called}"
    )
    holes, told = row.get("second_hole_file_names") or (), (row.get("attributes") or {}).get("second_holes") or ()
    if len(holes) != len(told):
        raise ValueError(f"second holes {called}: {len(holes)} files and {len(told)} hashes")


def table_names(text: bytes) -> list[str]:
    """Files of rows, members and files that a root is read with, besides itself; none of format 3.

    Raises:
        VerifyError: the root is damaged, or names files outside of its folder.
    """
    try:
        stated = json.loads(text)
        _check_shape(stated.get("tables"), {"*": str}, "tables")
        names = [*stated.get("tables", {}), *(str(part["path"]) for part in stated.get("item_tables", ()))]
    except _DAMAGED as error:
        raise VerifyError(f"{MANIFEST} is damaged: {_in_words(error)}") from error
    check_inside(names)
    return names


def inside(folder: Path | str, name: str) -> Path:
    """Path of a file of a dataset, which is no link to elsewhere: one within the folder, or to the blobs beside it in a cache of
    the Hub, at most.

    Raises:
        VerifyError: it leads elsewhere.
    """
    check_inside([name])
    path, root = Path(folder) / name, Path(folder).resolve()
    target = path.resolve()
    # CACHE/datasets--OWNER--NAME/snapshots/REVISION, where each file is a link to ../../blobs/HASH.
    cached = [root.parents[1] / "blobs"] if root.parent.name == "snapshots" else []
    if not any(target.is_relative_to(place) for place in (root, *cached)):
        raise VerifyError(f"{str(path)!r} is a link to {str(target)!r}, outside of the dataset, and is not followed")
    return path


# Of every path that ``check_inside`` refuses.
_MAYBE_OUTSIDE = r"^/|^[./]*$|\.\.|\\|\x00"


def check_inside(names: Iterable[str]) -> None:
    """Raise ``VerifyError`` unless all are paths inside the dataset's folder; a stranger's manifest may name files elsewhere."""
    for name in names:
        path = PurePosixPath(str(name))
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
    least: Any
    """The least value of its first column; None where the file does not say."""


@dataclass(frozen=True)
class _Shards:
    """A table in several files, each compared with its hash when it is opened; the groups that were read last are kept."""

    folder: Path
    names: tuple[str, ...]
    rows: int
    """As the root says."""
    hashes: Mapping[str, str] | None
    """SHA-256 of the files; None where nobody has stated it yet."""
    kinds: pa.Schema
    """What columns hold; those of ``_NEEDED`` must be there."""
    as_stored: bool = True
    """Whether words come with their control characters."""
    _kept: dict[int, pa.Table] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __reduce__(self) -> tuple[Callable[..., _Shards], tuple[Any, ...]]:
        return _Shards, (self.folder, self.names, self.rows, self.hashes, self.kinds, self.as_stored)  # without what was read

    def opened(self, name: str) -> Any:
        """A file of the table, to be closed.

        Raises:
            VerifyError: it is missing, or another one.
        """
        try:
            path = inside(self.folder, name)
            if self.hashes is not None and measured_sha256(path) != self.hashes.get(name):
                raise ValueError("it has another SHA-256 than the manifest says")
            file = pq.ParquetFile(path)
            held = {column.name: column.type for column in file.schema_arrow}
            for column in self.kinds:
                if held.get(column.name, None if column.name in _NEEDED else column.type) != column.type:
                    raise TypeError(f"its column {column.name} is {held.get(column.name, 'missing')}, not {column.type}")
            return file
        except (OSError, *_DAMAGED) as error:
            _refuse(self.folder / name, error)

    @cached_property
    def groups(self) -> list[_Group]:
        """All groups, in order."""
        found, first = [], 0
        for name in self.names:
            with self.opened(name) as file:
                parts = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
            for number, part in enumerate(parts):
                known = part.column(0).statistics
                found.append(_Group(self.folder / name, number, first, part.num_rows, known.min if known else None))
                first += part.num_rows
        if first != self.rows:
            names = ", ".join(name.rpartition("/")[2] for name in self.names) or "no table"
            raise VerifyError(f"{names} of the manifest: {first} rows, not the {self.rows} that {MANIFEST} says")
        return found

    def batches(self, columns: Sequence[str] | None = None, start: int = 0, stop: int | None = None) -> Iterator[pa.Table]:
        """The rows from ``start`` to ``stop``, a group at a time."""
        end = self.rows if stop is None else stop
        for group in self.groups:
            low, high = max(start - group.first, 0), min(end - group.first, group.rows)
            if low < high:
                yield self._read(group, columns).slice(low, high - low)

    def _read(self, group: _Group, columns: Sequence[str] | None) -> pa.Table:
        wanted = None if columns is None else list(columns)
        try:
            with pq.ParquetFile(group.path) as file:
                table = file.read_row_group(group.number, columns=wanted, use_threads=False)
        except (OSError, *_DAMAGED) as error:
            _refuse(group.path, error)
        return table if self.as_stored else without_controls_in(table)

    def column(self, name: str) -> pa.Array:
        """One column in one piece."""
        parts = [chunk for batch in self.batches([name]) for chunk in batch[name].chunks]
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
            table = self._read(self.groups[number], None)
            for oldest in list(self._kept)[: max(0, len(self._kept) - _GROUPS_KEPT + 1)]:
                self._kept.pop(oldest, None)
        self._kept[number] = table
        return table


def without_controls_in(table: pa.Table) -> pa.Table:
    """The table with its words ``without_controls``; JSON is left to who reads it."""
    for place, (name, words) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if not pa.types.is_string(words.type) or name in JSON_COLUMNS:
            continue
        letters = [np.frombuffer(chunk.buffers()[2] or b"", np.uint8) for chunk in words.chunks]
        if any(((some < 32) | (some > 126)).any() for some in letters):  # a byte that no plain word has
            plain = [None if word is None else without_controls(word) for word in words.to_pylist()]
            table = table.set_column(place, name, pa.array(plain, pa.string()))
    return table


def _refuse(path: Path, error: Exception) -> NoReturn:
    what = "missing" if isinstance(error, FileNotFoundError) else "damaged"
    words = f"{path.name}, a table of the manifest in {str(path.parent)!r}, is {what}"
    raise VerifyError(f"{words}; `inpaintbench export verify` lists all that is wrong") from error


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
        """The rows that lie in some files of a folder, which nobody has hashed yet."""
        return cls(_Shards(folder, tuple(names), rows, None, pa.schema([]), as_stored=True))

    def __len__(self) -> int:
        return self._table.rows

    @overload
    def __getitem__(self, place: int) -> Plain: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Plain, ...]: ...
    def __getitem__(self, place: int | slice) -> Plain | tuple[Plain, ...]:
        if isinstance(place, slice):
            return tuple(self._plain(self._at(range(len(self))[place])))
        return next(self._plain(self._at([range(len(self))[place]])))

    def __iter__(self) -> Iterator[Plain]:
        for batch in self.batches():
            yield from self._plain(batch)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows | tuple | list):
            return NotImplemented
        return len(self) == len(other) and all(mine == yours for mine, yours in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Callable[..., Rows], tuple[_Shards]]:
        return Rows, (self._table,)

    @cached_property
    def _stored_ids(self) -> pa.Array:
        ids = self._table.column("item_id")
        if ids.null_count:
            raise VerifyError(f"{', '.join(self._table.names)} of the manifest: a row has no item_id")
        return ids

    @cached_property
    def _order(self) -> npt.NDArray[np.int64] | None:
        """Places of the rows in the files, in the order of ids; None where they lie so, as they do without splits."""
        ids = self._stored_ids
        if len(ids) < 2 or pc.all(pc.less(ids.slice(0, len(ids) - 1), ids.slice(1))).as_py():
            return None
        if len(pc.unique(ids)) < len(ids):
            raise VerifyError(f"{', '.join(self._table.names)} of the manifest: two rows have one item_id")
        order: npt.NDArray[np.int64] = pc.sort_indices(ids).to_numpy().astype(np.int64)
        return order

    @cached_property
    def ids(self) -> pa.Array:
        """The ids of all items, ascending."""
        return self._stored_ids if self._order is None else self._stored_ids.take(pa.array(self._order))

    def _plain(self, table: pa.Table) -> Iterator[dict[str, Any]]:
        return _plain(table, as_stored=self._table.as_stored)

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
        return list(self._plain(self._at(places.to_pylist())))

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        with self._table.opened(self._table.names[0]) as file:
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


def _plain(table: pa.Table, *, as_stored: bool = False) -> Iterator[dict[str, Any]]:
    """The rows of a table as ``Dataset.items`` has them."""
    try:
        if empty := [name for name in table.column_names if name in _NEEDED and table[name].null_count]:
            raise ValueError(f"{empty[0]} is missing in a row")
        for row in table.select(sorted(table.column_names)).to_pylist():
            for name in JSON_COLUMNS:
                row[name] = mapping_of(row[name], as_stored=as_stored)
            _check_row(row)
            yield row
    except _DAMAGED as error:
        raise VerifyError(f"the table of items of a manifest is damaged: {_in_words(error)}; fetch the dataset again") from error


def mapping_of(text: str, *, as_stored: bool = False) -> dict[str, Any]:
    """A cell of ``JSON_COLUMNS``.

    Raises:
        VerifyError: it is no mapping.
    """
    try:
        value = json.loads(text)
        _check_shape(value, {"*": object}, "it")
    except _DAMAGED as error:
        raise VerifyError(f"{text[:40]!r} in the table of items of a manifest is no mapping: {_in_words(error)}") from error
    # Where JSON has neither, it has no such character.
    return dict(value if as_stored or ("\\u" not in text and text.isascii()) else all_without_controls(value))


def _place(ids: pa.Array, wanted: str) -> int | None:
    """The place of a text among ascending ones; None where it is not."""
    place = bisect.bisect_left(range(len(ids)), wanted, key=lambda at: ids[at].as_py())
    return place if place < len(ids) and ids[place].as_py() == wanted else None


class Ids(Sequence[str]):
    """Ids of the items of a slice in its order, read when the first of them is asked for."""

    def __init__(self, table: _Shards, start: int, stop: int, *, name: str, rows: Rows) -> None:
        self._table, self._start, self._stop, self._name, self._rows = table, start, stop, name, rows

    @cached_property
    def array(self) -> pa.Array:
        """All of them in Arrow."""
        part = pa.concat_tables([MEMBERS.empty_table(), *self._table.batches(["slice", "item_id"], self._start, self._stop)])
        ids = part["item_id"].combine_chunks()
        known = part["slice"].unique().to_pylist() == [self._name] * bool(len(ids))
        if not known or pc.index_in(ids, value_set=self._rows.ids).null_count:
            raise VerifyError(f"{', '.join(self._table.names)} of the manifest: not items of the slice {self._name!r}")
        return ids

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

    def __reduce__(self) -> tuple[Callable[..., Ids], Any]:
        return partial(Ids, name=self._name, rows=self._rows), (self._table, self._start, self._stop)


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
        empty = FILES.empty_table().select(["path", "sha256"])
        try:
            found = pa.concat_tables([empty, *self._table.batches(["path", "sha256"])])
            own = [{"path": name, "sha256": bytes.fromhex(sha256)} for name, sha256 in self._tables.items()]
            whole = pa.concat_tables([found, pa.Table.from_pylist(own, found.schema)]).combine_chunks()
            odd = pc.match_substring_regex(whole["path"], _MAYBE_OUTSIDE)
            check_inside(whole["path"].filter(odd).to_pylist())
            return whole.take(pc.sort_indices(whole["path"])).combine_chunks()
        except _DAMAGED as error:
            raise VerifyError(f"{', '.join(self._table.names)} of the manifest: not a table of files ({error})") from error

    def __len__(self) -> int:
        return self._table.rows + len(self._tables)

    def __iter__(self) -> Iterator[str]:
        for batch in self._listed.to_batches(SHARD_ROWS):
            yield from batch["path"].to_pylist()

    def __getitem__(self, name: str) -> str:
        if name in self._tables:
            return self._tables[name]
        leasts = [group.least for group in self._table.groups]
        if "_listed" in self.__dict__ or not all(isinstance(least, str) for least in leasts):
            listed = self._listed
        else:  # a worker that looks for a few files need not hold millions: one group has it if any has
            group = bisect.bisect_right(leasts, name) - 1
            listed = self._table._group(group) if group >= 0 else FILES.empty_table()
        place = _place(listed["path"].combine_chunks(), name)
        if place is None:
            raise KeyError(name)
        return str(listed["sha256"][place].as_py().hex())

    def items(self) -> Any:
        """Path and hash of every file, by path."""
        pairs: list[tuple[str, str]] = []
        for batch in self._listed.to_batches(SHARD_ROWS):
            digests = [digest.hex() for digest in batch["sha256"].to_pylist()]
            pairs += zip(batch["path"].to_pylist(), digests, strict=True)
        return pairs

    def sizes(self) -> Iterator[tuple[str, int | None]]:
        """Path and bytes of every file; None of those that the root names, of which it states none."""
        yield from dict.fromkeys(self._tables).items()
        for batch in self._table.batches(["path", "bytes"]):
            yield from zip(batch["path"].to_pylist(), batch["bytes"].to_pylist(), strict=True)

    def __reduce__(self) -> tuple[Callable[..., Files], tuple[_Shards, Mapping[str, str]]]:
        return Files, (self._table, self._tables)


# Identity


def content_of(dataset: Dataset) -> str:
    """Hash of rows, slices and recipe, 16 hex digits: the identity of a dataset, whatever its folder is called.

    The root states it; of a dataset that is not as it was read it is computed.
    """
    known = dataset.items.identity if isinstance(dataset.items, KeyedRows) else None
    same = known and known.slices is dataset.slices and known.left_out is dataset.left_out and known.recipe is dataset.recipe
    return known.content if known and same else computed_content(dataset)


class Digest:
    """Of rows in the order of their ids, some after others, for ``computed_content``."""

    def __init__(self) -> None:
        self._digest, self._rows = hashlib.sha256(b"[["), 0

    def add(self, table: pa.Table) -> None:
        """Take the next rows, whose mappings are canonical JSON.

        Raises:
            VerifyError: a row cannot be one.
        """
        self._digest.update(_joined(_texts_of_rows(table))[not self._rows :])
        self._rows += table.num_rows

    def copy(self) -> Any:
        """Of ``hashlib``."""
        return self._digest.copy()


def computed_content(dataset: Dataset, *, rows: Digest | None = None) -> str:
    """``content_of`` from the rows themselves: that of the canonical JSON of rows, slices, ``left_out`` and recipe.

    Args:
        dataset: whose it is.
        rows: what took its rows, which then are not asked for.
    """
    digest = rows.copy() if rows else hashlib.sha256(b"[[")
    if rows is None:
        _update(digest, map(canonical_json, dataset.items))
    digest.update(b"],[")
    for place, part in enumerate(dataset.slices):
        digest.update(b',{"item_ids":[' if place else b'{"item_ids":[')
        for start in range(0, len(part.item_ids), SHARD_ROWS):
            ids = arrow_ids(part.item_ids[start : start + SHARD_ROWS])
            digest.update(_joined(pc.binary_join_element_wise(",", _json_of(ids), ""))[not start :])
        digest.update(f'],"name":{canonical_json(part.name)},"rule":{canonical_json(part.rule)}}}'.encode())
    digest.update(f"],{canonical_json(dict(dataset.left_out))},{canonical_json(dict(dataset.recipe))}]".encode())
    return digest.hexdigest()[:16]


def _texts_of_rows(table: pa.Table) -> pa.Array:
    """Rows as canonical JSON, a comma before each.

    Raises:
        VerifyError: a row cannot be one.
    """
    names = [f'"{name}":' for name in ("joints", "second_holes")]
    shaped = pa.repeat(False, table.num_rows)
    if any(holds(table["attributes"].combine_chunks(), name.encode()) for name in names):
        shaped = pc.or_(*(pc.match_substring(table["attributes"], name) for name in names))
    if "second_hole_file_names" in table.column_names:
        holes = pc.list_value_length(table["second_hole_file_names"])
        shaped = pc.or_(shaped, pc.fill_null(pc.greater(holes, 0), False))
    list(_plain(table if _is_odd(table) else table.filter(shaped), as_stored=True))  # says what is wrong
    pieces: list[Any] = []
    for name in sorted(table.column_names):
        column, before = table[name].combine_chunks(), f"{',' if pieces else ',{'}{json.dumps(name)}:"
        if name not in JSON_COLUMNS and not column.null_count and _is_plain(column):
            pieces += [f'{before}"', column, '"']
        else:
            pieces += [before, column if name in JSON_COLUMNS else _json_of(column)]
    return pc.binary_join_element_wise(*pieces, "}", "")


def _is_plain(column: pa.Array) -> bool:
    """Return whether it is of words that JSON needs no escapes for."""
    letters = np.frombuffer(_joined(column) if pa.types.is_string(column.type) else b"\0", np.uint8)
    known = letters.min(initial=32) >= 32 and letters.max(initial=32) < 127
    return bool(known and not any((letters == mark).any() for mark in b'"\\'))


def _json_of(column: pa.Array) -> pa.Array:
    """Values of a column as canonical JSON; of equal ones that are not plain, each is made once."""
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return pc.fill_null(column.cast(pa.string()), "null")
    if pa.types.is_list(kind):
        return pa.array(map(canonical_json, column.to_pylist()), pa.string())
    if _is_plain(column):
        return pc.fill_null(pc.binary_join_element_wise('"', column, '"', ""), "null")
    encoded = column.dictionary_encode()
    texts = pa.array(map(canonical_json, encoded.dictionary.to_pylist()), pa.string())
    return pc.fill_null(texts.take(encoded.indices), "null")


def _joined(texts: pa.Array) -> memoryview:
    """Texts one after the other."""
    starts = np.frombuffer(texts.buffers()[1] or bytes(4), np.int32)[texts.offset :]
    return memoryview(texts.buffers()[2] or b"")[starts[0] : starts[len(texts)]]


def holds(texts: pa.Array, part: bytes) -> bool:
    """Return whether a part stands in any text, which Arrow needs thrice the time for."""
    return re.search(re.escape(part), _joined(texts)) is not None


def _is_odd(table: pa.Table) -> bool:
    """Return whether a row may be one that ``_check_row`` refuses, but for second holes and what mappings hold."""

    def within(name: str, low: float, high: float) -> bool:
        if name not in table.column_names:
            return True
        least, most = pc.min_max(table[name]).as_py().values()
        return least is None or low <= least <= most <= high

    sizes = all(within(name, 1, _MOST) for name in ("frames", "width", "height"))
    shares = within("fill", 0, 255) and within(SHOWN, 0, 1)
    rates = within("fps", math.ulp(0.0), math.inf) and pc.all(pc.is_finite(table["fps"])).as_py()
    needed = not any(table[name].null_count for name in _NEEDED & set(table.column_names))
    splits = set(table["split"].unique().to_pylist()) <= set(SPLITS)
    named = not any(pc.any(pc.match_substring_regex(table[name], r"^\.{0,2}$|[^ -.0-\[\]-~]")).as_py() for name in _NAMING)
    media = (name for name in table.column_names if name.endswith(("_file_name", "_file_names")))
    paths = (pc.list_flatten(table[name]) if name.endswith("s") else table[name] for name in media)
    inside = not any(pc.any(pc.match_substring_regex(names, _MAYBE_OUTSIDE)).as_py() for names in paths)
    return not (sizes and shares and rates and needed and splits and named and inside)


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
