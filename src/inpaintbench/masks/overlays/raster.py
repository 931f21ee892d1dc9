"""Rasterisation of placed text, with exact opacity and colour; its limit on the hidden share of a frame; its blending."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from inpaintbench.errors import MaskShapeError
from inpaintbench.masks.overlays.fonts import load
from inpaintbench.masks.overlays.layout import Placed
from inpaintbench.masks.overlays.styles import Rgba
from inpaintbench.masks.overlays.wrapping import Line, Piece
from inpaintbench.types import Alpha, Frames

Levels = npt.NDArray[np.uint8]
FloatArray = npt.NDArray[np.float32]

# Fainter pixels at the edges of letters are dropped: an opacity of 3 % is invisible, and each would count as hole.
LEAST_ALPHA = 8
# Shear of synthesised italics, columns per row.
_SLANT = 0.2
# Growth of synthesised bold letters, in ems, on every side.
_EMBOLDEN = 0.025


@dataclass(frozen=True)
class Picture:
    """Rendered set of texts."""

    alpha: Levels
    """``uint8[H, W]``, opacity of letters, boxes, outlines and shadows."""
    colour: Levels
    """``uint8[H, W, 3]`` RGB, not premultiplied; 0 where ``alpha`` is 0."""
    text_alpha: Levels
    """``uint8[H, W]``, opacity of the letters alone, without boxes, outlines and shadows."""


@dataclass(frozen=True)
class Track:
    """Distinct pictures of a clip, and the index of that of each frame."""

    pictures: tuple[Picture, ...]
    """The first one is empty."""
    shown: tuple[int, ...]
    """Index of the picture of each frame."""


def render(placed: Sequence[Placed], *, frames: int, height: int, width: int) -> Track:
    """Render the pictures of all frames."""
    shown = [
        tuple(i for i, text in enumerate(placed) if text.block.first_frame <= frame < text.block.end_frame)
        for frame in range(frames)
    ]
    distinct: dict[tuple[int, ...], int] = {(): 0}
    for indices in shown:
        distinct.setdefault(indices, len(distinct))
    pictures = tuple(draw([placed[i] for i in indices], height=height, width=width) for indices in distinct)
    return Track(pictures, tuple(distinct[indices] for indices in shown))


def draw(placed: Sequence[Placed], *, height: int, width: int) -> Picture:
    """Render one picture: boxes below shadows below outlines below letters."""
    paint = np.zeros((height, width, 3), np.float32)
    alpha = np.zeros((height, width), np.float32)
    letters = np.zeros((height, width), np.float32)
    for mask, colour in _layers(placed, height, width):
        opacity = mask * np.float32(colour[3] / 255)
        keep = 1 - opacity
        paint = paint * keep[..., None] + opacity[..., None] * np.array(colour[:3], np.float32)
        alpha = alpha * keep + opacity
    for mask, colour in _text_layers(placed, height, width):
        letters = np.maximum(letters, mask * np.float32(colour[3] / 255))
    return _quantised(paint, alpha, letters)


def _quantised(paint: FloatArray, alpha: FloatArray, letters: FloatArray) -> Picture:
    opacity = np.rint(255 * alpha).astype(np.uint8)
    opacity[opacity < LEAST_ALPHA] = 0
    colour = np.rint(np.clip(paint / np.maximum(alpha, 1e-6)[..., None], 0, 255)).astype(np.uint8)
    colour[opacity == 0] = 0
    text = np.rint(255 * letters).astype(np.uint8)
    text[text < LEAST_ALPHA] = 0
    return Picture(opacity, colour, text)


def _layers(placed: Sequence[Placed], height: int, width: int) -> Iterator[tuple[FloatArray, Rgba]]:
    yield from _box_layers(placed, height, width)
    for text in placed:
        style = text.block.style
        outline = style.outline_pixels
        if style.shadow_pixels > 0 and style.shadow[3]:
            shift = style.shadow_pixels
            yield _mask(_pieces(text), height, width, outline=outline, shift=shift), style.shadow
        if outline > 0 and style.outline[3]:
            yield _mask(_pieces(text), height, width, outline=outline), style.outline
    yield from _text_layers(placed, height, width)


def _box_layers(placed: Sequence[Placed], height: int, width: int) -> Iterator[tuple[FloatArray, Rgba]]:
    """Layer for each colour of boxes: their union, so that overlaps of half transparent boxes are not darker."""
    boxed = [text for text in placed if text.block.style.background != "none" and text.block.style.box[3]]
    for colour in dict.fromkeys(text.block.style.box for text in boxed):
        mask = np.zeros((height, width), np.float32)
        for text in boxed:
            if text.block.style.box == colour:
                for left, top, right, bottom in _boxes(text):
                    mask[max(0, top) : max(0, bottom), max(0, left) : max(0, right)] = 1
        yield mask, colour


def _boxes(placed: Placed) -> Iterator[tuple[int, int, int, int]]:
    block, pad = placed.block, placed.block.style.padding
    if block.style.background == "box":
        yield placed.left - pad, placed.top - pad, placed.left + block.width + pad, placed.top + block.height + pad
        return
    for line, left, top in _lines(placed):
        yield left - pad, top - pad, left + line.width + pad, top + line.height + pad


def _lines(placed: Placed) -> Iterator[tuple[Line, int, int]]:
    """Lines with their left ends and tops, pixels."""
    top, column = placed.top, (placed.block.alignment - 1) % 3
    for line in placed.block.lines:
        spare = placed.block.width - line.width
        yield line, placed.left + (0, spare // 2, spare)[column], top
        top += line.height


def _pieces(placed: Placed) -> list[tuple[Piece, float, int]]:
    """Pieces with their left ends and base lines, pixels."""
    return [(piece, left + piece.left, top + line.ascent) for line, left, top in _lines(placed) for piece in line.pieces]


def _text_layers(placed: Sequence[Placed], height: int, width: int) -> Iterator[tuple[FloatArray, Rgba]]:
    pieces = [piece for text in placed for piece in _pieces(text)]
    for colour in dict.fromkeys(piece.look.colour for piece, _, _ in pieces):
        yield _mask([entry for entry in pieces if entry[0].look.colour == colour], height, width), colour


def _mask(
    pieces: Iterable[tuple[Piece, float, int]], height: int, width: int, *, outline: float = 0.0, shift: float = 0.0
) -> FloatArray:
    """Coverage of each pixel by the letters, 0..1, grown by ``outline`` and shifted right and down by ``shift`` pixels."""
    canvas = Image.new("L", (width, height))
    for piece, left, baseline in pieces:
        if piece.font.slant:
            layer = Image.new("L", (width, height))
            _draw_piece(layer, piece, left + shift, baseline + shift, outline)
            shear = (1, _SLANT, -_SLANT * (baseline + shift), 0, 1, 0)
            layer = layer.transform(layer.size, Image.Transform.AFFINE, shear, Image.Resampling.BILINEAR)
            canvas.paste(255, mask=layer)
        else:
            _draw_piece(canvas, piece, left + shift, baseline + shift, outline)
    return np.asarray(canvas, np.float32) / np.float32(255)


def _draw_piece(canvas: Image.Image, piece: Piece, left: float, baseline: float, outline: float) -> None:
    pen = ImageDraw.Draw(canvas)
    look = piece.look
    stroke = outline + (_EMBOLDEN * look.pixels if piece.font.embolden else 0.0)
    font = load(piece.font, look.pixels)
    pen.text((left, baseline), piece.text, fill=255, font=font, anchor="ls", direction=piece.direction, stroke_width=stroke)
    thickness = max(1, round(look.pixels / 14))
    # Underline and strikethrough: offsets from the base line in ems.
    for drawn, offset in ((look.underline, 0.12), (look.strike, -0.28)):
        if drawn:
            top = round(baseline + offset * look.pixels)
            ends = (
                round(left - outline),
                top - round(outline),
                round(left + piece.width + outline),
                top + thickness - 1 + round(outline),
            )
            pen.rectangle(ends, fill=255)


def over(truth: Frames, alpha: Alpha, colour: Frames) -> Frames:
    """Composite ``round(((255 - alpha) * truth + alpha * colour) / 255)``, a new ``uint8[T, H, W, 3]``.

    ``alpha`` is ``uint8[T, H, W]``, ``colour`` ``uint8[T, H, W, 3]``, not premultiplied. In integers, so that over black (B) and
    white (W) ``alpha = 255 - (W - B)`` holds exactly, and pixels with ``alpha`` 0 are unchanged.

    Raises:
        MaskShapeError: the shapes do not fit each other.
    """
    if truth.shape != (*alpha.shape, 3) or colour.shape != truth.shape:
        raise MaskShapeError(f"alpha {alpha.shape} and colour {colour.shape} do not fit the frames {truth.shape}")
    painted = truth.copy()
    for frame, opacity, paint in zip(painted, alpha, colour, strict=True):
        rows, columns = np.flatnonzero(opacity.any(axis=1)), np.flatnonzero(opacity.any(axis=0))
        if len(rows):
            box = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
            frame[box] = _mixed(frame[box], opacity[box], paint[box])
    return painted


def _mixed(
    below: np.ndarray[tuple[int, ...], np.dtype[np.uint8]],
    opacity: np.ndarray[tuple[int, ...], np.dtype[np.uint8]],
    paint: np.ndarray[tuple[int, ...], np.dtype[np.uint8]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint16]]:
    weight = opacity[..., None].astype(np.uint16)
    total = below * (255 - weight)
    total += paint * weight
    # Division by 255 with rounding, exact for 0 ... 65025; 65025 + 128 + 254 still fits into 16 bits.
    total += 128
    total += total >> 8
    total >>= 8
    return total


# Share of a frame; the largest of the published clips.
MOST_OVERLAY_FRACTION = 0.5


def fits_half(picture: Picture) -> bool:
    """True if a picture hides no more than half of the frame."""
    return float(np.mean(picture.alpha > 0)) <= MOST_OVERLAY_FRACTION


def thinned_out(
    place: Callable[[Mapping[int, int]], list[Placed]], *, frames: int, height: int, width: int
) -> tuple[list[Placed], int]:
    """Layout in which texts end wherever more than half of a frame would be hidden, the oldest first.

    ``place`` takes the frames from which on texts are hidden, as ``layout.place`` does. A text that by itself hides more than
    half ends before others. Also returns the number of texts that end early or are missing.
    """
    ends: dict[int, int] = {}
    fits: dict[tuple[Placed, ...], bool] = {}
    placed = place(ends)
    frame = 0
    while frame < frames:
        shown = _shown(placed, frame)
        if shown not in fits:
            fits[shown] = fits_half(draw(shown, height=height, width=width))
        if fits[shown]:
            frame = _next_change(placed, frame, frames)
            continue
        too_large = [text for text in shown if len(shown) > 1 and not fits_half(draw([text], height=height, width=width))]
        ends[min(text.block.event for text in too_large or shown)] = frame
        placed = place(ends)
        frame = 0  # hidden pages leave room for earlier texts, whose positions change
    return placed, len(ends)


def _shown(placed: Sequence[Placed], frame: int) -> tuple[Placed, ...]:
    return tuple(text for text in placed if text.block.first_frame <= frame < text.block.end_frame)


def _next_change(placed: Sequence[Placed], frame: int, frames: int) -> int:
    changes = {end for text in placed for end in (text.block.first_frame, text.block.end_frame)}
    return min((change for change in changes if change > frame), default=frames)
