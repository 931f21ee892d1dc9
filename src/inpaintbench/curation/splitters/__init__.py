"""Splitter leaves: how a source is divided into clips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.curation.splitters.base import Splitter

SPLITTERS: Catalogue[type[Splitter]] = Catalogue(
    "splitter",
    {
        "samples": "inpaintbench.curation.splitters.windows:Samples",
        "seconds": "inpaintbench.curation.splitters.windows:Seconds",
        "shots": "inpaintbench.curation.splitters.shots:Shots",
        "windows": "inpaintbench.curation.splitters.windows:Windows",
    },
    base="inpaintbench.curation.splitters.base:Splitter",
)
