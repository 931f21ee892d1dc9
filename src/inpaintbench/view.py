"""View of an item for leaves: arrays decoded at first access, limited to the parts that the leaf declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.compute import Shared
from inpaintbench.errors import MissingPartError, UndeclaredNeedError
from inpaintbench.types import Alpha, Frames, Hole, Joint, Luma, Plain, Prompts, TextEvent

PARTS = (
    "truth", "luma", "input", "hole", "alpha", "first_hole", "joints", "timed_text", "undistorted", "print", "object_mask",
    "effect_mask", "prompts", "transitions", "prediction", "composite",
)  # fmt: skip


class ItemView:
    """Arrays of one item, loaded lazily.

    ``item_id``, ``frames``, ``height``, ``width`` and ``fps`` are always there. A part is loaded at first use and kept.
    ``declaring`` gives the same view limited to the ``needs`` of a leaf; any other part then raises ``UndeclaredNeedError``,
    and one that the item lacks ``MissingPartError``. ``shared`` is the cache of all views of the item.
    """

    truth: Frames
    """Ground-truth frames of the clip."""
    luma: Luma
    """Luma plane of the ground-truth frames."""
    input: Frames
    """Corrupted frames: hole pixels hold the recorded fill value, never the truth."""
    hole: Hole
    """Hole mask, True = missing."""
    alpha: Alpha
    """Opacity of a soft overlay: 0 = nothing, 255 = opaque."""
    first_hole: Hole
    """Hole of the corruption that this one is applied on top of."""
    object_mask: Hole
    """Mask of the object that an edit is about, or that is to be removed, True = object."""
    effect_mask: Hole
    """Mask of what an object changes outside itself, such as its shadow, True = changed."""
    prompts: Prompts
    """Descriptions of the clip before and after an edit, and what is to be done to it."""
    transitions: tuple[tuple[int, int], ...]
    """Spans of frames ``[start, end)`` that transitions of the whole film cover, counted from the clip's first, in order.

    They may lie outside of the clip. A cut has the number of its second frame twice.
    """
    joints: tuple[Joint, ...]
    """The labelled joints of all people in the picture."""
    timed_text: tuple[TextEvent, ...]
    """The texts of the clip, times counted from its first frame."""
    undistorted: Frames
    """The picture of a print before the elastic field that its truth carries."""
    print: Plain
    """Everything that determines a synthetic print, a ``fingerprints.records.Print`` as plain data."""
    prediction: Frames
    """Output of a method; only its hole pixels are meaningful unless full frames were kept."""
    composite: Frames
    """Composite: known pixels of the truth, hole pixels of the prediction."""

    def __init__(
        self, *, item_id: str, frames: int, height: int, width: int, fps: float, parts: Mapping[str, Callable[[], Any]],
        truth_frame: Callable[[int], Any] | None = None, shared: Shared | None = None,
    ) -> None:  # fmt: skip
        self.shared = shared or Shared()
        self.item_id, self.frames, self.height, self.width, self.fps = item_id, frames, height, width, fps
        self._parts, self._truth_frame = parts, truth_frame
        self._loaded: dict[str, Any] = {}
        self._declared: tuple[str, ...] | None = None
        self._leaf = ""

    @classmethod
    def of_arrays(cls, *, item_id: str = "item", fps: float = 30.0, shared: Shared | None = None, **arrays: Any) -> ItemView:
        """View over arrays in memory, for tests and notebooks: ``ItemView.of_arrays(input=frames, hole=hole)``."""
        shape = next(iter(arrays.values())).shape
        parts: dict[str, Callable[[], Any]] = {name: partial(arrays.get, name) for name in arrays}
        if {"truth", "hole", "prediction"} <= set(arrays):
            parts.setdefault("composite", lambda: composite(arrays["truth"], arrays["hole"], arrays["prediction"]))
        return cls(item_id=item_id, frames=shape[0], height=shape[1], width=shape[2], fps=fps, parts=parts, shared=shared)

    def having(self, parts: Mapping[str, Callable[[], Any]]) -> ItemView:
        """The same item with these parts and no others."""
        return ItemView(
            item_id=self.item_id, frames=self.frames, height=self.height, width=self.width, fps=self.fps, parts=parts,
            shared=self.shared,
        )  # fmt: skip

    def declaring(self, leaf: str, needs: tuple[str, ...]) -> ItemView:
        """The same item, limited to ``needs``; loaded parts are shared with this view."""
        limited = self.having(self._parts)
        limited._truth_frame = self._truth_frame
        limited._loaded, limited._declared, limited._leaf = self._loaded, needs, leaf
        return limited

    def has(self, part: str) -> bool:
        """True if the item has ``part`` and this view may give it."""
        return part in self._parts and (self._declared is None or part in self._declared)

    def _require(self, part: str) -> None:
        if self._declared is not None and part not in self._declared:
            raise UndeclaredNeedError(f"{self._leaf} asked for {part!r} but declares needs = {self._declared}")
        if part not in self._parts:
            raise MissingPartError(f"this item has no {part!r}, only {', '.join(self._parts) or 'nothing'}")

    def __getattr__(self, part: str) -> Any:
        if part not in PARTS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {part!r}")
        self._require(part)
        if part not in self._loaded:
            self._loaded[part] = self._parts[part]()
        return self._loaded[part]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in PARTS:
            raise AttributeError(f"{name!r} is a part of the item and cannot be set")
        super().__setattr__(name, value)

    def truth_frame(self, index: int) -> npt.NDArray[np.uint8]:
        """Ground-truth frame ``index``, ``uint8[H, W, 3]``; cheaper than ``truth`` for leaves that need a few frames."""
        if self._truth_frame is None or "truth" in self._loaded:
            frame: npt.NDArray[np.uint8] = self.truth[index]
        else:
            self._require("truth")
            frame = self._truth_frame(index)
        return frame


def composite(truth: Frames, hole: Hole, prediction: Frames | Sequence[npt.NDArray[np.uint8]]) -> Frames:
    """Composite of two clips: known pixels from ``truth``, hole pixels from ``prediction``; all ``uint8[T, H, W, 3]``."""
    import cv2

    frames = truth.copy()
    # Frame by frame with OpenCV: fifteen times faster than one `np.where`.
    for target, source, mask in zip(frames, prediction, hole, strict=True):
        cv2.copyTo(source, mask.view(np.uint8), target)
    return frames


def composite_in_place(truth: Frames | Sequence[npt.NDArray[np.uint8]], hole: Hole, prediction: Frames) -> Frames:
    """``composite`` that writes the known pixels into ``prediction``, where it can, and returns it: half the memory."""
    import cv2

    prediction = np.require(prediction, requirements=["C", "W"])  # copies read-only arrays
    # Sides of one pixel may have any stride in numpy, not in OpenCV.
    prediction = prediction.reshape(-1).reshape(prediction.shape)
    for target, source, mask in zip(prediction, truth, hole, strict=True):
        cv2.copyTo(source, (~mask).view(np.uint8), target)
    return prediction
