"""Optical flow between the true frames of an item, a few pairs at a time, and which pixels of a source clip it explains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.compute import Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.flows import FLOWS, Flow
from inpaintbench.eval.values.measurement import check_next_frame
from inpaintbench.lazily import lazily
from inpaintbench.types import Frames, Plain
from inpaintbench.view import ItemView

cv2 = lazily("cv2")

# Flow of one frame, `float32[H, W, 2]`, in pixels: right and down.
Field = npt.NDArray[np.float32]

# Flow that is estimated at once: about five pairs of 832x480 both ways, ten one way.
_HELD_BYTES = 32 << 20
# Pairs of a source and its edits that are kept in memory: 113 of 512x512, with masks.
_KEPT_BYTES = 256 << 20


@dataclass(frozen=True)
class FlowWindow:
    """Some pairs of neighbouring true frames, whose flow is estimated at once.

    Flow is stored by the bytes of these frames, as it was found.
    """

    first: int
    """First frame of the first pair."""
    frames: Frames
    """``uint8[pairs + 1, H, W, 3]``."""
    shared: Shared
    flow: str
    size_multiple: int
    _found: dict[str, Field] = field(default_factory=dict)

    @property
    def constants(self) -> str:
        """Names the flow, its version and its size."""
        return f"flow {FLOWS.get(self.flow).identity()} at {self.size_multiple}"

    def there(self) -> Iterator[Field]:
        """Flow from each frame to the next."""
        return self._fields(self.frames[:-1], self.frames[1:], "there")

    def back(self) -> Iterator[Field]:
        """Flow from each next frame back to the one before."""
        return self._fields(self.frames[1:], self.frames[:-1], "back")

    def _fields(self, frames: Frames, other: Frames, way: str) -> Iterator[Field]:
        leaf, (height, width) = FLOWS.get(self.flow)(), frames.shape[1:3]
        tall, wide = (-(-length // self.size_multiple) * self.size_multiple for length in (height, width))
        ratio = np.array((width / wide, height / tall), np.float32)

        def made() -> Field:
            one, two = (video.linear(some, height=tall, width=wide) for some in (frames, other))
            motion = leaf.coarse(one, two, self.shared.compute)
            if not np.isfinite(motion).all():
                raise NotMeasurable(f"the optical flow {leaf.name!r} gave values that are not finite")
            return motion

        if way not in self._found:
            self._found[way] = self.shared.stored(self.frames, f"{self.constants} {way}", made, held=False)
        for motion in self._found[way]:
            large = leaf.enlarged(motion, height=tall, width=wide)
            yield large if (tall, wide) == (height, width) else video.linear(large[None], height=height, width=width)[0] * ratio


def flow_windows(view: ItemView, *, flow: str, size_multiple: int) -> Iterator[FlowWindow]:
    """All pairs of neighbouring true frames, in order, a few at a time: the flow of a clip is several times as large as it.

    Args:
        view: gives the truth, says how networks run and where flow is stored.
        flow: one of ``FLOWS``.
        size_multiple: flow is estimated on frames enlarged bilinearly to the next multiples of so many pixels, brought back
            bilinearly and scaled; 1 for the frames as they are. DEVIL, CVPR 2022, has 64.

    Raises:
        NotMeasurable: the flow cannot be estimated here, or is not finite.
    """
    at_once = max(1, _HELD_BYTES // (view.height * view.width * 2 * 2 * 4))
    for first in range(0, view.frames - 1, at_once):
        yield FlowWindow(first, view.truth[first : first + at_once + 1], view.shared, flow, size_multiple)


# Motion of a source, for metrics of its edits

# Of one frame, `uint8[H, W]`.
Levels = npt.NDArray[Any]
# `uint8[H, W, 3]` RGB.
Picture = npt.NDArray[Any]
Mask = Literal["luma_at_most", "channels_below"]


class SourcePair(NamedTuple):
    """Frame ``first`` of a source clip and the next one."""

    first: int
    motion: Field
    """Flow from frame ``first`` to the next."""
    valid: npt.NDArray[np.bool_]
    """``bool[H, W]``: frame ``first``, carried along the flow, looks like the next."""


@dataclass(frozen=True)
class SourceRule:
    """Demands on the source before an edit's frames are compared along its flow.

    Args:
        flow: one of ``inpaintbench.eval.flows.FLOWS``.
        mask: a pixel is valid where the carried frame differs from the next by at most ``mask_level`` in ITU-R 601 luma of
            the absolute differences (``"luma_at_most"``, released code of EditBoard, AAAI 2025), or by less than ``mask_level``
            in every channel (``"channels_below"``, its paper).
        mask_level: in grey levels, 0..255.
        least_valid_share: FF-alpha applies to clips with at least this share of valid pixels over all pairs, FF-beta to others.
    """

    flow: str
    mask: Mask
    mask_level: int
    least_valid_share: float

    def __post_init__(self) -> None:
        FLOWS.get(self.flow)
        if self.mask not in get_args(Mask):
            raise ValueError(f"mask is {self.mask!r}, choose {' or '.join(map(repr, get_args(Mask)))}")
        if not 0 <= self.mask_level <= 255 or self.mask_level != int(self.mask_level):
            raise ValueError(f"mask_level is {self.mask_level}, it must be a whole number in 0..255")
        if not 0 <= self.least_valid_share <= 1:
            raise ValueError(f"least_valid_share is {self.least_valid_share}, it must be in 0..1")

    @property
    def leaf(self) -> Flow:
        """The flow."""
        return FLOWS.get(self.flow)()

    def pairs(self, view: ItemView) -> Iterable[SourcePair]:
        """All pairs of neighbouring true frames, in order; what was found is kept for other metrics and edits, if it fits.

        Raises:
            NotMeasurable: there is one frame only, or its flow cannot be estimated here or is not finite.
        """
        check_next_frame(view.frames)
        if (view.frames - 1) * view.height * view.width * 9 > _KEPT_BYTES:
            return self._found(view)
        pairs: list[SourcePair] = view.shared.once(
            ("source_pairs", self.flow, self.mask, self.mask_level), lambda: list(self._found(view))
        )
        return pairs

    def batches(self, view: ItemView) -> Iterator[list[SourcePair]]:
        """``pairs``, as many at a time as flow is estimated of in one go."""
        pairs = iter(self.pairs(view))
        while batch := list(islice(pairs, _pairs_at_once(view))):
            yield batch

    def facts(self, counts: list[int], view: ItemView) -> Plain:
        """Details of both metrics, from how many pixels of each pair are valid."""
        pixels = view.height * view.width
        share = sum(counts) / (len(counts) * pixels)
        return {
            "valid_share": share,
            "applies": "ff_alpha" if share >= self.least_valid_share else "ff_beta",
            "pair_valid_shares": [count / pixels for count in counts],
        }

    def _found(self, view: ItemView) -> Iterator[SourcePair]:
        leaf, truth = self.leaf, view.truth
        at_once = _pairs_at_once(view)
        for begin in range(0, view.frames - 1, at_once):
            frames = truth[begin : begin + at_once + 1]
            motions = leaf.flow(frames[:-1], frames[1:], view.shared.compute)
            if not np.isfinite(motions).all():
                raise NotMeasurable(f"the optical flow {self.flow!r} gave values that are not finite")
            for place, motion in enumerate(motions):
                difference = cv2.absdiff(frames[place + 1], carried(frames[place], sources(motion)))
                if self.mask == "luma_at_most":
                    valid = np.less_equal(cv2.cvtColor(difference, cv2.COLOR_RGB2GRAY), self.mask_level)
                else:
                    valid = np.less(largest(difference), self.mask_level)
                yield SourcePair(begin + place, motion, valid)


def sources(motion: Field) -> Field:
    """Return where each pixel of the next frame is read in this one: its own place less the flow there.

    The flow belongs to this frame and not to the next, so this is the way back along the flow only where it is smooth.
    """
    return _grid(*motion.shape[:2]) - motion


def carried(frame: Picture, places: Field) -> Picture:
    """``frame`` read between its pixels, bilinear; black outside."""
    moved: Picture = cv2.remap(frame, places, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=0)
    return moved


def largest(difference: Picture) -> Levels:
    """The largest of three channels."""
    red, green, blue = cv2.split(difference)
    most: Levels = cv2.max(cv2.max(red, green), blue)
    return most


def _pairs_at_once(view: ItemView) -> int:
    return max(1, _HELD_BYTES // (view.height * view.width * 8))


@lru_cache(maxsize=1)
def _grid(height: int, width: int) -> Field:
    grid = np.empty((height, width, 2), np.float32)
    grid[..., 0], grid[..., 1] = np.arange(width), np.arange(height)[:, None]
    grid.flags.writeable = False
    return grid
