"""Catalogue of mask generators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.masks.generators.base import Generator

GENERATORS: Catalogue[type[Generator]] = Catalogue(
    "mask generator",
    {
        "devil_blobs": "inpaintbench.masks.generators.devil_blobs:DevilBlobs",
        "brush_box": "inpaintbench.masks.generators.brush_box:BrushBox",
        "patches": "inpaintbench.masks.generators.shapes:Patches",
        "rectangles": "inpaintbench.masks.generators.shapes:Rectangles",
        "centre_square": "inpaintbench.masks.generators.shapes:CentreSquare",
        "half_frame": "inpaintbench.masks.generators.shapes:HalfFrame",
        "outpainting": "inpaintbench.masks.generators.shapes:Outpainting",
        "given_blocks": "inpaintbench.masks.generators.given:GivenBlocks",
        "saved_masks": "inpaintbench.masks.generators.saved_masks:SavedMasks",
        "own_mask": "inpaintbench.masks.generators.given:OwnMask",
        "imperfect_mask": "inpaintbench.masks.generators.given:ImperfectMask",
        "varied": "inpaintbench.masks.generators.given:Varied",
        "subtitles": "inpaintbench.masks.generators.subtitles:Subtitles",
    },
    base="inpaintbench.masks.generators.base:Generator",
)
