"""Freeze items and slices into a folder that ``datasets.load_dataset`` reads and ``verify`` can prove.

    DATASET/
      README.md             card; its YAML names one config a slice
      <slice>.parquet       one row an item, in the root: ``datasets`` refuses ``..`` in media paths; with splits,
                            <slice>.<split>.parquet, and large ones in several files
      all.parquet           the same of all items
      truth/<clip>.mp4      shared by all slices; .png where clips are single pictures
      holes/<hole>.mp4      lossless grey, 255 = hole
      inputs/<input>.mp4    where the input is more than the truth with its hole filled, such as subtitles painted on it
      alphas/<alpha>.mp4    lossless grey, opacity of what was painted
      object_masks/<mask>.mp4   lossless grey, 255 = the object that an edit is about, or that is to be removed; the input of an
                            edit is its truth
      effect_masks/<mask>.mp4   lossless grey, 255 = what that object changes outside itself
      NOTICE, croissant.json    whose footage it is; the dataset for machines
      card/*.svg            pictures of the card
      manifest/*.parquet    members of the slices, SHA-256 of every file
      dataset.json          the root of the manifest: see ``inpaintbench.manifest``

``datasets`` caches local folders by name, so every config carries the hash of its content in its description: another
workspace with the same folder names, or a re-export in place, is another cache entry.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import inpaintbench
from inpaintbench import manifest
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.export import layout
from inpaintbench.export.card import of_strips, write_strips
from inpaintbench.export.documents import is_remade, sealed
from inpaintbench.export.exposure import OF_SHOWN, shown_by_others
from inpaintbench.export.gathering import PLACE, Batches, Placed, Tables, column, copy_media, item_rows, of_records
from inpaintbench.export.growing import Published
from inpaintbench.export.thin_rows import TOLD, ThinRows, with_told
from inpaintbench.files import copy_file, file_sha256, replacing, write_atomically
from inpaintbench.frozen import SHOWN, UNLOADABLE
from inpaintbench.lazily import lazily
from inpaintbench.manifest import ALL, SHARD_ROWS
from inpaintbench.types import Attribute, Clip, Corruption, Dataset, Item, Plain, Slice, Source, stated
from inpaintbench.workspace import Blobs

pc = lazily("pyarrow.compute")

_VERSIONED = ("av", "datasets", "huggingface_hub", "numpy", "opencv-python-headless", "pillow", "pyarrow", "scikit-image")
# What is known of rows until they are written.
_GATHERED = pa.schema([*layout.EVERY_COLUMN, *TOLD])


def freeze(
    target: Path,
    *,
    name: str,
    blobs: Blobs,
    items: Sequence[Item] | Batches,
    slices: Sequence[Slice],
    left_out: Mapping[str, str],
    sources: Sequence[Source] | Batches,
    clips: Sequence[Clip] | Batches,
    corruptions: Sequence[Corruption] | Batches,
    attributes: Sequence[Attribute] | Batches,
    recipe: Plain,
    fill: int = 0,
    hole_is_given: bool = True,
    about: str = "",
    version: str = "1.0.0",
    removed: Sequence[Plain] = (),
    facts: Plain | None = None,
    extra: Callable[[Sequence[Plain]], Iterable[tuple[str, bytes]]] | None = None,
    published: Published | None = None,
    own: OwnSlices | None = None,
    settle: Callable[[Dataset], Dataset] | None = None,
) -> Dataset:
    """Write the dataset folder; an older one is replaced whole once the new one is complete.

    Items and what they are made from are records, or what gives the rows of their tables in pieces: of millions, some thousands
    are in memory.

    Args:
        target: the dataset folder.
        name: what the card calls the dataset.
        blobs: where clips and holes lie.
        items: every item of every slice, each once.
        slices: slices with at least one item.
        left_out: slices without items, with the reason.
        sources: at least those of the items' clips.
        clips: at least those of the items.
        corruptions: at least those of the items; those whose parent is an item's corruption go along as its second holes.
        attributes: facts about the above; they go into the rows.
        recipe: the resolved recipe.
        fill: level of the hole pixels in the input, 0..255, where no input is stored.
        hole_is_given: whether methods are told where the hole is.
        about: what the card says of the benchmark, in Markdown.
        version: of the dataset.
        removed: tombstones, ``item_id`` and ``reason`` each; none of ``items`` is among them.
        facts: what the card tells besides the rows, see ``Dataset.facts``.
        extra: further files, made from the rows, one after the other: path in the dataset and bytes.
        published: a dataset whose rows and files are taken over as they are, those of ``removed`` excepted. Its items come first
            in its slices, and none of ``items`` is one of them. Files that its recipe added and ``extra`` does not make stay.
        own: slices by the rows of their items.
        settle: version and facts of the dataset, decided when all else is known; what it raises keeps the older one in its place.

    Raises:
        InputError: the path has a character that ``datasets`` takes for a pattern.
        WorkspaceError: not writable. VerifyError: a file of the published dataset is damaged.
    """
    check_target(target)
    tables = Tables(
        *(
            given if callable(given) else of_records(given, record)
            for given, record in (
                (items, Item), (sources, Source), (clips, Clip), (corruptions, Corruption), (attributes, Attribute),
            )
        )
    )  # fmt: skip
    versions = {"inpaintbench": inpaintbench.__version__} | {package: installed_version(package) for package in _VERSIONED}
    dataset = Dataset(
        name=name, recipe=stated(recipe), items=(), slices=tuple(slices), left_out=dict(sorted(left_out.items())), files={},
        versions=versions,
        about=about, version=version, removed=tuple(removed), facts=stated(facts or {}),
    )  # fmt: skip
    with replacing(target, what="export ") as folder, _scratch(target) as scratch:
        kept = _Kept(published, {str(row["item_id"]) for row in removed}) if published else None
        given = _gathered(tables, blobs, folder, scratch, fill=fill, hole_is_given=hole_is_given, kept=kept, own=own)
        dataset = _with_slices(dataset, published, own, given.ids)
        dataset, thin, rows_of_strips = _write_rows(folder, scratch, dataset, given)
        for path, data in extra(dataset.items) if extra else ():
            (folder / path).parent.mkdir(exist_ok=True)
            write_atomically(folder / path, data)
        if kept:
            kept.copy(folder, kept.further_files(clips={row["clip_id"] for row in dataset.items}))
        write_strips(folder, dataset, rows_of_strips)
        hashes, sizes = _hashed(folder)
        if kept:
            kept.check(hashes)
        if settle:
            settled = settle(replace(dataset, files=hashes))
            dataset = replace(dataset, version=settled.version, facts=settled.facts)
        _write_documents(folder, replace(dataset, items=thin, files=hashes), sizes)
    return manifest.load(target)


class OwnSlices(Protocol):
    """Slices that are told the rows of all items, and then say which of these they hold."""

    def look_at(self, rows: Iterable[Plain]) -> None:
        """Some rows; all come once."""

    def made(self, taken: Iterable[str]) -> tuple[list[Slice], dict[str, str]]:
        """Slices with items, and those without with the reason; ``taken`` are names of others."""


@dataclass(frozen=True)
class _Kept:
    """What is taken over from a published dataset."""

    published: Published
    gone: Set[str]
    """Items that are not."""

    @property
    def ids(self) -> list[str]:
        return [name for name in self.published.ids if name not in self.gone]

    def rows(self) -> Iterator[list[dict[str, Any]]]:
        """Some thousands of rows at a time, with every column that a row may have."""
        empty: dict[str, Any] = {name: [] if name in layout.LIST_COLUMNS else None for name in layout.EVERY_COLUMN.names}
        rows = (empty | dict(row) for row in self.published.dataset.items if row["item_id"] not in self.gone)
        while some := list(itertools.islice(rows, SHARD_ROWS)):
            yield some

    @cached_property
    def of_source(self) -> Mapping[str, list[Plain]]:
        """Source -> the rows of its items."""
        found: dict[str, list[Plain]] = {}
        for name, row in self.published.rows.items():
            if name not in self.gone:
                found.setdefault(row["source_id"], []).append(row)
        return found

    @cached_property
    def lost(self) -> set[str]:
        """Sources that lose items."""
        return {row["source_id"] for name in self.gone if (row := self.published.rows.get(name))}

    @cached_property
    def names(self) -> Set[str]:
        """Columns of the published rows."""
        return set(self.published.dataset.items[0])

    def copy(self, folder: Path, names: Iterable[str]) -> None:
        """Copy files into a new folder, those that are not there."""
        for name in names:
            if not (folder / name).exists():
                (folder / name).parent.mkdir(exist_ok=True)
                copy_file(self.published.folder / name, folder / name)

    def copy_media(self, folder: Path, rows: Iterable[Plain]) -> None:
        self.copy(folder, {name for row in rows for name in layout.media_names(row)})

    def further_files(self, *, clips: Set[str]) -> list[str]:
        """Files that the recipe added and that are not made anew, but those of clips that are gone."""
        gone = self.published.clips.keys() - clips
        return [
            name
            for name in self.published.files
            if not (layout.is_medium(name) or name.endswith(".parquet") or is_remade(name) or Path(name).stem in gone)
        ]

    def check(self, hashes: Mapping[str, str]) -> None:
        """Raise ``VerifyError`` where a media file is another than the published one."""
        for name, sha256 in self.published.files.items():
            if layout.is_medium(name) and hashes.get(name, sha256) != sha256:
                raise VerifyError(f"{str(self.published.folder / name)!r} is damaged: its SHA-256 is not that of its manifest")


class _Shares:
    """What inputs of other items show of each item, also of published ones where items of their source come or go."""

    def __init__(self, folder: Path, kept: _Kept | None) -> None:
        self._folder, self._kept = folder, kept
        self._done: set[str] = set()
        self._published: dict[str, float | None] = {}

    def told(self, table: pa.Table) -> pa.Array:
        """That of new rows: all of their sources, whose media lie in the folder."""
        sources, rows = set(table["source_id"].unique().to_pylist()), table.select(OF_SHOWN).to_pylist()
        beside = [row for source in sources for row in self._kept.of_source.get(source, ())] if self._kept else []
        found = self._found([*rows, *beside])
        self._published |= {row["item_id"]: found[row["item_id"]] for row in beside}
        self._done |= sources
        return pa.array([found[row["item_id"]] for row in rows], pa.float64())

    def tell_published(self, rows: Sequence[dict[str, Any]]) -> None:
        """Let published rows say it, once all new ones do."""
        assert self._kept
        for row in rows:
            source, known = row["source_id"], row["item_id"] in self._published
            # Datasets of before do not say it.
            if not known and source not in self._done and (source in self._kept.lost or SHOWN not in self._kept.names):
                self._published |= self._found(self._kept.of_source[source])
            row[SHOWN] = self._published.get(row["item_id"], row[SHOWN])

    def _found(self, rows: Sequence[Plain]) -> dict[str, float | None]:
        if self._kept:
            self._kept.copy_media(self._folder, [row for row in rows if row["item_id"] in self._kept.published.rows])
        return {name: shown and shown.share for name, shown in shown_by_others(self._folder, rows).items()}


def _with_slices(dataset: Dataset, published: Published | None, own: OwnSlices | None, ids: pa.Array) -> Dataset:
    """The dataset with slices of the builder's own, and with published slices grown by what was added behind what they had."""
    slices, left_out = dataset.slices, dict(dataset.left_out)
    if own:
        further, empty = own.made([part.name for part in slices])
        slices, left_out = (*slices, *further), left_out | empty
    if published:
        before, there = published.dataset.slices, set(ids.to_pylist())
        members: dict[str, dict[str, None]] = {}
        for part in (*before, *slices):
            members.setdefault(part.name, {}).update(dict.fromkeys(item for item in part.item_ids if item in there))
        rules = {part.name: part.rule for part in (*slices, *before)}
        slices = tuple(Slice(name, rules[name], tuple(held)) for name, held in members.items() if held)
        left_out = {name: why for name, why in left_out.items() if name not in {part.name for part in slices}}
    return replace(dataset, slices=slices, left_out=left_out)


