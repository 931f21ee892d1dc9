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

import bisect
import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

import inpaintbench
from inpaintbench import manifest
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.export import layout
from inpaintbench.export.card import write_strips
from inpaintbench.export.documents import is_remade, sealed
from inpaintbench.export.exposure import shown_by_others
from inpaintbench.export.gathering import Batches, Placed, Tables, column, copy_media, item_rows, of_records
from inpaintbench.export.growing import Published
from inpaintbench.export.thin_rows import ThinRows
from inpaintbench.files import copy_file, file_sha256, replacing, write_atomically
from inpaintbench.frozen import SHOWN, UNLOADABLE
from inpaintbench.lazily import lazily
from inpaintbench.manifest import ALL, SHARD_ROWS, ArrayIds, arrow_ids
from inpaintbench.types import Attribute, Clip, Corruption, Dataset, Item, Plain, Slice, Source, stated
from inpaintbench.workspace import Blobs

pc = lazily("pyarrow.compute")

_VERSIONED = ("av", "datasets", "huggingface_hub", "numpy", "opencv-python-headless", "pillow", "pyarrow", "scikit-image")


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
        by_id, ids, schema = _gathered(tables, blobs, folder, scratch, fill=fill, hole_is_given=hole_is_given, kept=kept, own=own)
        dataset = _with_slices(dataset, published, own, ids)
        dataset, thin = _write_rows(folder, scratch, dataset, by_id.tables(), ids=ids, schema=schema)
        for path, data in extra(dataset.items) if extra else ():
            (folder / path).parent.mkdir(exist_ok=True)
            write_atomically(folder / path, data)
        if kept:
            kept.copy(folder, kept.further_files(clips={row["clip_id"] for row in dataset.items}))
        write_strips(folder, dataset)
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
        empty: dict[str, Any] = {name: [] if name.endswith("s") else None for name in layout.MEDIA_COLUMNS}
        empty |= dict.fromkeys(manifest.OPTIONAL_COLUMNS)
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

    def tell(self, rows: Sequence[dict[str, Any]]) -> None:
        """Let new rows say it: all of their sources, whose media lie in the folder."""
        sources = {row["source_id"] for row in rows}
        beside = [row for source in sources for row in self._kept.of_source.get(source, ())] if self._kept else []
        found = self._found([*rows, *beside])
        for row in rows:
            row[SHOWN] = found[row["item_id"]]
        self._published |= {row["item_id"]: found[row["item_id"]] for row in beside}
        self._done |= sources

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


def _gathered(
    tables: Tables, blobs: Blobs, folder: Path, scratch: Path, *, fill: int, hole_is_given: bool, kept: _Kept | None,
    own: OwnSlices | None,
) -> tuple[Placed, pa.Array, pa.Schema]:  # fmt: skip
    """The rows of all items, their ids and columns; their media then lie in ``folder``."""
    ids = pa.concat_arrays([column(tables.items, "item_id"), pa.array(kept.ids if kept else [], pa.string())])
    ids = ids.take(pc.sort_indices(ids))
    by_id, used, count, schema = Placed(scratch / "items", len(ids)), set[str](), 0, pa.schema([])

    def add(rows: Sequence[Plain]) -> pa.Schema:
        nonlocal used, count
        used, count = used | layout.filled(rows), count + len(rows)
        if own:
            own.look_at(rows)
        columns = layout.row_schema(rows)
        table = pa.Table.from_pylist([layout.flat(row) for row in rows], columns)
        # Each is looked for by halves: an index of all ids, made for every few thousand rows, takes longer than all else.
        places = (bisect.bisect_left(range(len(ids)), row["item_id"], key=lambda place: ids[place].as_py()) for row in rows)
        by_id.add(table, np.fromiter(places, np.int64, len(rows)))
        return columns

    shares = _Shares(folder, kept)
    for some in tables.together(scratch / "gathered"):
        rows = stated(item_rows(some, blobs))
        for row in rows:
            row |= {"fill": fill, "hole_is_given": hole_is_given}
        copy_media(folder, rows, some, blobs)
        shares.tell(rows)
        schema = add(rows)
    for rows in kept.rows() if kept else ():
        assert kept
        kept.copy_media(folder, rows)
        shares.tell_published(rows)
        schema = add(rows)
    if count != len(ids):
        raise InputError(f"the clips or sources of {len(ids) - count} of {len(ids)} items are not there; run `masks pair` again")
    left = layout.unused(used)
    return by_id, ids, pa.schema([column for column in schema if column.name not in left])


def _write_rows(
    folder: Path, scratch: Path, dataset: Dataset, tables: Iterable[pa.Table], *, ids: pa.Array, schema: pa.Schema
) -> tuple[Dataset, ThinRows]:
    """Write the rows of every config.

    Args:
        folder: of the dataset.
        scratch: for files on the way.
        dataset: all but its items and files.
        tables: the rows of all items, by id.
        ids: of all items, ascending.
        schema: the columns to be written.

    Returns:
        The dataset with its items, as they lie in ``folder``, and the items as documents need them.

    Raises:
        InputError: the slice ``all`` has not every item.
    """
    thin, whole, start = ThinRows(ids), Placed(scratch / ALL, len(ids)), 0
    several, ordered = dict[str, Placed](), dict[str, tuple[Any, Any]]()
    for number, part in enumerate(dataset.slices):
        own = arrow_ids(part.item_ids)
        if part.name != ALL:
            found = np.asarray(pc.index_in(own, value_set=ids).to_numpy(zero_copy_only=False), np.int64)
            order = np.argsort(found, kind="stable")
            several[part.name], ordered[part.name] = Placed(scratch / f"slice{number}", len(own)), (order, found[order])
        elif not own.take(pc.sort_indices(own)).equals(ids):
            raise InputError(f"a slice called {ALL!r} has every item of its dataset, and this one has not; give it another name")
    for table in tables:
        rows, stop = table.select(schema.names), start + table.num_rows
        thin.add(rows)
        whole.add(rows, np.arange(start, stop))
        for name, (order, found) in ordered.items():
            low, high = np.searchsorted(found, start), np.searchsorted(found, stop)
            several[name].add(rows.take(pa.array(found[low:high] - start)), order[low:high])
        start = stop
    split_of = layout.splits(thin)
    listed: list[str] = []
    for part in (Slice(ALL, "", ArrayIds(ids)), *(part for part in dataset.slices if part.name != ALL)):
        names = layout.metadata_files(part, split_of)
        listed = listed or [name for of_split in names.values() for name in of_split]
        writers = {split: manifest.ShardWriter(folder, of_split, schema) for split, of_split in names.items()}
        for table in (whole if part.name == ALL else several[part.name]).tables():
            for split, writer in writers.items():
                writer.add(table if len(writers) == 1 else table.filter(pc.equal(table["split"], split)))
        for writer in writers.values():
            writer.close()
    rows = manifest.Rows.at(folder, listed, len(ids))
    written = replace(dataset, items=rows)
    content = manifest.computed_content(written)
    rows.identity = thin.identity = manifest.Identity(content, dataset.slices, dataset.left_out, dataset.recipe)
    return written, thin


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
    tables = (pa.Table.from_pylist([layout.flat(row) for row in items[start : start + SHARD_ROWS]], schema) for start in starts)
    with _scratch(folder) as scratch:
        _write_rows(folder, scratch, dataset, tables, ids=pa.array([row["item_id"] for row in items]), schema=schema)
    write_strips(folder, dataset)
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
