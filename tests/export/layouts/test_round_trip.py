"""Whatever the recipe: what `datasets` decodes from the frozen folder are the pixels that the workspace holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from datasets import load_dataset
from PIL import Image as Pillow

from inpaintbench import frozen, video
from inpaintbench.export import layout
from inpaintbench.types import EDIT, Clip, Corruption, Frames, Item, Plain
from inpaintbench.workspace import Workspace


def of_cell(cell: Any, frames: int) -> Frames:
    """``uint8[T, H, W, 3]`` by the decoders of `datasets`."""
    if isinstance(cell, Pillow.Image):
        return np.asarray(cell.convert("RGB"))[None]
    return np.asarray(cell.get_frames_in_range(0, frames).data.numpy().transpose(0, 2, 3, 1))


class Held:
    """What the workspace holds of every item."""

    def __init__(self, workspace: Workspace) -> None:
        self.blobs = workspace.blobs
        self.items = {row.item_id: row for row in workspace.table("items", Item)}
        self.clips = {row.clip_id: row for row in workspace.table("clips", Clip)}
        self.corruptions = {row.corruption_id: row for row in workspace.table("corruptions", Corruption)}

    def frames(self, blob: str) -> Frames:
        return video.read_frames(self.blobs.path(blob))

    def check(self, row: Any, expected: Plain) -> None:
        """Every media column of a loaded row, frame by frame, and every other value."""
        item, frames = self.items[row["item_id"]], row["frames"]
        clip, corruption = self.clips[item.clip_id], self.corruptions[item.corruption_id]
        truth = self.frames(clip.blob)
        assert (of_cell(row["truth"], frames) == truth).all()
        for part in ("hole", "object_mask"):
            if blob := getattr(corruption, part):
                stored = video.read_hole(self.blobs.path(blob))
                assert ((of_cell(row[part], frames)[..., 0] > 127) == stored).all()
        if corruption.generator == EDIT:
            assert (of_cell(row["input"], frames) == truth).all()
        elif corruption.input:
            assert (of_cell(row["input"], frames) == self.frames(corruption.input)).all()
        second = [one for one in self.corruptions.values() if one.parent_id == corruption.corruption_id]
        loaded = row.get("second_hole") or []
        assert len(loaded) == len(second)
        for cell, one in zip(loaded, sorted(second, key=lambda one: one.corruption_id), strict=True):
            assert ((of_cell(cell, frames)[..., 0] > 127) == video.read_hole(self.blobs.path(str(one.hole)))).all()
        plain = {name: value for name, value in row.items() if name not in layout.MEDIA}
        plain |= {name: json.loads(plain[name]) for name in ("attributes", "generator_parameters")}
        assert plain == {name: value for name, value in expected.items() if "file_name" not in name}
        assert (item.clip_id, item.split) == (row["clip_id"], row["split"])


def test_every_recipe_comes_back_as_it_was_made(kind: str, frozen_of: Callable[[str], Path]) -> None:
    folder = frozen_of(kind)
    dataset, held = frozen.load(folder), Held(Workspace(folder.parent.parent, create=False))
    expected = {row["item_id"]: row for row in dataset.items}
    first, last = dataset.slices[0], dataset.slices[-1]
    for part, streaming in ((first, False), (last, True)):
        seen = []
        for split, rows in load_dataset(str(folder), part.name, streaming=streaming).items():
            for row in rows:
                held.check(row, expected[row["item_id"]])
                assert row["split"] == split
                seen.append(row["item_id"])
        assert sorted(seen) == sorted(part.item_ids)
