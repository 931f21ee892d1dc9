"""Few large files that are read in sequence: Parquet with the media inside, and WebDataset."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from inpaintbench.errors import InputError
from inpaintbench.export.layout import by_split, file_column, flat, media_names, media_parts, part_names, row_schema, splits
from inpaintbench.export.layouts.base import KINDS, Chosen, Layout, Written
from inpaintbench.ranges import AtLeastOne
from inpaintbench.types import Plain, canonical_json, content_id

_MEGABYTE = 1_000_000
# Of media in a row group, which is what reading one row costs; the Hub's viewer refuses above 286 MiB.
_GROUP_BYTES = 50 * _MEGABYTE
# What the offsets of a column of bytes can count.
_MOST_CELL_BYTES = 2**31 - _MEGABYTE
# Readers end a key at its first dot, and cut one that is longer without a word.
_KEY = re.compile(r"[A-Za-z0-9_-]{1,128}")
# Columns that `datasets` adds.
_OWN = ("__key__", "__url__")


class _Sharded(Layout):
    """What both have in common."""

    takes = KINDS
    needs_truth = False

    def __init__(self, *, shard_megabytes: AtLeastOne = 500) -> None:
        if shard_megabytes < 1:
            raise InputError(f"a shard of {shard_megabytes} megabytes is not possible; take 1 or more")
        self._shard_bytes = shard_megabytes * _MEGABYTE

    def _content(self, chosen: Chosen) -> str:
        """Part of every config: `datasets` caches local folders by name, and this tells two of one name apart."""
        return content_id(self.version, chosen.rows, [list(part.item_ids) for part in chosen.slices])


class Embedded(_Sharded):
    """Parquet files that hold the media, one folder a slice, for `datasets.load_dataset` without any other file.

    Args:
        shard_megabytes: most media in one file; one item may have more.
    """

    name = "embedded"
    version = "1"
    lists_items = False
    about = """\
```
SLICE/SPLIT-00000-of-00001.parquet   one row an item, in the order of the slice
```

Media columns hold the stored files byte for byte, with their path in the dataset; all other columns are the dataset's own. In
`hole` and `object_mask`, 255 is hole or object. An item of five slices lies here five times, and streaming fetches whole row
groups. The input of an edit is its truth and has no column of its own."""

    def write(self, folder: Path, chosen: Chosen) -> Iterator[Written]:
        """Every split of every slice, shard by shard."""
        from datasets import Features, Image, List, Video

        columns: dict[str, Any] = {}
        for column in media_columns(chosen.rows):
            first = next(name for row in chosen.rows for name in part_names(row, column))
            cell = Image() if Path(first).suffix == ".png" else Video()
            columns[column] = List(cell) if file_column(column).endswith("s") else cell
        schema = Features(columns | _plain_features(chosen.rows)).arrow_schema
        row_of, split_of = {row["item_id"]: row for row in chosen.rows}, splits(chosen.rows)
        for part in chosen.slices:
            (folder / part.name).mkdir()
            for split, ids in by_split(part.item_ids, split_of).items():
                shards = list(by_bytes([row_of[name] for name in ids], chosen.root, most=self._shard_bytes))
                for number, rows in enumerate(shards):
                    name = f"{part.name}/{split}-{number:05d}-of-{len(shards):05d}.parquet"
                    for row in _write_parquet(folder / name, rows, chosen, schema, list(columns)):
                        yield Written(row, {"row": name}, part.name)

    def count(self, chosen: Chosen) -> int:
        """An item is written once for each of its slices."""
        return chosen.places

    def front_matter(self, chosen: Chosen) -> Mapping[str, Any]:
        """One config a slice."""
        split_of, content = splits(chosen.rows), self._content(chosen)
        configs = []
        for part in chosen.slices:
            files = [{"split": split, "path": f"{part.name}/{split}-*.parquet"} for split in by_split(part.item_ids, split_of)]
            described = f"{part.rule}; content {content}"
            configs.append({"config_name": part.name, "description": described, "data_files": files})
        return {"configs": configs}


def _write_parquet(path: Path, rows: Sequence[Plain], chosen: Chosen, schema: pa.Schema, media: Sequence[str]) -> Iterator[Plain]:
    plain = [name for name in schema.names if name not in media]
    # Statistics and dictionaries of media would be copies of whole files.
    options = {"compression": "zstd", "use_dictionary": plain, "write_statistics": plain, "write_page_index": True}
    with pq.ParquetWriter(path, schema, **options) as writer:
        for group in by_bytes(rows, chosen.root, most=_GROUP_BYTES):
            cells = []
            for row in chosen.sound(group):
                held = {part: [_held(name, chosen.root) for name in part_names(row, part)] for part in media}
                one = {part: of if file_column(part).endswith("s") else next(iter(of), None) for part, of in held.items()}
                cells.append(one | _plain(row))
            writer.write_table(pa.Table.from_pylist(cells, schema=schema), row_group_size=len(cells))
            yield from group


def _held(name: str, root: Path) -> dict[str, Any]:
    if (size := (root / name).stat().st_size) > _MOST_CELL_BYTES:
        raise InputError(f"{name} has {size} bytes, more than a Parquet cell can hold; take a layout that keeps files")
    return {"bytes": (root / name).read_bytes(), "path": name}


class Webdataset(_Sharded):
    """Tar files whose members are ``ITEM.truth.mp4``, ``ITEM.hole.mp4``, ..., ``ITEM.json``, for loops that read in sequence.

    Args:
        shard_megabytes: most media in one file; one item may have more.
    """

    name = "webdataset"
    version = "1"
    about = """\
