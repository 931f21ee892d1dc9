"""Optical flow between the true frames of an item, both ways, a few pairs at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.compute import Compute
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.flows import FLOWS
from inpaintbench.eval.flows.base import Flow
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

# Flow of one frame, `float32[H, W, 2]`, in pixels: right and down.
Field = npt.NDArray[np.float32]

# Of flow at once, about ten pairs of 832x480.
_HELD_BYTES = 64 << 20


class FlowPair(NamedTuple):
    """Flow between frame ``first`` and the next one."""

    first: int
    forward: Field
    """From frame ``first`` to the next."""
    backward: Field
    """From the next frame back to frame ``first``."""


def flow_pairs(view: ItemView, *, flow: str, size_multiple: int) -> Iterator[FlowPair]:
    """The flow of all pairs of neighbouring true frames, in order; no more than a few pairs are held.

    Nothing is remembered, since the flow of a clip is several times as large as the clip: who measures several methods shows
    each pair to all of them before the next.

    Args:
        view: gives the truth and says how networks run.
        flow: one of ``FLOWS``.
        size_multiple: flow is estimated on frames enlarged bilinearly to the next multiples of so many pixels, brought back
            bilinearly and scaled; 1 for the frames as they are. DEVIL, CVPR 2022, has 64.

    Raises:
        NotMeasurable: the flow cannot be estimated here, or is not finite.
    """
    leaf: Flow = FLOWS.get(flow)()
    at_once = max(1, _HELD_BYTES // (view.height * view.width * 2 * 2 * 4))
    for begin in range(0, view.frames - 1, at_once):
        frames = view.truth[begin : begin + at_once + 1]
        forward, backward = (
            _motion(leaf, one, other, view.shared.compute, size_multiple=size_multiple)
            for one, other in ((frames[:-1], frames[1:]), (frames[1:], frames[:-1]))
        )
        for place, pair in enumerate(zip(forward, backward, strict=True)):
            yield FlowPair(begin + place, *pair)


def _motion(leaf: Flow, one: Frames, other: Frames, compute: Compute, *, size_multiple: int) -> npt.NDArray[np.float32]:
    height, width = one.shape[1:3]
    tall, wide = (-(-length // size_multiple) * size_multiple for length in (height, width))
    motion = leaf.flow(_resized(one, tall, wide), _resized(other, tall, wide), compute)
    if not np.isfinite(motion).all():
        raise NotMeasurable(f"the optical flow {leaf.name!r} gave values that are not finite")
    return _resized(motion, height, width) * np.array((width / wide, height / tall), np.float32)


def _resized(pictures: npt.NDArray[Any], height: int, width: int) -> npt.NDArray[Any]:
    if pictures.shape[1:3] == (height, width):
        return pictures
    return np.stack([cv2.resize(picture, (width, height), interpolation=cv2.INTER_LINEAR) for picture in pictures])
