"""Normalizer leaves: how frames of any size become frames of one size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.curation.normalizers.base import Normalizer

NORMALIZERS: Catalogue[type[Normalizer]] = Catalogue(
    "normalizer",
    {
        "as_is": "inpaintbench.curation.normalizers.sizing:AsIs",
        "contain": "inpaintbench.curation.normalizers.sizing:Contain",
        "cover": "inpaintbench.curation.normalizers.sizing:Cover",
        "crop": "inpaintbench.curation.normalizers.sizing:Crop",
        "shortest_side": "inpaintbench.curation.normalizers.sizing:ShortestSide",
        "stretch": "inpaintbench.curation.normalizers.sizing:Stretch",
    },
    base="inpaintbench.curation.normalizers.base:Normalizer",
)
