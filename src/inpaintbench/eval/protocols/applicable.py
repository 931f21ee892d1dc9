"""Methods, metrics and protocols that have what they need in a dataset."""

from __future__ import annotations

from inpaintbench import frozen
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.types import Dataset


class Applicable:
    """Test of which leaves have what they need in a dataset."""

    def __init__(self, dataset: Dataset) -> None:
        rows = dataset.items
        edits = {"prompts", "object_mask"} if any(map(frozen.is_edit, rows)) else set()
        hole = {"hole"} if any(frozen.has_hole(row) and row["hole_is_given"] for row in rows) else set()
        joints = {"joints"} if any(row["attributes"].get("joints") for row in rows) else set()
        self._given = {"input"} | hole | edits
        # Where nothing is missing the hole that metrics see is the whole frame, so there always is one.
        self._scored = {"truth", "hole", "prediction", "composite"} | joints | edits
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
