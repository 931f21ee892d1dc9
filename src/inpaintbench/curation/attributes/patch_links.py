"""Camera between two frames where features do not agree on one: patches that keep their look outvote what changes it.

Every textured patch of the earlier frame is looked for in the later one by normalised cross-correlation. It votes where its best
place is clear: highly correlated, and well above the places around it, so that an edge, which fits all along itself, has no vote.
Frames of half the size say roughly where that place is, all patches of a column at once; its two best are compared in full.
Over a third of a second water changes its look and hardly votes, and what votes does not agree. The camera is the similarity that
most votes agree on; the votes left over are asked for another one, and the *evidence* is how far that one falls behind.

Two frames without evidence (a fast camera, a blur) are joined through the frame in the middle, down to neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from inpaintbench.curation.attributes.motion_field import Points, agreed_similarity
from inpaintbench.types import Luma

Matrix = npt.NDArray[np.float64]
Plane = npt.NDArray[np.uint8]
Values = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]

# Side of a patch, and from one to the next, in pixels of a view of 342: strips of land above water are narrow.
PATCH, STEP = 14, 7
# How far a patch is looked for, in each direction.
REACH = 48
# Grey levels, the standard deviation of a patch with texture.
LEAST_DEVIATION = 2.0
# Correlation of a clear match, how far around it other places count as others, and how far below they have to be.
LEAST_CORRELATION, AROUND, BELOW = 0.75, 4, 0.06
# Side of a patch in halved frames, the blur before halving in pixels (a shift by an odd number of them halves to another
# picture), and the correlation from which a place there is looked at in full.
HALF, BLUR, LEAST_HALVED = PATCH // 2, 1.0, 0.5
# Of the vector of a patch, so that nothing is divided by 0; and the correlation with what lies beyond the view.
LEAST_LENGTH, OUTSIDE = 1e-6, np.float32(-2)
# Steps (x, y) from a place: to those that it may be in full, to those too near in the halved frame to be another, and all around.
NEAR_STEPS, SAME_STEPS, AROUND_STEPS = (np.mgrid[-far : far + 1, -far : far + 1].reshape(2, -1).T for far in (1, 2, AROUND))
# To the four neighbours, then to every other place of the ring; places between them look like them.
_RING = (np.hypot(*AROUND_STEPS.T) >= AROUND - 0.5) & (AROUND_STEPS.sum(axis=1) % 2 == 0)
RING_STEPS = np.concatenate([[(-1, 0), (1, 0), (0, -1), (0, 1)], AROUND_STEPS[_RING]])
# Pixels between a vote and the camera that it agrees with; votes further off than the second are asked for another camera.
AGREEING, OTHER = 1.0, 2.0
FEWEST_VOTES = 6
# A camera outvotes the next by this factor, with at least so many votes; else the frames are joined through the middle.
OUTVOTING, ENOUGH_VOTES = 1.5, 8
# Votes that chance gives the best of many cameras.
BY_CHANCE = 2
# The way through the middle is taken where its evidence is higher by this: over short times water keeps its look.
CLEARLY_BETTER = 0.2


@dataclass(frozen=True)
class Link:
    """The camera from one frame to a later one."""

    matrix: Matrix
    """``float64[3, 3]``, from pixels of the earlier frame to those of the later."""
    evidence: float
    """Share by which the camera outvotes the next best, 0..1; of a chain, that of its weakest link."""


def link(frames: Luma, first: int, last: int, *, above: float = 0.0) -> Link | None:
    """The camera between two frames of a clip, directly or through frames between them; None where nothing speaks for one.

    Args:
        frames: ``uint8[T, H, W]``.
        first: index of the earlier frame.
        last: index of the later frame.
        above: evidence up to which a camera is of no use; where none has more, what was found so far is returned.
    """
    direct, outvotes = _direct(frames[first], frames[last])
    if outvotes or last - first < 2:
        return direct
    needed = max(above, direct.evidence + CLEARLY_BETTER if direct else 0.0)
    middle = (first + last) // 2
    chained = Link(np.eye(3), 1.0)
    for begin, end in ((first, middle), (middle, last)):
        part = link(frames, begin, end, above=needed)
        if part is None or part.evidence <= needed:
            return direct
        chained = Link(part.matrix @ chained.matrix, min(chained.evidence, part.evidence))
    return chained


def _direct(earlier: Plane, later: Plane) -> tuple[Link | None, bool]:
    """The camera that most patches agree on, and whether it outvotes all others."""
    origin, target = _votes(earlier, later)
    if len(origin) < FEWEST_VOTES:
        return None, False
    (turn, shift), errors = agreed_similarity(origin, target)
    agreeing, left = int((errors < AGREEING).sum()), errors > OTHER
    others = int((agreed_similarity(origin[left], target[left])[1] < AGREEING).sum()) if left.sum() > 2 else 0
    evidence = 1 - (others + BY_CHANCE) / max(agreeing, 1)
    if evidence <= 0:
        return None, False
    middle = complex(earlier.shape[1] - 1, earlier.shape[0] - 1) / 2
    moved = shift + middle - turn * middle
    matrix = np.array([[turn.real, -turn.imag, moved.real], [turn.imag, turn.real, moved.imag], [0, 0, 1]])
    return Link(matrix, evidence), agreeing >= max(ENOUGH_VOTES, OUTVOTING * others)


def _votes(earlier: Plane, later: Plane) -> tuple[Points, Points]:
    """Where patches were and where they clearly are, about the middle of the view in complex numbers, ``complex128[n]`` each."""
    height, width = earlier.shape
    if min(height, width) < PATCH:  # not one patch fits
        return np.zeros(0, np.complex128), np.zeros(0, np.complex128)
    if height > width:  # places are searched in bands across the longer side
        origin, target = _votes(earlier.T, later.T)
        return 1j * origin.conj(), 1j * target.conj()
    one, other = (_looks(plane.tobytes(), plane.shape) for plane in (earlier, later))
    origins, targets = _clear(one, other, *_found_in_halves(one, other))
    # Both are corners of patches.
    middle = np.array([width - PATCH, height - PATCH]) / 2
    origin, target = (np.asarray((places - middle) @ (1, 1j), np.complex128) for places in (origins, targets))
    return origin, target


@dataclass(frozen=True)
class _Looks:
    """How a frame looks from every place on; a place is (column, row)."""

    pixels: Values
    """``float32[W, H]``."""
    lengths: Values
    """Of the patch from there on less its mean, as a vector of its pixels, ``float32[W - PATCH + 1, H - PATCH + 1]``."""
    halves: Values
    """Patches of the halved frame less their means, at length 1: ``float32[pixels of a patch, columns, rows]``."""


@lru_cache(maxsize=8)
def _looks(pixels: bytes, shape: tuple[int, int]) -> _Looks:
    """The looks of a frame of ``shape``; it is linked to several others."""
    full = np.frombuffer(pixels, np.uint8).reshape(shape).T.astype(np.float32)
    columns, rows = (size // 2 for size in full.shape)
    smooth = cv2.GaussianBlur(full, (0, 0), BLUR)
    halved = smooth[: 2 * columns, : 2 * rows].reshape(columns, 2, rows, 2).mean(axis=(1, 3))
    means, lengths = _means_and_lengths(halved, HALF)
    patches = sliding_window_view(halved, (HALF, HALF)).transpose(2, 3, 0, 1).reshape(-1, *means.shape)
    alike = np.asarray((patches - means) / np.maximum(lengths, LEAST_LENGTH), np.float32)
    return _Looks(full, _means_and_lengths(full, PATCH)[1], alike)


def _means_and_lengths(pixels: Values, side: int) -> tuple[Values, Values]:
    """Of every square of ``side`` pixels, from its first corner on; the length is that of its pixels less the mean."""
    wide = pixels.astype(np.float64)
    inside = tuple(slice(size - side + 1) for size in pixels.shape)
    means, squares = (cv2.boxFilter(part, -1, (side, side), anchor=(0, 0))[inside] for part in (wide, np.square(wide)))
    return means.astype(np.float32), (side * np.sqrt(np.maximum(squares - np.square(means), 0))).astype(np.float32)


def _found_in_halves(one: _Looks, other: _Looks) -> tuple[Places, Places]:
    """Places of patches of the earlier frame, ``int64[n, 2]``, and for each two in the later, by halves, ``int64[n, 2, 2]``."""
    reach, (across, down) = REACH // 2, one.halves.shape[1:]
    columns, rows = (np.arange(0, size, STEP / 2).astype(int) for size in (across, down))
    textured = one.lengths[np.ix_(2 * columns, 2 * rows)] >= LEAST_DEVIATION * PATCH
    far = np.where(np.abs(np.arange(down) - rows[:, None]) > reach, OUTSIDE, np.float32(0))
    origins, targets = [np.zeros((0, 2), int)], [np.zeros((0, 2, 2), int)]
    for column, asked in zip(columns, textured, strict=True):
        first = max(column - reach, 0)
        # A slice of a flat array, so that nothing is copied.
        band = other.halves.reshape(len(other.halves), -1)[:, first * down : (column + reach + 1) * down]
        likes = (one.halves[:, column, rows[asked]].T @ band).reshape(asked.sum(), band.shape[1] // down, down)
        likes += far[asked, None]
        best = _highest(likes)
        alike = likes[np.arange(len(likes)), *best.T] >= LEAST_HALVED
        around = np.minimum(np.maximum(best[:, None] + SAME_STEPS, 0), (likes.shape[1] - 1, likes.shape[2] - 1))
        likes[np.arange(len(likes))[:, None], around[..., 0], around[..., 1]] = OUTSIDE
        origins.append(np.stack([np.full(alike.sum(), column), rows[asked][alike]], axis=1))
        targets.append(np.stack([best, _highest(likes)], axis=1)[alike] + (first, 0))
    return 2 * np.concatenate(origins), 2 * np.concatenate(targets)


def _highest(likes: Values) -> Places:
    """Where each of ``float32[n, columns, rows]`` is highest, ``int64[n, 2]``."""
    return np.stack(np.divmod(likes.reshape(len(likes), likes.shape[1] * likes.shape[2]).argmax(axis=1), likes.shape[2]), axis=1)


def _clear(one: _Looks, other: _Looks, origins: Places, targets: Places) -> tuple[Places, npt.NDArray[np.float64]]:
    """Of these places those that are clear in full frames, the better later one to a fraction of a pixel, ``float64[n, 2]``."""
    tried = np.concatenate([targets[:, place, None] + NEAR_STEPS for place in range(2)], axis=1)
    near = _likes(one, other, origins, tried)
    alike = near.max(axis=1, initial=OUTSIDE) >= LEAST_CORRELATION
    origins, near, tried = origins[alike], near[alike], tried[alike]
    best, here = tried[np.arange(len(tried)), near.argmax(axis=1)], near.max(axis=1)
    around = _likes(one, other, origins, best[:, None] + RING_STEPS)
    fractions = np.stack([_peaks(around[:, 0], here, around[:, 1]), _peaks(around[:, 2], here, around[:, 3])], axis=1)
    clear = around[:, 4:].max(axis=1) <= here - BELOW
    return origins[clear], (best + fractions)[clear]


def _likes(one: _Looks, other: _Looks, origins: Places, places: Places) -> Values:
    """Correlation of patches with those at ``places`` ``int64[n, m, 2]``, ``float32[n, m]``; ``OUTSIDE`` beyond the view."""
    inside = np.asarray(np.all((places >= 0) & (places < other.lengths.shape), axis=2))
    columns, rows = np.where(inside[..., None], places, 0).transpose(2, 0, 1)
    patches = _patches(one.pixels, *origins.T)[..., None]
    products = (_patches(other.pixels, columns, rows) @ (patches - patches.mean(axis=1, keepdims=True)))[..., 0]
    lengths = other.lengths[columns, rows] * one.lengths[*origins.T][:, None]
    return np.where(inside, products / np.maximum(lengths, LEAST_LENGTH), OUTSIDE)


def _patches(pixels: Values, columns: Places, rows: Places) -> Values:
    """The pixels of patches from places on, ``float32[..., PATCH * PATCH]``."""
    # By runs of a flat array: squares come in an order that has to be copied once more.
    starts = (columns[..., None] + np.arange(PATCH)) * pixels.shape[1] + rows[..., None]
    return np.asarray(sliding_window_view(pixels.ravel(), PATCH)[starts]).reshape(*columns.shape, PATCH**2)


def _peaks(before: Values, here: Values, after: Values) -> npt.NDArray[np.float64]:
    """How far beside the middle ones the parabolas through three values each are highest, -0.5..0.5."""
    bend = np.minimum(before - 2.0 * here + after, -1e-9)
    inside = np.minimum(before, after) > OUTSIDE
    return np.where(inside, np.clip(0.5 * (before - after) / bend, -0.5, 0.5), 0)
