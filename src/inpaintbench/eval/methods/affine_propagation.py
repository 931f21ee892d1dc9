"""Pixels borrowed from neighbouring frames, after undoing the motion of the camera."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

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
        several = view.frames > 1 and len(with_hole) > 0
        lenders = _Lenders(view.input, view.hole, reach_frames=self.reach_frames) if several else None
        for index in with_hole:
            rest, box = view.hole[index].copy(), _box_around(view.hole[index])
            if lenders is not None:
                self._borrow(frames[index][box], rest[box], lenders.nearest_first(index, box))
            some = slice(index, index + 1)
            fill_in_place(frames[some], rest[None], algorithm=cv2.INPAINT_TELEA, radius_pixels=self.radius_pixels)
        return frames

    def _borrow(self, pixels: Picture, missing: Pixels, lenders: Iterator[_Lender]) -> None:
        """Write what lenders show into ``pixels`` and strike it off ``missing``, both in place."""
        ring = regions.dilate(missing[None], radius=_RING_PIXELS - 1)[0] & ~missing
        ring[::2] = ring[:, ::2] = False  # a quarter of it tells as much
        places, levels = np.flatnonzero(ring), pixels[ring].astype(np.int16)  # of the ring, whose pixels nobody lends
        left = np.count_nonzero(missing)
        for lender in lenders:
            gained = missing & lender.shown
            if count := np.count_nonzero(gained):
                lent = lender.pixels()
                judged = lender.shown.ravel()[places]
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


class _Lender(NamedTuple):
    """A frame as seen from a box in another frame."""

    shown: Pixels
    """Mask of pixels whose sources of interpolation are all known."""
    frame: Picture
    motion: Motion

    def pixels(self) -> Picture:
        return _warp(self.frame, self.motion, like=self.shown, interpolation=cv2.INTER_CUBIC, border=cv2.BORDER_REPLICATE)


class _Lenders:
    """The frames of a clip, to be borrowed from."""

    def __init__(self, frames: Frames, hole: Hole, *, reach_frames: int) -> None:
        self._frames = frames
        self._reach_frames = reach_frames
        # Cubic interpolation reaches one pixel farther than the linear one that `nearest_first` judges by.
        self._known = np.where(regions.dilate(hole, radius=1), np.uint8(0), np.uint8(255))
        self._camera = CameraMotion(frames, hole)

    def nearest_first(self, index: int, box: Box) -> Iterator[_Lender]:
        corner = np.array([[1, 0, box[1].start], [0, 1, box[0].start], [0, 0, 1]], np.float64)
        inside = self._known[index][box]
        for distance in range(1, min(len(self._frames), self._reach_frames + 1)):
            for other in (index - distance, index + distance):
                motion = self._camera.between(index, other) if 0 <= other < len(self._frames) else None
                if motion is not None:
                    seen = motion @ corner
                    known = _warp(
                        self._known[other], seen, like=inside, interpolation=cv2.INTER_LINEAR, border=cv2.BORDER_CONSTANT
                    )
                    yield _Lender(known == 255, self._frames[other], seen)


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
        lengths = self._lengths(other - index)
        filled = self._along(index, lengths)
        # In the other order the hops touch other frames on the way.
        return filled if filled is not None else self._along(index, lengths[::-1])

    def _lengths(self, distance: int) -> list[int]:
        longest = len(self._hops) - 1
        whole, rest = divmod(distance, 1 << longest)
        return [longest] * whole + [power for power in reversed(range(longest)) if rest >> power & 1]

    def _along(self, index: int, powers: list[int]) -> Motion | None:
        motion: Motion | None = np.eye(3)
        for power in powers:
            motion = _then(motion, self._hops[power][index])
            index += 1 << power
        return motion


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
        kept = (status[:, 0] > 0) & self._shown(points, end)
        measured = _affine(corners[kept], points[kept])
        return guess if measured is None else measured

    def _shown(self, points: npt.NDArray[np.float32], index: int) -> npt.NDArray[np.bool_]:
        """Return which ``float32[N, 2]`` points (x, y) lie on known pixels of a frame."""
        known = self._known[index]
        column, row = np.rint(np.clip(points, -1, max(known.shape))).astype(np.intp).T
        inside: Pixels = (row >= 0) & (row < known.shape[0]) & (column >= 0) & (column < known.shape[1])
        inside[inside] = known[row[inside], column[inside]] > 0
        return inside


def _affine(start: npt.NDArray[np.float32], end: npt.NDArray[np.float32]) -> Motion | None:
    if len(start) < _LEAST_INLIERS:
        return None
    matrix, inliers = cv2.estimateAffine2D(start, end, method=cv2.RANSAC, ransacReprojThreshold=1.0)
    if matrix is None or inliers.sum() < max(_LEAST_INLIERS, _LEAST_INLIER_SHARE * len(start)):
        return None
    scale = abs(np.linalg.det(matrix[:, :2])) ** 0.5
    return np.vstack([matrix, [0, 0, 1]]) if _LEAST_SCALE < scale < _LARGEST_SCALE else None


def _then(first: Motion | None, second: Motion | None) -> Motion | None:
    return None if first is None or second is None else second @ first


def _box_around(hole: Pixels) -> Box:
    """Rows and columns of a frame's hole and its ring."""
    rows, columns = (np.flatnonzero(hole.any(axis=axis)) for axis in (1, 0))
    top, left = (max(int(ends[0]) - _RING_PIXELS, 0) for ends in (rows, columns))
    return slice(top, int(rows[-1]) + _RING_PIXELS + 1), slice(left, int(columns[-1]) + _RING_PIXELS + 1)


def _warp(picture: Picture, motion: Motion, *, like: npt.NDArray[Any], interpolation: int, border: int) -> Picture:
    """``picture`` as a view of the size of ``like`` sees it."""
    size, flags = (like.shape[1], like.shape[0]), interpolation | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpAffine(picture, motion[:2], size, flags=flags, borderMode=border), np.uint8)
