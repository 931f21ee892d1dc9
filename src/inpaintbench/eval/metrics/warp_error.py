"""Warping error: does a composite move like the truth?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
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
from inpaintbench.eval.passes.flow_pairs import Field, FlowWindow, flow_windows
from inpaintbench.lazily import compiled, has_numba
from inpaintbench.ranges import Side, Unlimited
from inpaintbench.view import ItemView

Indices = npt.NDArray[np.intp]
# Of one frame, `[H, W, C]`.
Picture = npt.NDArray[Any]
# Of one frame, `bool[H, W]`.
Pixels = npt.NDArray[np.bool_]
# Most that the squared difference of a pixel can be, in squared grey levels.
_LEVELS = 3 * 255**2
# Of a clip: below, importing numba takes longer than what it spares.
_VALUES_BEFORE_COMPILING = 24_000_000


class Landings(NamedTuple):
    """Landing places of pixels of one frame between four of the next. Arrays are ``[N]``, indices count in reading order."""

    corners: tuple[Indices, ...]
    """Indices in the next frame: top left, top right, bottom left, bottom right; clamped to the frame."""
    right: npt.NDArray[np.float32]
    """Weight of the right corners, 0..1."""
    down: npt.NDArray[np.float32]
    """Weight of the bottom corners, 0..1."""

    def at(self, chosen: npt.NDArray[np.bool_]) -> Landings:
        """Landings of the pixels ``chosen``, ``bool[N]``."""
        corners = tuple(corner[chosen] for corner in self.corners)
        return Landings(corners, self.right[chosen], self.down[chosen])

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


def landings(flow: npt.NDArray[np.float32]) -> Landings:
    """Landings of all pixels of a frame whose flow is ``float32[H, W, 2]``, in pixels: right and down.

    Where the flow leaves the frame the nearest pixel of the edge is taken: what clamped indices with unclamped weights give.
    """
    height, width = flow.shape[:2]
    columns = np.arange(width, dtype=np.float32) + flow[..., 0]
    rows = np.arange(height, dtype=np.float32)[:, None] + flow[..., 1]
    left, right = _between(columns, width)
    top, down = _between(rows, height)
    upper, lower = top * width, np.minimum(top + 1, height - 1) * width
    after = np.minimum(left + 1, width - 1)
    corners = (upper + left, upper + after, lower + left, lower + after)
    return Landings(corners, right, down)


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
        hole, by_loops = views[0].hole, has_numba() and views[0].truth.size > _VALUES_BEFORE_COMPILING
        values: list[dict[str, list[float]]] = [{region: [] for region in self.regions} for _ in views]
        for window in flow_windows(views[0], flow=self.flow, size_multiple=self.size_multiple):
            seen, sums = self._seen(window, by_loops=by_loops)
            for place, forward in enumerate(window.there()):
                first = window.first + place
                filled = _filled(forward, seen[place], hole[first], hole[first + 1], by_loops=by_loops)
                pixels, error_of = np.count_nonzero(filled), partial(_squared_error, forward, filled, by_loops=by_loops)
                # Composites are the truth elsewhere, so that part of the frame is the same for all methods.
                known = sums[place, 0] - error_of(window.frames[place], window.frames[place + 1])
                for view, errors_of in zip(views, values, strict=True):
                    error = error_of(view.composite[first], view.composite[first + 1])
                    for region, total, count in (("frame", max(known, 0.0) + error, sums[place, 1]), ("hole", error, pixels)):
                        if region in errors_of and count:
                            errors_of[region].append(float(total / (count * _LEVELS)))
        missing = "no pair of frames has a pixel of the region {!r} that is seen in both"
        return [means_by_region(errors_of, parts="pairs", missing=missing) for errors_of in values]

    def _seen(self, window: FlowWindow, *, by_loops: bool) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
        """Pixels of each first frame that count, ``bool[pairs, H, W]``, and of each pair the squared error of the truth over them
        and how many they are, ``float64[pairs, 2]``."""
        pairs, height, width = len(window.frames) - 1, *window.frames.shape[1:3]

        def made() -> npt.NDArray[np.uint8]:
            rows = []
            for place, (forward, backward) in enumerate(zip(window.there(), window.back(), strict=True)):
                seen = self._visible(forward, backward, by_loops=by_loops)
                error = _squared_error(forward, seen, *window.frames[place : place + 2], by_loops=by_loops)
                rows.append(np.concatenate([np.packbits(seen), np.array([error, np.count_nonzero(seen)]).view(np.uint8)]))
            return np.stack(rows)

        key = f"{window.constants} seen {self.version} {self.occlusion} {self.boundary} {self.border}"
        stored = window.shared.stored(window.frames, key, made, held=False)
        bits, sums = stored[:, : -2 * 8], np.ascontiguousarray(stored[:, -2 * 8 :]).view(np.float64)
        return np.unpackbits(bits, axis=1, count=height * width).view(np.bool_).reshape(pairs, height, width), sums

    def _visible(self, forward: Field, backward: Field, *, by_loops: bool) -> Pixels:
        """The pixels of a frame that are seen in the next one and lie at no boundary of motion, ``bool[H, W]``."""
        height, width = forward.shape[:2]
        if by_loops:
            seen: Pixels = np.empty((height, width), np.bool_)
            _visible_loop()(forward, backward, np.array([*self.occlusion, *self.boundary], np.float32), seen)
        else:
            flat, back = forward.reshape(-1, 2), landings(forward).sample(backward)
            lengths = _squares(flat)
            # Squared difference of the flow to the next pixel right and down, summed; 0 towards the outside of the frame.
            changes = np.zeros((height, width), np.float32)
            changes[:, :-1] += _squares(np.diff(forward, axis=1))
            changes[:-1] += _squares(np.diff(forward, axis=0))
            lost = _squares(back + flat) > self.occlusion[0] * (_squares(back) + lengths) + self.occlusion[1]
            edge = changes.ravel() > self.boundary[0] * lengths + self.boundary[1]
            seen = ~(lost | edge).reshape(height, width)
        if self.border == "leave_out":
            columns, rows = np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32)[:, None]
            for places, length in ((columns + forward[..., 0], width), (rows + forward[..., 1], height)):
                seen &= (places >= 0) & (places <= length - 1)
        return seen


def _filled(forward: Field, seen: Pixels, hole: Pixels, next_hole: Pixels, *, by_loops: bool) -> Pixels:
    """The pixels of ``seen`` that are hole or whose flow lands on a hole pixel of the next frame, ``bool[H, W]``."""
    if by_loops:
        touched = np.empty(seen.shape, np.bool_)
        _touch_loop()(forward, np.ascontiguousarray(next_hole), touched)
    else:
        touched = landings(forward).touch(next_hole).reshape(seen.shape)
    filled: Pixels = seen & (hole | touched)
    return filled


def _squared_error(forward: Field, chosen: Pixels, frame: Picture, next_frame: Picture, *, by_loops: bool) -> float:
    """Sum over the pixels ``chosen`` and channels of squared differences, in grey levels, to where the flow lands."""
    if by_loops:
        squares = np.empty((np.count_nonzero(chosen), 3), np.float32)
        _squares_loop()(forward, chosen, np.ascontiguousarray(frame), np.ascontiguousarray(next_frame), squares)
    else:
        squares = np.square(landings(forward).at(chosen.ravel()).sample(next_frame) - frame[chosen])
    return float(np.sum(squares, dtype=np.float64))


def _squares(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    squares: npt.NDArray[np.float32] = np.square(vectors[..., 0]) + np.square(vectors[..., 1])
    return squares


# What NumPy does above, bit by bit, in loops that numba compiles, without a dozen arrays of a frame's size. Numbers are single
# precision, as there. numba keeps the code of loops that call no other loop.


@lru_cache
def _visible_loop() -> Any:
    def visible(forward, backward, limits, seen):  # type: ignore[no-untyped-def]  # numba knows the types
        height, width = seen.shape
        for y in range(height):
            for x in range(width):
                u, v = forward[y, x, 0], forward[y, x, 1]
                length, change = u * u + v * v, np.float32(0)
                if x + 1 < width:
                    du, dv = forward[y, x + 1, 0] - u, forward[y, x + 1, 1] - v
                    change += du * du + dv * dv
                if y + 1 < height:
                    du, dv = forward[y + 1, x, 0] - u, forward[y + 1, x, 1] - v
                    change += du * du + dv * dv
                column = min(max(np.float32(x) + u, np.float32(0)), np.float32(width - 1))
                row = min(max(np.float32(y) + v, np.float32(0)), np.float32(height - 1))
                left, top = np.intp(column), np.intp(row)
                across, down = column - np.float32(left), row - np.float32(top)
                right, bottom = min(left + 1, width - 1), min(top + 1, height - 1)
                upper = backward[top, left, 0] + across * (backward[top, right, 0] - backward[top, left, 0])
                lower = backward[bottom, left, 0] + across * (backward[bottom, right, 0] - backward[bottom, left, 0])
                p = upper + down * (lower - upper)
                upper = backward[top, left, 1] + across * (backward[top, right, 1] - backward[top, left, 1])
                lower = backward[bottom, left, 1] + across * (backward[bottom, right, 1] - backward[bottom, left, 1])
                q = upper + down * (lower - upper)
                lost = (p + u) * (p + u) + (q + v) * (q + v) > limits[0] * (p * p + q * q + length) + limits[1]
                seen[y, x] = not lost and change <= limits[2] * length + limits[3]

    return compiled(visible)


@lru_cache
def _touch_loop() -> Any:
    def touch(forward, pixels, touched):  # type: ignore[no-untyped-def]  # numba knows the types
        height, width = pixels.shape
        for y in range(height):
            for x in range(width):
                column = min(max(np.float32(x) + forward[y, x, 0], np.float32(0)), np.float32(width - 1))
                row = min(max(np.float32(y) + forward[y, x, 1], np.float32(0)), np.float32(height - 1))
                left, top = np.intp(column), np.intp(row)
                # A neighbour without weight has no part in what is sampled.
                right, bottom = left + (column > left), top + (row > top)
                touched[y, x] = pixels[top, left] | pixels[top, right] | pixels[bottom, left] | pixels[bottom, right]

    return compiled(touch)


@lru_cache
def _squares_loop() -> Any:
    def squares(forward, chosen, frame, next_frame, found):  # type: ignore[no-untyped-def]  # numba knows the types
        height, width = chosen.shape
        count = 0
        for y in range(height):
            for x in range(width):
                if not chosen[y, x]:
                    continue
                column = min(max(np.float32(x) + forward[y, x, 0], np.float32(0)), np.float32(width - 1))
                row = min(max(np.float32(y) + forward[y, x, 1], np.float32(0)), np.float32(height - 1))
                left, top = np.intp(column), np.intp(row)
                across, down = column - np.float32(left), row - np.float32(top)
                right, bottom = min(left + 1, width - 1), min(top + 1, height - 1)
                for channel in range(3):
                    corner, below = np.float32(next_frame[top, left, channel]), np.float32(next_frame[bottom, left, channel])
                    upper = corner + across * (np.float32(next_frame[top, right, channel]) - corner)
                    lower = below + across * (np.float32(next_frame[bottom, right, channel]) - below)
                    difference = (upper + down * (lower - upper)) - np.float32(frame[y, x, channel])
                    found[count, channel] = difference * difference
                count += 1

    return compiled(squares)
