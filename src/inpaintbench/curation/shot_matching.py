"""Tests of whether frames show one scene, however far the camera moved, and whether one scene fades or dissolves into another.

Frames become *details*: small luma, less its surroundings, over its local contrast, so that light and fades do not count.
Two frames are laid over each other at every shift up to ``LARGEST_SHIFT`` of the view, and the correlation of the overlap at
the best one says how alike they are.

A *fade* is a run of frames that show nothing, with a ramp of one scene losing or gaining contrast on a side of it. A
*dissolve* lies between two frames of different scenes when the frames between them are weighted sums of both, with weights
that go steadily from the one to the other; both scenes are laid over each frame first, as the camera may move meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt
import scipy.fft

Plane = npt.NDArray[np.float32]
# Columns to the right and rows down.
Shift = tuple[int, int]

# Of each side of the view.
LARGEST_SHIFT = 0.7
# Of the view: two frames that share less are not compared.
LEAST_OVERLAP = 0.25
# Likeness from which two frames show one scene; different scenes reach 0.35, six frames of shake or water fall to 0.65.
SAME_SCENE = 0.4
# Standard deviation of a frame that shows nothing: black, white, or fog.
FLAT_LEVELS = 3.0
# Difference up to which two frames that show nothing are alike.
SAME_GREY_LEVELS = 30.0
_SURROUNDINGS_SIGMA = 5.0
_SMOOTHING_SIGMA = 0.8
_CONTRAST_FLOOR_LEVELS = 2.0


@dataclass(frozen=True)
class Details:
    """One small frame, ready to be compared."""

    luma: Plane
    """``float32[h, w]``, 0..255."""
    pattern: Plane
    """``float32[h, w]``: its details, mean 0."""
    spectrum: npt.NDArray[np.complex64]
    squares: npt.NDArray[np.float64]
    """``float64[h + 1, w + 1]``, integral image of the squared pattern."""
    contrast: float
    """Standard deviation of the luma, in levels."""

    @property
    def flat(self) -> bool:
        """Return whether the frame shows nothing."""
        return self.contrast < FLAT_LEVELS


def details_of(luma: npt.NDArray[np.uint8]) -> Details:
    """Prepare ``uint8[h, w]``."""
    plane = luma.astype(np.float32)
    smooth = cv2.GaussianBlur(plane, (0, 0), _SMOOTHING_SIGMA)
    high = smooth - cv2.GaussianBlur(smooth, (0, 0), _SURROUNDINGS_SIGMA)
    contrast = np.sqrt(cv2.GaussianBlur(high * high, (0, 0), _SURROUNDINGS_SIGMA))
    pattern = np.asarray(high / (contrast + _CONTRAST_FLOOR_LEVELS), np.float32)
    spectrum = scipy.fft.rfft2(pattern, _padded(pattern.shape))
    squares = np.zeros((plane.shape[0] + 1, plane.shape[1] + 1))
    np.cumsum(np.cumsum(np.square(pattern, dtype=np.float64), axis=0), axis=1, out=squares[1:, 1:])
    return Details(plane, pattern, spectrum, squares, float(plane.std()))


def likeness(details: Details, other: Details) -> tuple[float, Shift]:
    """Return how alike two frames of one size are, -1..1, and the shift that lays ``other`` over ``details``.

    Where one shows nothing it is 0, and 1 where both do and are nearly as bright.

    ``one[y + down, x + right]`` and ``other[y, x]`` then show the same.
    """
    if details.flat or other.flat:
        near = abs(float(details.luma.mean()) - float(other.luma.mean())) <= SAME_GREY_LEVELS
        return float(details.flat and other.flat and near), (0, 0)
    height, width = details.luma.shape
    rows, columns = _shifts(height), _shifts(width)
    products = scipy.fft.irfft2(details.spectrum * other.spectrum.conj(), _padded((height, width)))
    products = products[rows[:, None], columns[None, :]]
    energy = np.sqrt(_energy(details.squares, rows, columns) * _energy(other.squares, -rows, -columns))
    overlap = np.outer(height - np.abs(rows), width - np.abs(columns)) / (height * width)
    scores = np.where(overlap >= LEAST_OVERLAP, products / np.maximum(energy, 1e-6), -1.0)
    # A small overlap is alike by chance more easily.
    best = np.unravel_index(int(np.argmax(scores * np.sqrt(np.sqrt(overlap)))), scores.shape)
    return float(scores[best]), (int(columns[best[1]]), int(rows[best[0]]))


def still_likeness(details: Details, other: Details) -> float:
    """``likeness`` where nothing moved: a hundred times cheaper, never higher by much."""
    energy = details.squares[-1, -1] * other.squares[-1, -1]
    return float(np.vdot(details.pattern, other.pattern) / np.sqrt(max(energy, 1e-6)))


def overlapping(frame: Plane, shift: Shift) -> tuple[slice, slice]:
    """Rows and columns of a frame that another one covers, once ``shift`` lays it there."""
    height, width = frame.shape
    return slice(max(0, shift[1]), min(height, height + shift[1])), slice(max(0, shift[0]), min(width, width + shift[0]))


def _padded(shape: tuple[int, ...]) -> tuple[int, int]:
    height, width = (scipy.fft.next_fast_len(side + int(LARGEST_SHIFT * side) + 1, real=True) for side in shape)
    return height, width


def _shifts(side: int) -> npt.NDArray[np.int64]:
    return np.arange(-int(LARGEST_SHIFT * side), int(LARGEST_SHIFT * side) + 1)


def _energy(
    squares: npt.NDArray[np.float64], down: npt.NDArray[np.int64], right: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Sum of the squared pattern over the rectangle that stays covered at each shift."""
    height, width = squares.shape[0] - 1, squares.shape[1] - 1
    top, bottom = np.maximum(0, down), np.minimum(height, height + down)
    left, right_end = np.maximum(0, right), np.minimum(width, width + right)
    total = squares[bottom][:, right_end] - squares[top][:, right_end] - squares[bottom][:, left] + squares[top][:, left]
    return np.asarray(np.maximum(total, 0.0))


