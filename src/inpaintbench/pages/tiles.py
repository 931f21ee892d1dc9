"""A small picture with words below as plain data, drawn by one macro: ``tiles`` of ``pages/templates/parts.html``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tile:
    """One picture. Texts are escaped."""

    label: str
    """What it shows, for screen readers."""
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
    """Where the picture leads."""
    title: str = ""
    """Told where the pointer rests."""
    state: str = ""
    """A class of the stylesheet: ``kept``, ``dropped``, ``waiting``."""
