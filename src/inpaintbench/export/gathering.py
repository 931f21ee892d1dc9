"""Rows of tables brought to where they are needed through files: what belongs to one item together, and rows into their order.

A table of millions of rows is read once, in pieces, and its rows go to buckets, each a file in Arrow; then one bucket at a time
is in memory. Small tables stay there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench.errors import InputError
from inpaintbench.export.layout import MEDIA, media_names_in
from inpaintbench.export.thin_rows import TOLD, told
from inpaintbench.files import all_without_controls, copy_file
from inpaintbench.lazily import lazily
from inpaintbench.manifest import EDIT_COLUMNS, INSTRUCTION, SHARD_ROWS, holds, without_controls_in
from inpaintbench.tables import flat, last_places, schema_of, to_columns
from inpaintbench.types import (
    EDIT,
    SIGNIFICANT_DIGITS,
    UNPAIRED,
    Attribute,
    Clip,
    Corruption,
    Item,
    Plain,
    Source,
    canonical_json,
    stated,
)
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
# Column of the place of an item among all, by id.
PLACE = "place"


class Spill:
    """Rows in buckets, which lie in files of their own where there are several."""

    def __init__(self, folder: Path, buckets: int) -> None:
        self._folder, self._many = folder, buckets > 1
        self._tables: dict[int, list[pa.Table]] = {}
        self._writers: dict[int, Any] = {}

    def add(self, table: pa.Table, bucket_of: npt.NDArray[Any]) -> None:
        """Put each row into its bucket; one of -1 goes nowhere."""
        ordered, rows_in_order = bucket_of, table
        if np.any(bucket_of[1:] < bucket_of[:-1]):
            order = np.argsort(bucket_of, kind="stable")
            ordered, rows_in_order = bucket_of[order], table.take(pa.array(order))
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
        self._spill.add(table.append_column(PLACE, pa.array(places, pa.int64())), places // self._size)

    def tables(self) -> Iterator[pa.Table]:
        """All rows in order."""
        self._spill.close()
        for bucket in range(self._buckets):
            if (rows := self._spill.take(bucket)) is not None:
                yield rows.take(pc.sort_indices(rows[PLACE])).drop_columns([PLACE]).combine_chunks()


class Together(NamedTuple):
    """Some items with all that is known of them: rows of the tables, of items with their ``PLACE``."""

    items: pa.Table
    sources: pa.Table
    clips: pa.Table
    corruptions: pa.Table
    attributes: pa.Table


@dataclass(frozen=True)
class Tables:
    """What items are made from."""

    items: Batches
    sources: Batches
    clips: Batches
    corruptions: Batches
    attributes: Batches

    def together(self, folder: Path, places: npt.NDArray[np.int64]) -> Iterator[Together]:
        """Yield all items, those of one source at once.

        Args:
            folder: for files on the way.
            places: of the items, in the order of their table.
        """
        of_source = column(self.sources, "source_id")
        needed = {name: [part for part in schema_of(_RECORDS[name]).names if part not in _UNTOLD] for name in _RECORDS}
        buckets = min(_MOST_BUCKETS, max(1, -(-len(places) // ITEMS_AT_ONCE)), max(1, len(of_source)))
        bucket_of = (np.arange(len(of_source)) * buckets // max(1, len(of_source))).astype(np.int16)
        spills = {"sources": _spilled(self.sources(needed["sources"]), folder / "sources", buckets, bucket_of)}
        owners: list[_Owners] = [(of_source, bucket_of)]
        del of_source
        for name, key, own_id in (("clips", "source_id", "clip_id"), ("corruptions", "clip_id", "corruption_id")):
            batches = getattr(self, name)
            bucket_of = _buckets_of(batches, key, owners)
            spills[name] = _spilled(batches(needed[name]), folder / name, buckets, bucket_of)
            owners.append((column(batches, own_id), bucket_of))
        bucket_of = _buckets_of(self.items, "clip_id", owners)
        spills["items"] = _spilled(_with_places(self.items(), places), folder / "items", buckets, bucket_of)
        bucket_of = _buckets_of(self.attributes, "subject_id", owners)
        spills["attributes"] = _spilled(self.attributes(needed["attributes"]), folder / "attributes", buckets, bucket_of)
        del owners, bucket_of
        for bucket in range(buckets):
            taken = {name: spills[name].take(bucket) for name in _RECORDS}
            if taken["items"] is not None:
                yield Together(**{
                    name: schema_of(_RECORDS[name]).empty_table() if table is None else table.combine_chunks()
                    for name, table in taken.items()
                })  # fmt: skip


def _with_places(batches: Iterable[pa.Table], places: npt.NDArray[np.int64]) -> Iterator[pa.Table]:
    start = 0
    for batch in batches:
        yield batch.append_column(PLACE, pa.array(places[start : start + batch.num_rows]))
        start += batch.num_rows


_RECORDS: dict[str, type] = {
    "items": Item, "sources": Source, "clips": Clip, "corruptions": Corruption, "attributes": Attribute,
}  # fmt: skip


def of_records(records: Sequence[Any], record: type) -> Batches:
    """Records as what gives their tables."""
    return of_table(to_columns(records, record))


def of_table(table: pa.Table) -> Batches:
    """A table in memory as what gives it."""
    return lambda columns=None: [table if columns is None else table.select(columns)]


# Columns of these tables that no row of a dataset tells.
_UNTOLD = {"reason", "producer_version", "sha256", "bytes", "origin", "parts", "facts"}

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


def _spilled(batches: Iterable[pa.Table], folder: Path, buckets: int, bucket_of: npt.NDArray[np.int16]) -> Spill:
    spill, start = Spill(folder, buckets), 0
    for some in _regrouped(batches):
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
# Of a number that ``stated`` leaves as it is: so many digits and a point.
_SHORT = SIGNIFICANT_DIGITS + 1


def item_rows(some: Together, blobs: Blobs) -> pa.Table:
    """Rows of items whose clip, source and corruption are there, with their ``PLACE`` and every column that a row may have but
    what depends on other items and on the dataset, as slices' metadata have them.
    """
    clip_of = last_places(flat(some.clips["clip_id"]), flat(some.items["clip_id"]))
    corruption_of = last_places(flat(some.corruptions["corruption_id"]), flat(some.items["corruption_id"]))
    there = (clip_of >= 0) & (corruption_of >= 0)
    items, clip_of, corruption_of = some.items.filter(pa.array(there)), clip_of[there], corruption_of[there]
    clips, corruptions = some.clips.take(pa.array(clip_of)), some.corruptions.take(pa.array(corruption_of))
    sources = some.sources.take(pa.array(last_places(flat(some.sources["source_id"]), flat(clips["source_id"]))))
    facts, second = _facts(some.attributes, blobs), _second_holes(some.corruptions)
    if second:
        facts = pa.concat_tables([facts, _of_second_holes(second, facts)])
    owners = [flat(clips["source_id"]), flat(clips["clip_id"]), flat(corruptions["corruption_id"])]
    unpaired, edited = (pc.equal(corruptions["generator"], generator) for generator in (UNPAIRED, EDIT))
    missing = pa.scalar(None, pa.string())
    truths = _truth_names(some.clips).take(pa.array(clip_of))
    files = {part: _file_names(part, some.corruptions[part]).take(pa.array(corruption_of)) for part in _BLOBS}
    files["input"] = pc.if_else(edited, truths, files["input"])  # the input of an edit is its truth
    files["truth"] = pc.if_else(unpaired, missing, truths)
    holes = (
        [[row["file_name"] for row in second.get(name, ())] for name in owners[-1].to_pylist()] if second else [[]] * len(items)
    )
    attributes, text_of = _told(facts, owners)
    parameters, prompts = _parameters(corruptions, edited)
    for what, texts in (("fact", attributes), ("generator parameter", parameters)):
        _check_finite(what, texts, items["item_id"])
    columns = {
        **{f"{part}_file_name": names for part, names in files.items()},
        "second_hole_file_names": pa.array(holes, pa.list_(pa.string())),
        "item_id": items["item_id"],
        "split": items["split"],
        "source_uri": sources["uri"],
        **{name: sources[name] for name in ("licence", "author", "page_url")},
        **{name: clips[name] for name in _OF_CLIP},
        **{name: pc.if_else(unpaired, missing, clips[name.removeprefix("truth_")]) for name in _HASHES_OF_TRUTH},
        "generator_parameters": parameters,
        "attributes": attributes,
        **prompts,
        **{name: corruptions[name] for name in _OF_CORRUPTION},
    }
    for name in ("fps", "encode_psnr_db"):
        encoded = flat(columns[name]).dictionary_encode()
        columns[name] = pa.array(map(stated, encoded.dictionary.to_pylist()), pa.float64()).take(encoded.indices)
        if len(odd := flat(items["item_id"]).filter(pc.invert(pc.is_finite(columns[name])))):
            raise InputError(f"{name!r} of item {odd[0].as_py()!r} is not finite")
    rows = without_controls_in(pa.table(columns)).append_column(PLACE, items[PLACE])
    for field, column in zip(TOLD, told(text_of, len(items)).columns, strict=True):
        rows = rows.append_column(field, column)
    return rows


_HASHES_OF_TRUTH = ("truth_yuv_sha256", "truth_rgb_sha256")


def _suffixes(names: Any) -> Any:
    if pc.all(pc.ends_with(names, ".mp4")).as_py():
        return pc.if_else(pc.is_valid(names), ".mp4", pa.scalar(None, pa.string()))
    return pc.replace_substring_regex(names, r"^.*?(\.[^.]+)?$", r"\1")


def _truth_names(clips: pa.Table) -> pa.Array:
    return flat(pc.binary_join_element_wise(f"{MEDIA['truth']}/", clips["clip_id"], _suffixes(clips["blob"]), ""))


def _file_names(part: str, names: Any) -> pa.Array:
    """Paths of the files of a media part, of the names of their blobs."""
    return flat(pc.binary_join_element_wise(f"{MEDIA[part]}/", pc.utf8_slice_codeunits(names, 0, 16), _suffixes(names), ""))


def _parameters(corruptions: pa.Table, edited: Any) -> tuple[pa.Array, dict[str, pa.Array]]:
    """What generators were given, with the seed, and what is asked of edits; of equal ones each is made once."""
    given = pc.binary_join_element_wise(
        edited.cast(pa.string()), corruptions["seed"].cast(pa.string()), corruptions["parameters"], " "
    )
    encoded, texts = flat(given).dictionary_encode(), []
    prompts: dict[str, list[str | None]] = {name: [] for name in (*EDIT_COLUMNS, INSTRUCTION)}
    for one in encoded.dictionary.to_pylist():
        is_edit, seed, text = one.split(" ", 2)
        parameters = all_without_controls(stated(json.loads(text)))
        texts.append(_json(parameters | {"seed": int(seed)}))
        for name, values in prompts.items():
            values.append(parameters.get(name) if is_edit == "true" else None)
    texts_of = pa.array(texts, pa.string()).take(encoded.indices)
    return texts_of, {name: pa.array(values, pa.string()).take(encoded.indices) for name, values in prompts.items()}


def _facts(attributes: pa.Table, blobs: Blobs) -> pa.Table:
    """Facts with their values as ``_json`` writes them: ``subject_id``, ``name`` and ``text``."""
    texts = _texts_of_numbers(flat(attributes["value"]))
    words = flat(attributes["value_text"])
    is_word = pc.and_(pc.is_null(attributes["value"]), pc.is_valid(words))
    texts = _replaced(texts, is_word, words, lambda word: word)
    is_list = pc.and_(pc.equal(attributes["producer"], "masks.measure"), pc.starts_with(words, "["))
    texts = _replaced(texts, pc.and_(is_word, is_list), words, json.loads)
    # The attribute is the data itself.
    is_data = pc.ends_with(attributes["blob"], ".json")
    texts = _replaced(texts, is_data, flat(attributes["blob"]), lambda name: json.loads(blobs.proved(name).read_bytes()))
    names = flat(attributes["name"]).dictionary_encode()
    plain = pa.array(map(all_without_controls, names.dictionary.to_pylist()), pa.string())
    return pa.table({"subject_id": attributes["subject_id"], "name": plain.take(names.indices), "text": texts}, _FACTS)


def _texts_of_numbers(numbers: pa.Array) -> pa.Array:
    """The JSON of each number as ``stated``."""
    sizes = np.abs(numbers.to_numpy(zero_copy_only=False))
    # Arrow gives the fewest digits that stand for a number, as Python does, but other exponents, and whole numbers no point.
    texts = pc.binary_join_element_wise(numbers.cast(pa.string()), pc.if_else(pc.equal(numbers, pc.trunc(numbers)), ".0", ""), "")
    plain = pa.array((sizes == 0) | ((sizes >= 1e-4) & (sizes < 1e10)))
    odd = pc.or_(pc.invert(plain), pc.greater(pc.binary_length(texts), _SHORT))
    odd = pc.and_(numbers.is_valid(), odd)
    made = [_json(stated(number)) for number in numbers.filter(odd).to_pylist()]
    return pc.fill_null(pc.replace_with_mask(texts, odd, pa.array(made, pa.string())), "null")


def _json(value: Any) -> str:
    """Canonical JSON, but for what is not finite: that is refused where a row has it."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _check_finite(what: str, told: pa.Array, item_ids: Any) -> None:
    """Raise ``InputError`` where ``what`` is told of an item holds a number that is not finite, which JSON does not know."""
    if not any(holds(told, word) for word in (b"NaN", b"Infinity")):
        return
    odd = pc.match_substring_regex(told, "NaN|Infinity")
    for item_id, text in zip(item_ids.filter(odd).to_pylist(), told.filter(odd).to_pylist(), strict=True):
        for name, value in json.loads(text).items():
            try:
                canonical_json(value)
            except ValueError as error:
                raise InputError(f"the {what} {name!r} of item {item_id!r} is not finite: {str(value)[:80]}") from error


