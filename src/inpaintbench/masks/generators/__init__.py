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
        "patches": "inpaintbench.masks.generators.patches:Patches",
        "rectangles": "inpaintbench.masks.generators.rectangles:Rectangles",
        "centre_square": "inpaintbench.masks.generators.centre_square:CentreSquare",
        "half_frame": "inpaintbench.masks.generators.half_frame:HalfFrame",
        "outpainting": "inpaintbench.masks.generators.outpainting:Outpainting",
        "given_blocks": "inpaintbench.masks.generators.given_blocks:GivenBlocks",
        "saved_masks": "inpaintbench.masks.generators.saved_masks:SavedMasks",
        "own_mask": "inpaintbench.masks.generators.own_mask:OwnMask",
        "imperfect_mask": "inpaintbench.masks.generators.imperfect_mask:ImperfectMask",
        "varied": "inpaintbench.masks.generators.varied:Varied",
        "subtitles": "inpaintbench.masks.generators.subtitles:Subtitles",
    },
    base="inpaintbench.masks.generators.base:Generator",
)
