"""A small workspace whose items are in two splits, and copies of its pictures to put where they do not belong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from built import built
from pictures_recipe import PicturesRecipe

from inpaintbench import video
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Clip, Corruption, Frames, Item, Slice, Source
from inpaintbench.workspace import Workspace

RECIPE = PicturesRecipe(second_masks=1, pictures=4)


def make(path: Path) -> Workspace:
    """Four photographs with two items each; all items are ``test``."""
    return built(path, RECIPE, SourceSpec("embedded_photographs", {}), workers=0)[0]


def divide(workspace: Workspace, *, train: int) -> list[str]:
    """Give the items of the first ``train`` clips, by id, to the split ``train``; the ids of the clips with items."""
    items = workspace.table("items", Item)
    clips = sorted({item.clip_id for item in items})
    given = [replace(item, split="train" if item.clip_id in clips[:train] else "test") for item in items]
    workspace.write_table("items", "pair", given, Item)
    return clips


def copy_of(workspace: Workspace, clip_id: str, name: str, change: Callable[[Frames], Frames], *, split: str) -> str:
    """Add a source ``name`` that shows a changed copy of a clip, with a hole of its own; its clip id."""
    clips, sources = workspace.table("clips", Clip), workspace.table("sources", Source)
    corruptions = workspace.table("corruptions", Corruption, step="render")
    old = next(clip for clip in clips if clip.clip_id == clip_id)
    frames = np.ascontiguousarray(change(video.read_frames(workspace.blobs.path(old.blob))))
    (workspace.path / "scratch").mkdir(exist_ok=True)
    blob, _ = workspace.blobs.put(".png", lambda path: video.write_lossless(path, frames, fps=old.fps))
    yuv, rgb = video.decoded_hashes(workspace.blobs.path(blob))
    source = replace(sources[0], source_id=f"s-{name}", uri=name, sha256=rgb, origin="folder")
    clip = replace(old, clip_id=f"c-{name}", source_id=source.source_id, blob=blob, yuv_sha256=yuv, rgb_sha256=rgb)
    hole = next(row for row in corruptions if row.clip_id == clip_id)
    made = replace(hole, corruption_id=f"h-{name}", clip_id=clip.clip_id)
    item = Item(f"i-{name}", clip.clip_id, made.corruption_id, split)
    items, parts = workspace.table("items", Item), workspace.table("slices", Slice)
    workspace.write_table("sources", "find.added", [*workspace.table("sources", Source, step="find.added"), source], Source)
    workspace.write_table("clips", "added", [*workspace.table("clips", Clip, step="added"), clip], Clip)
    added = workspace.table("corruptions", Corruption, step="added")
    workspace.write_table("corruptions", "added", [*added, made], Corruption)
    workspace.write_table("items", "pair", sorted([*items, item], key=lambda one: one.item_id), Item)
    everything = replace(parts[0], item_ids=(*parts[0].item_ids, item.item_id))
    workspace.write_table("slices", "pair", [everything, *parts[1:]], Slice)
    return clip.clip_id
