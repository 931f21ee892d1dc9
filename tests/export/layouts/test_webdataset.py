"""What somebody finds who reads the shards with `tarfile`, or with `datasets`."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from inpaintbench import frozen
from inpaintbench.export.layouts.convert import convert


def samples(path: Path) -> list[tuple[str, dict[str, bytes]]]:
    """As readers of the format take them: files with equal names up to the first dot belong together while they are adjacent."""
    with tarfile.open(path) as shard:
        members = [(member.name, shard.extractfile(member).read()) for member in shard]  # type: ignore[union-attr]
    found = itertools.groupby(members, key=lambda member: member[0].partition(".")[0])
    return [(key, {name.partition(".")[2]: data for name, data in group}) for key, group in found]


def test_every_item_is_one_sample_with_its_files_and_all_that_is_known(
    kind: str, frozen_of: Callable[[str], Path], sha256: Callable[[Any], str], tmp_path: Path
) -> None:
    folder = frozen_of(kind)
    dataset = frozen.load(folder)
    convert(folder, layout="webdataset", out=tmp_path / "out", constants={"shard_megabytes": 1})
    shards = {path.name: samples(path) for path in sorted((tmp_path / "out").glob("*.tar"))}
    keys = [key for found in shards.values() for key, _ in found]
    assert len(keys) == len(set(keys))
    assert sorted(keys) == sorted(row["item_id"] for row in dataset.items)
    assert all("." not in key and len(key) <= 128 for key in keys)
    rows = {row["item_id"]: row for row in dataset.items}
    for name, found in shards.items():
        for key, files in found:
            row = rows[key]
            assert name.startswith(f"{row['split']}-")
            known = json.loads(files.pop("json"))
            assert known.pop("slices") == [part.name for part in dataset.slices if key in part.item_ids]
            for column in ("attributes", "generator_parameters"):
                known[column] = json.loads(known[column])
            assert known == {column: value for column, value in row.items() if "file_name" not in column}
            stored = {hashlib.sha256(data).hexdigest() for data in files.values()}
            assert stored == {dataset.files[path] for path in names_of(row)}
            if "truth.png" in files:
                assert sha256(np.asarray(Image.open(io.BytesIO(files["truth.png"])).convert("RGB"))) == row["truth_rgb_sha256"]
            else:
                assert dataset.files[row["truth_file_name"]] == hashlib.sha256(files["truth.mp4"]).hexdigest()


def names_of(row: Any) -> set[str]:
    values = [value for column, value in row.items() if "file_name" in column and value]
    return {name for value in values for name in ([value] if isinstance(value, str) else value)}


def test_headers_say_nothing_of_who_wrote_them_and_when(frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    convert(frozen_of("pictures"), layout="webdataset", out=tmp_path / "out")
    with tarfile.open(tmp_path / "out" / "test-000000.tar") as shard:
        members = shard.getmembers()
    told = {(one.uid, one.gid, one.uname, one.gname, one.mtime, one.mode, one.type) for one in members}
    assert told == {(0, 0, "", "", 0, 0o644, tarfile.REGTYPE)}
    assert {one.name.partition(".")[2] for one in members} == {
        "truth.png", "hole.png", "second_hole_00.png", "second_hole_01.png", "json",
    }  # fmt: skip


def test_a_slice_takes_its_items_alone(frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    dataset = frozen.load(frozen_of("pictures"))
    part = next(part for part in dataset.slices if part.name == "area-20-40")
    convert(frozen_of("pictures"), layout="webdataset", out=tmp_path / "out", slices=["area-20-40"])
    found = samples(tmp_path / "out" / "test-000000.tar")
    assert sorted(key for key, _ in found) == sorted(part.item_ids)
    assert all(json.loads(files["json"])["slices"] == ["area-20-40"] for _, files in found)
