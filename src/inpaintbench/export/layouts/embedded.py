"""Parquet with the media inside: one folder a slice, nothing beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from inpaintbench.errors import InputError
from inpaintbench.export.layout import by_split, file_column, media_parts, row_schema, splits
from inpaintbench.export.layouts.base import KINDS, MEGABYTE, Chosen, Layout, Written, by_bytes, flat
from inpaintbench.ranges import AtLeastOne
from inpaintbench.types import Plain, content_id

# Of media in a row group, which is what reading one row costs; the Hub's viewer refuses above 286 MiB.
_GROUP_BYTES = 50 * MEGABYTE
# What the offsets of a column of bytes can count.
_MOST_CELL_BYTES = 2**31 - MEGABYTE


class Embedded(Layout):
    """Parquet files that hold the media, one folder a slice, for `datasets.load_dataset` without any other file.

    Args:
        shard_megabytes: most media in one file; one item may have more.
    """

    name = "embedded"
    version = "1"
    takes = KINDS
    needs_truth = False
    lists_items = False
    about = """\
```
SLICE/SPLIT-00000-of-00001.parquet   one row an item, in the order of the slice
```

Media columns hold the stored files byte for byte, with their path in the dataset; all other columns are the dataset's own. In
`hole` and `object_mask`, 255 is hole or object. An item of five slices lies here five times, and streaming fetches whole row
groups. The input of an edit is its truth and has no column of its own."""

    def __init__(self, *, shard_megabytes: AtLeastOne = 500) -> None:
        if shard_megabytes < 1:
            raise InputError(f"a shard of {shard_megabytes} megabytes is not possible; take 1 or more")
        self._shard_bytes = shard_megabytes * MEGABYTE

    def write(self, folder: Path, chosen: Chosen) -> Iterator[Written]:
        """Every split of every slice, shard by shard."""
        schema = _features(chosen.rows).arrow_schema
        row_of, split_of = {row["item_id"]: row for row in chosen.rows}, splits(chosen.rows)
        for part in chosen.slices:
            (folder / part.name).mkdir()
            for split, ids in by_split(part.item_ids, split_of).items():
                shards = list(by_bytes([row_of[name] for name in ids], chosen.root, most=self._shard_bytes))
                for number, rows in enumerate(shards):
                    name = f"{part.name}/{split}-{number:05d}-of-{len(shards):05d}.parquet"
                    for row in _write_shard(folder / name, rows, chosen, schema):
                        yield Written(row, {"row": name}, part.name)

    def count(self, chosen: Chosen) -> int:
        """An item is written once for each of its slices."""
        return chosen.places

    def front_matter(self, chosen: Chosen) -> Mapping[str, Any]:
        """One config a slice."""
        split_of = splits(chosen.rows)
        # `datasets` caches local folders by name: the content tells two of one name apart.
        content = content_id(self.version, chosen.rows, [list(part.item_ids) for part in chosen.slices])
        return {
            "configs": [
                {
                    "config_name": part.name,
                    "description": f"{part.rule}; content {content}",
                    "data_files": [
                        {"split": split, "path": f"{part.name}/{split}-*.parquet"} for split in by_split(part.item_ids, split_of)
                    ],
                }
                for part in chosen.slices
            ]
        }


def _write_shard(path: Path, rows: Sequence[Plain], chosen: Chosen, schema: pa.Schema) -> Iterator[Plain]:
    plain = [name for name in schema.names if not _holds_media(schema.field(name).type)]
    # Statistics and dictionaries of media would be copies of whole files.
    options = {"compression": "zstd", "use_dictionary": plain, "write_statistics": plain, "write_page_index": True}
    with pq.ParquetWriter(path, schema, **options) as writer:
        for group in by_bytes(rows, chosen.root, most=_GROUP_BYTES):
            cells = [_cells(row, chosen.root, schema) for row in chosen.sound(group)]
            writer.write_table(pa.Table.from_pylist(cells, schema=schema), row_group_size=len(cells))
            yield from group


def _holds_media(kind: pa.DataType) -> bool:
    return bool(pa.types.is_struct(kind) or (pa.types.is_list(kind) and pa.types.is_struct(kind.value_type)))


def _features(rows: Sequence[Plain]) -> Any:
    """The columns as `datasets` knows them: the media, and those of the dataset's own tables."""
    from datasets import Features, Image, List, Video

    known = Features.from_arrow_schema(row_schema(rows))
    columns: dict[str, Any] = {}
    for part in media_columns(rows):
        cell = Image() if Path(_names(rows, part)[0]).suffix == ".png" else Video()
        columns[part] = List(cell) if file_column(part).endswith("s") else cell
    return Features(columns | {name: kind for name, kind in known.items() if not name.endswith(("_file_name", "_file_names"))})


def media_columns(rows: Sequence[Plain]) -> list[str]:
    """The media parts that some row has; an input that is the truth's own file is not stored twice."""
    same = all(row.get("input_file_name") == row.get("truth_file_name") for row in rows)
    return [part for part in media_parts(rows[0]) if _names(rows, part) and not (part == "input" and same)]


def _names(rows: Sequence[Plain], part: str) -> list[str]:
    values = [row.get(file_column(part)) for row in rows]
    return [name for value in values if value for name in ([value] if isinstance(value, str) else value)]


def _cells(row: Plain, root: Path, schema: pa.Schema) -> dict[str, Any]:
    media: dict[str, Any] = {}
    for name in schema.names:
        if _holds_media(schema.field(name).type):
            value = row.get(file_column(name))
            media[name] = (
                _file(value, root) if isinstance(value, str | None) else [_file(name_of_file, root) for name_of_file in value]
            )
    return media | flat(row)


def _file(name: str | None, root: Path) -> dict[str, Any] | None:
    if name is None:
        return None
    if (size := (root / name).stat().st_size) > _MOST_CELL_BYTES:
        raise InputError(f"{name} has {size} bytes, more than a Parquet cell can hold; take a layout that keeps files")
    return {"bytes": (root / name).read_bytes(), "path": name}