_FACTS = pa.schema([(name, pa.string()) for name in ("subject_id", "name", "text")])


def _replaced(texts: pa.Array, those: Any, words: pa.Array, value_of: Callable[[str], Any]) -> pa.Array:
    """The texts, of which ``those`` are the JSON of what words stand for."""
    mask = pc.fill_null(flat(those), False)
    encoded = words.filter(mask).dictionary_encode()
    if not len(encoded):
        return texts
    made = [_json(all_without_controls(stated(value_of(word)))) for word in encoded.dictionary.to_pylist()]
    return pc.replace_with_mask(texts, mask, pa.array(made, pa.string()).take(encoded.indices))


def _told(facts: pa.Table, owners: Sequence[pa.Array]) -> tuple[pa.Array, dict[str, pa.Array]]:
    """What is known of each item as canonical JSON: of its owners, of several that know one name the last.

    The second is the same of each name: its JSON, null of items without it.
    """
    subjects, names = (flat(facts[name]).dictionary_encode() for name in ("subject_id", "name"))
    of_subject, of_name = subjects.indices.to_numpy(), names.indices.to_numpy()
    nobody = len(subjects.dictionary)
    places = [pc.fill_null(pc.index_in(ids, value_set=subjects.dictionary), nobody).to_numpy() for ids in owners]
    keys = {name: code for code, name in enumerate(names.dictionary.to_pylist())}
    columns, of_names = [], {}
    for name in sorted(keys):
        rows = np.flatnonzero(of_name == keys[name])
        last = np.full(nobody + 1, -1)
        last[of_subject[rows]] = rows
        chosen = last[places[0]]
        for place in places[1:]:
            chosen = np.where(last[place] < 0, chosen, last[place])
        of_names[name] = texts = flat(facts["text"]).take(pa.array(chosen, mask=chosen < 0))
        before = f",{json.dumps(name)}:"
        columns += [pc.binary_join_element_wise(before, texts, "")] if texts.null_count else [before, texts]
    # Arrow leaves out rows of which all is skipped, so something is there of each.
    inner = pc.binary_join_element_wise(pa.repeat("", len(owners[0])), *columns, "", null_handling="skip")
    return pc.binary_join_element_wise("{", pc.ascii_ltrim(inner, ","), "}", ""), of_names


