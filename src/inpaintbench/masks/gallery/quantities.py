"""What one page measures on its tiles, and the words and views that go with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# Shares nearer than this are printed alike.
_SAME = 5e-5


@dataclass(frozen=True)
class View:
    """One way to look at all tiles; the style knows it as ``view-<name>``."""

    name: str
    label: str
    title: str


@dataclass(frozen=True)
class Quantity:
    """A share 0..1 that is measured on every frame of a tile."""

    noun: str
    """What a tile shows: ``mask``."""
    name: str
    """Of the share: ``area``."""
    fact: str
    """Of a generator, that says the same."""
    views: tuple[View, ...]
    has_parts: bool
    """Whether connected parts of a hole are counted beside it."""
    terms: tuple[tuple[str, str], ...]
    """Words of the page, each with the rest of a sentence that says what was measured."""

    def repeats(self, name: str, value: Any, measured: float) -> bool:
        """Whether the fact ``name`` only says again what was measured."""
        return name == self.fact and isinstance(value, float) and abs(value - measured) < _SAME


_INPUT = View("input", "Input", "What a method sees")
AREA = Quantity(
    noun="mask",
    name="area",
    fact="area_fraction",
    views=(
        _INPUT,
        View("outline", "Outline", "The hole in yellow over the truth"),
        View("hole", "Hole", "The hole alone, white"),
    ),
    has_parts=True,
    terms=(
        ("Area", "is the share of hole pixels in the frame, for clips the mean over frames."),
        ("Parts", "are connected pieces of the hole in the frame with the largest hole, corners touching."),
    ),
)
CHANGE = Quantity(
    noun="degradation",
    name="change",
    fact="change_rms",
    views=(_INPUT, View("truth", "Truth", "What is to be recovered")),
    has_parts=False,
    terms=(
        (
            "Change",
            "is the root mean square difference between input and truth, as a share of the full range from black to white: in"
            " grey where the truth is grey, otherwise over red, green and blue; for clips the mean over frames.",
        ),
    ),
)
