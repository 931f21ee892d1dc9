"""Warping error: does a composite move like the truth?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import Deviation
from inpaintbench.eval.flows import FLOWS
from inpaintbench.eval.metrics.base import (
    Measurement,
    TogetherMetric,
    Where,
    check_next_frame,
    means_by_region,
)
from inpaintbench.eval.passes.flow_pairs import flow_pairs
from inpaintbench.ranges import Side, Unlimited
from inpaintbench.view import ItemView

Indices = npt.NDArray[np.intp]
# Of one frame, `[H, W, C]`.
Picture = npt.NDArray[Any]
# Of one frame, `bool[H, W]`.
Pixels = npt.NDArray[np.bool_]


class Landings(NamedTuple):
    """Landing places of pixels of one frame between four of the next. Arrays are ``[N]``, indices count in reading order."""

    pixels: Indices
    """Indices in the first frame."""
    corners: tuple[Indices, ...]
    """Indices in the next frame: top left, top right, bottom left, bottom right; clamped to the frame."""
    right: npt.NDArray[np.float32]
    """Weight of the right corners, 0..1."""
    down: npt.NDArray[np.float32]
    """Weight of the bottom corners, 0..1."""
    inside: npt.NDArray[np.bool_]
    """True when they land in the frame."""

    def at(self, chosen: npt.NDArray[np.bool_]) -> Landings:
        """Landings of the pixels ``chosen``, ``bool[N]``."""
        corners = tuple(corner[chosen] for corner in self.corners)
        return Landings(self.pixels[chosen], corners, self.right[chosen], self.down[chosen], self.inside[chosen])

    def sample(self, picture: Picture) -> npt.NDArray[np.float32]:
        """``picture`` between the pixels, bilinear, ``float32[N, C]``."""
        top_left, top_right, bottom_left, bottom_right = (_taken(picture, corner) for corner in self.corners)
        # Written as steps from one corner: flat places stay exactly what they are.
        top = top_left + self.right[:, None] * (top_right - top_left)
        bottom = bottom_left + self.right[:, None] * (bottom_right - bottom_left)
        sampled: npt.NDArray[np.float32] = top + self.down[:, None] * (bottom - top)
        return sampled

    def touch(self, pixels: Pixels) -> npt.NDArray[np.bool_]:
        """Return whether one of ``pixels`` has a part in what is sampled, ``bool[N]``."""
        flat = pixels.ravel()
        top_left, top_right, bottom_left, bottom_right = (flat[corner] for corner in self.corners)
        right, down = self.right > 0, self.down > 0
        touched: npt.NDArray[np.bool_] = top_left | (top_right & right) | (down & (bottom_left | (bottom_right & right)))
        return touched

    def squared_error(self, frame: Picture, next_frame: Picture) -> float:
        """Sum over pixels and channels of squared differences in grey levels."""
        difference = self.sample(next_frame) - _taken(frame, self.pixels)
        return float(np.sum(np.square(difference), dtype=np.float64))


def landings(flow: npt.NDArray[np.float32]) -> Landings:
    """Landings of all pixels of a frame whose flow is ``float32[H, W, 2]``, in pixels: right and down.

    Where the flow leaves the frame the nearest pixel of the edge is taken: what clamped indices with unclamped weights give.
    """
    height, width = flow.shape[:2]
    columns = np.arange(width, dtype=np.float32) + flow[..., 0]
    rows = np.arange(height, dtype=np.float32)[:, None] + flow[..., 1]
    inside = (columns >= 0) & (columns <= width - 1) & (rows >= 0) & (rows <= height - 1)
    left, right = _between(columns, width)
    top, down = _between(rows, height)
    upper, lower = top * width, np.minimum(top + 1, height - 1) * width
    after = np.minimum(left + 1, width - 1)
    corners = (upper + left, upper + after, lower + left, lower + after)
    return Landings(np.arange(height * width), corners, right, down, inside.ravel())


def _taken(picture: Picture, pixels: Indices) -> npt.NDArray[np.float32]:
    # Four times faster than indexing; no index is ever clipped.
    values = picture.reshape(-1, picture.shape[-1]).take(pixels, axis=0, mode="clip")
    return values.astype(np.float32, copy=False)


def _between(places: npt.NDArray[np.float32], length: int) -> tuple[Indices, npt.NDArray[np.float32]]:
    """Index of the pixel before each place, and the weight of the one after it; both flat."""
    clamped = np.clip(places, 0, length - 1).ravel()
    before = np.floor(clamped)
    return before.astype(np.intp), clamped - before


Border = Literal["clamp", "leave_out"]


class FlowMetric(TogetherMetric):
    """Base of metrics that compare frames along an optical flow, which is estimated once for all predictions of an item."""

    fewest_frames = 2

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The parameters of the flow ``constants["flow"]``; none for one without a network."""
        weights = FLOWS.get(constants["flow"]).weights
        return () if weights is None else (weights,)


