"""Colours and markers of methods, by name: a method looks the same on every page that shows the same methods."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

# Okabe and Ito's colours for all kinds of colour vision, without black and yellow, and two more.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8C6BB1", "#A67C52")
# Names of Vega's shapes; one for each turn through the palette, so that two methods of one colour have two markers.
MARKERS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4], [12, 3])
# Grey of methods that do not compete.
REFERENCE = "#7A8793"


class MethodStyle(NamedTuple):
    """Look of one method."""

    colour: str
    marker: str
    """One of ``MARKERS``."""
    dash: list[int]
    """Pixels drawn and left out in turn, of its lines."""


def method_styles(methods: Iterable[str], references: Iterable[str] = ()) -> dict[str, MethodStyle]:
    """Name -> style. A name prefers the same colour everywhere; where two prefer one, the later in the alphabet takes the next.

    Args:
        methods: all that are shown together, references among them or not.
        references: those that do not compete; all in one grey.
    """
    competing = sorted(set(methods) - set(references))
    styles: dict[str, MethodStyle] = {name: MethodStyle(REFERENCE, MARKERS[0], DASHES[1]) for name in references}
    taken: set[int] = set()
    slots = len(PALETTE) * len(MARKERS)
    for place, name in enumerate(competing):
        turn = place // len(PALETTE) * len(PALETTE)
        wished = turn + int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) % len(PALETTE)
        slot = next((one for one in (*range(wished, turn + len(PALETTE)), *range(turn, wished)) if one not in taken), wished)
        taken.add(slot)
        again, colour = divmod(slot % slots, len(PALETTE))
        styles[name] = MethodStyle(PALETTE[colour], MARKERS[again], DASHES[again])
    return styles
