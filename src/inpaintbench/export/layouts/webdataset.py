"""WebDataset: the files of every item next to each other in tar files."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from inpaintbench.errors import InputError
from inpaintbench.export.layout import by_split, file_column, row_schema, splits
from inpaintbench.export.layouts.base import KINDS, MEGABYTE, Chosen, Layout, Written, by_bytes, flat
from inpaintbench.export.layouts.embedded import media_columns
from inpaintbench.ranges import AtLeastOne
from inpaintbench.types import Plain, canonical_json, content_id

# Readers end a key at its first dot, and cut one that is longer without a word.
_KEY = re.compile(r"[A-Za-z0-9_-]{1,128}")


class Webdataset(Layout):
    """Tar files whose members are ``ITEM.truth.mp4``, ``ITEM.hole.mp4``, ..., ``ITEM.json``, for loops that read in sequence.

    Args:
        shard_megabytes: most media in one file; one item may have more.
    """

    name = "webdataset"
    version = "1"
    takes = KINDS
    needs_truth = False
    about = """\
```
SPLIT-000000.tar   ITEM.truth.mp4, ITEM.hole.mp4, ..., ITEM.json; the next item
```

Every item is in one shard only, its files next to each other; which slices it belongs to stands in `slices` of its `.json`,
beside all other columns of the dataset, of which `attributes` and `generator_parameters` are JSON text. Media are the stored
files, byte for byte: `.png` where clips are pictures, `ITEM.second_hole_00.png` where there are several; in `hole` and
`object_mask`, 255 is hole or object. The input of an edit is its truth and has no file. Items lie in the order of the dataset;
shuffle shards and items as you read."""

    def __init__(self, *, shard_megabytes: AtLeastOne = 500) -> None:
        if shard_megabytes < 1:
            raise InputError(f"a shard of {shard_megabytes} megabytes is not possible; take 1 or more")
        self._shard_bytes = shard_megabytes * MEGABYTE

    def write(self, folder: Path, chosen: Chosen) -> Iterator[Written]:
        """Every split, shard by shard."""
        parts, slices = media_columns(chosen.rows), _slices_of(chosen)
        row_of = {row["item_id"]: row for row in chosen.rows}
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
        known = Features.from_arrow_schema(row_schema(chosen.rows))
        plain = {name: kind for name, kind in known.items() if not name.endswith(("_file_name", "_file_names"))}
        parts = media_columns(chosen.rows)
        fields = dict.fromkeys(field for row in chosen.rows for field in _fields(row, parts))
        columns = {field: Image() if field.endswith(".png") else Video() for field in fields}
        # `datasets` caches local folders by name: the content tells two of one name apart.
        content = content_id(self.version, chosen.rows, [list(part.item_ids) for part in chosen.slices])
        features = Features(columns | {"json": plain | {"slices": List(Value("string"))}} | dict.fromkeys(_OWN, Value("string")))
        return {
            "configs": [
                {
                    "config_name": "default",
                    "description": f"every item once; content {content}",
                    "data_files": [{"split": split, "path": f"{split}-*.tar"} for split in splits_of_items],
                }
            ],
            "dataset_info": {"config_name": "default", "features": features._to_yaml_list()},
        }


# Columns that `datasets` adds.
_OWN = ("__key__", "__url__")


def _slices_of(chosen: Chosen) -> dict[str, list[str]]:
    slices: dict[str, list[str]] = {row["item_id"]: [] for row in chosen.rows}
    for part in chosen.slices:
        for item_id in part.item_ids:
            slices[item_id].append(part.name)
    return slices


def _fields(row: Plain, parts: Sequence[str]) -> dict[str, str]:
    """Extension of a member -> the file of the dataset that it holds."""
    fields: dict[str, str] = {}
    for part in parts:
        value = row.get(file_column(part))
        numbered = (
            {part: value}
            if isinstance(value, str)
            else {f"{part}_{place:02d}": file_name for place, file_name in enumerate(value or ())}
        )
        fields |= {f"{what}{Path(name).suffix}": name for what, name in numbered.items()}
    return fields


def _add(shard: tarfile.TarFile, row: Plain, root: Path, parts: Sequence[str], slices: Sequence[str]) -> None:
    key = row["item_id"]
    if not _KEY.fullmatch(key):
        raise InputError(f"the item id {key!r} cannot be a key: it needs 1 to 128 letters, digits, '-' and '_'")
    for field, name in _fields(row, parts).items():
        with (root / name).open("rb") as file:
            shard.addfile(_header(f"{key}.{field}", (root / name).stat().st_size), file)
    known = canonical_json(flat(row) | {"slices": list(slices)}).encode()
    shard.addfile(_header(f"{key}.json", len(known)), io.BytesIO(known))


def _header(name: str, size: int) -> tarfile.TarInfo:
    """A member without owner and time: the same bytes whoever writes it, and whenever."""
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = size, 0o644, 0
    return member
