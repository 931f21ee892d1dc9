"""Lines of text with fonts, directions and widths; breaking those that are too wide."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

from PIL import features

from inpaintbench.errors import InputError
from inpaintbench.masks.overlays.fonts import FontFile, load, split_by_font
from inpaintbench.masks.overlays.styles import Look
from inpaintbench.masks.overlays.tags import Run

_NEVER_FIRST = set("!),.:;?]}、。」』】〉》”’！），．：；？］｝ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ")
_NEVER_LAST = set("([{「『【〈《“‘（［｛")
# Scripts whose letters change with their neighbours, or that run from right to left.
_SHAPED = ((0x0590, 0x08FF), (0x0900, 0x0FFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0xFB1D, 0xFDFF), (0xFE70, 0xFEFE))


@dataclass(frozen=True)
class Piece:
    """Letters of one look and one face, placed in a line."""

    text: str
    look: Look
    font: FontFile
    direction: str | None
    """``ltr`` or ``rtl``; None where Pillow has no raqm."""
    left: float
    """From the left end of the line, in pixels."""
    width: float


@dataclass(frozen=True)
class Line:
    """One line as it will be drawn."""

    pieces: tuple[Piece, ...]
    width: int
    ascent: int
    descent: int
    characters: int

    @property
    def height(self) -> int:
        """In pixels, as the line's fonts say."""
        return self.ascent + self.descent


def wrapped(runs: Sequence[Run], *, most_pixels: float, empty: Look) -> list[Line]:
    """The line ``runs``, broken so that no part is wider than ``most_pixels``; ``empty`` gives the height of an empty line.

    Breaks lie after spaces and hyphens and between CJK characters; a word that is too wide alone is broken inside.

    Raises:
        InputError: a font is missing, or the text needs shaping and Pillow has no raqm.
    """
    letters = [(letter, run.look) for run in runs for letter in run.text]
    _require_shaping("".join(letter for letter, _ in letters))
    lines: list[Line] = []
    start = 0
    while start < len(letters):
        while start < len(letters) and lines and letters[start][0] == " ":
            start += 1
        end = _line_end(letters, start, most_pixels)
        if end > start:
            lines.append(_line(letters[start:end]))
        start = end
    return lines or [_line([(" ", empty)])]


def _line_end(letters: Sequence[tuple[str, Look]], start: int, most_pixels: float) -> int:
    """Where a line that begins at ``start`` is broken: the last place that fits, in or else after a word."""
    best = start
    for end in _breaks(letters, start):
        if _width(letters[start:end]) > most_pixels:
            break
        best = end
    if best > start or start >= len(letters):
        return best
    best = start + 1
    while best < len(letters) and (_is_mark(letters[best][0]) or _width(letters[start : best + 1]) <= most_pixels):
        best += 1
    return best


def _breaks(letters: Sequence[tuple[str, Look]], start: int) -> list[int]:
    inside = [index for index in range(start + 1, len(letters)) if _may_break(letters[index - 1][0], letters[index][0])]
    return [*inside, len(letters)]


def _may_break(before: str, after: str) -> bool:
    if after in _NEVER_FIRST or before in _NEVER_LAST or _is_mark(after) or after == " ":
        return False
    return before in " -\N{ZERO WIDTH SPACE}" or _is_wide(before) or _is_wide(after)


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in "WF" and not "\uac00" <= letter <= "\ud7a3"  # Korean breaks at spaces


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter) in ("Mn", "Me", "Mc", "Cf")


def _width(letters: Sequence[tuple[str, Look]]) -> float:
    return sum(_piece_width(text, look) for text, look in _runs(_stripped(letters)))


def _stripped(letters: Sequence[tuple[str, Look]]) -> Sequence[tuple[str, Look]]:
    end = len(letters)
    while end > 1 and letters[end - 1][0] == " ":
        end -= 1
    return letters[:end]


def _runs(letters: Sequence[tuple[str, Look]]) -> list[tuple[str, Look]]:
    return [("".join(letter for letter, _ in group), look) for look, group in groupby(letters, key=itemgetter(1))]


@lru_cache(maxsize=4096)
def _piece_width(text: str, look: Look) -> float:
    return sum(_length(part, look, font) for part, font in _split(text, look))


def _split(text: str, look: Look) -> list[tuple[str, FontFile]]:
    return split_by_font(text, look.family, bold=look.bold, italic=look.italic, substitute=look.substitute)


def _length(text: str, look: Look, font: FontFile) -> float:
    return load(font, look.pixels).getlength(text, direction=_direction(text))


def _line(letters: Sequence[tuple[str, Look]]) -> Line:
    """The letters of one line in pieces, from left to right as they are seen."""
    stripped = _stripped(letters)
    parts = [(part, look, font) for text, look in _runs(stripped) for part, font in _split(text, look)]
    direction = _direction("".join(text for text, _, _ in parts))
    pieces: list[Piece] = []
    left = 0.0
    for text, look, font in reversed(parts) if direction == "rtl" else parts:
        width = load(font, look.pixels).getlength(text, direction=direction)
        pieces.append(Piece(text, look, font, direction, left, width))
        left += width
    metrics = [load(font, look.pixels).getmetrics() for _, look, font in parts]
    ascent, descent = max(metric[0] for metric in metrics), max(metric[1] for metric in metrics)
    return Line(tuple(pieces), max(1, round(left)), ascent, descent, len(stripped))


def _direction(text: str) -> str | None:
    """Of the first letter that has one."""
    if not features.check("raqm"):
        return None
    for letter in text:
        kind = unicodedata.bidirectional(letter)
        if kind in ("R", "AL"):
            return "rtl"
        if kind == "L":
            return "ltr"
    return "ltr"


def _require_shaping(text: str) -> None:
    shaped = [letter for letter in text if any(low <= ord(letter) <= high for low, high in _SHAPED)]
    if shaped and not features.check("raqm"):
        raise InputError(
            f"the text {text[:30]!r} needs shaping and Pillow has no raqm here: install Pillow's own wheel, or libraqm"
        )
