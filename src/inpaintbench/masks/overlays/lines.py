r"""Texts with override tags of ASS, such as ``{\i1}`` and ``{\an8}``, to runs of one look, and runs to lines of pieces.

A piece has a font, a direction and a width.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from PIL import features

from inpaintbench.errors import InputError
from inpaintbench.masks.overlays.fonts import FontFile, load, split_by_font
from inpaintbench.masks.overlays.styles import Look, PixelStyle, bounded, colour_of

# Longest text of one event: more than any screen holds; damaged files have events of millions of characters.
MOST_CHARACTERS = 2000

_PIECE = re.compile(r"\\([{}])|\{([^{}]{0,1000})\}|\\([Nnh])|(\n)|([^\\{\n]+|\\|\{)")
_TAG = re.compile(r"\\(an|a|b|i|u|s|1?c|1a|alpha|fn|fs|r|p)(?![a-z])([^\\]*)|\\(fn|r)([^\\]*)")
# Alignments of SSA (`a`) -> those of ASS (`an`), as on a number pad.
_LEGACY_ALIGNMENT = {1: 1, 2: 2, 3: 3, 5: 7, 6: 8, 7: 9, 9: 4, 10: 5, 11: 6}
_JOINERS = "\u200c\u200d\u200e\u200f"
_SWITCHES = {"i": "italic", "u": "underline", "s": "strike"}


@dataclass(frozen=True)
class Run:
    """Run of letters with one look."""

    text: str
    look: Look


@dataclass(frozen=True)
class Tagged:
    """Text with its tags applied."""

    lines: tuple[tuple[Run, ...], ...]
    alignment: int


def apply_tags(text: str, style: PixelStyle, *, height: int) -> Tagged:
    """Split ``text`` into lines of runs; tags that move, rotate, animate or draw are ignored, comments in braces dropped.

    Texts are truncated to 2000 characters.
    """
    lines: list[list[Run]] = [[]]
    look, alignment, drawing = style.look, style.alignment, False
    for escaped, tags, code, newline, plain in _PIECE.findall(text[:MOST_CHARACTERS]):
        if tags:
            for name, value, other_name, other_value in _TAG.findall(tags):
                name, value = name or other_name, (value or other_value).strip()
                if name in ("an", "a"):
                    alignment = _aligned(name, value, alignment)
                elif name == "p":
                    drawing = value not in ("", "0")
                else:
                    look = _changed(look, style, name, value, height=height)
        elif newline or code in ("N", "n"):
            lines.append([])
        elif not drawing:
            shown = escaped or ("\N{NO-BREAK SPACE}" if code else plain)
            lines[-1].append(
                Run("".join(letter for letter in shown if letter.isprintable() or letter.isspace() or letter in _JOINERS), look)
            )
    return Tagged(tuple(tuple(run for run in line if run.text) for line in lines), alignment)


def _aligned(name: str, value: str, otherwise: int) -> int:
    if not (value.isascii() and value.isdecimal()) or len(value) > 2:
        return otherwise
    number = int(value)
    return _LEGACY_ALIGNMENT.get(number, otherwise) if name == "a" else number if 1 <= number <= 9 else otherwise


def _changed(look: Look, style: PixelStyle, name: str, value: str, *, height: int) -> Look:
    """Apply one tag to ``look``; a tag without a value restores the style."""
    base = style.look
    if name == "r":
        return base
    if name == "b":
        return replace(look, bold=base.bold if not value else value not in ("0", "100", "200", "300", "400"))
    if name in _SWITCHES:
        field = _SWITCHES[name]
        change: dict[str, Any] = {field: getattr(base, field) if not value else value != "0"}
        return replace(look, **change)
    if name in ("c", "1c"):
        red, green, blue, _ = colour_of(value, base.colour)
        return replace(look, colour=(red, green, blue, look.colour[3]))
    if name in ("1a", "alpha"):
        return replace(look, colour=(*look.colour[:3], 255 - colour_of(value, (255 - base.colour[3], 0, 0, 0))[0]))
    if name == "fn":
        return (
            replace(look, family=value.lstrip("@"), substitute=True)
            if value
            else replace(look, family=base.family, substitute=base.substitute)
        )
    # What is left is ``fs``, a size. One in steps (``+2``) is not known; 0.0 stands for no size, which restores the style's.
    try:
        pixels = float(value) * style.unit if value[:1] not in ("+", "-") else 0.0
    except ValueError:
        pixels = 0.0
    return replace(look, pixels=bounded(pixels if pixels > 0 else base.pixels, height=height))


# Unicode bidirectional algorithm (annex 9): embedding levels of a paragraph, and the visual order of its pieces.
#
# Explicit embeddings and isolates are not among the characters that are drawn, so that only the implicit rules W, N and I
# apply.

T = TypeVar("T")

_BRACKETS = {"(": ")", "[": "]", "{": "}", "（": "）", "［": "］", "「": "」", "『": "』", "【": "】", "《": "》", "〈": "〉"}
_CLOSING = frozenset(_BRACKETS.values())
_NEUTRAL = frozenset({"B", "S", "WS", "ON"})
# Direction of letters and numbers beside neutrals (rule N1).
_STRONG = {"L": "L", "R": "R", "EN": "R", "AN": "R"}
# Size of the stack of open brackets (BD16).
_MOST_OPEN = 63


def base_level(text: str) -> int:
    """Paragraph level by its first letter with a direction: 0 = left to right, 1 = right to left."""
    for letter in text:
        kind = unicodedata.bidirectional(letter)
        if kind in ("L", "R", "AL"):
            return int(kind != "L")
    return 0


def levels(text: str) -> list[int]:
    """Embedding level of each character of a paragraph: even = left to right, odd = right to left."""
    base = base_level(text)
    direction = "R" if base else "L"
    kinds = _weak([unicodedata.bidirectional(letter) or "L" for letter in text], direction)
    # Resolve pairs of brackets (rule N0): both take the direction of their content, else of the text before them.
    for opening, closing in _bracket_pairs(text, kinds):
        inside = {_STRONG.get(kind, "") for kind in kinds[opening + 1 : closing]} - {""}
        if direction in inside:
            kinds[opening] = kinds[closing] = direction
        elif inside:
            before = next((_STRONG[kind] for kind in reversed(kinds[:opening]) if kind in _STRONG), direction)
            kinds[opening] = kinds[closing] = before
    _neutral(kinds, direction)
    raised = {"L": base % 2, "R": 1 - base % 2, "EN": 2 - base % 2, "AN": 2 - base % 2}
    return [base + raised[kind] for kind in kinds]


def seen_order(pieces: Sequence[T], level_of: Callable[[T], int]) -> list[T]:
    """Visual order, left to right, of the pieces of a line: runs are reversed from the highest level down to 1 (rule L2)."""
    ordered = list(pieces)
    highest = max(map(level_of, pieces), default=0)
    for level in range(highest, 0, -1):
        runs = [(inside, list(run)) for inside, run in groupby(ordered, lambda piece: level_of(piece) >= level)]  # noqa: B023
        ordered = [piece for inside, run in runs for piece in (reversed(run) if inside else run)]
    return ordered


def _weak(kinds: list[str], paragraph: str) -> list[str]:
    """Resolve weak types (rules W1 to W7): marks, numbers, and separators in and beside numbers."""
    before = strong = paragraph
    for index, kind in enumerate(kinds):
        if kind in ("NSM", "BN"):
            kind = before
        elif kind == "EN" and strong == "AL":
            kind = "AN"
        kinds[index] = before = kind
        strong = kind if kind in ("L", "R", "AL") else strong
    kinds[:] = ["R" if kind == "AL" else kind for kind in kinds]
    for index in range(1, len(kinds) - 1):
        left, kind, right = kinds[index - 1 : index + 2]
        if left == right and ((kind == "CS" and left in ("EN", "AN")) or (kind == "ES" and left == "EN")):
            kinds[index] = left
    _terminators(kinds)
    strong = paragraph
    for index, kind in enumerate(kinds):
        strong = kind if kind in ("L", "R") else strong
        kinds[index] = "ON" if kind in ("ES", "ET", "CS") else "L" if kind == "EN" and strong == "L" else kind
    return kinds


def _terminators(kinds: list[str]) -> None:
    """Attach percent and currency signs to a number beside them (rule W5)."""
    start = 0
    for kind, run in groupby(list(kinds)):
        end = start + len(list(run))
        beside = {kinds[start - 1] if start else "", kinds[end] if end < len(kinds) else ""}
        if kind == "ET" and "EN" in beside:
            kinds[start:end] = ["EN"] * (end - start)
        start = end


def _bracket_pairs(text: str, kinds: Sequence[str]) -> list[tuple[int, int]]:
    waiting: list[tuple[str, int]] = []
    pairs: list[tuple[int, int]] = []
    for index, letter in enumerate(text):
        if kinds[index] != "ON":
            continue
        if letter in _BRACKETS:
            if len(waiting) == _MOST_OPEN:
                return sorted(pairs)
            waiting.append((_BRACKETS[letter], index))
        elif letter in _CLOSING:
            depth = next((at for at in reversed(range(len(waiting))) if waiting[at][0] == letter), None)
            if depth is not None:
                pairs.append((waiting[depth][1], index))
                del waiting[depth:]
    return sorted(pairs)


def _neutral(kinds: list[str], paragraph: str) -> None:
    """Resolve neutrals (rules N1 and N2): between two letters of one direction they take it, else the paragraph's."""
    start, before = 0, paragraph
    for neutral, run in groupby(list(kinds), lambda kind: kind in _NEUTRAL):
        letters = list(run)
        end = start + len(letters)
        if neutral:
            after = _STRONG[kinds[end]] if end < len(kinds) else paragraph
            kinds[start:end] = [before if before == after else paragraph] * (end - start)
        else:
            before = _STRONG[letters[-1]]
        start = end


