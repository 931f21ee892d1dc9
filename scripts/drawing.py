"""Small SVG figures, written by hand: axes, dots, lines. On white, so that they can be read on dark pages too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

BLUE, ORANGE, GREEN, GREY, INK = "#1f6fb4", "#d1661b", "#2f8f4e", "#c9ced6", "#20242b"


@dataclass(frozen=True)
class Axis:
    """From values to places.

    Args:
        low, high: values at ``start`` and ``end``.
        start, end: pixels.
        logarithmic: whether equal distances are equal factors.
    """

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """The place of a value."""
        shape = math.log10 if self.logarithmic else float
        share = (shape(value) - shape(self.low)) / (shape(self.high) - shape(self.low))
        return self.start + share * (self.end - self.start)


@dataclass
class Figure:
    """What is drawn, in order.

    Args:
        width, height: of the whole figure in pixels.
        title: what it shows, for those who cannot see it.
    """

    width: int
    height: int
    title: str
    parts: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, words: str, *, size: int = 13, anchor: str = "start", colour: str = INK) -> None:
        """Words on the base line ``y``."""
        place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}"'
        self.parts.append(f"<text {place}>{escape(words)}</text>")

    def line(self, points: Sequence[tuple[float, float]], *, colour: str, width: float = 2, dashed: bool = False) -> None:
        """A line through points."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="{width:g}"{dash}/>')

    def dot(self, x: float, y: float, *, colour: str, radius: float = 4) -> None:
        """A dot."""
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}" fill-opacity="0.75"/>')

    def area(self, upper: Sequence[tuple[float, float]], lower: Sequence[tuple[float, float]], *, colour: str) -> None:
        """What lies between two lines."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in [*upper, *reversed(lower)])
        self.parts.append(f'<polygon points="{places}" fill="{colour}" fill-opacity="0.15"/>')

    def save(self, path: Path) -> None:
        """Write it."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" role="img" font-family="sans-serif">'
        )
        back = f'<rect width="{self.width}" height="{self.height}" fill="#ffffff"/>'
        path.write_text("\n".join([head, f"<title>{escape(self.title)}</title>", back, *self.parts, "</svg>\n"]))
