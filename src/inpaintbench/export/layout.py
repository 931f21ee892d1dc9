"""Arrangement of a frozen dataset: media columns and folders, metadata files, splits."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench import manifest
from inpaintbench.types import Dataset, Plain, Slice, canonical_json

# Media column -> folder of its files. The input of an edit is its truth, and lies with it.
MEDIA = {
    "truth": "truth", "hole": "holes", "input": "inputs", "alpha": "alphas", "second_hole": "holes",
    "object_mask": "object_masks", "effect_mask": "effect_masks",
}  # fmt: skip
_LISTS = ("second_hole",)


def row_schema(rows: Sequence[Plain]) -> pa.Schema:
    """Columns of every slice's metadata. ``X_file_name`` becomes a media column ``X``, ``X_file_names`` a column of lists.

    Media, and the columns of edits and of effects, are there only when some item has them: a dataset whose truths are all held
    back has no ``truth``.
    """
    names = [file_column(part) for part in MEDIA]
    media = [(name, pa.list_(pa.string()) if name.endswith("s") else pa.string()) for name in names if name in rows[0]]
    optional = [(name, kind) for name, kind in manifest.OPTIONAL_COLUMNS.items() if name in rows[0]]
    return pa.schema([*media, *manifest.PLAIN_COLUMNS.items(), *optional])


def file_column(part: str) -> str:
    """The column that names the files of a media part."""
    return f"{part}_file_names" if part in _LISTS else f"{part}_file_name"


# Files of a repository that are no part of its dataset: the Hub adds the one, and reads in the other which leaderboards to show.
OF_THE_HUB = frozenset({".gitattributes", "eval.yaml"})
MEDIA_COLUMNS, LIST_COLUMNS = tuple(map(file_column, MEDIA)), tuple(map(file_column, _LISTS))
_NOT_EVERYWHERE = (*MEDIA_COLUMNS, *manifest.OPTIONAL_COLUMNS)
EVERY_COLUMN = row_schema([dict.fromkeys(_NOT_EVERYWHERE)])


class OneSplit(Mapping[str, str]):
    """Item id -> the split that all are in."""

    def __init__(self, ids: Sequence[str], split: str) -> None:
        self.ids, self.split = ids, split

    def __getitem__(self, item_id: str) -> str:
        return self.split

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __len__(self) -> int:
        return len(self.ids)


def ids_of(rows: Sequence[Plain]) -> Sequence[str]:
    """Ids of the rows, without making rows that are not made."""
    return manifest.ArrayIds(rows.ids) if isinstance(rows, manifest.KeyedRows) else tuple(row["item_id"] for row in rows)


def finder(rows: Sequence[Plain]) -> Callable[[Sequence[str]], Sequence[Plain]]:
    """Return what gives the rows of some ids, in their order."""
    if isinstance(rows, manifest.KeyedRows):
        return rows.rows_of
    by_id = {row["item_id"]: row for row in rows}
    return lambda ids: [by_id[item_id] for item_id in ids]


class CodedRows(Sequence[Plain]):
    """Rows that know their columns as numbers, so that documents go through millions without making each."""

    @abstractmethod
    def codes(self, name: str) -> npt.NDArray[np.int64]:
        """A number for each row, 0 or more, which is the same where a column and the attribute of this name are."""

    @abstractmethod
    def numbers(self, name: str) -> npt.NDArray[np.float64]:
        """An attribute of each, NaN where it has none."""

    @abstractmethod
    def take(self, places: npt.NDArray[np.int64]) -> CodedRows:
        """The rows at these places."""


def counted(rows: Sequence[Plain], *names: str) -> list[tuple[Plain, int]]:
    """The first row of each combination of values in some columns or attributes, in their order, and how many have it.

    Rows that are no ``CodedRows`` stand for themselves: sets, first values and sums are the same.
    """
    if not isinstance(rows, CodedRows):
        return [(row, 1) for row in rows]
    combined = np.zeros(len(rows), np.int64)
    for name in names:
        own = rows.codes(name)
        if (most := int(own.max(initial=0))) > int(own.min(initial=most)):
            # Numbers in the order in which they come first, which is faster than that of ``np.unique``.
            encoded = pa.array(combined * (most + 1) + own).dictionary_encode()
            combined = encoded.indices.to_numpy().astype(np.int64)
    counts = np.bincount(combined)
    first = np.empty(len(counts), np.int64)
    first[combined[::-1]] = np.arange(len(combined))[::-1]
    return list(zip(rows.take(first), counts.tolist(), strict=True))


def different(rows: Sequence[Plain], *names: str) -> list[Plain]:
    """The rows of ``counted``."""
    return [row for row, _ in counted(rows, *names)]


def how_many(rows: Sequence[Plain], name: str) -> int:
    """Return the number of different values in a column."""
    return len(np.unique(rows.codes(name))) if isinstance(rows, CodedRows) else len({row[name] for row in rows})


def splits(rows: Sequence[Plain]) -> Mapping[str, str]:
    """Item id -> its split."""
    if isinstance(rows, manifest.Rows):
        table = rows.columns(["item_id", "split"])
        names = set(table["split"].unique().to_pylist())
        if len(names) > 1:
            return dict(zip(table["item_id"].to_pylist(), table["split"].to_pylist(), strict=True))
    else:
        names = {row["split"] for row in different(rows, "split")}
    return OneSplit(ids_of(rows), names.pop()) if len(names) == 1 else {row["item_id"]: row["split"] for row in rows}


def by_split(item_ids: Sequence[str], split_of: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
    """The items of each split that has any, splits in the order of ``SPLITS``."""
    if isinstance(split_of, OneSplit):
        return {split_of.split: item_ids} if len(item_ids) else {}
    members = {split: [name for name in item_ids if split_of[name] == split] for split in manifest.SPLITS}
    return {split: names for split, names in members.items() if names}


def configs(dataset: Dataset) -> list[Slice]:
    """What ``load_dataset`` knows by name: the slices, and ``all``, whose rows are those of the manifest, by id.

    Format 3 has ``all`` only as a slice, in its own order.
    """
    if dataset.format_version == manifest.ONE_FILE:
        return list(dataset.slices)
    ids = ids_of(dataset.items)
    found = {part.name: part for part in dataset.slices}
    found[manifest.ALL] = replace(found.get(manifest.ALL, Slice(manifest.ALL, "every item", ())), item_ids=ids)
    return list(found.values())


def metadata_files(part: Slice, split_of: Mapping[str, str]) -> dict[str, list[str]]:
    """Split -> the files of a config's rows; split-less datasets, which are all ``test``, do without its name."""
    if isinstance(split_of, OneSplit):
        counts, alone = Counter({split_of.split: len(part.item_ids)}), split_of.split == "test"
    else:
        counts, alone = Counter(split_of[name] for name in part.item_ids), set(split_of.values()) == {"test"}
    return names_of_files(part.name, counts, alone=alone)


