"""Which items are shown, and one small tiled video of each: truth, input, every method, outline and mask of the hole.

Tiles of one video cannot drift apart, whatever a browser does; the page cuts them out of each presented frame. Composites
differ from the truth in the hole only, so their tiles hold a patch around it on black and the page lays it over the truth: that
buys larger tiles and better quality for the same bytes. Patch and mask reach beyond the hole, so its seam is the method's own.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench import regions, video
from inpaintbench.errors import InputError
from inpaintbench.eval.report.tables import Quantity, Results
from inpaintbench.types import Frames, Hole, Slice

TILE_WIDTH = 416
"""Largest width of a tile, pixels."""
PROXY_BYTES = 400_000
"""Aim for the size of one tiled video; quality falls until it is met."""
_CRFS = (20, 36)
_TRIAL_FRAMES = 15
_POSTER_WIDTH = 128
_OUTLINE_PIXELS, _MASK_PIXELS, _PATCH_PIXELS = 2, 4, 9
"""How far outline, mask and patch reach beyond the hole, in pixels of a tile; codecs smear colours over two or so."""
OUTLINE, MASK = "outline", "mask"
"""Channels of the hole, white on black: its border, and where patches are laid over the truth."""

Picture = npt.NDArray[np.uint8]


class Media(Protocol):
    """Where the report gets pixels from."""

    def frames(self, item_id: str, channel: str) -> Frames | None:
        """``uint8[T, H, W, 3]`` of ``"truth"``, ``"input"`` (hole filled) or a method (composite); None without a prediction."""
        ...

    def hole(self, item_id: str) -> Hole | None:
        """``bool[T, H, W]``, True = hole; None for an item without one."""
        ...


@dataclass
class Choice:
    """An item of the gallery: the slices it stands for, each with the reason it was chosen."""

    item_id: str
    reasons: dict[str, str] = field(default_factory=dict)


class Layout(NamedTuple):
    """Where the tiles lie in the proxy, row by row. Cells are whole 16-pixel blocks, so tiles do not bleed into each other."""

    channels: tuple[str, ...]
    columns: int
    tile_width: int
    tile_height: int
    cell_width: int
    cell_height: int
    frames: int
    fps: float


@dataclass(frozen=True)
class Exhibit:
    """One item ready to be shown."""

    choice: Choice
    layout: Layout
    video: bytes
    """H.264 mp4."""
    poster: bytes
    """PNG of the truth in the middle of the clip."""
    errors: dict[str, list[float | None]]
    """Method -> root mean square error (0..255) of each frame inside the hole, or in the whole frame where items have none."""
    centres: list[tuple[float, float]]
    """Centre of the hole in each frame as shares of width and height, gliding, for the close-up."""
    hole_fraction: float | None
    """Mean share of hole pixels."""


def choose_items(results: Results, quantity: Quantity, *, per_slice: int) -> list[Choice]:
    """For each slice the items on which the methods differ most in ``quantity``, each item for one slice as far as they last.

    With one method, or where none has two finite values, the items on which it is worst.
    """
    choices: dict[str, Choice] = {}
    for one in results.slices or (results.everything,):
        ordered = sorted(one.item_ids, key=lambda item_id: -_interest(results, item_id, quantity))
        fresh = [item_id for item_id in ordered if item_id not in choices]
        repeated = [item_id for item_id in ordered if item_id in choices]
        for item_id in (fresh + repeated)[:per_slice]:
            choice = choices.setdefault(item_id, Choice(item_id))
            choice.reasons[one.name] = _reason(results, one, item_id, quantity)
    return list(choices.values())


def _finite(results: Results, item_id: str, quantity: Quantity) -> dict[str, float]:
    values = {method: results.value(method, item_id, quantity) for method in results.methods}
    return {method: value for method, value in values.items() if value is not None and math.isfinite(value)}


def _interest(results: Results, item_id: str, quantity: Quantity) -> float:
    values = list(_finite(results, item_id, quantity).values())
    if len(results.methods) > 1 and len(values) > 1:
        return max(values) - min(values)
    if len(results.methods) == 1 and values:
        return -values[0] if quantity.higher_is_better else values[0]
    return -math.inf


def _reason(results: Results, one: Slice, item_id: str, quantity: Quantity) -> str:
    values = _finite(results, item_id, quantity)
    among = f"among {len(one.item_ids)} {'item' if len(one.item_ids) == 1 else 'items'} of {one.name}"
    if len(results.methods) > 1 and len(values) > 1:
        return f"methods differ most here {among}"
    if len(results.methods) == 1 and values:
        return f"{results.methods[0]} is worst here {among}"
    return f"the first {among}: none has two finite values to compare"


def make_exhibit(choice: Choice, media: Media, *, methods: Sequence[str], fps: float) -> Exhibit:
    """Decode one item channel by channel, and encode its tiles.

    Raises:
        InputError: the media hold no truth or input for it, or frames of another shape.
    """
    truth, hole = _required(media, choice.item_id, "truth"), media.hole(choice.item_id)
    tiles = {"truth": _shrink(truth)}
    small = None if hole is None else _shrink_hole(hole, shape=tiles["truth"].shape)
    patch = None if small is None else _grown(small, _PATCH_PIXELS)
    errors: dict[str, list[float | None]] = {}
    for channel in ("input", *methods):
        frames = media.frames(choice.item_id, channel) if channel != "input" else _required(media, choice.item_id, channel)
        if frames is not None:
            _check_shape(frames, truth, item_id=choice.item_id, channel=channel)
            tiles[channel] = _patch(_shrink(frames), patch)
        if frames is not None and channel != "input":
            errors[channel] = frame_errors(truth, frames, hole=hole)
    if small is not None:
        tiles |= {OUTLINE: _white(_grown(small, _OUTLINE_PIXELS) & ~small), MASK: _white(_grown(small, _MASK_PIXELS))}
    layout = make_layout(tuple(tiles), shape=tiles["truth"].shape, fps=fps)
    return Exhibit(
        choice=choice,
        layout=layout,
        video=_encode(_arrange(list(tiles.values()), layout), fps=fps),
        poster=_poster(truth[len(truth) // 2]),
        errors=errors,
        centres=_centres(hole) if hole is not None else [],
        hole_fraction=float(regions.hole_fraction(hole).mean()) if hole is not None else None,
    )


def _required(media: Media, item_id: str, channel: str) -> Frames:
    frames = media.frames(item_id, channel)
    if frames is None:
        raise InputError(f"item {item_id!r} has no {channel} to show")
    return frames


def _check_shape(frames: Frames, truth: Frames, *, item_id: str, channel: str) -> None:
    if frames.shape != truth.shape:
        raise InputError(f"{channel} on item {item_id!r} has shape {frames.shape}, its truth {truth.shape}")


def make_layout(channels: tuple[str, ...], *, shape: tuple[int, ...], fps: float) -> Layout:
    """Tiles of ``shape`` (frames, height, width) in the grid that wastes the fewest cells."""
    frames, height, width = shape[:3]
    count = len(channels)
    columns = min(range(2, 6), key=lambda columns: (-count % columns, abs(columns - math.sqrt(count))))
    return Layout(channels, columns, width, height, _blocks(width), _blocks(height), frames, fps)


def _blocks(side: int) -> int:
    return math.ceil(side / 16) * 16


def frame_errors(truth: Frames, frames: Frames, *, hole: Hole | None) -> list[float | None]:
    """Root mean square difference (0..255) of each frame over its hole pixels, all pixels without a hole; None where empty."""
    errors: list[float | None] = []
    for index, (one, other) in enumerate(zip(truth, frames, strict=True)):
        pixels = slice(None) if hole is None else hole[index]
        difference = one[pixels].astype(np.float32) - other[pixels]
        errors.append(round(math.sqrt(float(np.mean(difference**2))), 2) if difference.size else None)
    return errors


def _shrink(frames: Frames) -> Frames:
    """Frames at tile size; never enlarged."""
    height, width = frames.shape[1:3]
    scale = min(1.0, TILE_WIDTH / width)
    size = (max(2, round(width * scale)), max(2, round(height * scale)))
    if size == (width, height):
        return frames
    return np.stack([cv2.resize(frame, size, interpolation=cv2.INTER_AREA) for frame in frames]).astype(np.uint8, copy=False)


def _shrink_hole(hole: Hole, *, shape: tuple[int, ...]) -> Hole:
    """The hole at tile size; a pixel that is hole in part is hole."""
    size = (shape[2], shape[1])
    shares = [cv2.resize(frame.view(np.uint8) * np.uint8(255), size, interpolation=cv2.INTER_AREA) for frame in hole]
    return np.stack(shares) > 0


def _grown(hole: Hole, pixels: int) -> Hole:
    return regions.dilate(hole, radius=pixels)


def _white(pixels: Hole) -> Frames:
    return np.repeat(pixels.view(np.uint8)[..., None] * np.uint8(255), 3, axis=-1)


def _patch(tile: Frames, patch: Hole | None) -> Frames:
    """What the page lays over the truth: the tile where ``patch`` is true, black elsewhere; all of it without one."""
    return tile if patch is None else tile * patch[..., None].view(np.uint8)


def _arrange(tiles: Sequence[Frames], layout: Layout) -> Frames:
    """All tiles in one track; what a tile leaves of its cell repeats the tile's edge, which compresses well."""
    rows = math.ceil(len(tiles) / layout.columns)
    sheet = np.zeros((layout.frames, rows * layout.cell_height, layout.columns * layout.cell_width, 3), np.uint8)
    bottom, right = layout.cell_height - layout.tile_height, layout.cell_width - layout.tile_width
    for index, tile in enumerate(tiles):
        top = index // layout.columns * layout.cell_height
        left = index % layout.columns * layout.cell_width
        cell = np.pad(tile, ((0, 0), (0, bottom), (0, right), (0, 0)), mode="edge")
        sheet[:, top : top + layout.cell_height, left : left + layout.cell_width] = cell
    return sheet