@contextmanager
def _scratch(target: Path) -> Iterator[Path]:
    """A folder beside ``target`` for files on the way, which a later export removes where this one is killed."""
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent) as place:
        yield Path(place)


class _Gathered(NamedTuple):
    """The rows of all items."""

    rows: Iterable[pa.Table]
    """By id, with at least the columns of ``schema``."""
    ids: pa.Array
    """Ascending."""
    schema: pa.Schema
    """The columns that some item fills."""
    splits: Counter[str]
    """Items of each split."""


def _gathered(
    tables: Tables, blobs: Blobs, folder: Path, scratch: Path, *, fill: int, hole_is_given: bool, kept: _Kept | None,
    own: OwnSlices | None,
) -> _Gathered:  # fmt: skip
    """The rows of all items; their media then lie in ``folder``."""
    unsorted = pa.concat_arrays([column(tables.items, "item_id"), pa.array(kept.ids if kept else [], pa.string())])
    order = pc.sort_indices(unsorted)
    ids, places = unsorted.take(order), np.empty(len(order), np.int64)
    places[order.to_numpy()] = np.arange(len(order))
    of_kept = len(ids) - (len(kept.ids) if kept else 0)
    by_id, used, splits = Placed(scratch / "items", len(ids)), set[str](), Counter[str]()

    def add(table: pa.Table, own_places: npt.NDArray[np.int64]) -> None:
        used.update(layout.filled_in(table))
        splits.update({part["values"].as_py(): part["counts"].as_py() for part in table["split"].value_counts()})
        if own:
            own.look_at(_plain_rows(table.select(layout.EVERY_COLUMN.names)))
        by_id.add(table, own_places)

    shares = _Shares(folder, kept)
    for some in tables.together(scratch / "gathered", places[:of_kept]):
        rows = item_rows(some, blobs)
        copy_media(folder, rows, some, blobs)
        constant = {"fill": fill, "hole_is_given": hole_is_given, SHOWN: shares.told(rows)}
        for name, value in constant.items():
            rows = rows.append_column(name, value if name == SHOWN else pa.repeat(pa.scalar(value), rows.num_rows))
        add(rows.select(_GATHERED.names).cast(_GATHERED), rows[PLACE].to_numpy())
    for published in kept.rows() if kept else ():
        assert kept
        kept.copy_media(folder, published)
        shares.tell_published(published)
        table = with_told(pa.Table.from_pylist([layout.flat(row) for row in published], layout.EVERY_COLUMN))
        add(table, places[of_kept : of_kept + table.num_rows])
        of_kept += table.num_rows
    if (count := splits.total()) != len(ids):
        raise InputError(f"the clips or sources of {len(ids) - count} of {len(ids)} items are not there; run `masks pair` again")
    left = layout.unused(used)
    return _Gathered(
        by_id.tables(), ids, pa.schema([column for column in layout.EVERY_COLUMN if column.name not in left]), splits
    )


