"""Normalizer leaves: how frames of any size become frames of one size."""

from inpaintbench.catalogue import Catalogue

NORMALIZERS = Catalogue("normalizer", {"cover": "inpaintbench.curation.normalizers.cover:Cover"})