# Least gain of contrast from one frame of a ramp to the next.
RAMP_RATIO = 1.02
RAMP_FRAMES = 2
# A ramp leaves at most this share of the contrast before the scene is gone.
RAMP_DEPTH = 0.7
# What is shorter and returns to the same scene is a flash.
SHORTEST_FADE_FRAMES = 7
# Distances in frames at which two frames are taken for the ends of a dissolve; the longest fix its extent best.
WINDOWS = (32, 16, 8)
# Likeness of the ends, at most.
DIFFERENT_SCENES = 0.45
# Of the luma of the ends, one laid over the other: weak details alone can differ within one scene, as on rippled water.
MOST_CORRELATION = 0.7
# Of the luma of any quarter of the ends: half a scene may be water or a crowd.
MOST_QUARTER_CORRELATION = 0.9
# Share of the variance of the middle frame that the weighted sum of the ends explains.
LEAST_FIT = 0.87
# By how much more than either end alone.
LEAST_GAIN = 0.08
# A dissolve is measured against frames so far apart around its window; a frame with at most this share of a scene has none.
LONGEST_FRAMES, EXTENT_WEIGHT = 40, 0.04
_BLEND_SIGMA = 1.5


@dataclass(frozen=True)
class Blend:
    """A gradual transition over ``[start, end)``, and how sure it is, 0..1."""

    start: int
    end: int
    score: float


def fades(details: list[Details]) -> Iterator[Blend]:
    """The fades among consecutive frames; both ramps and what lies between are one."""
    for start, end in _flat_runs(details):
        first = _ramp_end(details, start, step=-1)
        last = _ramp_end(details, end - 1, step=1)
        if first == start and last == end - 1:
            continue
        if _returns(details, first - 1, range(last + 1, first + SHORTEST_FADE_FRAMES)):
            continue
        yield Blend(first, last + 1, 1.0)


