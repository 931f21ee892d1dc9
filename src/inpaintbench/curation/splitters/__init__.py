"""Splitter leaves: how a source is divided into clips."""

from inpaintbench.catalogue import Catalogue

SPLITTERS = Catalogue(
    "splitter",
    {
        "seconds": "inpaintbench.curation.splitters.seconds:Seconds",
        "shots": "inpaintbench.curation.splitters.shots:Shots",
        "windows": "inpaintbench.curation.splitters.windows:Windows",
    },
)
