"""Splitter leaves: how a source is divided into clips."""

from inpaintbench.catalogue import Catalogue

SPLITTERS = Catalogue("splitter", {"windows": "inpaintbench.curation.splitters.windows:Windows"})
