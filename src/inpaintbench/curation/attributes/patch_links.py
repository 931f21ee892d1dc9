"""Camera between two frames where features do not agree on one: patches that keep their look outvote what changes it.

Every textured patch of the earlier frame is looked for in the later one by normalised cross-correlation. It votes where its best
place is clear: highly correlated, and well above all places around it, so that an edge, which fits all along itself, has no vote.
Over a third of a second water changes its look and hardly votes, and what votes does not agree. The camera is the similarity that
most votes agree on; the votes left over are asked for another one, and the *evidence* is how far that one falls behind.

Two frames without evidence (a fast camera, a blur) are joined through the frame in the middle, down to neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.curation.attributes.motion_field import Points, agreed_similarity
from inpaintbench.types import Luma

Matrix = npt.NDArray[np.float64]
Plane = npt.NDArray[np.uint8]

# Side of a patch, and from one to the next, in pixels of a view of 342: strips of land above water are narrow.
PATCH, STEP = 14, 7
# How far a patch is looked for, in each direction.
REACH = 48
# Grey levels, the standard deviation of a patch with texture.
LEAST_DEVIATION = 2.0
# Correlation of a clear match, how far around it other places count as others, and how far below they have to be.
LEAST_CORRELATION, AROUND, BELOW = 0.75, 4, 0.06
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


def link(frames: Luma, first: int, last: int) -> Link | None:
    """The camera between two frames of a clip, directly or through frames between them; None where nothing speaks for one.

    Args:
        frames: ``uint8[T, H, W]``.
        first: index of the earlier frame.
        last: index of the later frame.
    """
    direct, outvotes = _direct(frames[first], frames[last])
    if outvotes or last - first < 2:
        return direct
    middle = (first + last) // 2
    one, other = link(frames, first, middle), link(frames, middle, last)
    if one is None or other is None:
        return direct
    chained = Link(other.matrix @ one.matrix, min(one.evidence, other.evidence))
    return chained if direct is None or chained.evidence > direct.evidence + CLEARLY_BETTER else direct


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
    origins: list[complex] = []
    targets: list[complex] = []
    for row in range(0, height - PATCH + 1, STEP):
        for column in range(0, width - PATCH + 1, STEP):
            patch = earlier[row : row + PATCH, column : column + PATCH]
            if patch.std() < LEAST_DEVIATION:
                continue
            top, left = max(row - REACH, 0), max(column - REACH, 0)
            window = later[top : row + PATCH + REACH, left : column + PATCH + REACH]
            correlations = np.asarray(cv2.matchTemplate(window, patch, cv2.TM_CCOEFF_NORMED), np.float32)
            place = _clear_place(correlations)
            if place is not None:
                origins.append(complex(column, row))
                targets.append(complex(left, top) + place)
    # Both are corners of patches.
    to_middle = complex(width - PATCH, height - PATCH) / 2
    return np.array(origins, np.complex128) - to_middle, np.array(targets, np.complex128) - to_middle


def _clear_place(correlations: npt.NDArray[np.float32]) -> complex | None:
    """Column and row of the best place to a fraction of a pixel, or None where it is not clear."""
    _, best, _, (column, row) = cv2.minMaxLoc(correlations)
    if best < LEAST_CORRELATION:
        return None
    top, left = max(row - AROUND, 0), max(column - AROUND, 0)
    near = correlations[top : row + AROUND + 1, left : column + AROUND + 1]
    rows, columns = np.ogrid[: near.shape[0], : near.shape[1]]
    ring = np.hypot(rows - (row - top), columns - (column - left)) >= AROUND - 0.5
    if not ring.any() or near[ring].max() > best - BELOW:
        return None
    return complex(column + _peak(correlations[row], column), row + _peak(correlations[:, column], row))


def _peak(values: npt.NDArray[np.float32], place: int) -> float:
    """How far beside ``place`` the parabola through it and its neighbours is highest, -0.5..0.5."""
    if not 0 < place < len(values) - 1:
        return 0.0
    before, here, after = (float(value) for value in values[place - 1 : place + 2])
    bend = before - 2 * here + after
    return 0.5 * (before - after) / bend if bend < 0 else 0.0
