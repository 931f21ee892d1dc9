"""Normalizer leaves: how frames of any size become frames of one size."""

from inpaintbench.catalogue import Catalogue

NORMALIZERS = Catalogue(
    "normalizer",
    {
        "as_is": "inpaintbench.curation.normalizers.as_is:AsIs",
        "cover": "inpaintbench.curation.normalizers.cover:Cover",
    },
)
