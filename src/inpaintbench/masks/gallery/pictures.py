"""The pictures of a tile: small, encoded in memory, frames side by side, the hole apart from what it covers.

Truth, hole and outline are layers that the page lays over each other, so that three views cost little more than one, and tiles
over the same photograph share its bytes.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

from inpaintbench.masks.gallery.panels import Tile
from inpaintbench.types import Frames

Levels = npt.NDArray[np.uint8]

# Of a clip, evenly spaced, the one with the largest hole or change among them.
FRAMES_SHOWN = 6
# Aim for all pictures together; written as text they take a third more. Quality, then size, falls until it is met.
PAGE_BYTES = 4_000_000


@dataclass(frozen=True)
class Form:
    """Size and quality of encoded pictures."""

    side: int
    """Size of the longer side of a frame, pixels; never enlarged."""
    quality: int


FORMS = (Form(400, 82), Form(288, 82), Form(256, 66), Form(256, 45), Form(192, 45))


@dataclass(frozen=True)
class Pictures:
    """The layers of one tile, encoded; each holds the shown frames from left to right."""

    shown: tuple[int, ...]
    """Numbers of the frames."""
    truth: bytes
    """WebP."""
    hole: bytes | None
    """PNG, white where the hole is and transparent elsewhere; half transparent where an overlay is. None without a hole."""
    outline: bytes | None
    """PNG, white along the outer side of the hole's border, transparent elsewhere. None without a hole."""
    input: bytes | None
    """WebP; None where the input is the truth with its hole in black."""
    over_time: bytes | None
    """WebP of how often each pixel is hole, dark to bright; None for a still image and without a hole."""

    def layers(self) -> list[bytes]:
        """Those that there are."""
        return [data for data in (self.truth, self.input, self.over_time, self.hole, self.outline) if data is not None]


def draw_all(tiles: Sequence[Tile], strongest_frames: Sequence[int]) -> list[Pictures]:
    """The pictures of all tiles, in the best form in which the distinct ones fit into ``PAGE_BYTES``, or else the smallest."""
    drawn: list[Pictures] = []
    for form in FORMS:
        drawn = [draw(tile, strongest, form) for tile, strongest in zip(tiles, strongest_frames, strict=True)]
        if sum(map(len, {data for one in drawn for data in one.layers()})) <= PAGE_BYTES:
            break
    return drawn


def draw(tile: Tile, strongest_frame: int, form: Form) -> Pictures:
    """The pictures of ``tile`` with ``strongest_frame`` among the frames shown."""
    frames, height, width = tile.truth.shape[:3]
    scale = min(1.0, form.side / max(width, height))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    shown = frames_to_show(frames, strongest_frame)
    chosen = list(shown)
    hole, seen = tile.drawn.hole, _input(tile, chosen)
    mask = outline = over_time = None
    if hole is not None:
        levels = hole.view(np.uint8) * np.uint8(255)
        mask = _mask_png(_shrink((levels if tile.drawn.alpha is None else tile.drawn.alpha)[chosen], size))
        outline = _mask_png(_outline(_shrink(levels[chosen], size)))
        if frames > 1:
            share = (hole.mean(axis=0) * 255).round().astype(np.uint8)
            coloured = cv2.applyColorMap(_shrink(share[None], size)[0], cv2.COLORMAP_INFERNO)
            over_time = _webp(coloured[None, ..., ::-1], form.quality)
    return Pictures(
        shown=shown,
        truth=_webp(_shrink(tile.truth[chosen], size), form.quality),
        hole=mask,
        outline=outline,
        input=None if seen is None else _webp(_shrink(seen, size), form.quality),
        over_time=over_time,
    )


def frames_to_show(frames: int, strongest_frame: int) -> tuple[int, ...]:
    """At most ``FRAMES_SHOWN`` frames from first to last, the nearest of them moved to ``strongest_frame``."""
    evenly = np.unique(np.linspace(0, frames - 1, FRAMES_SHOWN).round().astype(int)).tolist()
    nearest = min(range(len(evenly)), key=lambda index: abs(evenly[index] - strongest_frame))
    evenly[nearest] = strongest_frame
    return tuple(evenly)


def _input(tile: Tile, chosen: list[int]) -> Frames | None:
    if tile.given_input is not None:
        return tile.given_input[chosen]
    alpha, colour = tile.drawn.alpha, tile.drawn.colour
    if alpha is None or colour is None:
        return None
    from inpaintbench.masks.overlays.raster import over

    painted: Frames = over(tile.truth[chosen], alpha[chosen], colour[chosen])
    return painted


def _shrink(frames: Levels, size: tuple[int, int]) -> Levels:
    frames = np.ascontiguousarray(frames)
    if (frames.shape[2], frames.shape[1]) == size:
        return frames
    return np.stack([cv2.resize(frame, size, interpolation=cv2.INTER_AREA) for frame in frames]).astype(np.uint8, copy=False)


def _outline(hole: Levels) -> Levels:
    """A line of two pixels around what is hole by half or more; along the frame's edge nothing is outside."""
    solid = (hole >= 128).astype(np.uint8)
    grown = np.stack([cv2.dilate(frame, np.ones((5, 5), np.uint8)) for frame in solid]).astype(np.uint8, copy=False)
    return (grown & ~solid) * np.uint8(255)


def _beside(frames: Levels) -> Levels:
    return np.ascontiguousarray(np.concatenate(list(frames), axis=1))


def _mask_png(opacity: Levels) -> bytes:
    flat = _beside(opacity)
    buffer = io.BytesIO()
    Image.fromarray(np.stack([np.full_like(flat, 255), flat], axis=-1), mode="LA").save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _webp(frames: Frames, quality: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(_beside(frames)).save(buffer, "WEBP", quality=quality, method=4)
    return buffer.getvalue()
