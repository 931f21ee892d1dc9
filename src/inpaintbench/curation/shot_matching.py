"""Whether two frames show one scene, however far the camera moved between them.

Frames become *details*: small luma, less its surroundings, over its local contrast, so that light and fades do not count.
Two frames are laid over each other at every shift up to ``LARGEST_SHIFT`` of the view, and the correlation of the overlap at
the best one says how alike they are.
"""

from __future__ import annotations

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
        """Whether the frame shows nothing."""
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


def likeness(one: Details, other: Details) -> tuple[float, Shift]:
    """How alike two frames of one size are, -1..1, and the shift that lays ``other`` over ``one``.

    Where one shows nothing it is 0, and 1 where both do and are nearly as bright.

    ``one[y + down, x + right]`` and ``other[y, x]`` then show the same.
    """
    if one.flat or other.flat:
        near = abs(float(one.luma.mean()) - float(other.luma.mean())) <= SAME_GREY_LEVELS
        return float(one.flat and other.flat and near), (0, 0)
    height, width = one.luma.shape
    rows, columns = _shifts(height), _shifts(width)
    products = scipy.fft.irfft2(one.spectrum * other.spectrum.conj(), _padded((height, width)))
    products = products[rows[:, None], columns[None, :]]
    energy = np.sqrt(_energy(one.squares, rows, columns) * _energy(other.squares, -rows, -columns))
    overlap = np.outer(height - np.abs(rows), width - np.abs(columns)) / (height * width)
    scores = np.where(overlap >= LEAST_OVERLAP, products / np.maximum(energy, 1e-6), -1.0)
    # A small overlap is alike by chance more easily.
    best = np.unravel_index(int(np.argmax(scores * np.sqrt(np.sqrt(overlap)))), scores.shape)
    return float(scores[best]), (int(columns[best[1]]), int(rows[best[0]]))


def still_likeness(one: Details, other: Details) -> float:
    """``likeness`` where nothing moved: a hundred times cheaper, never higher by much."""
    energy = one.squares[-1, -1] * other.squares[-1, -1]
    return float(np.vdot(one.pattern, other.pattern) / np.sqrt(max(energy, 1e-6)))


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
