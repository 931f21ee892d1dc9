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
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import inpaintbench
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.export.card.strips import write_strips
from inpaintbench.export.documents import is_remade, sealed
from inpaintbench.export.exposure import shown_by_others
from inpaintbench.export.gathering import Batches, Placed, Tables, Together, of_records
from inpaintbench.export.growing import Published
from inpaintbench.export.layout import (
    MEDIA,
    file_column,
    filled,
    flat,
    media_names,
    metadata_files,
    row_schema,
    splits,
    unused,
)
from inpaintbench.export.thin_rows import ThinRows
from inpaintbench.files import all_without_controls, copy_file, file_sha256, replacing, write_atomically
from inpaintbench.frozen import SHOWN, UNLOADABLE
from inpaintbench.lazily import lazily
from inpaintbench.manifest import (
    ALL,
    EDIT_COLUMNS,
    FORMAT_VERSION,
    MANIFEST,
    SHARD_ROWS,
    ArrayIds,
    Identity,
    Rows,
    ShardWriter,
    arrow_ids,
    computed_content,
    load,
)
from inpaintbench.tables import flat as flat_column
from inpaintbench.types import (
    EDIT,
    UNPAIRED,
    Attribute,
    Clip,
    Corruption,
    Dataset,
    Item,
    Plain,
    Slice,
    Source,
    stated,
)
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
            kept.copy_further_files(folder, clips={row["clip_id"] for row in dataset.items})
        write_strips(folder, dataset)
        hashes, sizes = _hashed(folder)
        if kept:
            kept.check(hashes)
        if settle:
            settled = settle(replace(dataset, files=hashes))
            dataset = replace(dataset, version=settled.version, facts=settled.facts)
        _write_documents(folder, replace(dataset, items=thin, files=hashes), sizes)
    return load(target)


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
        empty: dict[str, Any] = {file_column(part): [] if file_column(part).endswith("s") else None for part in MEDIA}
        empty |= dict.fromkeys((*EDIT_COLUMNS, "object_mask_sha256", "effect_mask_sha256", "encoder", SHOWN))
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

    def copy_media(self, folder: Path, rows: Iterable[Plain]) -> None:
        self._copy(folder, {name for row in rows for name in media_names(row)})

    def _copy(self, folder: Path, names: Iterable[str]) -> None:
        for name in names:
            if not (folder / name).exists():
                (folder / name).parent.mkdir(exist_ok=True)
                copy_file(self.published.folder / name, folder / name)

    def copy_further_files(self, folder: Path, *, clips: Set[str]) -> None:
        """Files that the recipe added and that are not made anew, but those of clips that are gone."""
        gone = self.published.clips.keys() - clips
        own = {name.partition("/")[0] for name in map(str, MEDIA.values())}
        further = (
            name
            for name in self.published.files
            if name.partition("/")[0] not in own and not name.endswith(".parquet") and not is_remade(name)
        )
        self._copy(folder, [name for name in further if Path(name).stem not in gone])

    def check(self, hashes: Mapping[str, str]) -> None:
        """Raise ``VerifyError`` where a media file is another than the published one."""
        own = {name.partition("/")[0] for name in map(str, MEDIA.values())}
        for name, sha256 in self.published.files.items():
            if name.partition("/")[0] in own and hashes.get(name, sha256) != sha256:
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
    """The dataset with slices of the builder's own, and with published slices grown by what was added to them."""
    slices, left_out = dataset.slices, dict(dataset.left_out)
    if own:
        further, empty = own.made([part.name for part in slices])
        slices, left_out = (*slices, *further), left_out | empty
    if published:
        slices = _grown(published.dataset.slices, slices, set(ids.to_pylist()))
        left_out = {name: why for name, why in left_out.items() if name not in {part.name for part in slices}}
    return replace(dataset, slices=slices, left_out=left_out)


