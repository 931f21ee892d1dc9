"""Pixels for the report: truth, input and composites of the items of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from inpaintbench import frozen, video
from inpaintbench.types import Dataset, Frames, Hole, Prediction
from inpaintbench.view import composite
from inpaintbench.workspace import Blobs


class PredictionMedia:
    """Decodes what a gallery asks for; holds one item at a time."""

    def __init__(self, root: Path | str, dataset: Dataset, blobs: Blobs, predictions: Sequence[Prediction]) -> None:
        self._root, self._blobs = root, blobs
        self._rows = {row["item_id"]: row for row in dataset.items}
        self._blob_of = {(row.item_id, row.method): row.blob for row in predictions}
        self._held: dict[str, tuple[Frames, Hole]] = {}

    def frames(self, item_id: str, channel: str) -> Frames | None:
        """``truth``, ``input`` (hole filled), or the composite of the method called ``channel``; None without a prediction."""
        truth, hole = self._loaded(item_id)
        if channel == "truth":
            return truth
        if channel == "input":
            return frozen.corrupted(self._root, self._rows[item_id], lambda: hole)
        blob = self._blob_of.get((item_id, channel))
        return None if blob is None else composite(truth, hole, video.read_frames(self._blobs.path(blob)))

    def hole(self, item_id: str) -> Hole | None:
        """The hole of the item, ``bool[T, H, W]``; None where every pixel is degraded."""
        return self._loaded(item_id)[1] if frozen.has_hole(self._rows[item_id]) else None

    def _loaded(self, item_id: str) -> tuple[Frames, Hole]:
        if item_id not in self._held:
            self._held = {item_id: frozen.truth_and_hole(self._root, self._rows[item_id])}
        return self._held[item_id]