def _plain_rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    """The rows of a table with their mappings."""
    for row in table.to_pylist():
        yield row | {name: json.loads(row[name]) for name in manifest.JSON_COLUMNS}


def _write_rows(folder: Path, scratch: Path, dataset: Dataset, given: _Gathered) -> tuple[Dataset, ThinRows, list[Plain]]:
    """Write the rows of every config.

    Args:
        folder: of the dataset.
        scratch: for files on the way.
        dataset: all but its items and files.
        given: the items.

    Returns:
        The dataset with its items, as they lie in ``folder``, the items as documents need them, and the rows ``of_strips``.

    Raises:
        InputError: the slice ``all`` has not every item.
    """
    ids, schema, start = given.ids, given.schema, 0
    thin, several, ordered, digest = ThinRows(ids), dict[str, Placed](), dict[str, tuple[Any, Any]](), manifest.Digest()
    places = thin.find([part.item_ids for part in dataset.slices])
    for number, (part, found) in enumerate(zip(dataset.slices, places, strict=True)):
        order = np.argsort(found, kind="stable")
        if part.name != ALL:
            several[part.name], ordered[part.name] = Placed(scratch / f"slice{number}", len(found)), (order, found[order])
        elif not np.array_equal(found[order], np.arange(len(ids))):
            raise InputError(f"a slice called {ALL!r} has every item of its dataset, and this one has not; give it another name")
    wanted, of_some = pa.array(of_strips(dataset), pa.string()), list[Plain]()
    whole = _Config(folder, layout.names_of_files(ALL, given.splits, alone=set(given.splits) == {"test"}), schema)
    for table in given.rows:
        rows, stop = table.select(schema.names), start + table.num_rows
        thin.add(table.select([*schema.names, *TOLD.names]))
        digest.add(rows)
        whole.add(rows)
        of_some += _plain_rows(rows.filter(pc.is_in(rows["item_id"], value_set=wanted)))
        for name, (order, found) in ordered.items():
            low, high = np.searchsorted(found, start), np.searchsorted(found, stop)
            several[name].add(rows.take(pa.array(found[low:high] - start)), order[low:high])
        start = stop
    whole.close()
    split_of = layout.splits(thin)
    for part in dataset.slices:
        if part.name != ALL:
            config = _Config(folder, layout.metadata_files(part, split_of), schema)
            for rows in several[part.name].tables():
                config.add(rows)
            config.close()
    items = manifest.Rows.at(folder, [name for of_split in whole.names.values() for name in of_split], len(ids))
    written = replace(dataset, items=items)
    content = manifest.computed_content(written, rows=digest)
    items.identity = thin.identity = manifest.Identity(content, dataset.slices, dataset.left_out, dataset.recipe)
    return written, thin, of_some


