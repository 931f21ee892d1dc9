"""Layout of subtitles: position and frames of each text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from inpaintbench.masks.overlays.styles import PixelStyle, Style, in_pixels, stated
from inpaintbench.masks.overlays.tags import apply_tags
from inpaintbench.masks.overlays.wrapping import Line, wrapped
from inpaintbench.types import TextEvent

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
                concurrent = [earlier for earlier in placed if _overlap_in_time(earlier.block, block)]
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
    pages = _pages(lines, max(1, min(style.lines_most, room)))
    total = sum(line.characters for line in lines)
    blocks, shown = [], 0
    for page in pages:
        start = event.start_seconds + (event.end_seconds - event.start_seconds) * shown / total
        shown += sum(line.characters for line in page)
        end = event.start_seconds + (event.end_seconds - event.start_seconds) * shown / total
        blocks.append(Block(number, _frame(start, fps), _frame(end, fps), tuple(page), style, tagged.alignment))
    return blocks


def _pages(lines: Sequence[Line], most: int) -> list[Sequence[Line]]:
    """Split ``lines`` into pages of at most ``most``, as evenly as possible."""
    count = -(-len(lines) // most)
    return [lines[len(lines) * page // count : len(lines) * (page + 1) // count] for page in range(count)]


def _overlap_in_time(block: Block, later: Block) -> bool:
    return block.first_frame < later.end_frame and later.first_frame < block.end_frame


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
