"""Pieces of standalone SVG: text, lines, and round ticks for an axis. Everything that comes from data is escaped here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

INK, SOFT, GRID, BASE, GROUND = "#15191f", "#59636f", "#e4e7ec", "#8a949f", "#ffffff"
_FONT = "Inter, system-ui, -apple-system, Segoe UI, Noto Sans, DejaVu Sans, sans-serif"
_LETTER_SHARE = 0.56
"""Width of a mean letter, of the size of its font."""
_LINE_PIXELS = 17
_MOST_LETTERS = 34
_ALIKE = 1e-9
"""Ends of an axis that are apart by a smaller share are one value, computed in two ways: there is no step between them."""
_TICKS = 3.2
"""Roughly how many an axis has."""


def document(parts: Sequence[str], *, width: float, height: float, label: str) -> str:
    """A whole picture on white; ``label`` is what a screen reader says."""
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(label)}" font-family="{_FONT}">'
        f'<rect width="{width:g}" height="{height:g}" fill="{GROUND}"/>{"".join(parts)}</svg>\n'
    )


def text(x: float, y: float, words: str, *, size: float, colour: str = INK, anchor: str = "start", bold: bool = False) -> str:
    """One line of text."""
    weight = ' font-weight="650"' if bold else ""
    place = f'x="{x:.6g}" y="{y:.6g}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"{weight}'
    return f"<text {place}>{escape(words)}</text>"


def line(x1: float, y1: float, x2: float, y2: float, *, colour: str, width: float = 1.0) -> str:
    """A straight line."""
    return f'<line x1="{x1:.6g}" y1="{y1:.6g}" x2="{x2:.6g}" y2="{y2:.6g}" stroke="{colour}" stroke-width="{width}"/>'


def told(words: str, *parts: str) -> str:
    """Parts that say ``words`` when they are pointed at."""
    return f"<g><title>{escape(words)}</title>{''.join(parts)}</g>"


def width_of(words: str, *, size: float) -> float:
    """About how many pixels wide a text is."""
    return _LETTER_SHARE * size * len(words)


def shorten(name: str) -> str:
    """A name of at most 34 letters."""
    return name if len(name) <= _MOST_LETTERS else name[: _MOST_LETTERS - 1] + "…"


def sentence(words: str, *, x: float, y: float, width: float) -> tuple[list[str], float]:
    """A sentence broken into lines of at most ``width`` pixels, and the height of them all."""
    size, lines = 12.5, [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and width_of(longer, size=size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    found = [text(x, y + _LINE_PIXELS * index, part, size=size, colour=SOFT) for index, part in enumerate(lines)]
    return found, _LINE_PIXELS * len(lines)


def legend(entries: Sequence[tuple[str, str]], *, x: float, y: float, width: float) -> tuple[list[str], float]:
    """Dots of colours with names in lines of at most ``width`` pixels, and the height of them all."""
    parts, left, top = [], x, y
    for name, colour in entries:
        wide = width_of(shorten(name), size=12.5) + 32
        if left > x and left + wide > x + width:
            left, top = x, top + _LINE_PIXELS + 2
        parts.append(f'<circle cx="{left + 5:.6g}" cy="{top:.6g}" r="4.5" fill="{colour}"/>')
        parts.append(text(left + 15, top + 4, shorten(name), size=12.5))
        left += wide
    return parts, top - y + 24 if entries else 0.0


def scale(values: Sequence[float], *, from_zero: bool) -> list[float]:
    """Round ticks of an axis that holds ``values``: the first and the last are its ends."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low <= _ALIKE * max(abs(low), abs(high)):
        low, high = low - (abs(low) or 1.0) / 2, high + (abs(high) or 1.0) / 2
    rough = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next(part for part in (1, 2, 5, 10) if part * power >= 0.7 * rough)
    places = range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)
    return [place * step for place in places]


def tick_words(ticks: Sequence[float], *, percent: bool) -> list[str]:
    """How ticks are written, all with the same decimals."""
    factor = 100 if percent else 1
    step = (ticks[1] - ticks[0]) * factor
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    settled = [0.0 if abs(tick * factor) < step * 1e-6 else tick * factor for tick in ticks]
    words = [f"{tick:.3g}" if decimals > 5 or step >= 1e7 else f"{tick:,.{decimals}f}" for tick in settled]
    return [word.replace("-", "−") + "%" * percent for word in words]