# Characters that no line begins or ends with (East Asian line breaking).
_NEVER_FIRST = set("!),.:;?]}、。」』】〉》”’！），．：；？］｝ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ")
_NEVER_LAST = set("([{「『【〈《“‘（［｛")
# Scripts whose letters change with their neighbours, or that run from right to left.
_SHAPED = ((0x0590, 0x08FF), (0x0900, 0x0FFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0xFB1D, 0xFDFF), (0xFE70, 0xFEFE))


class _Letter(NamedTuple):
    text: str
    look: Look
    level: int
    """Embedding level in the paragraph: even = left to right, odd = right to left."""


@dataclass(frozen=True)
class Piece:
    """Letters of one look, one face and one direction, positioned in a line."""

    text: str
    look: Look
    font: FontFile
    direction: str | None
    """``ltr`` or ``rtl``; None where Pillow has no raqm."""
    left: float
    """Distance from the left end of the line, pixels."""
    width: float


@dataclass(frozen=True)
class Line:
    """Line of text, ready to draw; lengths in pixels."""

    pieces: tuple[Piece, ...]
    width: int
    ascent: int
    descent: int
    characters: int

    @property
    def height(self) -> int:
        """Height of the line by its fonts' metrics, pixels."""
        return self.ascent + self.descent


def wrapped(runs: Sequence[Run], *, most_pixels: float, empty: Look) -> list[Line]:
    """Break a line of runs so that no part is wider than ``most_pixels``; ``empty`` determines the height of an empty line.

    Breaks are after spaces and hyphens and between CJK characters; a word that is too wide by itself is broken inside. The
    direction is resolved once for all parts, before breaking.

    Raises:
        InputError: a font is missing, or the text needs shaping and Pillow has no raqm.
    """
    text = "".join(run.text for run in runs)
    if any(low <= ord(letter) <= high for letter in text for low, high in _SHAPED) and not features.check("raqm"):
        raise InputError(
            f"the text {text[:30]!r} needs shaping and Pillow has no raqm here: install Pillow's own wheel, or libraqm"
        )
    looks = [run.look for run in runs for _ in run.text]
    letters = [_Letter(*letter) for letter in zip(text, looks, levels(text), strict=True)]
    lines: list[Line] = []
    start = 0
    while start < len(letters):
        while start < len(letters) and lines and letters[start].text == " ":
            start += 1
        end = _line_end(letters, start, most_pixels)
        if end > start:
            lines.append(_line(letters[start:end]))
        start = end
    return lines or [_line([_Letter(" ", empty, 0)])]


