"""Normalizer leaves: how frames of any size become frames of one size."""

from inpaintbench.catalogue import Catalogue

NORMALIZERS = Catalogue(
    "normalizer",
    {
        "as_is": "inpaintbench.curation.normalizers.as_is:AsIs",
        "contain": "inpaintbench.curation.normalizers.contain:Contain",
        "cover": "inpaintbench.curation.normalizers.cover:Cover",
        "crop": "inpaintbench.curation.normalizers.crop:Crop",
        "shortest_side": "inpaintbench.curation.normalizers.shortest_side:ShortestSide",
        "stretch": "inpaintbench.curation.normalizers.stretch:Stretch",
    },
)
