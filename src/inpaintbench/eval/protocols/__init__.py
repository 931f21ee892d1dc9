"""Protocols: each names every constant that a score depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench import frozen
from inpaintbench.benchmarks import benchmark_of
from inpaintbench.catalogue import Catalogue
from inpaintbench.types import Dataset

if TYPE_CHECKING:
    from inpaintbench.eval.protocols.base import Protocol

PROTOCOLS: Catalogue[Protocol] = Catalogue(
    "protocol",
    {
        "devil/as-published": "inpaintbench.eval.protocols.devil:AS_PUBLISHED",
        "devil/corrected": "inpaintbench.eval.protocols.devil:CORRECTED",
        "devil/imperfect": "inpaintbench.eval.protocols.devil:IMPERFECT",
        "devil/mask_error": "inpaintbench.eval.protocols.devil:MASK_ERROR",
        "e2fgvi-legacy": "inpaintbench.eval.protocols.video_inpainting:LEGACY",
        "e2fgvi": "inpaintbench.eval.protocols.video_inpainting:E2FGVI",
        "propainter": "inpaintbench.eval.protocols.video_inpainting:PROPAINTER",
        "lama": "inpaintbench.eval.protocols.lama:LAMA",
        "comodgan": "inpaintbench.eval.protocols.comodgan:COMODGAN",
        "no-reference/koniq": "inpaintbench.eval.protocols.no_reference:KONIQ",
        "no-reference/spaq": "inpaintbench.eval.protocols.no_reference:SPAQ",
        "brought/as-published": "inpaintbench.eval.protocols.brought:AS_PUBLISHED",
        "brought/corrected": "inpaintbench.eval.protocols.brought:CORRECTED",
        "judge/removal": "inpaintbench.eval.protocols.judge:REMOVAL",
        "judge/inpainting": "inpaintbench.eval.protocols.judge:INPAINTING",
        "judge/editing": "inpaintbench.eval.protocols.judge:EDITING",
        "judge/decaption": "inpaintbench.eval.protocols.judge:DECAPTION",
        "sets/corrected": "inpaintbench.eval.protocols.sets:CORRECTED",
        "structure/as-published": "inpaintbench.eval.protocols.structure:AS_PUBLISHED",
        "structure/corrected": "inpaintbench.eval.protocols.structure:CORRECTED",
        "removal/paired": "inpaintbench.eval.protocols.removal:PAIRED",
        "removal/pasted": "inpaintbench.eval.protocols.removal:PASTED",
        "removal/unpaired": "inpaintbench.eval.protocols.removal:UNPAIRED",
        "removal/as-published": "inpaintbench.eval.protocols.removal:AS_PUBLISHED",
    },
)


def usual(dataset: Dataset) -> str:
    """The protocol that a benchmark is scored under unless another is asked for: the corrected one of its recipe.

    Of a recipe that has none of its own, the one that measures holes, or whole frames where no item has a hole.
    """
    benchmark = benchmark_of(dataset)
    if benchmark.unpaired_protocol and all(map(frozen.is_unpaired, dataset.items)):
        return benchmark.unpaired_protocol
    if benchmark.protocol and (not benchmark.inpainted_again or dataset.recipe.get("second_masks", 1)):
        return benchmark.protocol
    if dataset.recipe.get("imperfect"):
        return "devil/imperfect"
    if any(axis["name"] == "mask_error" for axis in dataset.facts.get("axes", ())):
        return "devil/mask_error"
    # Nothing is inpainted again without second masks.
    return "devil/corrected" if any(map(frozen.has_hole, dataset.items)) else "fingerprint/corrected"
