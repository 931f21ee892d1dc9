"""Leaves that make holes."""

from __future__ import annotations

from inpaintbench.catalogue import Catalogue

GENERATORS = Catalogue(
    "mask generator",
    {
        "devil_blobs": "inpaintbench.masks.generators.devil_blobs:DevilBlobs",
    },
)