def _flat_runs(details: list[Details]) -> Iterator[tuple[int, int]]:
    flat = np.array([False, *(frame.flat for frame in details), False])
    changes = np.flatnonzero(flat[1:] != flat[:-1])
    yield from zip(changes[::2].tolist(), changes[1::2].tolist(), strict=True)


def _ramp_end(details: list[Details], flat: int, *, step: int) -> int:
    """The frame where the contrast stops growing, going away from the frame ``flat``; ``flat`` when there is no ramp."""
    end = flat + step
    while 0 <= end + step < len(details) and _on_ramp(details[end], details[end + step]):
        end += step
    if not 0 <= end < len(details) or details[end].flat:
        return flat
    # The last frame reached has the scene's full contrast: it is not part of the fade.
    mixed, nearest = abs(end - flat) - 1, details[flat + step]
    deep = nearest.contrast <= RAMP_DEPTH * details[end].contrast
    return end - step if mixed >= RAMP_FRAMES and deep else flat


def _on_ramp(near: Details, far: Details) -> bool:
    if near.flat or near.luma.shape != far.luma.shape or far.contrast < RAMP_RATIO * near.contrast:
        return False
    return max(still_likeness(near, far), likeness(near, far)[0]) >= SAME_SCENE


def _returns(details: list[Details], before: int, after: range) -> bool:
    known = [index for index in after if index < len(details)] if before >= 0 else []
    return any(likeness(details[before], details[index])[0] >= SAME_SCENE for index in known)


