"""Pictures and masks by bin, read with Pillow."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from inpaintbench import frozen
from inpaintbench.export.layouts.convert import convert


def test_every_bin_has_its_pictures_and_both_kinds_of_masks(
    frozen_of: Callable[[str], Path], sha256: Callable[[Any], str], tmp_path: Path
) -> None:
    dataset = frozen.load(frozen_of("reinpaint"))
    convert(frozen_of("reinpaint"), layout="reinpaint", out=tmp_path / "out")
    rows = {row["item_id"]: row for row in dataset.items}
    bins = {part.name: part.item_ids for part in dataset.slices if part.name.startswith("area-")}
    assert {path.name for path in (tmp_path / "out").iterdir() if path.is_dir()} == set(bins)
    for name, ids in bins.items():
        low, high = (int(edge) / 100 for edge in name.split("-")[1:])
        for item_id in ids:
            row, folder = rows[item_id], tmp_path / "out" / name
            truth, hole = Image.open(folder / "images" / f"{item_id}.png"), Image.open(folder / "masks" / f"{item_id}.png")
            assert sha256(np.asarray(truth.convert("RGB"))) == row["truth_rgb_sha256"]
            missing = np.asarray(hole.convert("L")) == 255
            assert sha256(missing) == row["hole_sha256"]
            assert low < missing.mean() <= high
            second = sorted((folder / "second_masks" / item_id).iterdir())
            assert [path.name for path in second] == ["00.png", "01.png"]
            for path, fact in zip(second, row["attributes"]["second_holes"], strict=True):
                assert sha256(np.asarray(Image.open(path).convert("L")) == 255) == fact["hole_sha256"]
    listed = [json.loads(line) for line in (tmp_path / "out" / "items.jsonl").read_text().splitlines()]
    assert {line["item_id"]: line["row"] for line in listed} == rows
    assert {(line["slice"], line["item_id"]) for line in listed} == {(name, one) for name, ids in bins.items() for one in ids}


def test_slices_asked_for_take_the_place_of_bins(frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    convert(frozen_of("reinpaint"), layout="reinpaint", out=tmp_path / "out", slices=["kind-box"])
    assert [path.name for path in (tmp_path / "out").iterdir() if path.is_dir()] == ["kind-box"]