def _line_end(letters: Sequence[_Letter], start: int, most_pixels: float) -> int:
    """End of a line that begins at ``start``: the last break that fits, else one inside the first word."""
    best = start
    breaks = (end for end in range(start + 1, len(letters)) if _may_break(letters[end - 1].text, letters[end].text))
    for end in (*breaks, len(letters)):
        if _width(letters[start:end]) > most_pixels:
            break
        best = end
    if best > start or start >= len(letters):
        return best
    best = start + 1
    while best < len(letters) and (_is_mark(letters[best].text) or _width(letters[start : best + 1]) <= most_pixels):
        best += 1
    return best


def _may_break(before: str, after: str) -> bool:
    if after in _NEVER_FIRST or before in _NEVER_LAST or _is_mark(after) or after == " ":
        return False
    # Korean breaks at spaces.
    wide = (unicodedata.east_asian_width(letter) in "WF" and not "\uac00" <= letter <= "\ud7a3" for letter in (before, after))
    return before in " -\N{ZERO WIDTH SPACE}" or any(wide)


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter) in ("Mn", "Me", "Mc", "Cf")


def _width(letters: Sequence[_Letter]) -> float:
    return sum(piece.width for run in _runs(letters) for piece in _unplaced(*run))


def _runs(letters: Sequence[_Letter]) -> list[tuple[str, Look, int]]:
    """Runs of one look and level, without the spaces at the end of the line."""
    end = len(letters)
    while end > 1 and letters[end - 1].text == " ":
        end -= 1
    grouped = groupby(letters[:end], key=itemgetter(1, 2))
    return [("".join(letter.text for letter in group), look, level) for (look, level), group in grouped]