def dissolves(details: list[Details], cuts: set[int]) -> list[Blend]:
    """The dissolves among consecutive frames; none reaches over one of ``cuts``, a flat frame or a change of size."""
    barriers = np.cumsum([index in cuts or frame.flat for index, frame in enumerate(details)])
    blends: list[Blend] = []
    for length in WINDOWS:
        for start in range(0, len(details) - length, length // 4):
            end = start + length
            if barriers[end] > barriers[start] or details[start].flat or _inside(blends, start, end):
                continue
            fit = _mixed(details, start, end)
            if fit:
                blends.append(Blend(*_extent(details, start, end, barriers), score=round(fit, 4)))
    return blends


def _inside(blends: list[Blend], start: int, end: int) -> bool:
    return any(blend.start < end and start < blend.end for blend in blends)


def _mixed(details: list[Details], start: int, end: int) -> float:
    """Return how well a dissolve explains the frames between two, 0..1; 0 when it does not."""
    before, other = details[start], details[end]
    if not _different(before, other):
        return 0.0
    quarter = (end - start) // 4
    middle = _weights(before, other, details[(start + end) // 2])
    if not middle.is_mixture:
        return 0.0
    early, late = (_weights(before, other, details[at]) for at in (start + quarter, end - quarter))
    steady = early.other - 0.02 <= middle.other <= late.other + 0.02 and late.other - early.other > 0.1
    return middle.fit if steady and min(early.fit, late.fit) >= LEAST_FIT - 0.1 else 0.0


def _different(details: Details, other: Details) -> bool:
    if still_likeness(details, other) > DIFFERENT_SCENES:
        return False
    alike, shift = likeness(details, other)
    if alike > DIFFERENT_SCENES:
        return False
    # The best shift can be that of water or a crowd that fills much of the view; what stands still has none.
    return not any(_same_luma(details, other, laid) for laid in {shift, (0, 0)})


def _same_luma(details: Details, other: Details, shift: Shift) -> bool:
    first = _smooth(details.luma)[overlapping(details.luma, shift)]
    second = _smooth(other.luma)[overlapping(other.luma, (-shift[0], -shift[1]))]
    middle = [side // 2 for side in first.shape]
    quarters = [(down, right) for down in _halves(middle[0]) for right in _halves(middle[1])]
    same = any(_correlation(first[quarter], second[quarter]) > MOST_QUARTER_CORRELATION for quarter in quarters)
    return same or _correlation(first, second) > MOST_CORRELATION


def _halves(middle: int) -> tuple[slice, slice]:
    return slice(0, middle), slice(middle, None)


def _correlation(plane: Plane, other: Plane) -> float:
    """Pearson correlation of the levels of two planes, -1..1; 0 where one is flat."""
    if min(plane.std(), other.std()) < FLAT_LEVELS:
        return 0.0
    return float(np.mean((plane - plane.mean()) * (other - other.mean())) / (plane.std() * other.std()))


@dataclass(frozen=True)
class _Weights:
    """``frame = one * first + other * second + constant``, least squares."""

    one: float
    other: float
    fit: float
    """Share of the variance explained, 0..1."""
    alone: float
    """The larger share that one of them alone explains."""

    @property
    def is_mixture(self) -> bool:
        interior = min(self.one, self.other) >= 0.12 and 0.7 <= self.one + self.other <= 1.3
        return interior and self.fit >= LEAST_FIT and self.fit - self.alone >= LEAST_GAIN


def _weights(before: Details, other: Details, frame: Details) -> _Weights:
    columns = [_laid(end, frame, likeness(frame, end)[1]) for end in (before, other)]
    known = ~np.isnan(columns[0]) & ~np.isnan(columns[1])
    if known.mean() < 0.2:
        return _Weights(0.0, 0.0, 0.0, 0.0)
    target = _smooth(frame.luma)[known]
    target = target - target.mean()
    sources = np.stack([column[known] - column[known].mean() for column in columns], axis=1)
    weights = np.linalg.lstsq(sources, target, rcond=None)[0]
    variance = max(float(target @ target), 1e-6)
    fit = 1 - float(np.square(target - sources @ weights).sum()) / variance
    alone = np.square(sources.T @ target) / np.maximum(np.square(sources).sum(axis=0), 1e-6) / variance
    return _Weights(float(weights[0]), float(weights[1]), fit, float(alone.max()))


def _laid(source: Details, target: Details, shift: Shift) -> npt.NDArray[np.float64]:
    """``source`` where it lies over ``target``, ``float64[h, w]``, NaN elsewhere."""
    laid = np.full(target.luma.shape, np.nan)
    laid[overlapping(target.luma, shift)] = _smooth(source.luma)[overlapping(source.luma, (-shift[0], -shift[1]))]
    return laid


def _smooth(plane: Plane) -> Plane:
    return np.asarray(cv2.GaussianBlur(plane, (0, 0), _BLEND_SIGMA), np.float32)


def _extent(details: list[Details], start: int, end: int, barriers: npt.NDArray[np.int64]) -> tuple[int, int]:
    """The mixed frames around the middle of a window, judged by ends that lie further out as far as nothing is in the way."""
    first, last = start, end
    reach = max(0, LONGEST_FRAMES - (end - start)) // 2
    while first > max(0, start - reach) and barriers[first - 1] == barriers[start]:
        first -= 1
    while last < min(len(details) - 1, end + reach) and barriers[last + 1] == barriers[end]:
        last += 1
    shares = np.array([_second_share(details[first], details[last], frame) for frame in details[first : last + 1]])
    shares[0], shares[-1] = 0, 1
    middle = (start + end) // 2 - first
    before, after = shares[:middle] <= EXTENT_WEIGHT, shares[middle:] >= 1 - EXTENT_WEIGHT
    # One frame that was laid over badly does not end a dissolve.
    low = next((index for index in range(middle - 1, 0, -1) if before[index] and before[index - 1]), 0) + 1
    high = next((index for index in range(len(after) - 1) if after[index] and after[index + 1]), len(after) - 1) + middle
    return first + low, first + high


def _second_share(before: Details, other: Details, frame: Details) -> float:
    weights = _weights(before, other, frame)
    return weights.other / max(weights.one + weights.other, 1e-6)