class WarpError(FlowMetric):
    """Mean squared difference between a frame and the next one brought back along the flow of the truth, averaged over pairs.

    Intensities are 0..1, so is the error; 0 for a composite that moves exactly like the truth and does not change. DEVIL,
    CVPR 2022, published code, after Lai et al., ECCV 2018. With the flow f from frame t to t + 1 and w, the flow back sampled
    at x + f(x), a pixel x is left out where it is occluded, |w + f|^2 > a (|w|^2 + |f|^2) + b, or at a boundary of motion: the
    sum of the squared differences of both components of f to the next pixel right and down is more than c |f|^2 + d. The region
    ``hole`` has the pixels that are hole in frame t or whose flow lands, bilinearly, on a hole pixel of frame t + 1. Pairs
    without a pixel left are left out.

    Args:
        flow: one of ``inpaintbench.eval.flows.FLOWS``. Values of different flows do not compare.
        size_multiple: flow is estimated at the next multiples of so many pixels.
        occlusion_relative: a.
        occlusion_absolute: b, square pixels.
        boundary_relative: c.
        boundary_absolute: d, square pixels.
        border: ``"clamp"`` takes the nearest pixel of the edge where the flow leaves the frame, as published; ``"leave_out"``
            leaves such pixels out.
    """

    name = "warp_error"
    version = "1"
    label = "Warping error"
    deviations = (
        Deviation(
            "optical flow",
            "FlowNet2, a network with layers of its own for one kind of graphics card",
            "RAFT (large, torchvision's parameters)",
            "other numbers, which compare with none that were printed; how far apart they are was not measured",
            {"flow": "raft_large"},
        ),
    )
    diagnostic = "a fill that is flat or blurred repeats from frame to frame, which this takes for motion like the truth’s"
    higher_is_better = False
    decimals = 6
    bounds = (0.0, math.inf)
    answers = ("frame", "hole")
    needs = ("truth", "composite", "hole")

    def __init__(
        self,
        *,
        flow: str,
        size_multiple: Side,
        occlusion_relative: Unlimited,
        occlusion_absolute: Unlimited,
        boundary_relative: Unlimited,
        boundary_absolute: Unlimited,
        border: Border,
        **where: Unpack[Where],
    ) -> None:
        if border not in ("clamp", "leave_out"):
            raise ValueError(f"border is {border!r}, choose 'clamp' or 'leave_out'")
        if size_multiple < 1:
            raise ValueError(f"size_multiple is {size_multiple}, it must be at least 1")
        FLOWS.get(flow)
        super().__init__(**where)
        self.flow, self.size_multiple, self.border = flow, size_multiple, border
        self.occlusion = (occlusion_relative, occlusion_absolute)
        self.boundary = (boundary_relative, boundary_absolute)

    def measure_together(self, views: Sequence[ItemView]) -> list[dict[str, Measurement]]:
        """``measure`` for the predictions of several methods for one item; its flow is estimated once."""
        if not views:
            return []
        check_next_frame(views[0].frames)
        values: list[dict[str, list[float]]] = [{region: [] for region in self.regions} for _ in views]
        for seen in self._pairs(views[0]):
            for view, errors_of in zip(views, values, strict=True):
                for region, error in seen.errors(view.composite).items():
                    if region in errors_of and error is not None:
                        errors_of[region].append(error)
        missing = "no pair of frames has a pixel of the region {!r} that is seen in both"
        return [means_by_region(errors_of, parts="pairs", missing=missing) for errors_of in values]

    def _pairs(self, view: ItemView) -> Iterator[_Seen]:
        for pair in flow_pairs(view, flow=self.flow, size_multiple=self.size_multiple):
            places = landings(pair.forward)
            # The pixels of the first frame that count, ``bool[H * W]``.
            forward = pair.forward.reshape(-1, 2)
            back = places.sample(pair.backward)
            lengths = _squares(forward)
            # Squared difference of the flow to the next pixel right and down, summed; 0 towards the outside of the frame.
            changes = np.zeros(pair.forward.shape[:2], np.float32)
            changes[:, :-1] += _squares(np.diff(pair.forward, axis=1))
            changes[:-1] += _squares(np.diff(pair.forward, axis=0))
            lost = _squares(back + forward) > self.occlusion[0] * (_squares(back) + lengths) + self.occlusion[1]
            edge = changes.ravel() > self.boundary[0] * lengths + self.boundary[1]
            left = ~places.inside if self.border == "leave_out" else False
            seen: npt.NDArray[np.bool_] = ~(lost | edge | left)
            filled = view.hole[pair.first].ravel() | places.touch(view.hole[pair.first + 1])
            known = places.at(seen & ~filled)
            # Composites are the truth there, so this part of the frame is the same for all methods.
            shared = known.squared_error(view.truth[pair.first], view.truth[pair.first + 1]) if "frame" in self.regions else 0.0
            yield _Seen(pair.first, places.at(seen & filled), shared, len(known.pixels))


@dataclass(frozen=True)
class _Seen:
    """Sums over one pair of frames: pixels that hold or meet a fill, and the error of all others together."""

    first: int
    filled: Landings
    shared_error: float
    shared_pixels: int

    def errors(self, composite: npt.NDArray[np.uint8]) -> dict[str, float | None]:
        """Region -> mean squared error in 0..1; None without a pixel."""
        frame = composite[self.first]
        error, pixels = self.filled.squared_error(frame, composite[self.first + 1]), len(self.filled.pixels)
        sums = {"frame": (self.shared_error + error, self.shared_pixels + pixels), "hole": (error, pixels)}
        levels = frame.shape[-1] * 255**2
        return {region: total / (count * levels) if count else None for region, (total, count) in sums.items()}


def _squares(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    squares: npt.NDArray[np.float32] = np.square(vectors[..., 0]) + np.square(vectors[..., 1])
    return squares
