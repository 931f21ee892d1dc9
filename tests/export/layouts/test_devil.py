"""DEVIL's folders, read as its own tools do."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from inpaintbench import frozen
from inpaintbench.export.layouts.convert import convert


@pytest.mark.parametrize(("kind", "wanted"), [("devil", None), ("pictures", "area-20-40")])
def test_frames_and_holes_are_those_of_the_dataset(
    kind: str, wanted: str | None, frozen_of: Callable[[str], Path], sha256: Callable[[Any], str], tmp_path: Path
) -> None:
    dataset = frozen.load(frozen_of(kind))
    parts = [part for part in dataset.slices if part.name == wanted] if wanted else dataset.slices[-1:]
    convert(frozen_of(kind), layout="devil", out=tmp_path / "out", slices=[part.name for part in parts])
    rows = {row["item_id"]: row for row in dataset.items}
    for part in parts:
        root = tmp_path / "out" / part.name
        assert sorted(os.listdir(root)) == [f"{number:05d}" for number in range(len(part.item_ids))]
        for number, item_id in enumerate(part.item_ids):
            row, folder = rows[item_id], root / f"{number:05d}"
            names = sorted(os.listdir(folder))
            assert names == [f"frame_{t:04d}_{what}.png" for t in range(row["frames"]) for what in ("gt", "mask")]
            truths = [Image.open(folder / name) for name in names[0::2]]
            holes = [Image.open(folder / name) for name in names[1::2]]
            assert {image.mode for image in truths} == {"RGB"}
            assert {image.mode for image in holes} == {"1"}
            assert sha256(np.stack([np.asarray(image) for image in truths])) == row["truth_rgb_sha256"]
            black = np.stack([np.asarray(image.convert("L")) == 0 for image in holes])
            assert sha256(black) == row["hole_sha256"]


def test_the_two_sets_hold_the_same_files_and_pair_by_order_of_name(frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    name = frozen.load(frozen_of("devil")).slices[-1].name
    for layout in ("devil", "devil_sets"):
        convert(frozen_of("devil"), layout=layout, out=tmp_path / layout, slices=[name])
    together, sets = tmp_path / "devil" / name, tmp_path / "devil_sets" / name
    assert sorted(os.listdir(sets)) == ["frames", "masks"]
    for frames, masks, both in zip(
        *(sorted(path.iterdir()) for path in (sets / "frames", sets / "masks", together)), strict=True
    ):
        assert frames.name == masks.name == both.name
        for frame, mask in zip(sorted(frames.iterdir()), sorted(masks.iterdir()), strict=True):
            assert frame.read_bytes() == (both / frame.name).read_bytes()
            assert mask.read_bytes() == (both / mask.name).read_bytes()
            assert (frame.name.replace("gt", "mask"), len(list(both.iterdir()))) == (mask.name, 2 * len(list(frames.iterdir())))
