"""The folders of ChaLearn's tracks, read as its participants did."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from inpaintbench import frozen
from inpaintbench.errors import InputError
from inpaintbench.export.layouts.convert import convert

PARTS = {"train": "train", "validation": "dev", "test": "test"}


@pytest.mark.long
def test_track_1_has_pictures_and_the_blocks_that_make_their_holes(
    frozen_of: Callable[[str], Path], sha256: Callable[[Any], str], tmp_path: Path
) -> None:
    dataset = frozen.load(frozen_of("humans"))
    part = next(part for part in dataset.slices if part.name == "set-drawn")
    convert(frozen_of("humans"), layout="chalearn", out=tmp_path / "out", slices=["set-drawn"])
    rows = {row["item_id"]: row for row in dataset.items if row["item_id"] in part.item_ids}
    found = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.png")}
    assert found == {f"{PARTS[row['split']]}/{side}/{name}.png" for name, row in rows.items() for side in "XY"}
    for row in rows.values():
        folder, name = tmp_path / "out" / PARTS[row["split"]], f"{row['item_id']}.png"
        seen, truth = (np.asarray(Image.open(folder / side / name)) for side in "XY")
        hole = np.zeros(truth.shape[:2], np.bool_)
        for a, b, size in json.loads((folder / "maskdata.json").read_text())[name]:
            hole[a : a + size, b : b + size] = True
        assert sha256(truth) == row["truth_rgb_sha256"]
        assert sha256(hole) == row["hole_sha256"]
        assert (seen[~hole] == truth[~hole]).all()
        assert (seen[hole] == row["fill"]).all()


def test_track_2_has_the_stored_files_counted_from_0_in_every_part(frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    folder = frozen_of("decaption")
    dataset = frozen.load(folder)
    convert(folder, layout="chalearn", out=tmp_path / "out")
    for split, part in PARTS.items():
        rows = [row for row in dataset.items if row["split"] == split]
        for number, row in enumerate(rows):
            for side, what in (("X", "input"), ("Y", "truth")):
                path = tmp_path / "out" / part / side / f"{side}{number}.mp4"
                assert path.read_bytes() == (folder / row[f"{what}_file_name"]).read_bytes()
        for side in "XY":
            assert len(list((tmp_path / "out").glob(f"{part}/{side}/*"))) == len(rows)
    listed = [json.loads(line) for line in (tmp_path / "out" / "items.jsonl").read_text().splitlines()]
    assert [line["row"] for line in listed] == list(dataset.items)
    assert all(re.fullmatch(r"(train|dev|test)/Y/Y\d+\.mp4", line["files"]["truth"]) for line in listed)


def test_track_3_has_degraded_prints_in_colour_and_truths_in_grey(
    frozen_of: Callable[[str], Path], sha256: Callable[[Any], str], tmp_path: Path
) -> None:
    dataset = frozen.load(frozen_of("fingerprint"))
    convert(frozen_of("fingerprint"), layout="chalearn", out=tmp_path / "out")
    names = {"train": "training", "validation": "validation", "test": "test"}
    for row in dataset.items:
        part = names[row["split"]]
        seen = Image.open(tmp_path / "out" / f"{part}_input" / f"{row['item_id']}.png")
        truth = Image.open(tmp_path / "out" / f"{part}_ground-truth" / f"{row['item_id']}.png")
        assert (seen.mode, truth.mode) == ("RGB", "L")
        assert sha256(np.asarray(seen)) == row["input_sha256"]
        assert sha256(np.asarray(truth.convert("RGB"))) == row["truth_rgb_sha256"]
    assert len(list((tmp_path / "out").rglob("*.png"))) == 2 * len(dataset.items)


def test_holes_that_are_no_blocks_are_refused(frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not made of square blocks.*take the layout 'reinpaint'"):
        convert(frozen_of("reinpaint"), layout="chalearn", out=tmp_path / "out")
    assert not list(tmp_path.glob("*out*"))
