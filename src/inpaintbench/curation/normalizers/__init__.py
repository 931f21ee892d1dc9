"""Normalizer leaves: how frames of any size become frames of one size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.curation.normalizers.base import Normalizer

NORMALIZERS: Catalogue[type[Normalizer]] = Catalogue(
    "normalizer",
    {
        "as_is": "inpaintbench.curation.normalizers.as_is:AsIs",
        "contain": "inpaintbench.curation.normalizers.contain:Contain",
        "cover": "inpaintbench.curation.normalizers.cover:Cover",
        "crop": "inpaintbench.curation.normalizers.crop:Crop",
        "shortest_side": "inpaintbench.curation.normalizers.shortest_side:ShortestSide",
        "stretch": "inpaintbench.curation.normalizers.stretch:Stretch",
    },
    base="inpaintbench.curation.normalizers.base:Normalizer",
)
