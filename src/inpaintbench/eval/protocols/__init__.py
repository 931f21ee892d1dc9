"""Protocols: each names every constant that a score depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench import frozen
from inpaintbench.catalogue import Catalogue
from inpaintbench.types import Dataset

if TYPE_CHECKING:
    from inpaintbench.eval.protocols.base import Protocol

PROTOCOLS: Catalogue[Protocol] = Catalogue(
    "protocol",
    {
        "devil/as-published": "inpaintbench.eval.protocols.devil:AS_PUBLISHED",
        "devil/corrected": "inpaintbench.eval.protocols.devil:CORRECTED",
        "e2fgvi-legacy": "inpaintbench.eval.protocols.e2fgvi:LEGACY",
        "lama": "inpaintbench.eval.protocols.lama:LAMA",
        "comodgan": "inpaintbench.eval.protocols.comodgan:COMODGAN",
        "no-reference/koniq": "inpaintbench.eval.protocols.no_reference:KONIQ",
        "no-reference/spaq": "inpaintbench.eval.protocols.no_reference:SPAQ",
        "reinpaint/as-published": "inpaintbench.eval.protocols.reinpaint:AS_PUBLISHED",
        "reinpaint/corrected": "inpaintbench.eval.protocols.reinpaint:CORRECTED",
        "editboard/as-published": "inpaintbench.eval.protocols.editboard:AS_PUBLISHED",
        "editboard/as-published-gif": "inpaintbench.eval.protocols.editboard:AS_PUBLISHED_GIF",
        "editboard/paper": "inpaintbench.eval.protocols.editboard:PAPER",
        "editboard/corrected": "inpaintbench.eval.protocols.editboard:CORRECTED",
        "humans/as-published": "inpaintbench.eval.protocols.humans:AS_PUBLISHED",
        "humans/corrected": "inpaintbench.eval.protocols.humans:CORRECTED",
        "decaption/as-published": "inpaintbench.eval.protocols.decaption:AS_PUBLISHED",
        "decaption/corrected": "inpaintbench.eval.protocols.decaption:CORRECTED",
        "fingerprint/as-published": "inpaintbench.eval.protocols.fingerprint:AS_PUBLISHED",
        "fingerprint/corrected": "inpaintbench.eval.protocols.fingerprint:CORRECTED",
    },
)
_USUAL = {
    "humans": "humans/corrected",
    "decaption": "decaption/corrected",
    "editing": "editboard/corrected",
    "fingerprint": "fingerprint/corrected",
}


def usual(dataset: Dataset) -> str:
    """The protocol that a benchmark is scored under unless another is asked for: the corrected one of its recipe.

    Of a recipe that has none of its own, the one that measures holes, or whole frames where no item has a hole.
    """
    holes = any(map(frozen.has_hole, dataset.items))
    recipe = str(dataset.recipe.get("recipe"))
    if recipe == "reinpaint" and dataset.recipe.get("second_masks", 1):  # without second masks nothing is inpainted again
        return "reinpaint/corrected"
    return _USUAL.get(recipe, "devil/corrected" if holes else "fingerprint/corrected")