def names_of_files(config: str, counts: Mapping[str, int], *, alone: bool) -> dict[str, list[str]]:
    """Split -> the files of a config's rows, of which each split has so many; ``alone``: all of the dataset are ``test``."""
    files = {}
    for split in manifest.SPLITS:
        if count := counts.get(split):
            files[split] = manifest.shard_names(config if alone else f"{config}.{split}", count)
    return files


def config_of_file(dataset: Dataset) -> dict[str, str]:
    """File of rows -> the config that it is of."""
    split_of = splits(dataset.items)
    return {name: part.name for part in configs(dataset) for names in metadata_files(part, split_of).values() for name in names}


def row_files(dataset: Dataset, parts: Sequence[Slice]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the rows of some configs: name and bytes."""
    by_id, split_of = {row["item_id"]: row for row in dataset.items}, splits(dataset.items)
    schema = row_schema(dataset.items)
    for part in parts:
        names = metadata_files(part, split_of)
        for split, ids in by_split(part.item_ids, split_of).items():
            pieces = (ids[start : start + manifest.SHARD_ROWS] for start in range(0, len(ids), manifest.SHARD_ROWS))
            batches = (pa.Table.from_pylist([flat(by_id[name]) for name in piece], schema) for piece in pieces)
            written = manifest.shards("", batches, rows=len(ids), schema=schema)
            yield from ((name, data) for name, (_, data) in zip(names[split], written, strict=True))


def media_parts(row: Plain) -> list[str]:
    """The media columns of a row."""
    return [part for part in MEDIA if file_column(part) in row]


def is_medium(name: str) -> bool:
    """Return whether a file of a dataset lies in a folder of media."""
    return name.partition("/")[0] in MEDIA.values()


def part_names(row: Plain, part: str) -> list[str]:
    """The files of one media part of a row: none, one, or those of a list."""
    value = row.get(file_column(part))
    return [value] if isinstance(value, str) else list(value or ())


def media_names(row: Plain) -> list[str]:
    """Every media file that a row refers to."""
    return [name for part in MEDIA for name in part_names(row, part)]


def media_names_in(rows: pa.Table) -> list[str]:
    """The media files that rows of a table refer to, each once, sorted."""
    names = set[str]()
    for column in MEDIA_COLUMNS:
        if column in rows.column_names:
            held = rows[column].combine_chunks()
            names.update((held.flatten() if column in LIST_COLUMNS else held).unique().to_pylist())
    return sorted(names - {None})


def filled(rows: Sequence[Plain]) -> set[str]:
    """The columns that not every dataset has and that some row fills."""
    return {name for name in _NOT_EVERYWHERE if any(row.get(name) not in (None, []) for row in rows)}


def filled_in(rows: pa.Table) -> set[str]:
    """``filled`` of the rows of a table."""
    values = {name: rows[name].combine_chunks() for name in _NOT_EVERYWHERE}
    return {name for name, column in values.items() if len(column.flatten() if name in LIST_COLUMNS else column.drop_null())}


def unused(names: Set[str]) -> set[str]:
    """The columns that rows are without where ``names`` are filled: media that no item has, and edits where nothing is edited."""
    kept = {*names, *(manifest.EDIT_COLUMNS if "task" in names else ())}
    return set(_NOT_EVERYWHERE) - kept


def filled_columns(rows: Sequence[Plain]) -> list[dict[str, Any]]:
    """The rows without their ``unused`` columns."""
    left = unused(filled(rows))
    return [{name: value for name, value in row.items() if name not in left} for row in rows]


def flat(row: Plain) -> dict[str, Any]:
    """The row as a slice's metadata hold it: mappings as JSON text."""
    return {name: canonical_json(value) if isinstance(value, dict) else value for name, value in row.items()}
