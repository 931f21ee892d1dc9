"""Tests of whether frames show one scene, however far the camera moved, and whether one scene fades or dissolves into another.

Frames become *details*: small luma, less its surroundings, over its local contrast, so that light and fades do not count.
Two frames are laid over each other at every shift up to ``LARGEST_SHIFT`` of the view, and the correlation of the overlap at
the best one says how alike they are.

A *fade* is a run of frames that show nothing, with a ramp of one scene losing or gaining contrast on a side of it. In a
*dissolve*, colours of a coarse grid go evenly along a straight line from one scene to another; a moving camera takes them along
a bent one. A view in which much stays what and where it was has not become another one: its exposure changed, while something
large moved through it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from inpaintbench.lazily import lazily

cv2 = lazily("cv2")
scipy_fft = lazily("scipy.fft")

Plane = npt.NDArray[np.float32]
# Of cells, `[rows, columns]`.
Sums = npt.NDArray[np.float32]
# Columns to the right and rows down.
Shift = tuple[int, int]

# Of each side of the view.
LARGEST_SHIFT = 0.7
# Of the view: two frames that share less are not compared.
LEAST_OVERLAP = 0.25
# Likeness from which two frames show one scene; different scenes reach 0.35, six frames of shake or water fall to 0.65.
SAME_SCENE = 0.4
# Side of a cell, in pixels of the small view.
CELL = 12
# Standard deviation of a frame that shows nothing: black, white, or fog.
FLAT_LEVELS = 3.0
# Mean up to which a frame that shows nothing is black.
DARK_LEVELS = 40.0
# Mean from which such a frame is white.
WHITE_LEVELS = 215.0
# Difference up to which two frames that show nothing are alike.
SAME_GREY_LEVELS = 30.0
# Columns and rows of the coarse grid of colours.
COLOUR_CELLS = (16, 9)
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
    colours: npt.NDArray[np.float32]
    """``float32[9 * 16 * 3]``, 0..255: mean colours of the cells of a coarse grid; grey where only luma is known."""

    @property
    def flat(self) -> bool:
        """Return whether the frame shows nothing."""
        return self.contrast < FLAT_LEVELS

    @property
    def black(self) -> bool:
        """Return whether the frame shows nothing, and that is dark."""
        return self.flat and float(self.luma.mean()) < DARK_LEVELS


@dataclass(frozen=True)
class ColourPath:
    """Path of the colours from one frame to a later one: in a dissolve of scenes that stand still, along a straight line."""

    length: float
    """Root mean square difference of the ends, in levels."""
    bend: float
    """Root mean square distance of the frames between from the line, over its length."""
    shares: npt.NDArray[np.float32]
    """Return how far along the line each frame is, 0 at the first and 1 at the last."""

    @classmethod
    def of(cls, colours: Sequence[npt.NDArray[np.float32]]) -> ColourPath:
        """Return the path of the colours of three or more consecutive frames."""
        path = np.stack(colours) - colours[0]
        line = path[-1]
        square = max(float(line @ line), 1e-6)
        shares = path @ line / square
        off = path[1:-1] - shares[1:-1, None] * line
        length = np.sqrt(square / len(line))
        return cls(float(length), float(np.sqrt(np.mean(np.square(off))) / length), shares)


def colour_distance(one: Details, other: Details) -> float:
    """Root mean square difference of the coarse colours of two frames, in levels."""
    return float(np.sqrt(np.mean(np.square(one.colours - other.colours))))


def details_of(frame: npt.NDArray[np.uint8]) -> Details:
    """Prepare ``uint8[h, w, 3]`` RGB or ``uint8[h, w]`` luma."""
    luma = frame if frame.ndim == 2 else cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY)
    cells = cv2.resize(frame.astype(np.float32), COLOUR_CELLS, interpolation=cv2.INTER_AREA)
    colours = np.repeat(cells.ravel(), 3 if frame.ndim == 2 else 1).astype(np.float32)
    plane = luma.astype(np.float32)
    smooth = cv2.GaussianBlur(plane, (0, 0), _SMOOTHING_SIGMA)
    high = smooth - cv2.GaussianBlur(smooth, (0, 0), _SURROUNDINGS_SIGMA)
    contrast = np.sqrt(cv2.GaussianBlur(high * high, (0, 0), _SURROUNDINGS_SIGMA))
    pattern = np.asarray(high / (contrast + _CONTRAST_FLOOR_LEVELS), np.float32)
    spectrum = scipy_fft.rfft2(pattern, _padded(pattern.shape))
    squares = np.zeros((plane.shape[0] + 1, plane.shape[1] + 1))
    np.cumsum(np.cumsum(np.square(pattern, dtype=np.float64), axis=0), axis=1, out=squares[1:, 1:])
    return Details(plane, pattern, spectrum, squares, float(plane.std()), colours)


def likeness(one: Details, other: Details) -> tuple[float, Shift]:
    """Return how alike two frames of one size are, -1..1, and the shift that lays ``other`` over ``one``.

    Where one shows nothing it is 0, and 1 where both do and are nearly as bright.

    ``one[y + down, x + right]`` and ``other[y, x]`` then show the same.
    """
    if one.flat or other.flat:
        near = abs(float(one.luma.mean()) - float(other.luma.mean())) <= SAME_GREY_LEVELS
        return float(one.flat and other.flat and near), (0, 0)
    height, width = one.luma.shape
    rows, columns = (np.arange(-int(LARGEST_SHIFT * side), int(LARGEST_SHIFT * side) + 1) for side in (height, width))
    products = scipy_fft.irfft2(one.spectrum * other.spectrum.conj(), _padded((height, width)))
    products = products[rows[:, None], columns[None, :]]
    energy = np.sqrt(_energy(one.squares, rows, columns) * _energy(other.squares, -rows, -columns))
    overlap = np.outer(height - np.abs(rows), width - np.abs(columns)) / (height * width)
    scores = np.where(overlap >= LEAST_OVERLAP, products / np.maximum(energy, 1e-6), -1.0)
    # A small overlap is alike by chance more easily.
    best = np.unravel_index(int(np.argmax(scores * np.sqrt(np.sqrt(overlap)))), scores.shape)
    return min(1.0, float(scores[best])), (int(columns[best[1]]), int(rows[best[0]]))


def still_likeness(one: Details, other: Details) -> float:
    """``likeness`` where nothing moved: a hundred times cheaper, never higher by much."""
    energy = one.squares[-1, -1] * other.squares[-1, -1]
    return float(np.vdot(one.pattern, other.pattern) / np.sqrt(max(energy, 1e-6)))


def cell_products(one: Details, other: Details) -> tuple[Sums, Sums, Sums]:
    """Sums over each cell, where two frames of one size stand: of the product of their patterns, and of the square of each."""
    down, across = (side // CELL for side in one.pattern.shape)
    blocks = (
        (first * second)[: down * CELL, : across * CELL].reshape(down, CELL, across, CELL).sum(axis=(1, 3))
        for first, second in ((one.pattern, other.pattern), (one.pattern, one.pattern), (other.pattern, other.pattern))
    )
    products, squares, other_squares = blocks
    return products, squares, other_squares


def _padded(shape: tuple[int, ...]) -> tuple[int, int]:
    height, width = (scipy_fft.next_fast_len(side + int(LARGEST_SHIFT * side) + 1, real=True) for side in shape)
    return height, width


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
# Of the luma of one and the next, one laid over the other: where something comes into view, levels do not grow by one factor.
RAMP_CORRELATION = 0.95
# A ramp leaves at most this share of the contrast before the scene is gone.
RAMP_DEPTH = 0.7
# What is shorter and returns to the same scene is a flash.
SHORTEST_FADE_FRAMES = 7
# Distances in frames at which two frames are taken for the ends of a dissolve.
WINDOWS = (8, 12, 16, 24, 32, 48)
# Least difference of colours between the ends, in levels, and what noise does to it.
LEAST_PATH_LEVELS, COLOUR_NOISE_LEVELS = 12.0, 2.0
# How far the path may be from a straight line, noise included: dissolves have 0.02 to 0.17, moving cameras 0.22 and more. Where
# the ends differ by ``FAR_LEVELS`` cameras have 0.38 and more, and a dissolve from a panned shot 0.3.
MOST_DOUBT, MOST_FAR_DOUBT, FAR_LEVELS = 0.2, 0.32, 40.0
# A step back, at most, and one ahead, in steps of equal length.
MOST_RETURN, MOST_HASTE = 0.05, 3.0
# Of the way, where mixed frames begin and end.
EXTENT_SHARE = 0.04
# Likeness of the ends, at most.
DIFFERENT_SCENES = 0.45
# Of the cells: from it on two ends show one scene. Frames of two films have 0.12 in common, 1 of 436 pairs more than this; a road
# onto which a car drives while the exposure falls has 0.6.
MOST_SAME_SHARE = 0.35
# Of the luma of the ends, one laid over the other: weak details alone can differ within one scene, as on rippled water.
MOST_CORRELATION = 0.7
# Of the luma of any quarter of the ends: half a scene may be water or a crowd.
MOST_QUARTER_CORRELATION = 0.9
_BLEND_SIGMA = 1.5


@dataclass(frozen=True)
class Blend:
    """A gradual transition over ``[start, end)``, and how sure it is, 0..1."""

    start: int
    end: int
    score: float


def fades(details: list[Details]) -> Iterator[Blend]:
    """The fades among consecutive frames; both ramps and what lies between are one."""
    flat = np.array([False, *(frame.flat for frame in details), False])
    changes = np.flatnonzero(flat[1:] != flat[:-1]).tolist()
    for start, end in zip(changes[::2], changes[1::2], strict=True):
        first = _ramp_end(details, start, step=-1)
        last = _ramp_end(details, end - 1, step=1)
        if first == start and last == end - 1:
            continue
        after = details[last + 1 : first + SHORTEST_FADE_FRAMES] if first else []
        if any(likeness(details[first - 1], frame)[0] >= SAME_SCENE for frame in after):
            continue
        yield Blend(first, last + 1, 1.0)


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
    """Return whether ``far`` is ``near`` with more contrast, by one factor: not because something comes into view."""
    if near.flat or near.luma.shape != far.luma.shape or far.contrast < RAMP_RATIO * near.contrast:
        return False
    alike, shift = likeness(near, far)
    if max(still_likeness(near, far), alike) < SAME_SCENE:
        return False
    first, second = _laid_over(near, far, shift if alike >= SAME_SCENE else (0, 0))
    grown = float(second.std()) >= RAMP_RATIO * float(first.std())
    return grown and _correlation(first, second, least=0.0) >= RAMP_CORRELATION


def dissolves(details: list[Details], cuts: set[int]) -> list[Blend]:
    """The dissolves among consecutive frames; none reaches over one of ``cuts`` or a change of size.

    What changes the picture as evenly, from or to a frame that shows nothing, is found as well: a slow fade.
    """
    barriers = np.cumsum([index in cuts for index in range(len(details))])
    blends: list[Blend] = []
    for _, start, end in sorted(_straight(details, barriers)):
        apart = all(blend.start >= end or start >= blend.end for blend in blends)
        if apart and _joins_two_scenes(details[start], details[end]):
            first, last, bend = _extent(details, start, end, barriers)
            blends.append(Blend(first, last, round(max(0.0, 1 - bend), 4)))
    return blends


def _straight(details: list[Details], barriers: npt.NDArray[np.int64]) -> Iterator[tuple[float, int, int]]:
    """Windows over which colours go evenly along a straight line: how far from one, start, and end."""
    for length in WINDOWS:
        for start in range(0, len(details) - length, max(1, length // 8)):
            end = start + length
            if barriers[end] > barriers[start] or colour_distance(details[start], details[end]) < LEAST_PATH_LEVELS:
                continue
            path = ColourPath.of([frame.colours for frame in details[start : end + 1]])
            steps = np.diff(path.shares)
            doubt = path.bend + COLOUR_NOISE_LEVELS / path.length
            most = MOST_FAR_DOUBT if path.length >= FAR_LEVELS else MOST_DOUBT
            if doubt <= most and steps.min() >= -MOST_RETURN and steps.max() <= MOST_HASTE / length:
                yield doubt, start, end


def _joins_two_scenes(one: Details, other: Details) -> bool:
    """Return whether the ends show two scenes, or one of them nothing; of two that show nothing, one must be black or white.

    Else the exposure of a bare wall or sky changed.
    """
    if one.flat and other.flat:
        levels = sorted(float(end.luma.mean()) for end in (one, other))
        return levels[0] < DARK_LEVELS or levels[1] > WHITE_LEVELS
    if one.flat or other.flat:
        return True
    if still_likeness(one, other) > DIFFERENT_SCENES:
        return False
    # Whatever its contrast, what moves through a view covers a part of it: the cells of the rest still tell the scene.
    products, squares, other_squares = cell_products(one, other)
    same = products >= SAME_SCENE * np.sqrt(np.maximum(squares * other_squares, 1e-6))
    if same.size and float(np.mean(same)) >= MOST_SAME_SHARE:
        return False
    alike, shift = likeness(one, other)
    if alike > DIFFERENT_SCENES:
        return False
    # The best shift can be that of water or a crowd that fills much of the view; what stands still has none.
    for laid in {shift, (0, 0)}:
        first, second = _laid_over(one, other, laid)
        down, across = (side // 2 for side in first.shape)
        quarters = product((slice(0, down), slice(down, None)), (slice(0, across), slice(across, None)))
        if any(_correlation(first[quarter], second[quarter]) > MOST_QUARTER_CORRELATION for quarter in quarters):
            return False
        if _correlation(first, second) > MOST_CORRELATION:
            return False
    return True


def _laid_over(one: Details, other: Details, shift: Shift) -> list[Plane]:
    """The luma of both, smoothed, where ``other`` lies over ``one``."""
    parts = []
    for frame, (right, down) in ((one, shift), (other, (-shift[0], -shift[1]))):
        smooth = np.asarray(cv2.GaussianBlur(frame.luma, (0, 0), _BLEND_SIGMA), np.float32)
        height, width = smooth.shape
        parts.append(smooth[max(0, down) : min(height, height + down), max(0, right) : min(width, width + right)])
    return parts


def _correlation(one: Plane, other: Plane, *, least: float = FLAT_LEVELS) -> float:
    """Pearson correlation of the levels of two planes, -1..1; 0 where one has a standard deviation of ``least`` or less."""
    if min(one.std(), other.std()) <= least:
        return 0.0
    return float(np.mean((one - one.mean()) * (other - other.mean())) / (one.std() * other.std()))


def _extent(details: list[Details], start: int, end: int, barriers: npt.NDArray[np.int64]) -> tuple[int, int, float]:
    """The mixed frames around a window, judged by ends a little further out, and how bent the path over them is."""
    first, last, reach = start, end, max(2, (end - start) // 4)
    while first > max(0, start - reach) and barriers[first - 1] == barriers[start]:
        first -= 1
    while last < min(len(details) - 1, end + reach) and barriers[last + 1] == barriers[end]:
        last += 1
    path = ColourPath.of([frame.colours for frame in details[first : last + 1]])
    mixed = np.flatnonzero((path.shares > EXTENT_SHARE) & (path.shares < 1 - EXTENT_SHARE))
    return (first + int(mixed[0]), first + int(mixed[-1]) + 1, path.bend) if len(mixed) else (start, end, path.bend)
