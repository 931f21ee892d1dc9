"""ASS override tags inside a text: ``{\\i1}``, ``{\\c&H0000FF&}``, ``{\\an8}`` ..."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

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