def _grown(before: Sequence[Slice], slices: Sequence[Slice], there: Set[str]) -> tuple[Slice, ...]:
    """Published slices with what was added behind what they had, then new ones; only items that are ``there``."""
    members: dict[str, dict[str, None]] = {part.name: {} for part in (*before, *slices)}
    for part in (*before, *slices):
        members[part.name] |= dict.fromkeys(item for item in part.item_ids if item in there)
    rules = {part.name: part.rule for part in (*slices, *before)}
    return tuple(Slice(name, rules[name], tuple(ids)) for name, ids in members.items() if ids)


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
    parts = [chunk for table in tables.items(["item_id"]) for chunk in table["item_id"].chunks]
    parts += [pa.array(kept.ids, pa.string())] if kept else []
    ids = pa.concat_arrays(parts) if parts else pa.array([], pa.string())
    ids = ids.take(pc.sort_indices(ids))
    by_id, used, count, schema = Placed(scratch / "items", len(ids)), set[str](), 0, pa.schema([])

    def add(rows: Sequence[Plain]) -> pa.Schema:
        nonlocal used, count
        used, count = used | filled(rows), count + len(rows)
        if own:
            own.look_at(rows)
        columns = row_schema(rows)
        table = pa.Table.from_pylist([flat(row) for row in rows], columns)
        # Each is looked for by halves: an index of all ids, made for every few thousand rows, takes longer than all else.
        places = (bisect.bisect_left(range(len(ids)), row["item_id"], key=lambda place: ids[place].as_py()) for row in rows)
        by_id.add(table, np.fromiter(places, np.int64, len(rows)))
        return columns

    shares = _Shares(folder, kept)
    for some in tables.together(scratch / "gathered"):
        rows = stated(_rows(some, blobs))
        for row in rows:
            row |= {"fill": fill, "hole_is_given": hole_is_given}
        _copy_media(folder, rows, blobs, clips=some.clips, corruptions=some.corruptions)
        shares.tell(rows)
        schema = add(rows)
    for rows in kept.rows() if kept else ():
        assert kept
        kept.copy_media(folder, rows)
        shares.tell_published(rows)
        schema = add(rows)
    if count != len(ids):
        raise InputError(f"the clips or sources of {len(ids) - count} of {len(ids)} items are not there; run `masks pair` again")
    left = unused(used)
    return by_id, ids, pa.schema([column for column in schema if column.name not in left])


def _places(wanted: Any, ids: pa.Array) -> npt.NDArray[np.int64]:
    column = flat_column(wanted) if isinstance(wanted, pa.Array | pa.ChunkedArray) else pa.array(wanted, pa.string())
    found = pc.index_in(column, value_set=ids)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.int64)


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
    if any(part.name == ALL and not _has_all(part, ids) for part in dataset.slices):
        raise InputError(f"a slice called {ALL!r} has every item of its dataset, and this one has not; give it another name")
    parts = [part for part in dataset.slices if part.name != ALL]
    places = {part.name: _places(arrow_ids(part.item_ids), ids) for part in parts}
    thin, whole, start = ThinRows(ids), Placed(scratch / ALL, len(ids)), 0
    several = {part.name: Placed(scratch / f"slice{number}", len(part.item_ids)) for number, part in enumerate(parts)}
    ordered = {name: (order := np.argsort(found, kind="stable"), found[order]) for name, found in places.items()}
    for table in tables:
        rows, stop = table.select(schema.names), start + table.num_rows
        thin.add(rows)
        whole.add(rows, np.arange(start, stop))
        for name, (order, found) in ordered.items():
            low, high = np.searchsorted(found, start), np.searchsorted(found, stop)
            several[name].add(rows.take(pa.array(found[low:high] - start)), order[low:high])
        start = stop
    split_of = splits(thin)
    listed: list[str] = []
    for part, placed in [(Slice(ALL, "", ArrayIds(ids)), whole), *((part, several[part.name]) for part in parts)]:
        names = metadata_files(part, split_of)
        listed = listed or [name for of_split in names.values() for name in of_split]
        _write_config(folder, placed.tables(), names, schema)
    rows = Rows.at(folder, listed, len(ids))
    written = replace(dataset, items=rows)
    rows.identity = thin.identity = Identity(computed_content(written), dataset.slices, dataset.left_out, dataset.recipe)
    return written, thin


def _has_all(part: Slice, ids: pa.Array) -> bool:
    own = arrow_ids(part.item_ids)
    return bool(own.take(pc.sort_indices(own)).equals(ids))


def _write_config(folder: Path, tables: Iterable[pa.Table], names: Mapping[str, list[str]], schema: pa.Schema) -> None:
    """Write the files of a config, split by split."""
    writers = {split: ShardWriter(folder, of_split, schema) for split, of_split in names.items()}
    for table in tables:
        for split, writer in writers.items():
            writer.add(table if len(writers) == 1 else table.filter(pc.equal(table["split"], split)))
    for writer in writers.values():
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
    dataset = replace(dataset, items=items, format_version=FORMAT_VERSION)
    schema = row_schema(items)
    starts = range(0, len(items), SHARD_ROWS)
    tables = (pa.Table.from_pylist([flat(row) for row in items[start : start + SHARD_ROWS]], schema) for start in starts)
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
    replaceable = target.is_dir() and ((target / MANIFEST).is_file() or not any(target.iterdir()))
    if target.exists() and not replaceable:
        raise InputError(f"{str(target)!r} exists and is not a frozen dataset; choose another folder")


