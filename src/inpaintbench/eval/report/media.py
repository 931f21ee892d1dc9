"""Pixels for the report: truth, input and composites of the items of a run."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from inpaintbench import frozen, video
from inpaintbench.errors import MediaError
from inpaintbench.eval.adapters.fitting import fitted
from inpaintbench.eval.protocols.base import Protocol
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
        protocol: says what is done with predictions of another size than their item's (those it cannot score are not shown),
            and what lies around the hole: the truth, the input, or what was predicted there.
    """

    def __init__(
        self, root: Path | str, dataset: Dataset, blobs: Blobs, predictions: Sequence[Prediction], *, protocol: Protocol
    ) -> None:
        self._root, self._blobs, self._protocol = root, blobs, protocol
        self._rows = {row["item_id"]: row for row in dataset.items}
        self._prediction_of = {(row.item_id, row.method): row for row in predictions}
        self._held = _Held()

    def frames(self, item_id: str, channel: str) -> Frames | None:
        """``truth`` (the input where nobody has it), ``input`` (hole filled), or what is scored of the method ``channel``; None
        without a prediction that can be scored.

        Raises:
            VerifyError: what is to be shown is not what was published or predicted.
        """
        truth, hole = self._loaded(item_id)
        if channel == "truth":
            return truth
        if channel == "input":
            return frozen.corrupted(self._root, self._rows[item_id], lambda: hole, truth=lambda: truth)
        prediction = self._prediction_of.get((item_id, channel))
        return None if prediction is None else self._scored(item_id, prediction)

    def hole(self, item_id: str) -> Hole | None:
        """The hole of the item, ``bool[T, H, W]``; None where every pixel is degraded."""
        return self._loaded(item_id)[1] if frozen.has_hole(self._rows[item_id]) else None

    def _scored(self, item_id: str, prediction: Prediction) -> Frames | None:
        truth, hole = self._loaded(item_id)
        try:
            read = video.read_frames(self._blobs.proved(prediction.blob, of=f"the prediction of item {item_id!r}: "))
            frames = fitted(read, self._rows[item_id], resize=self._protocol.resize)
        except MediaError:  # scored as missing, with the reason
            return None
        if self._protocol.known_from == "truth":
            return composite_in_place(truth, hole, frames)
        if not self._protocol.composite and prediction.full_frames:
            return frames
        return composite_in_place(frozen.corrupted(self._root, self._rows[item_id], lambda: hole), hole, frames)

    def _loaded(self, item_id: str) -> tuple[Frames, Hole]:
        held = self._held.item
        if held is None or held[0] != item_id:
            row = self._rows[item_id]
            if frozen.is_unpaired(row):
                held = (item_id, frozen.input_view(self._root, row).input, frozen.hole_of(self._root, row))
            else:
                held = (item_id, *frozen.truth_and_hole(self._root, row))
            self._held.item = held
        return held[1], held[2]


class HowShown(TypedDict):
    """Arguments of ``gallery.make_exhibits``."""

    edits: bool
    whole: bool


def how_shown(dataset: Dataset, protocol: Protocol) -> HowShown:
    """Return whether items have one picture beside their results, and whether these differ outside the hole too."""
    single = any(frozen.is_edit(row) or frozen.is_unpaired(row) for row in dataset.items)
    return {"edits": single, "whole": protocol.known_from != "truth"}
