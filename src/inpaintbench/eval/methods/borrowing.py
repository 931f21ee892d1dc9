"""Pixels borrowed from other frames: as they stand, or after undoing the motion of the camera."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench import regions
from inpaintbench.eval.methods.base import Method, fill_in_place
from inpaintbench.ranges import AtLeastOne, Level, Radius
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

# `float64[3, 3]`, affine: pixel (x, y, 1) of one frame to the same place of the scene in another.
Motion = npt.NDArray[np.float64]
# Part of one frame, `uint8[height, width, 3]`, or of one mask, `uint8[height, width]`.
Picture = npt.NDArray[np.uint8]
# Some pixels of one frame, `bool[height, width]`.
Pixels = npt.NDArray[np.bool_]
# Rows and columns.
Box = tuple[slice, slice]

# Corners that are followed in a frame: enough for six unknowns with most of them lost.
_CORNERS = 200
_CORNER_QUALITY = 0.001  # low: the whole view must be covered, not only where contrast is strong
# Side of the window that is followed around a corner.
_WINDOW_PIXELS = 15
_FAR_LEVELS, _NEAR_LEVELS = 3, 1  # of the image pyramid: about 60 px and 15 px from the first guess
# Longest hop that is measured end to end: both ends have to show the same part of the scene.
_LONGEST_HOP_FRAMES = 32
# Corners that have to agree on a motion, and as a share of those that were followed.
_LEAST_INLIERS, _LEAST_INLIER_SHARE = 10, 0.2
# Change of scale beyond which a motion is an error of the fit and no zoom.
_LEAST_SCALE, _LARGEST_SCALE = 0.3, 3.0
# Width of the ring by which a lender is judged, and pixels of it without which it is believed unjudged.
_RING_PIXELS = 6
_LEAST_RING = 20
# Bounds memory: 32,768 pixels of 90 frames are 9 MB.
_PIXELS_AT_ONCE = 1 << 15


class TemporalMedian(Method):
    """Fills a pixel with the median, channel by channel, of the frames in which it is known; pixels that are never known are
    filled frame by frame (``telea``). Right behind a camera on a tripod, wrong behind any other.

    Args:
        radius_pixels: of the frame-by-frame filling.
    """

    name = "temporal_median"
    version = "1"
    stateless = True
    needs = ("input", "hole")

    def __init__(self, *, radius_pixels: Radius = 3.0) -> None:
        self.radius_pixels = radius_pixels

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``."""
        never_known = view.hole.all(axis=0)
        median = median_over_time(view.input, view.hole, np.asarray(view.hole.any(axis=0) & ~never_known))
        frames = np.where((view.hole & ~never_known)[..., None], median, view.input)
        return fill_in_place(frames, np.broadcast_to(never_known, view.hole.shape), radius_pixels=self.radius_pixels)


def median_over_time(frames: Frames, hole: Hole, wanted: Pixels) -> Picture:
    """Median over the frames in which a pixel is known, ``uint8[H, W, 3]``; 0 where it is not ``wanted``.

    Every wanted pixel must be known at least once.
    """
    median = np.zeros(frames.shape[1:], np.uint8)
    rows, columns = np.nonzero(wanted)
    for first in range(0, len(rows), _PIXELS_AT_ONCE):
        some = (rows[first : first + _PIXELS_AT_ONCE], columns[first : first + _PIXELS_AT_ONCE])
        median[some] = median_of_known(frames[:, *some], hole[:, *some])
    return median


