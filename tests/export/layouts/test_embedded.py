"""What somebody finds who loads the folder with `datasets` and nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from datasets import Image, List, Video, get_dataset_config_names, load_dataset
from PIL import Image as Pillow

from inpaintbench import frozen
from inpaintbench.export.layouts.convert import convert

FOLDERS = {"truth", "hole", "input", "alpha", "object_mask", "second_hole"}


def pixels_of(cell: Any, frames: int) -> Any:
    """``uint8[T, H, W, 3]`` by the decoders of `datasets`."""
    if isinstance(cell, Pillow.Image):
        return np.asarray(cell.convert("RGB"))[None]
    return cell.get_frames_in_range(0, frames).data.numpy().transpose(0, 2, 3, 1)


def test_pixels_and_metadata_are_those_of_the_dataset(
    kind: str, frozen_of: Callable[[str], Path], sha256: Callable[[Any], str], tmp_path: Path
) -> None:
    dataset = frozen.load(frozen_of(kind))
    out = convert(frozen_of(kind), layout="embedded", out=tmp_path / "away" / "out").folder
    shutil.move(out, tmp_path / "moved")  # nothing in it may point outside
    assert sorted(get_dataset_config_names(str(tmp_path / "moved"))) == sorted(part.name for part in dataset.slices)
    rows = {row["item_id"]: row for row in dataset.items}
    first, last = dataset.slices[0], dataset.slices[-1]
    loaded = load_dataset(str(tmp_path / "moved"), last.name)
    streamed = load_dataset(str(tmp_path / "moved"), first.name, streaming=True)
    for part, splits in ((last, loaded), (first, streamed)):
        seen = []
        for split in splits:
            for row in splits[split]:
                expected = rows[row["item_id"]]
                seen.append(row["item_id"])
                assert expected["split"] == split
                assert sha256(pixels_of(row["truth"], row["frames"])) == expected["truth_rgb_sha256"]
                if expected.get("hole_file_name"):
                    assert sha256(pixels_of(row["hole"], row["frames"])[..., 0] > 127) == expected["hole_sha256"]
                if row.get("object_mask"):
                    assert sha256(pixels_of(row["object_mask"], row["frames"])[..., 0] > 127) == expected["object_mask_sha256"]
                check_metadata(row, expected)
        assert sorted(seen) == sorted(part.item_ids)


def check_metadata(row: dict[str, Any], expected: Any) -> None:
    plain = {name: value for name, value in row.items() if name not in FOLDERS}
    for name in ("attributes", "generator_parameters"):
        plain[name] = json.loads(plain[name])
    assert plain == {name: value for name, value in expected.items() if "file_name" not in name}


def test_all_media_are_the_stored_files(kind: str, frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    folder = frozen_of(kind)
    dataset = frozen.load(folder)
    convert(folder, layout="embedded", out=tmp_path / "out", slices=["all"])
    rows = {row["item_id"]: row for row in dataset.items}
    found = 0
    for path in sorted((tmp_path / "out" / "all").iterdir()):
        for row in pq.read_table(path).to_pylist():
            expected = rows[row["item_id"]]
            media = {name: row[name] for name in FOLDERS & set(row)}
            names = {name: expected.get(f"{name}_file_name", expected.get(f"{name}_file_names")) for name in media}
            for name, cells in media.items():
                cells, wanted = (cells, names[name]) if isinstance(cells, list) else ([cells], [names[name]])
                assert [cell and cell["path"] for cell in cells] == wanted
                assert all(cell is None or cell["bytes"] == (folder / cell["path"]).read_bytes() for cell in cells)
                found += len(cells)
            other = {name for name in expected if "file_name" in name} - {f"{name}_file_name" for name in media}
            assert other <= {"second_hole_file_names"} | ({"input_file_name"} if kind == "editing" else set())
    assert found >= 2 * len(dataset.items)


def test_columns_have_the_kinds_that_datasets_knows(frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    columns = {"truth": Image(), "hole": Image(), "second_hole": List(Image())}
    check_columns(frozen_of("pictures"), tmp_path, part="area-0-20", columns=columns)
    check_columns(frozen_of("benchmark"), tmp_path / "clips", part="all", columns={"truth": Video(), "hole": Video()})


def check_columns(dataset: Path, folder: Path, *, part: str, columns: Mapping[str, Any]) -> None:
    convert(dataset, layout="embedded", out=folder / "out", slices=[part])
    features = next(iter(load_dataset(str(folder / "out"), part, streaming=True).values())).features
    assert {name: feature for name, feature in features.items() if name in FOLDERS} == columns


def test_no_file_carries_copies_of_media_as_statistics(frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    convert(frozen_of("pictures"), layout="embedded", out=tmp_path / "out", slices=["all"])
    group = pq.ParquetFile(tmp_path / "out" / "all" / "test-00000-of-00001.parquet").metadata.row_group(0)
    columns = {group.column(place).path_in_schema: group.column(place) for place in range(group.num_columns)}
    media = [column for path, column in columns.items() if path.endswith("bytes")]
    assert len(media) == 3
    assert not any(column.is_stats_set or column.has_dictionary_page for column in media)
    assert columns["item_id"].is_stats_set
