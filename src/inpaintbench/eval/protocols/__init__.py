"""Protocols: each names every constant that a score depends on."""

from inpaintbench.catalogue import Catalogue

PROTOCOLS = Catalogue(
    "protocol",
    {
        "devil/as-published": "inpaintbench.eval.protocols.devil:AS_PUBLISHED",
        "devil/corrected": "inpaintbench.eval.protocols.devil:CORRECTED",
    },
)
