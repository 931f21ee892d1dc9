"""Pictures that repeat themselves: the shifts under which they do, and holes continued along them.

A period longer than a patch cannot be seen from patches alone. It shows in the whole picture (as shifts do in He and Sun,
"Statistics of patch offsets for image completion", 2012).
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.eval.exemplar.levels import Picture, Pixels

# Rows and columns.
Shift = tuple[int, int]
Mismatches = npt.NDArray[np.float64]
# How far shifts are looked for, as a share of the sides.
_REACH = 0.25
# Share of the pixels that must be known on both sides of a shift.
_LEAST_PAIRS = 0.1
# Mean squared difference under a shift and somewhere on the way to it, as shares of that of pixels with nothing in common: at
# most the one, so that it is a repeat (0 for an exact one), and at least the other, so that it is no smooth picture.
_LIKE, _UNLIKE = 0.01, 0.1
# Most shifts that a hole is continued along, shortest first.
_SHIFTS = 8
# Fifteen places between no shift and a shift, as shares of it.
_ON_THE_WAY = np.linspace(0, 1, 17)[1:-1]


def continue_repeats(picture: Picture, hole: Pixels) -> tuple[Picture, Pixels]:
    """Picture with holes copied from whole periods away, ``uint8[H, W, 3]``, and the hole that is left, ``bool[H, W]``.

    Both are as given where the picture does not repeat itself.
    """
    rest, filled = hole.copy(), picture.copy()
    steps = [(sign * down, sign * right) for down, right in shifts_of(picture, hole) for sign in (1, -1)]
    left = -1
    while steps and left != (left := int(np.count_nonzero(rest))):
        for step in steps:
            here, there = _overlap(step)
            gained = rest[here] & ~rest[there]
            filled[here][gained] = filled[there][gained]
            rest[here] &= ~gained
    return filled, rest


def shifts_of(picture: Picture, hole: Pixels) -> list[Shift]:
    """The shortest shifts under which what is known repeats itself, at most eight, none a multiple of another.

    Pictures of nature have none. ``picture``: ``uint8[H, W, 3]``; ``hole``: ``bool[H, W]``, not all hole.
    """
    known = ~hole
    unlike = 2 * float(picture[known].var(axis=0).sum())
    if unlike == 0:
        return []
    mismatches, middle = _mismatches(picture, known)
    down, right = np.nonzero((mismatches <= _LIKE * unlike) & _least_nearby(mismatches, tolerance=_LIKE * unlike / 1000))
    there = (down > 0) | (right > middle)  # of a shift and its opposite one is enough
    down, right = down[there], right[there] - middle
    on_the_way = [
        mismatches[np.rint(down * share).astype(np.intp), np.rint(right * share).astype(np.intp) + middle]
        for share in _ON_THE_WAY
    ]
    left = np.max(on_the_way, axis=0) >= _UNLIKE * unlike
    down, right = down[left], right[left]
    found: list[Shift] = []
    for index in np.lexsort((right, down, down**2 + right**2)):
        shift = (int(down[index]), int(right[index]))
        if len(found) < _SHIFTS and not any(_multiple(shift, one) for one in found):
            found.append(shift)
    return found


def _least_nearby(mismatches: Mismatches, *, tolerance: float) -> npt.NDArray[np.bool_]:
    """Shifts beside which none of the eight neighbours fits better, ``bool`` of the same shape."""
    whole = np.concatenate([mismatches[1:2, ::-1], mismatches])  # a shift up is the opposite of one down
    least = cv2.erode(whole, np.ones((3, 3), np.uint8))[-len(mismatches) :]
    return np.asarray(mismatches <= least + tolerance, np.bool_)


def _mismatches(picture: Picture, known: Pixels) -> tuple[Mismatches, int]:
    """Mean squared differences, summed over the colours, ``float64[shifts down from 0, shifts to the left and right]``, and the
    column of no shift.

    Infinite where too few pairs tell. Sums over all known pairs of a shift are products of spectra.
    """
    from scipy import fft

    height, width = known.shape
    down, right = (int(side * _REACH) for side in (height, width))
    size = [fft.next_fast_len(height + down, real=True), fft.next_fast_len(width + right, real=True)]
    colours = np.where(known, np.moveaxis(picture - picture[known].mean(axis=0), 2, 0), 0.0)
    mask, squares = (fft.rfft2(one, size) for one in (known.astype(np.float64), (colours**2).sum(axis=0)))

    def by_shift(spectrum: npt.NDArray[np.float64]) -> Mismatches:
        sums = fft.irfft2(spectrum, size)[: down + 1]
        both: Mismatches = np.concatenate([sums[:, sums.shape[1] - right :], sums[:, : right + 1]], axis=1)
        return both

    pairs = by_shift(np.abs(mask) ** 2)
    alike = sum(np.abs(fft.rfft2(colour, size)) ** 2 for colour in colours)
    total = by_shift(2 * (np.conj(mask) * squares).real - 2 * alike)
    enough = pairs >= _LEAST_PAIRS * known.size
    return np.where(enough, total / np.maximum(pairs, 1), np.inf), right


def _overlap(shift: Shift) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """Rows and columns of what has a counterpart ``shift`` away, and of those counterparts."""
    here = tuple(slice(max(0, -step), -step if step > 0 else None) for step in shift)
    there = tuple(slice(max(0, step), step if step < 0 else None) for step in shift)
    return (here[0], here[1]), (there[0], there[1])


def _multiple(shift: Shift, of: Shift) -> bool:
    return shift[0] * of[1] == shift[1] * of[0] and all(
        part % one == 0 if one else part == 0 for part, one in zip(shift, of, strict=True)
    )