```
SPLIT-000000.tar   ITEM.truth.mp4, ITEM.hole.mp4, ..., ITEM.json; the next item
```

Every item is in one shard only, its files next to each other; which slices it belongs to stands in `slices` of its `.json`,
beside all other columns of the dataset, of which `attributes` and `generator_parameters` are JSON text. Media are the stored
files, byte for byte: `.png` where clips are pictures, `ITEM.second_hole_00.png` where there are several; in `hole` and
`object_mask`, 255 is hole or object. The input of an edit is its truth and has no file. Items lie in the order of the dataset;
shuffle shards and items as you read."""

    def write(self, folder: Path, chosen: Chosen) -> Iterator[Written]:
        """Every split, shard by shard."""
        parts, row_of = media_columns(chosen.rows), {row["item_id"]: row for row in chosen.rows}
        slices: dict[str, list[str]] = {name: [] for name in row_of}
        for part in chosen.slices:
            for item_id in part.item_ids:
                slices[item_id].append(part.name)
        for split, ids in by_split(list(row_of), splits(chosen.rows)).items():
            shards = by_bytes([row_of[name] for name in ids], chosen.root, most=self._shard_bytes)
            for number, rows in enumerate(shards):
                name = f"{split}-{number:06d}.tar"
                with tarfile.open(folder / name, "w", format=tarfile.USTAR_FORMAT) as shard:
                    for row in chosen.sound(rows):
                        _add(shard, row, chosen.root, parts, slices[row["item_id"]])
                        yield Written(row, {"shard": name, "key": row["item_id"]})

    def front_matter(self, chosen: Chosen) -> Mapping[str, Any]:
        """One config with the columns of all items: `datasets` would guess them from the first five."""
        from datasets import Features, Image, List, Value, Video

        splits_of_items = by_split([row["item_id"] for row in chosen.rows], splits(chosen.rows))
        parts = media_columns(chosen.rows)
        members = dict.fromkeys(member for row in chosen.rows for member in _members(row, parts))
        columns = {member: Image() if member.endswith(".png") else Video() for member in members}
        told = _plain_features(chosen.rows) | {"slices": List(Value("string"))}
        features = Features(columns | {"json": told} | dict.fromkeys(_OWN, Value("string")))
        return {
            "configs": [
                {
                    "config_name": "default",
                    "description": f"every item once; content {self._content(chosen)}",
                    "data_files": [{"split": split, "path": f"{split}-*.tar"} for split in splits_of_items],
                }
            ],
            "dataset_info": {"config_name": "default", "features": features._to_yaml_list()},
        }


def _members(row: Plain, parts: Sequence[str]) -> dict[str, str]:
    """Extension of a member -> the file of the dataset that it holds."""
    members: dict[str, str] = {}
    for part in parts:
        several = file_column(part).endswith("s")
        for place, name in enumerate(part_names(row, part)):
            members[f"{part}{f'_{place:02d}' if several else ''}{Path(name).suffix}"] = name
    return members


def _add(shard: tarfile.TarFile, row: Plain, root: Path, parts: Sequence[str], slices: Sequence[str]) -> None:
    key = row["item_id"]
    if not _KEY.fullmatch(key):
        raise InputError(f"the item id {key!r} cannot be a key: it needs 1 to 128 letters, digits, '-' and '_'")
    for extension, name in _members(row, parts).items():
        with (root / name).open("rb") as file:
            shard.addfile(_header(f"{key}.{extension}", (root / name).stat().st_size), file)
    known = canonical_json(_plain(row) | {"slices": list(slices)}).encode()
    shard.addfile(_header(f"{key}.json", len(known)), io.BytesIO(known))


def _header(name: str, size: int) -> tarfile.TarInfo:
    """A member without owner and time: the same bytes whoever writes it, and whenever."""
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = size, 0o644, 0
    return member


def media_columns(rows: Sequence[Plain]) -> list[str]:
    """The media parts that some row has; an input that is the truth's own file is not stored twice."""
    same = all(row.get("input_file_name") == row.get("truth_file_name") for row in rows)
    there = [part for part in media_parts(rows[0]) if any(part_names(row, part) for row in rows)]
    return [part for part in there if not (part == "input" and same)]


def _plain(row: Plain) -> dict[str, Any]:
    """Facts of an item besides its files, mappings as JSON text: the plain columns of the dataset's own tables."""
    return {name: value for name, value in flat(row).items() if not name.endswith(("_file_name", "_file_names"))}


def _plain_features(rows: Sequence[Plain]) -> dict[str, Any]:
    """The same as `datasets` knows them."""
    from datasets import Features

    known = Features.from_arrow_schema(row_schema(rows))
    return {name: kind for name, kind in known.items() if not name.endswith(("_file_name", "_file_names"))}


def by_bytes(rows: Sequence[Plain], root: Path, *, most: int) -> Iterator[list[Plain]]:
    """The rows in runs whose files have at most ``most`` bytes together; a larger item is a run by itself."""
    run: list[Plain] = []
    held = 0
    for row in rows:
        size = sum((root / name).stat().st_size for name in media_names(row) if (root / name).is_file())
        if run and held + size > most:
            yield run
            run, held = [], 0
        run.append(row)
        held += size
    if run:
        yield run