def _encode(sheet: Frames, *, fps: float) -> bytes:
    """The best quality that meets ``PROXY_BYTES``, and the lowest one when none does."""
    trial = sheet[:_TRIAL_FRAMES]
    crf, lowest = _CRFS
    # A short trial is cheap and near enough; a trial's share of bytes is that of its frames.
    crf = _next_crf(crf, len(_encoded(trial, fps=fps, crf=crf)) * len(sheet) / len(trial))
    while len(data := _encoded(sheet, fps=fps, crf=crf)) > PROXY_BYTES and crf < lowest:
        crf = _next_crf(crf, len(data))
    return data


def _next_crf(crf: int, size: float) -> int:
    """Where ``size`` bytes at ``crf`` would become ``PROXY_BYTES``: six steps halve them."""
    return crf if size <= PROXY_BYTES else min(_CRFS[1], crf + math.ceil(6 * math.log2(size / PROXY_BYTES)))


def _encoded(sheet: Frames, *, fps: float, crf: int) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proxy.mp4"
        video.write_browser(path, sheet, fps=fps, crf=crf)
        return path.read_bytes()


def _poster(frame: Picture) -> bytes:
    height = max(2, round(frame.shape[0] * _POSTER_WIDTH / frame.shape[1]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "poster.png"
        video.write_image(path, cv2.resize(frame, (_POSTER_WIDTH, height), interpolation=cv2.INTER_AREA).astype(np.uint8))
        return path.read_bytes()


def _centres(hole: Hole) -> list[tuple[float, float]]:
    """Centroids as (x, y) shares, averaged over a third of a second or so; the frame's middle where no frame has a hole."""
    size = np.array(hole.shape[1:], np.float64)
    points = regions.centroids(hole) / size
    filled = np.flatnonzero(~np.isnan(points[:, 0]))
    if not len(filled):
        return [(0.5, 0.5)] * len(hole)
    steps = np.arange(len(hole))
    known = np.stack([np.interp(steps, filled, points[filled, axis]) for axis in (1, 0)], axis=1)
    padded = np.pad(known, ((4, 4), (0, 0)), mode="edge")
    gliding = np.stack([np.convolve(padded[:, axis], np.full(9, 1 / 9), mode="valid") for axis in (0, 1)], axis=1)
    return [(round(float(x), 3), round(float(y), 3)) for x, y in gliding]
