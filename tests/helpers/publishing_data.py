"""A small frozen dataset of three sources, for tests of publishing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from inpaintbench import video
from inpaintbench.export.freeze import freeze
from inpaintbench.types import Clip, Corruption, Item, Slice, Source
from inpaintbench.workspace import Blobs

LICENCES = ("CC-BY-4.0", None, "unknown")


def make_dataset(folder: Path, *, licences: Sequence[str | None] = LICENCES, name: str = "small") -> Path:
    """Items 0, 1, 2 of sources ``film 0.mp4`` ...; slices ``low`` (0, 1), ``high`` (1, 2) and ``split`` (2)."""
    blobs = Blobs(folder / "blobs")
    sources, clips, corruptions = [], [], []
    for place, licence in enumerate(licences):
        frames = np.random.default_rng(place).integers(0, 256, (3, 32, 48, 3), dtype=np.uint8)
        hole = np.zeros((3, 32, 48), dtype=np.bool_)
        hole[:, 4 + place : 12 + place, 8:24] = True
        clip, _ = blobs.put(".mp4", lambda path, frames=frames: video.write_lossless(path, frames, fps=25.0))
        track, _ = blobs.put(".mp4", lambda path, hole=hole: video.write_hole(path, hole, fps=25.0))
        yuv, rgb = video.decoded_hashes(blobs.path(clip))
        sources.append(Source(f"s{place}", f"film%20{place}.mp4", "0" * 64, 1, "folder", licence=licence))
        clips.append(Clip(f"c{place}", f"s{place}", 0, 3, 25.0, 48, 32, 3, clip, yuv, rgb, 0, 99.0))
        digest = hashlib.sha256(hole.tobytes()).hexdigest()
        corruptions.append(Corruption(f"h{place}", f"c{place}", "box", {}, 0, None, track, digest))
    items = [Item(f"i{place}", f"c{place}", f"h{place}") for place in range(len(licences))]
    slices = [Slice("low", "x == 'low'", ("i1", "i0")), Slice("high", "x == 'high'", ("i1", "i2")), Slice("alone", "y", ("i2",))]
    freeze(
        folder / name, name=name, blobs=blobs, items=items, slices=slices, left_out={"none": "no items"}, sources=sources,
        clips=clips, corruptions=corruptions, attributes=[], recipe={"recipe": name},
    )  # fmt: skip
    return folder / name


def contents(folder: Path) -> dict[str, bytes]:
    """Path -> bytes of every file."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