def _rows(some: Together, blobs: Blobs) -> list[dict[str, Any]]:
    """Rows of items, by id, with every column that a row may have."""
    source_of = {source.source_id: source for source in some.sources}
    clip_of = {clip.clip_id: clip for clip in some.clips}
    corruption_of = {corruption.corruption_id: corruption for corruption in some.corruptions}
    children: dict[str, list[Corruption]] = {}
    for corruption in sorted(some.corruptions, key=lambda row: row.corruption_id):
        children.setdefault(corruption.parent_id or "", []).append(corruption)
    facts: dict[str, dict[str, Any]] = {}
    for row in some.attributes:
        facts.setdefault(row.subject_id, {})[row.name] = _fact(row, blobs)
    rows = []
    for item in sorted(some.items, key=lambda item: item.item_id):
        clip, corruption = clip_of[item.clip_id], corruption_of[item.corruption_id]
        row_facts = facts.get(clip.source_id, {}) | facts.get(clip.clip_id, {}) | facts.get(corruption.corruption_id, {})
        second = children.get(corruption.corruption_id, [])
        if second:
            row_facts |= {"second_holes": [_second(row, facts.get(row.corruption_id, {})) for row in second]}
        media = _media_columns(clip, corruption, second)
        plain = _plain_columns(item, clip, corruption, source_of[clip.source_id]) | _edit_columns(corruption)
        if corruption.generator == UNPAIRED:
            plain |= {"truth_yuv_sha256": None, "truth_rgb_sha256": None}
        rows.append(all_without_controls(media | plain | {"attributes": row_facts}))
    return rows


def _second(corruption: Corruption, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts of a second hole, in the order of the files."""
    known = {name: value for name, value in facts.items() if value is not None}
    return {"corruption_id": corruption.corruption_id, "hole_sha256": corruption.hole_sha256, **known}


def _fact(row: Attribute, blobs: Blobs) -> Any:
    """The value, or the data itself where that is what the attribute is: a JSON blob, or a list as JSON text."""
    if row.blob and row.blob.endswith(".json"):
        return json.loads(blobs.proved(row.blob).read_bytes())
    is_list = row.producer == "masks.measure" and isinstance(row.value, str) and row.value.startswith("[")
    return json.loads(str(row.value)) if is_list else row.value


def _media_columns(clip: Clip, corruption: Corruption, second: Sequence[Corruption]) -> dict[str, Any]:
    unpaired = corruption.generator == UNPAIRED
    return {
        "truth_file_name": None if unpaired else _truth_name(clip),
        "hole_file_name": _file_name("hole", corruption.hole),
        "input_file_name": _truth_name(clip) if corruption.generator == EDIT else _file_name("input", corruption.input),
        "alpha_file_name": _file_name("alpha", corruption.alpha),
        "second_hole_file_names": [_file_name("second_hole", row.hole) for row in second],
        "object_mask_file_name": _file_name("object_mask", corruption.object_mask),
        "effect_mask_file_name": _file_name("effect_mask", corruption.effect_mask),
    }


def _edit_columns(corruption: Corruption) -> dict[str, Any]:
    parameters = corruption.parameters if corruption.generator == EDIT else {}
    columns = {name: parameters.get(name) for name in EDIT_COLUMNS}
    return columns | {name: getattr(corruption, name) for name in ("object_mask_sha256", "effect_mask_sha256")}


def _plain_columns(item: Item, clip: Clip, corruption: Corruption, source: Source) -> dict[str, Any]:
    return {
        "item_id": item.item_id,
        "split": item.split,
        "clip_id": clip.clip_id,
        "source_id": source.source_id,
        "source_uri": source.uri,
        "licence": source.licence,
        "author": source.author,
        "page_url": source.page_url,
        "start_frame": clip.start_frame,
        "end_frame": clip.end_frame,
        "frames": clip.frames,
        "width": clip.width,
        "height": clip.height,
        "fps": clip.fps,
        "encode_crf": clip.encode_crf,
        "encode_psnr_db": clip.encode_psnr_db,
        "encoder": clip.encoder,
        "generator": corruption.generator,
        "generator_parameters": dict(corruption.parameters) | {"seed": corruption.seed},
        "truth_yuv_sha256": clip.yuv_sha256,
        "truth_rgb_sha256": clip.rgb_sha256,
        "hole_sha256": corruption.hole_sha256,
        "input_sha256": corruption.input_sha256,
    }


def _truth_name(clip: Clip) -> str:
    return f"{MEDIA['truth']}/{clip.clip_id}{Path(clip.blob).suffix}"


def _file_name(part: str, blob: str | None) -> str | None:
    return None if blob is None else f"{MEDIA[part]}/{blob[:16]}{Path(blob).suffix}"


def _copy_media(
    folder: Path, rows: Sequence[Plain], blobs: Blobs, *, clips: Sequence[Clip], corruptions: Sequence[Corruption]
) -> None:
    blob_of = {_truth_name(clip): clip.blob for clip in clips}
    for row in corruptions:
        blob_of |= {
            str(_file_name(part, blob)): blob
            for part in ("hole", "input", "alpha", "object_mask", "effect_mask")
            if (blob := getattr(row, part))
        }
    names = sorted({name for row in rows for name in media_names(row)})
    for kind in {name.partition("/")[0] for name in names}:
        (folder / kind).mkdir(exist_ok=True)
    for name in names:
        if not (folder / name).exists():
            copy_file(blobs.proved(blob_of[name]), folder / name)
