"""Three small films with holes, frozen, for tests of what is held back."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from inpaintbench import video
from inpaintbench.export.freeze import freeze
from inpaintbench.types import Clip, Corruption, Item, Slice, Source, content_id
from inpaintbench.workspace import Blobs

SHAPE = (3, 32, 48)


def make_films(folder: Path, *, splits: Sequence[str] = ("test", "test", "test"), shift: int | None = None) -> Path:
    """The dataset ``folder / "devil"``: a film and a hole for each of ``splits``, slices ``all`` and ``first``.

    With ``shift`` all holes lie over one film instead, 25 columns wide, each so many columns further right than the one before.
    """
    blobs = Blobs(folder / "blobs")
    sources, clips, corruptions, items = [], [], [], []
    for place, split in enumerate(splits):
        film = place if shift is None else 0
        frames = np.random.default_rng(film).integers(0, 256, (*SHAPE, 3), dtype=np.uint8)
        hole = np.zeros(SHAPE, dtype=np.bool_)
        if shift is None:
            hole[:, 4 + place : 16 + place, 8:24] = True
        else:
            hole[:, 4:16, 8 + shift * place : 33 + shift * place] = True
        clip, _ = blobs.put(".mp4", lambda path, frames=frames: video.write_lossless(path, frames, fps=25.0))
        track, _ = blobs.put(".mp4", lambda path, hole=hole: video.write_hole(path, hole, fps=25.0))
        yuv, rgb = video.decoded_hashes(blobs.path(clip))
        source, clip_id, hole_id = content_id("source", film), content_id("clip", film), content_id("hole", place)
        page = f"https://films.example/{film}"
        if film == place:
            sources.append(Source(source, f"film%20{film}.mp4", "0" * 64, 1, "folder", licence="CC-BY-4.0", page_url=page))
            clips.append(Clip(clip_id, source, 0, 3, 25.0, 48, 32, 3, clip, yuv, rgb, 0, 99.0))
        digest = hashlib.sha256(hole.tobytes()).hexdigest()
        corruptions.append(Corruption(hole_id, clip_id, "box", {"side": 8}, 5, None, track, digest))
        items.append(Item(content_id("item", place), clip_id, hole_id, split))
    ids = tuple(item.item_id for item in items)
    slices = [Slice("all", "every item", ids), Slice("first", "the first", ids[:1])]
    freeze(
        folder / "devil", name="films", blobs=blobs, items=items, slices=slices, left_out={}, sources=sources, clips=clips,
        corruptions=corruptions, attributes=[], recipe={"recipe": "devil", "seed": 5}, fill=128,
    )  # fmt: skip
    return folder / "devil"