class _Config:
    """Writes the rows of a config to the files of its splits."""

    def __init__(self, folder: Path, names: Mapping[str, Sequence[str]], schema: pa.Schema) -> None:
        self.names = names
        self._writers = {split: manifest.ShardWriter(folder, of_split, schema) for split, of_split in names.items()}

    def add(self, rows: pa.Table) -> None:
        """Take the next rows."""
        for split, writer in self._writers.items():
            writer.add(rows if len(self._writers) == 1 else rows.filter(pc.equal(rows["split"], split)))

    def close(self) -> None:
        """Write what is left."""
        for writer in self._writers.values():
            writer.close()


def _write_documents(folder: Path, dataset: Dataset, sizes: Mapping[str, int]) -> Dataset:
    """Write documents and manifest of a dataset beside its files, of which it has the hashes; the manifest as written."""
    dataset, written = sealed(dataset, sizes)
    for name, data in written.items():
        write_atomically(folder / name, data)
    return dataset


def _hashed(folder: Path) -> tuple[dict[str, str], dict[str, int]]:
    """SHA-256 and bytes of every file in a folder, by path."""
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    hashes = {name: file_sha256(path) for name, path in files.items()}
    return hashes, {name: path.stat().st_size for name, path in files.items()}


def seal(folder: Path, dataset: Dataset) -> Dataset:
    """Write rows, documents and manifest of a dataset in memory beside the files that lie in ``folder``, and hash all.

    Raises:
        InputError: the slice ``all`` has not every item.
    """
    items = tuple(sorted(dataset.items, key=lambda row: str(row["item_id"])))
    dataset = replace(dataset, items=items, format_version=manifest.FORMAT_VERSION)
    schema = layout.row_schema(items)
    starts = range(0, len(items), SHARD_ROWS)
    parts = ([layout.flat(row) for row in items[start : start + SHARD_ROWS]] for start in starts)
    tables = (with_told(pa.Table.from_pylist(part, schema)) for part in parts)
    splits, ids = Counter(row["split"] for row in items), pa.array([row["item_id"] for row in items])
    with _scratch(folder) as scratch:
        *_, rows_of_strips = _write_rows(folder, scratch, dataset, _Gathered(tables, ids, schema, splits))
    write_strips(folder, dataset, rows_of_strips)
    hashes, sizes = _hashed(folder)
    return _write_documents(folder, replace(dataset, files=hashes), sizes)


def check_target(target: Path) -> None:
    """Raise ``InputError`` unless a dataset may be written to ``target``: a new or empty folder, or an older dataset.

    Paths that ``datasets`` cannot load from are refused too.
    """
    if bad := [pattern for pattern in UNLOADABLE if pattern in str(target.absolute())]:
        raise InputError(f"export path {str(target)!r} holds {bad[0]!r}, which `datasets` takes for a pattern; use another name")
    replaceable = target.is_dir() and ((target / manifest.MANIFEST).is_file() or not any(target.iterdir()))
    if target.exists() and not replaceable:
        raise InputError(f"{str(target)!r} exists and is not a frozen dataset; choose another folder")
