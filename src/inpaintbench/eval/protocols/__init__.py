"""Protocols: each names every constant that a score depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench import frozen
from inpaintbench.benchmarks import benchmark_of
from inpaintbench.catalogue import Catalogue, joined
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.metrics import METRICS
from inpaintbench.types import Dataset

if TYPE_CHECKING:
    from inpaintbench.eval.protocols.base import Protocol

PROTOCOLS: Catalogue[Protocol] = Catalogue(
    "protocol",
    {
        "devil/as-published": "inpaintbench.eval.protocols:devil.toml",
        "devil/corrected": "inpaintbench.eval.protocols:devil.toml",
        "devil/imperfect": "inpaintbench.eval.protocols:devil.toml",
        "devil/mask_error": "inpaintbench.eval.protocols:devil.toml",
        "e2fgvi-legacy": "inpaintbench.eval.protocols:published.toml",
        "e2fgvi": "inpaintbench.eval.protocols:published.toml",
        "propainter": "inpaintbench.eval.protocols:published.toml",
        "lama": "inpaintbench.eval.protocols:published.toml",
        "comodgan": "inpaintbench.eval.protocols:published.toml",
        "no-reference/koniq": "inpaintbench.eval.protocols:further.toml",
        "no-reference/spaq": "inpaintbench.eval.protocols:further.toml",
        "brought/as-published": "inpaintbench.eval.protocols:further.toml",
        "brought/corrected": "inpaintbench.eval.protocols:further.toml",
        "judge/removal": "inpaintbench.eval.protocols:further.toml",
        "judge/inpainting": "inpaintbench.eval.protocols:further.toml",
        "judge/editing": "inpaintbench.eval.protocols:further.toml",
        "sets/corrected": "inpaintbench.eval.protocols:further.toml",
        "structure/as-published": "inpaintbench.eval.protocols:further.toml",
        "structure/corrected": "inpaintbench.eval.protocols:further.toml",
        "removal/paired": "inpaintbench.eval.protocols:removal.toml",
        "removal/pasted": "inpaintbench.eval.protocols:removal.toml",
        "removal/unpaired": "inpaintbench.eval.protocols:removal.toml",
        "removal/as-published": "inpaintbench.eval.protocols:removal.toml",
        "prove/as-published": "inpaintbench.eval.protocols:published.toml",
        "five/as-published": "inpaintbench.eval.protocols:published.toml",
        "ivebench/as-published": "inpaintbench.eval.protocols:published.toml",
        "vpbench/as-published": "inpaintbench.eval.protocols:published.toml",
    },
    reads="inpaintbench.eval.protocols.base:protocols_in",
)


def usual(dataset: Dataset) -> str:
    """The protocol that a benchmark is scored under unless another is asked for: the corrected one of its recipe.

    Of a recipe that has none of its own, the one that measures holes, or whole frames where no item has a hole.
    """
    benchmark = benchmark_of(dataset)
    if benchmark.unpaired_protocol and all(map(frozen.is_unpaired, dataset.items)):
        return benchmark.unpaired_protocol
    if benchmark.protocol and (not benchmark.scored_besides or dataset.recipe.get("second_masks", 1)):
        return benchmark.protocol
    if dataset.recipe.get("imperfect"):
        return "devil/imperfect"
    if any(axis["name"] == "mask_error" for axis in dataset.facts.get("axes", ())):
        return "devil/mask_error"
    # Nothing is inpainted again without second masks.
    if any(map(frozen.has_hole, dataset.items)):
        return "devil/corrected"
    return joined("protocol of whole frames").get("usual", "devil/corrected")


class Applicable:
    """Test of which leaves have what they need in a dataset."""

    def __init__(self, dataset: Dataset) -> None:
        rows = dataset.items
        edits = {"prompts", "object_mask"} if any(map(frozen.is_edit, rows)) else set()
        hole = {"hole"} if any(frozen.has_hole(row) and row["hole_is_given"] for row in rows) else set()
        joints = {"joints"} if any(row["attributes"].get("joints") for row in rows) else set()
        # Where nothing is missing the hole that metrics see is the whole frame, so there always is one.
        captions = {"prompts"} if any(row["attributes"].get("caption") for row in rows) else set()
        self._given = {"input"} | hole | edits | captions
        self._scored = {"truth", "hole", "prediction", "composite"} | joints | edits | captions
        self._again = any(row.get("second_hole_file_names") for row in rows)

    def method(self, name: str) -> bool:
        """Return whether it can run on what methods are given."""
        return self._given.issuperset(METHODS.get(name).needs)

    def metric(self, name: str) -> bool:
        """Return whether it can be measured; what needs no part of an item is measured by inpainting results again."""
        needs = METRICS.get(name).needs
        return self._scored.issuperset(needs) if needs else self._again

    def protocol(self, protocol: Protocol) -> bool:
        """Return whether all of its metrics can be measured, or the holes are there to inpaint results again under."""
        return self._again if protocol.scorer else all(map(self.metric, protocol.metrics))
