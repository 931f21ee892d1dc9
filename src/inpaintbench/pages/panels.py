"""Parts of a page other than tables and plots, as plain data: panels of bars, gauges, facts, pictures and sentences.

Each is drawn by a macro of ``pages/templates/parts.html``; the macro ``drawn`` also takes tables, finished markup (plots) and
texts (as small print).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from inpaintbench.pages.words import number

_TICKS = 5


class Scale(NamedTuple):
    """A range that values are placed in."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """The value's place as a share 0..1, values outside at the nearer end; the middle where the range is empty."""
        return (min(max(value, self.low), self.high) - self.low) / (self.high - self.low) if self.high > self.low else 0.5

    def ends(self, value: float, low: float | None, high: float | None) -> tuple[float, float | None, float | None]:
        """Places of a value and of its interval, which may be missing."""
        return self.place(value), None if low is None else self.place(low), None if high is None else self.place(high)

    def ticks(self, texts: Mapping[float, str]) -> tuple[tuple[float, str], ...]:
        """Places of values and their texts."""
        return tuple((self.place(value), text) for value, text in texts.items())

    def round_values(self) -> dict[float, str]:
        """About five round numbers from the low end to the high one, and how they are written."""
        if not self.high > self.low:
            return {self.low: number(self.low, 2)}
        rough = (self.high - self.low) / _TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = power * next(part for part in (1, 2, 5, 10) if part * power >= 0.9 * rough)
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        places = range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)
        return {place * step: number(place * step, decimals) for place in places}


@dataclass(frozen=True)
class Bar:
    """One line of ``Bars``."""

    name: str
    length: float
    """0..1 of the room there is."""
    text: str
    note: str = ""
    colour: str = ""
    is_method: bool = False
    """The name is that of a method."""


@dataclass(frozen=True)
class Bars:
    """Lengths below one another, each with its number."""

    label: str
    """Name for screen readers."""
    rows: tuple[Bar, ...]


class Portion(NamedTuple):
    """A part of a ``Stack``."""

    name: str
    n: int
    colour: str


@dataclass(frozen=True)
class Stack:
    """One bar of parts that make up a whole."""

    label: str
    portions: tuple[Portion, ...]
    key: bool = False
    """The label stands above, and below what each colour is, with its share and number."""

    @property
    def total(self) -> int:
        """All portions together, at least 1."""
        return sum(portion.n for portion in self.portions) or 1


@dataclass(frozen=True)
class Gauge:
    """A value on a line with its interval."""

    ends: tuple[float, float | None, float | None]
    """The value and the ends of its interval, 0..1 along the line."""
    ticks: tuple[tuple[float, str], ...]
    """Places 0..1 along the line, and what stands there."""


class Fact(NamedTuple):
    """A term, what holds for it, and small print."""

    term: str
    text: str
    note: str = ""


@dataclass(frozen=True)
class Facts:
    """Terms and what holds for each."""

    rows: tuple[Fact, ...]


@dataclass(frozen=True)
class Statement:
    """A sentence in full ink, with what may stand before it."""

    text: str
    value: str = ""
    """A number in large type."""
    interval: str = ""
    state: str = ""
    """One word in a coloured field."""
    good: bool = True
    """True when that state is the wished one."""


@dataclass(frozen=True)
class Caution:
    """A sentence that warns."""

    text: str


@dataclass(frozen=True)
class Panel:
    """A titled part in a frame, beside others or as wide as the page."""

    title: str
    parts: tuple[object, ...]
    """Any of the above, ``Table``, ``Markup``, and texts as small print."""
    tag: str = ""
    """Small print beside the title."""
    wide: bool = False


@dataclass(frozen=True)
class Card:
    """A number that the page begins with."""

    term: str
    text: str
    note: str = ""
    share: float | None = None
    """0..1; drawn as a bar."""
    state: str = ""
    """``good`` or ``open``; colours the text."""


class Method(NamedTuple):
    """The name of a method, drawn behind a dot of its colour."""

    name: str


class Tagged(NamedTuple):
    """A text with a small tag behind it, such as an attribute with its level."""

    text: str
    tag: str | None


class Link(NamedTuple):
    """A way to a part of the page, or to another page."""

    href: str
    text: str


# Drawn by the macro `say`, without spaces between its parts.
Sentence = tuple["str | Method | Tagged | Link", ...]


def plain(sentence: Sentence) -> str:
    """The sentence as plain text."""
    words = []
    for part in sentence:
        if isinstance(part, Tagged):
            words.append(f"{part.text} {part.tag}" if part.tag else part.text)
        else:
            words.append(part if isinstance(part, str) else part.name if isinstance(part, Method) else part.text)
    return "".join(words)


@dataclass(frozen=True)
class Tile:
    """One picture. Texts are escaped."""

    label: str
    """Description for screen readers."""
    picture: str = ""
    """Class of the stylesheet whose background it is; empty where there is no picture."""
    ratio: float = 1.0
    """Width over height."""
    lines: tuple[str, ...] = ()
    """Words below it."""
    names: tuple[str, ...] = ()
    """Small print below those."""
    code: str = ""
    """Something to copy, below all."""
    href: str = ""
    """Address that the picture links to."""
    title: str = ""
    """Told where the pointer rests."""
    state: str = ""
    """A class of the stylesheet: ``kept``, ``dropped``, ``waiting``."""