@lru_cache(maxsize=4096)
def _unplaced(text: str, look: Look, level: int) -> tuple[Piece, ...]:
    """Pieces of one face each, at the left end of the line."""
    direction = ("ltr", "rtl")[level % 2] if features.check("raqm") else None
    pieces = split_by_font(text, look.family, bold=look.bold, italic=look.italic, substitute=look.substitute)
    lengths = [load(font, look.pixels).getlength(piece, direction=direction) for piece, font in pieces]
    return tuple(Piece(piece, look, font, direction, 0.0, width) for (piece, font), width in zip(pieces, lengths, strict=True))


def _line(letters: Sequence[_Letter]) -> Line:
    """Lay out the letters of one line as pieces, in visual order from left to right."""
    runs = _runs(letters)
    unplaced = [(level, piece) for text, look, level in runs for piece in _unplaced(text, look, level)]
    pieces: list[Piece] = []
    left = 0.0
    for _, piece in seen_order(unplaced, itemgetter(0)):
        pieces.append(replace(piece, left=left))
        left += piece.width
    metrics = [load(piece.font, piece.look.pixels).getmetrics() for piece in pieces]
    ascent, descent = max(metric[0] for metric in metrics), max(metric[1] for metric in metrics)
    return Line(tuple(pieces), max(1, round(left)), ascent, descent, sum(len(text) for text, _, _ in runs))
