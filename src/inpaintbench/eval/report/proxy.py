"""One small tiled video of an item: truth, input, every method, outline and mask of the hole.

Tiles of one video cannot drift apart, whatever a browser does; the page cuts them out of each presented frame. Composites
differ from the truth in the hole only, so their tiles hold a patch around it on black and the page lays it over the truth: that
buys larger tiles and better quality for the same bytes. Patch and mask reach beyond the hole, so its seam is the method's own.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench import regions, video
from inpaintbench.types import Frames, Hole

# Largest width of a tile, pixels.
TILE_WIDTH = 416
# Aim for the size of one tiled video; quality falls until it is met.
PROXY_BYTES = 400_000
_CRFS = (20, 36)
_TRIAL_FRAMES = 15
_POSTER_WIDTH = 128
# How far outline, mask and patch reach beyond the hole, in pixels of a tile; codecs smear colours over two or so.
_OUTLINE_PIXELS, _MASK_PIXELS, _PATCH_PIXELS = 2, 4, 9
# Channels of the hole, white on black: its border, and where patches are laid over the truth.
OUTLINE, MASK = "outline", "mask"


class Layout(NamedTuple):
    """Places of the tiles in the proxy, row by row. Cells are whole 16-pixel blocks, so tiles do not bleed into each other."""

    channels: tuple[str, ...]
    columns: int
    tile_width: int
    tile_height: int
    cell_width: int
    cell_height: int
    frames: int
    fps: float


class Tiles:
    """The tiles of one item, added channel by channel so that one decoded track at a time is enough.

    Args:
        truth: the first tile, shown whole.
        hole: limits the other tiles to a patch around it; None shows them whole.
        whole: show them whole, with an outline of the hole.
    """

    def __init__(self, truth: Frames, *, hole: Hole | None, whole: bool = False) -> None:
        self._tiles = {"truth": _shrink(truth)}
        self._hole = None if hole is None else _shrink_hole(hole, shape=self._tiles["truth"].shape)
        self._patch = None if self._hole is None or whole else regions.dilate(self._hole, radius=_PATCH_PIXELS)

    def add(self, channel: str, frames: Frames) -> None:
        """Add ``frames``, of the truth's shape, as the next tile."""
        tile = _shrink(frames)
        self._tiles[channel] = tile if self._patch is None else _cut(tile, self._patch)

    def sheet(self, *, fps: float) -> tuple[Frames, Layout]:
        """All tiles as one track, and where they lie in it."""
        tiles: Mapping[str, Frames] = self._tiles
        if self._hole is not None:
            outline = regions.dilate(self._hole, radius=_OUTLINE_PIXELS) & ~self._hole
            tiles = {**tiles, OUTLINE: _white(outline)}
            if self._patch is not None:
                tiles = {**tiles, MASK: _white(regions.dilate(self._hole, radius=_MASK_PIXELS))}
        layout = make_layout(tuple(tiles), shape=tiles["truth"].shape, fps=fps)
        return _arrange(list(tiles.values()), layout), layout


def make_layout(channels: tuple[str, ...], *, shape: tuple[int, ...], fps: float) -> Layout:
    """Tiles of ``shape`` (frames, height, width) in the grid that wastes the fewest cells."""
    frames, height, width = shape[:3]
    count = len(channels)
    columns = min(range(2, 6), key=lambda columns: (-count % columns, abs(columns - math.sqrt(count))))
    return Layout(channels, columns, width, height, _blocks(width), _blocks(height), frames, fps)


def _blocks(side: int) -> int:
    return math.ceil(side / 16) * 16


def _shrink(frames: Frames) -> Frames:
    """Frames at tile size; never enlarged."""
    height, width = frames.shape[1:3]
    scale = min(1.0, TILE_WIDTH / width)
    size = (max(2, round(width * scale)), max(2, round(height * scale)))
    if size == (width, height):
        return frames
    return np.stack([cv2.resize(frame, size, interpolation=cv2.INTER_AREA) for frame in frames]).astype(np.uint8, copy=False)


def _cut(frames: Frames, patch: Hole) -> Frames:
    """Frames inside a patch, black around it."""
    shown = np.zeros_like(frames)
    for frame, pixels, drawn in zip(frames, patch.view(np.uint8), shown, strict=True):
        cv2.copyTo(frame, pixels, drawn)
    return shown


def _shrink_hole(hole: Hole, *, shape: tuple[int, ...]) -> Hole:
    """The hole at tile size; a pixel that is hole in part is hole."""
    size = (shape[2], shape[1])
    shares = [cv2.resize(frame.view(np.uint8) * np.uint8(255), size, interpolation=cv2.INTER_AREA) for frame in hole]
    return np.stack(shares) > 0


def _white(pixels: Hole) -> Frames:
    return np.repeat(pixels.view(np.uint8)[..., None] * np.uint8(255), 3, axis=-1)


def _arrange(tiles: Sequence[Frames], layout: Layout) -> Frames:
    """All tiles in one track; what a tile leaves of its cell repeats the tile's edge, which compresses well."""
    rows = math.ceil(len(tiles) / layout.columns)
    sheet = np.zeros((layout.frames, rows * layout.cell_height, layout.columns * layout.cell_width, 3), np.uint8)
    for index, tile in enumerate(tiles):
        top = index // layout.columns * layout.cell_height
        left = index % layout.columns * layout.cell_width
        cell = sheet[:, top : top + layout.cell_height, left : left + layout.cell_width]
        cell[:, : layout.tile_height, : layout.tile_width] = tile
        cell[:, layout.tile_height :, : layout.tile_width] = tile[:, -1:]
        cell[:, :, layout.tile_width :] = cell[:, :, layout.tile_width - 1 : layout.tile_width]
    return sheet


def encode(sheet: Frames, *, fps: float) -> bytes:
    """The best quality that meets ``PROXY_BYTES``, and the lowest one when none does."""
    trial = sheet[:_TRIAL_FRAMES]
    crf, lowest = _CRFS
    # A short trial is cheap and near enough; a trial's share of bytes is that of its frames.
    crf = _next_crf(crf, len(_encoded(trial, fps=fps, crf=crf)) * len(sheet) / len(trial))
    while len(data := _encoded(sheet, fps=fps, crf=crf)) > PROXY_BYTES and crf < lowest:
        crf = _next_crf(crf, len(data))
    return data


def _next_crf(crf: int, size: float) -> int:
    """Return where ``size`` bytes at ``crf`` would become ``PROXY_BYTES``: six steps halve them."""
    return crf if size <= PROXY_BYTES else min(_CRFS[1], crf + math.ceil(6 * math.log2(size / PROXY_BYTES)))


def _encoded(sheet: Frames, *, fps: float, crf: int) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proxy.mp4"
        video.write_browser(path, sheet, fps=fps, crf=crf)
        return path.read_bytes()


def poster(frame: npt.NDArray[np.uint8]) -> bytes:
    """A frame as a small PNG."""
    height = max(2, round(frame.shape[0] * _POSTER_WIDTH / frame.shape[1]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "poster.png"
        video.write_image(path, cv2.resize(frame, (_POSTER_WIDTH, height), interpolation=cv2.INTER_AREA).astype(np.uint8))
        return path.read_bytes()
