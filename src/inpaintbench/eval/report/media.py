"""Pixels for the report: truth, input and composites of the items of a run."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from inpaintbench import frozen, video
from inpaintbench.errors import MediaError
from inpaintbench.eval.scoring.fitting import fitted
from inpaintbench.types import Dataset, Frames, Hole, Prediction
from inpaintbench.view import composite_in_place
from inpaintbench.workspace import Blobs


class _Held(threading.local):
    """Id, truth and hole of the item that a thread asked for last."""

    item: tuple[str, Frames, Hole] | None = None


class PredictionMedia:
    """Decodes what a gallery asks for; holds one item at a time for each thread that asks.

    Args:
        root: folder of the dataset.
        dataset: its manifest.
        blobs: where the predictions lie.
        predictions: of any methods.
        resize: what the protocol does with predictions of another size than their item's; those it cannot score are not shown.
    """

    def __init__(
        self, root: Path | str, dataset: Dataset, blobs: Blobs, predictions: Sequence[Prediction], *, resize: str = "none"
    ) -> None:
        self._root, self._blobs, self._resize = root, blobs, resize
        self._rows = {row["item_id"]: row for row in dataset.items}
        self._blob_of = {(row.item_id, row.method): row.blob for row in predictions}
        self._held = _Held()

    def frames(self, item_id: str, channel: str) -> Frames | None:
        """``truth``, ``input`` (hole filled), or the composite of the method called ``channel``; None without one that can be
        scored."""
        truth, hole = self._loaded(item_id)
        if channel == "truth":
            return truth
        if channel == "input":
            return frozen.corrupted(self._root, self._rows[item_id], lambda: hole, truth=lambda: truth)
        blob = self._blob_of.get((item_id, channel))
        return None if blob is None else self._composite(item_id, blob)

    def hole(self, item_id: str) -> Hole | None:
        """The hole of the item, ``bool[T, H, W]``; None where every pixel is degraded."""
        return self._loaded(item_id)[1] if frozen.has_hole(self._rows[item_id]) else None

    def _composite(self, item_id: str, blob: str) -> Frames | None:
        truth, hole = self._loaded(item_id)
        try:
            frames = fitted(video.read_frames(self._blobs.path(blob)), self._rows[item_id], resize=self._resize)
        except MediaError:  # scored as missing, with the reason
            return None
        return composite_in_place(truth, hole, frames)

    def _loaded(self, item_id: str) -> tuple[Frames, Hole]:
        held = self._held.item
        if held is None or held[0] != item_id:
            held = self._held.item = (item_id, *frozen.truth_and_hole(self._root, self._rows[item_id]))
        return held[1], held[2]