def median_of_known(levels: npt.NDArray[np.uint8], missing: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    """Median over time of ``uint8[T, N, 3]`` where not ``bool[T, N]`` missing, as ``uint8[N, 3]``, halves rounded up.

    Every pixel must be known at least once.
    """
    # A missing level sorts behind every known one, or among equals, so the first `known` levels are the known ones.
    ordered = np.sort(np.where(missing[..., None], np.uint8(255), levels), axis=0)
    known, pixels = (~missing).sum(axis=0), np.arange(levels.shape[1])
    lower, upper = ordered[(known - 1) // 2, pixels], ordered[known // 2, pixels]
    median: npt.NDArray[np.uint8] = ((lower.astype(np.uint16) + upper + 1) // 2).astype(np.uint8)
    return median


class AffinePropagation(Method):
    """Fills a hole pixel from the nearest frame in time that shows it, seen through affine motion estimated outside the holes.

    A lender's brightness is shifted to agree with a ring around the hole, and a lender that still disagrees there is passed over
    (a failed alignment, a cut, something moving). What no frame lends is filled frame by frame (``telea``).

    Args:
        reach_frames: how far away in time a lender may be.
        tolerance_levels: largest median difference on the ring, in grey levels.
        radius_pixels: of the frame-by-frame filling.
    """

    name = "affine_propagation"
    version = "1"
    stateless = True
    needs = ("input", "hole")

    def __init__(self, *, reach_frames: AtLeastOne = 90, tolerance_levels: Level = 12.0, radius_pixels: Radius = 3.0) -> None:
        self.reach_frames = reach_frames
        self.tolerance_levels = tolerance_levels
        self.radius_pixels = radius_pixels

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``."""
        frames = view.input.copy()
        with_hole = np.flatnonzero(view.hole.any(axis=(1, 2))).tolist()
        camera = CameraMotion(view.input, view.hole) if view.frames > 1 and with_hole else None
        # Cubic interpolation reaches one pixel farther than the linear one that lenders are judged by.
        known = np.where(regions.dilate(view.hole, radius=1), np.uint8(0), np.uint8(255))
        for index in with_hole:
            rest = view.hole[index].copy()
            # Rows and columns of the hole and its ring.
            ends = [np.flatnonzero(rest.any(axis=axis))[[0, -1]] for axis in (1, 0)]
            rows, columns = (slice(max(int(low) - _RING_PIXELS, 0), int(high) + _RING_PIXELS + 1) for low, high in ends)
            box = rows, columns
            if camera is not None:
                others = [other for other in range(len(frames)) if 0 < abs(other - index) <= self.reach_frames]
                others.sort(key=lambda other: abs(other - index))  # the earlier of two comes first
                corner = np.array([[1, 0, columns.start], [0, 1, rows.start], [0, 0, 1]], np.float64)
                seen = ((other, camera.between(index, other)) for other in others)
                motions = ((other, motion @ corner) for other, motion in seen if motion is not None)
                self._borrow(frames[index][box], rest[box], view.input, known, motions)
            some = slice(index, index + 1)
            fill_in_place(frames[some], rest[None], radius_pixels=self.radius_pixels)
        return frames

    def _borrow(
        self, pixels: Picture, missing: Pixels, lenders: Frames, known: Frames, motions: Iterable[tuple[int, Motion]]
    ) -> None:  # fmt: skip
        """Write what lenders show into ``pixels`` and strike it off ``missing``, both in place: each of them, nearest first, seen
        through its motion from the box that they are of."""
        ring = regions.dilate(missing[None], radius=_RING_PIXELS - 1)[0] & ~missing
        ring[::2] = ring[:, ::2] = False  # a quarter of it tells as much
        places, levels = np.flatnonzero(ring), pixels[ring].astype(np.int16)  # of the ring, whose pixels nobody lends
        left = np.count_nonzero(missing)
        for other, motion in motions:
            # Pixels whose sources of interpolation are all known.
            shown = _warp(known[other], motion, like=missing, interpolation=cv2.INTER_LINEAR, border=cv2.BORDER_CONSTANT) == 255
            gained = missing & shown
            if count := np.count_nonzero(gained):
                lent = _warp(
                    lenders[other], motion, like=missing, interpolation=cv2.INTER_CUBIC, border=cv2.BORDER_REPLICATE
                )  # fmt: skip
                judged = shown.ravel()[places]
                shift = self._brightness_shift(lent.reshape(-1, 3)[places[judged]], levels[judged])
                if shift is not None:
                    pixels[gained] = np.minimum(np.maximum(lent[gained] + shift, 0), 255)
                    missing ^= gained
                    left -= count
            if not left:
                return

    def _brightness_shift(self, lent: npt.NDArray[np.uint8], levels: npt.NDArray[np.int16]) -> npt.NDArray[np.int16] | None:
        """Return what to add to ``lent`` to match ``levels``, both ``[N, 3]``; None if they then still differ too much."""
        if len(levels) < _LEAST_RING:
            return np.zeros(3, np.int16)
        difference = np.ascontiguousarray((levels - lent).T)
        shift = np.rint(_median(difference)).astype(np.int16)
        apart = np.abs(difference - shift[:, None]).sum(axis=0, dtype=np.int16)
        return shift if _median(apart / 3) <= self.tolerance_levels else None


def _median(values: npt.NDArray[Any]) -> Any:
    """Median along the last axis: ``np.median`` without its care for NaN, which takes longer than the median of a few hundred."""
    middle = values.shape[-1] // 2
    if values.shape[-1] % 2:
        return np.partition(values, middle, axis=-1)[..., middle]
    both = np.partition(values, (middle - 1, middle), axis=-1)
    return (both[..., middle - 1] + both[..., middle]) / 2


class CameraMotion:
    """Motion between any two frames, pieced together from hops over 1, 2, 4 ... 32 frames.

    Each hop starts from its two halves and is measured again from end to end, so errors grow with the logarithm of the distance.
    A hop that cannot be measured stands on its halves; a longer hop can bridge a frame that shows nothing.
    """

    def __init__(self, frames: Frames, hole: Hole) -> None:
        tracker = _Tracker(frames, hole)
        self._hops = [[tracker.motion(index, index + 1) for index in range(len(frames) - 1)]]
        length = 2
        while length <= min(len(frames) - 1, _LONGEST_HOP_FRAMES):
            half = self._hops[-1]
            guesses = [_then(half[index], half[index + length // 2]) for index in range(len(frames) - length)]
            self._hops.append([tracker.motion(index, index + length, guess=guess) for index, guess in enumerate(guesses)])
            length *= 2

    def between(self, index: int, other: int) -> Motion | None:
        """From pixels of frame ``index`` to pixels of frame ``other``; None where the view was lost in between."""
        if other < index:
            back = self.between(other, index)
            return None if back is None else np.linalg.inv(back).astype(np.float64)
        longest = len(self._hops) - 1
        whole, rest = divmod(other - index, 1 << longest)
        powers = [longest] * whole + [power for power in reversed(range(longest)) if rest >> power & 1]
        for order in (powers, powers[::-1]):  # in the other order the hops touch other frames on the way
            motion: Motion | None = np.eye(3)
            place = index
            for power in order:
                motion, place = _then(motion, self._hops[power][place]), place + (1 << power)
            if motion is not None:
                return motion
        return None


class _Tracker:
    """Follows corners outside the holes from one frame to another."""

    def __init__(self, frames: Frames, hole: Hole) -> None:
        self._grey = [cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in frames]
        # A window that touches a hole would follow the hole.
        self._known = (~regions.dilate(hole, radius=_WINDOW_PIXELS // 2)).view(np.uint8)
        spacing = 0.8 * (self._grey[0].size / _CORNERS) ** 0.5
        self._corners = [
            cv2.goodFeaturesToTrack(grey, _CORNERS, _CORNER_QUALITY, spacing, mask=known)
            for grey, known in zip(self._grey, self._known, strict=True)
        ]

    def motion(self, start: int, end: int, *, guess: Motion | None = None) -> Motion | None:
        """The measured motion, or ``guess`` when too few corners agree on one."""
        corners = self._corners[start]
        if corners is None:
            return guess
        corners = corners[:, 0]
        points, levels = corners.copy(), _FAR_LEVELS
        if guess is not None:
            points, levels = (corners @ guess[:2, :2].T + guess[:2, 2]).astype(np.float32), _NEAR_LEVELS
        window = (_WINDOW_PIXELS, _WINDOW_PIXELS)
        flags = cv2.OPTFLOW_USE_INITIAL_FLOW
        points, status, _ = cv2.calcOpticalFlowPyrLK(
            self._grey[start], self._grey[end], corners, points, winSize=window, maxLevel=levels, flags=flags
        )
        known = self._known[end]
        column, row = np.rint(np.clip(points, -1, max(known.shape))).astype(np.intp).T
        kept = (row >= 0) & (row < known.shape[0]) & (column >= 0) & (column < known.shape[1])
        kept[kept] = known[row[kept], column[kept]] > 0
        kept &= status[:, 0] > 0
        if kept.sum() < _LEAST_INLIERS:
            return guess
        matrix, inliers = cv2.estimateAffine2D(corners[kept], points[kept], method=cv2.RANSAC, ransacReprojThreshold=1.0)
        if matrix is None or inliers.sum() < max(_LEAST_INLIERS, _LEAST_INLIER_SHARE * kept.sum()):
            return guess
        scale = abs(np.linalg.det(matrix[:, :2])) ** 0.5
        return np.vstack([matrix, [0, 0, 1]]) if _LEAST_SCALE < scale < _LARGEST_SCALE else guess


def _then(first: Motion | None, second: Motion | None) -> Motion | None:
    return None if first is None or second is None else second @ first


def _warp(picture: Picture, motion: Motion, *, like: npt.NDArray[Any], interpolation: int, border: int) -> Picture:
    """``picture`` as a view of the size of ``like`` sees it."""
    size, flags = (like.shape[1], like.shape[0]), interpolation | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpAffine(picture, motion[:2], size, flags=flags, borderMode=border), np.uint8)
