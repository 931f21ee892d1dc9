"""The contract of sources, wherever their footage comes from."""

from __future__ import annotations

import json
import tempfile
from itertools import islice
from pathlib import Path

from inpaintbench.contracts import NotChecked, checks_above, require, states_its_facts
from inpaintbench.curation.sources.base import Footage, SourceLeaf

# Pieces of footage that are obtained; others are looked at without.
_MOST = 3


def lists_the_same_footage_twice(source: SourceLeaf) -> None:
    """In the same order, each under a name of its own, with a payload that can be sent to a worker."""
    pieces, again = (_footage(source) for _ in range(2))
    require(pieces == again, "the second time it lists other footage")
    names = [piece.name for piece in pieces]
    twice = {name for name in names if names.count(name) > 1}
    require(not twice, f"two pieces are called {', '.join(sorted(twice))}")
    for piece in pieces:
        require(piece.origin == source.name, f"{piece.name} says that it comes from {piece.origin!r}, not {source.name!r}")
        json.dumps([dict(piece.payload), dict(piece.known), dict(piece.data)], allow_nan=False)


def obtains_files(source: SourceLeaf) -> None:
    """One for each piece of footage."""
    for piece in islice(_footage(source), _MOST):
        with tempfile.TemporaryDirectory(prefix="inpaintbench-") as scratch:
            path = Path(source.obtain(piece.payload, scratch))
            require(path.is_file() and path.stat().st_size, f"of {piece.name} it gives {path}, which is no file")


CHECKS = (states_its_facts, *checks_above(globals()))


def _footage(source: SourceLeaf) -> list[Footage]:
    pieces = list(source.footage())
    if not pieces:
        raise NotChecked("it has no footage; give the constants that name some")
    return pieces
