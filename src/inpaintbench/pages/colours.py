"""Colours, markers and dashes of methods, by name: a method looks the same on every page, whoever stands beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from inpaintbench.catalogue import joined

# Chosen by annealing in OKLab, to be far from one another and from REFERENCE under normal sight, protanopia, deuteranopia and
# tritanopia (Machado 2009): among colours of contrast 3 at least on white ground and panels, and near those in hue, on dark ones.
PALETTE = ("#135081", "#EA495B", "#238A08", "#8715F8", "#0C91F7", "#655608", "#BE21BA", "#900158")
DARK_PALETTE = ("#5B93FB", "#EE959B", "#008B03", "#7742FF", "#51CEFF", "#A5A03E", "#FB45CE", "#AA3EAF")
# The same as variables of the stylesheet (tokens.css), which take the one or the other.
COLOURS = tuple(f"var(--hue-{name})" for name in ("blue", "rose", "green", "violet", "sky", "brown", "magenta", "plum"))
# Names of Vega's shapes; two methods of one colour have two markers.
MARKERS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4], [12, 3])
# Grey of methods that do not compete.
REFERENCE = "#7A8793"


def _two_places(words: str) -> tuple[int, int]:
    colour, marker = map(int, words.split())
    return colour, marker


# Places in PALETTE and in MARKERS of known names. Those of one line are often shown together and share neither, as far as there
# are six; no two names of the table share both. Built-in methods, then those of DEVIL, CVPR 2022, Table 1.
KNOWN = {
    "telea": (0, 0), "navier_stokes": (1, 1), "biharmonic": (2, 2), "exemplar": (3, 3), "temporal_median": (4, 4),
    "affine_propagation": (5, 5), "lama": (6, 0), "stable_diffusion": (7, 1),
    "gaussian": (2, 1), "median": (4, 2), "blank": (5, 2),
    "edit_recolour": (0, 1), "edit_style": (1, 0), "edit_shift": (2, 3), "edit_flicker": (3, 2),
    "JointOpt": (0, 2), "VINet": (1, 3), "DFCNet": (2, 4), "CPNet": (3, 1), "OPN": (4, 5), "STTN": (5, 3), "FGVC": (6, 1),
    **{name: _two_places(words) for name, words in joined("look of a method").items()},
}  # fmt: skip


class MethodStyle(NamedTuple):
    """Look of one method."""

    colour: str
    """A variable of the stylesheet, or a grey that is the same light and dark."""
    marker: str
    """One of ``MARKERS``."""
    dash: list[int]
    """Pixels drawn and left out in turn, of its lines."""


def method_styles(methods: Iterable[str], references: Iterable[str] = ()) -> dict[str, MethodStyle]:
    """Name -> style: colour and marker follow from the name alone.

    Only where two shown methods would share both, the later in the alphabet takes another marker, and another colour where the
    markers of its own are used up; known names keep theirs.

    Args:
        methods: all that are shown together, references among them or not.
        references: those that do not compete; all in one grey.
    """
    references = tuple(references)
    competing = sorted(set(methods) - set(references), key=lambda name: (name not in KNOWN, name))
    styles = {name: MethodStyle(REFERENCE, MARKERS[0], DASHES[1]) for name in references}
    taken: set[tuple[int, int]] = set()
    for name in competing:
        colour, marker = place = next((one for one in _wished(name) if one not in taken), next(iter(_wished(name))))
        taken.add(place)
        styles[name] = MethodStyle(COLOURS[colour], MARKERS[marker], DASHES[marker])
    return {name: styles[name] for name in dict.fromkeys((*references, *sorted(competing)))}


def _wished(name: str) -> Iterable[tuple[int, int]]:
    """Places of colours and markers from the most wished to the least: all markers of a colour before the next colour."""
    hashed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
    colour, marker = KNOWN.get(name, (hashed % len(PALETTE), hashed // len(PALETTE) % len(MARKERS)))
    for other in range(len(PALETTE)):
        for step in range(len(MARKERS)):
            yield (colour + other) % len(PALETTE), (marker + step) % len(MARKERS)
