"""Subtitles on frames: where each text stands and when, its pixels with exact opacity and colour, and its blending."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from inpaintbench import regions
from inpaintbench.errors import MaskShapeError
from inpaintbench.masks.overlays.fonts import load
from inpaintbench.masks.overlays.lines import Line, Piece, apply_tags, wrapped
from inpaintbench.masks.overlays.styles import PixelStyle, Rgba, Style, in_pixels, stated
from inpaintbench.types import Alpha, Frames, TextEvent

# Share of the frame's height that one text may take.
MOST_HEIGHT_FRACTION = 0.9


@dataclass(frozen=True)
class Block:
    """Lines of an event that are on screen together."""

    event: int
    """Index of the event, in the order of starts."""
    first_frame: int
    end_frame: int
    lines: tuple[Line, ...]
    style: PixelStyle
    alignment: int

    @property
    def width(self) -> int:
        """Width of the widest line, pixels."""
        return max(line.width for line in self.lines)

    @property
    def height(self) -> int:
        """Height of all lines, pixels."""
        return sum(line.height for line in self.lines)


@dataclass(frozen=True)
class Placed:
    """Block with the position of its upper left corner, pixels; the box around it extends ``padding`` farther."""

    block: Block
    left: int
    top: int


def place(
    events: Sequence[TextEvent],
    style: Style,
    *,
    frames: int,
    height: int,
    width: int,
    fps: float,
    ends: Mapping[int, int] = MappingProxyType({}),
) -> list[Placed]:
    """Lay out every block that is on screen in frames 0 ... ``frames`` - 1, in the order of starts.

    An event shows in frames ``start_seconds <= frame / fps < end_seconds``. A text of more lines than the style allows continues
    in further blocks, which share its time by their characters. A text keeps its position while it is on screen: one that starts
    later goes above it (at the top of the frame: below it), and where there is no room it is moved back into the frame, over
    others. ``ends``: index of an event, in the order of starts -> frame from which on it is hidden.

    Raises:
        InputError: a font is missing, or a text needs shaping and Pillow has no raqm.
    """
    base = in_pixels(style, height=height, width=width)
    placed: list[Placed] = []
    for number, event in enumerate(sorted(events, key=lambda event: event.start_seconds)):
        if _frame(event.end_seconds, fps) <= 0 or _frame(event.start_seconds, fps) >= frames:
            continue
        event_style = base if event.style is None else stated(event.style, base, height=height, width=width)
        for full in _blocks(number, event, event_style, height=height, width=width, fps=fps):
            block = replace(full, end_frame=min(full.end_frame, ends.get(number, full.end_frame)))
            if block.first_frame < min(block.end_frame, frames) and block.end_frame > 0:
                concurrent = [
                    earlier
                    for earlier in placed
                    if earlier.block.first_frame < block.end_frame and block.first_frame < earlier.block.end_frame
                ]
                placed.append(_placed(block, concurrent, height=height, width=width))
    return placed


def _frame(seconds: float, fps: float) -> int:
    """First frame at or after ``seconds``; differences below a millionth of a frame are rounding."""
    return math.ceil(seconds * fps - 1e-6)


def _blocks(number: int, event: TextEvent, style: PixelStyle, *, height: int, width: int, fps: float) -> list[Block]:
    tagged = apply_tags(event.text, style, height=height)
    most = max(style.look.pixels, width - style.margins[0] - style.margins[1])
    lines = [line for runs in tagged.lines for line in wrapped(runs, most_pixels=most, empty=style.look)]
    if not any(letter.text.strip() for line in lines for letter in line.pieces):
        return []
    room = int(MOST_HEIGHT_FRACTION * height / max(line.height for line in lines))
    # Pages, as even as possible.
    count = -(-len(lines) // max(1, min(style.lines_most, room)))
    pages = [lines[len(lines) * page // count : len(lines) * (page + 1) // count] for page in range(count)]
    total = sum(line.characters for line in lines)
    seconds, blocks, shown = event.end_seconds - event.start_seconds, [], 0
    for page in pages:
        start = event.start_seconds + seconds * shown / total
        shown += sum(line.characters for line in page)
        end = event.start_seconds + seconds * shown / total
        blocks.append(Block(number, _frame(start, fps), _frame(end, fps), tuple(page), style, tagged.alignment))
    return blocks


def _placed(block: Block, others: Sequence[Placed], *, height: int, width: int) -> Placed:
    style = block.style
    left_margin, right_margin, vertical = style.margins
    column, row = (block.alignment - 1) % 3, (block.alignment - 1) // 3
    left = (left_margin, (left_margin + width - right_margin - block.width) // 2, width - right_margin - block.width)[column]
    top = (height - vertical - block.height, (height - block.height) // 2, vertical)[row]
    # Room for the padding: a box that extends beyond the frame would lose its border.
    room = min(style.padding if style.background != "none" else 0, max(0, (height - block.height) // 2))
    top = min(max(top, room), height - block.height - room)
    top = _free(top, block, others, left, upwards=row == 0)
    return Placed(block, left, min(max(top, 0), max(0, height - block.height)))


def _free(top: int, block: Block, others: Sequence[Placed], left: int, *, upwards: bool) -> int:
    """Nearest row above (or below) ``top`` where the block covers none of ``others``, which it passes one by one."""
    reach = _reach(block.style)
    for other in sorted(others, key=lambda placed: placed.top, reverse=upwards):
        gap = max(reach, _reach(other.block.style))
        beside = left >= other.left + other.block.width + gap or other.left >= left + block.width + gap
        if beside or top >= other.top + other.block.height + gap or other.top >= top + block.height + gap:
            continue
        top = other.top - block.height - gap if upwards else other.top + other.block.height + gap
    return top


def _reach(style: PixelStyle) -> int:
    """Extent of a block beyond its lines, pixels."""
    return max(style.padding if style.background != "none" else 0, math.ceil(style.outline_pixels + style.shadow_pixels))


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
    levels = np.rint(255 * alpha).astype(np.uint8)
    levels[levels < LEAST_ALPHA] = 0
    shown = np.rint(np.clip(paint / np.maximum(alpha, 1e-6)[..., None], 0, 255)).astype(np.uint8)
    shown[levels == 0] = 0
    text = np.rint(255 * letters).astype(np.uint8)
    text[text < LEAST_ALPHA] = 0
    return Picture(levels, shown, text)


def _layers(placed: Sequence[Placed], height: int, width: int) -> Iterator[tuple[FloatArray, Rgba]]:
    boxed = [text for text in placed if text.block.style.background != "none" and text.block.style.box[3]]
    for colour in dict.fromkeys(text.block.style.box for text in boxed):
        # The union of its boxes, so that overlaps of half transparent ones are not darker.
        mask = np.zeros((height, width), np.float32)
        for text in boxed:
            block, pad = text.block, text.block.style.padding
            boxes = [(text.left, text.top, block.width, block.height)]
            if block.style.background != "box":
                boxes = [(left, top, line.width, line.height) for line, left, top in _lines(text)]
            for left, top, across, down in boxes if block.style.box == colour else ():
                mask[max(0, top - pad) : max(0, top + down + pad), max(0, left - pad) : max(0, left + across + pad)] = 1
        yield mask, colour
    for text in placed:
        style, outline = text.block.style, text.block.style.outline_pixels
        if style.shadow_pixels > 0 and style.shadow[3]:
            yield _mask(_pieces(text), height, width, outline=outline, shift=style.shadow_pixels), style.shadow
        if outline > 0 and style.outline[3]:
            yield _mask(_pieces(text), height, width, outline=outline), style.outline
    yield from _text_layers(placed, height, width)


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
        if box := regions.box_of(opacity):
            weight = opacity[box][..., None].astype(np.uint16)
            total = frame[box] * (255 - weight) + paint[box] * weight
            # Division by 255 with rounding, exact for 0 ... 65025; 65025 + 128 + 254 still fits into 16 bits.
            total += 128
            frame[box] = (total + (total >> 8)) >> 8
    return painted


# Share of a frame; the largest of the published clips.
MOST_OVERLAY_FRACTION = 0.5


def fits_half(picture: Picture) -> bool:
    """True if a picture hides no more than half of the frame."""
    return float(np.mean(picture.alpha > 0)) <= MOST_OVERLAY_FRACTION


def thinned_out(
    lay_out: Callable[[Mapping[int, int]], list[Placed]], *, frames: int, height: int, width: int
) -> tuple[list[Placed], int]:
    """Layout in which texts end wherever more than half of a frame would be hidden, the oldest first.

    ``lay_out`` takes the frames from which on texts are hidden, as ``place`` does. A text that by itself hides more than
    half ends before others. Also returns the number of texts that end early or are missing.
    """
    ends: dict[int, int] = {}
    fits: dict[tuple[Placed, ...], bool] = {}
    placed = lay_out(ends)
    frame = 0
    while frame < frames:
        shown = tuple(text for text in placed if text.block.first_frame <= frame < text.block.end_frame)
        if shown not in fits:
            fits[shown] = fits_half(draw(shown, height=height, width=width))
        if fits[shown]:
            changes = {end for text in placed for end in (text.block.first_frame, text.block.end_frame)}
            frame = min((change for change in changes if change > frame), default=frames)
            continue
        too_large = [text for text in shown if len(shown) > 1 and not fits_half(draw([text], height=height, width=width))]
        ends[min(text.block.event for text in too_large or shown)] = frame
        placed = lay_out(ends)
        frame = 0  # hidden pages leave room for earlier texts, whose positions change
    return placed, len(ends)