def _second_holes(corruptions: pa.Table) -> dict[str, list[dict[str, Any]]]:
    """Corruption -> those within it, in the order of their ids: ``corruption_id``, ``hole_sha256`` and ``file_name``."""
    within = corruptions.filter(pc.is_valid(corruptions["parent_id"])).sort_by("corruption_id")
    rows = within.select(["parent_id", "corruption_id", "hole_sha256"])
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows.append_column("file_name", _file_names("second_hole", within["hole"])).to_pylist():
        found.setdefault(row.pop("parent_id"), []).append(row)
    return found


def _of_second_holes(second: Mapping[str, Sequence[Plain]], facts: pa.Table) -> pa.Table:
    """The fact of each corruption that has some: what they are and what is known of them."""
    ids = pa.array([hole["corruption_id"] for holes in second.values() for hole in holes], pa.string())
    known, texts = map(json.loads, _told(facts, [ids])[0].to_pylist()), []
    for holes in second.values():
        told = [
            {name: hole[name] for name in ("corruption_id", "hole_sha256")}
            | {name: value for name, value in next(known).items() if value is not None}
            for hole in holes
        ]
        texts.append(_json(all_without_controls(told)))
    return pa.table([list(second), ["second_holes"] * len(second), texts], _FACTS)


def copy_media(folder: Path, rows: pa.Table, some: Together, blobs: Blobs) -> None:
    """Copy the media of rows into a dataset, those that are not there."""
    named = [(_truth_names(some.clips), some.clips["blob"])]
    named += [(_file_names(part, some.corruptions[part]), some.corruptions[part]) for part in _BLOBS]
    blob_of = {name: blob for names, of in named for name, blob in zip(names.to_pylist(), of.to_pylist(), strict=True)}
    for name in media_names_in(rows):
        (folder / name).parent.mkdir(exist_ok=True)
        if not (folder / name).exists():
            copy_file(blobs.proved(blob_of[name]), folder / name)
