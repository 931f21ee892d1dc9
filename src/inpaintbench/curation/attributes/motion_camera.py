"""The camera of a flow field: a similarity that most of the view agrees with, however much of it moves by itself."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from inpaintbench.types import item_rng

Map = npt.NDArray[np.float32]
Points = npt.NDArray[np.complex128]

# Side in pixels of the cells of which each has one vote.
CELL = 8
LEAST_VOTES = 12
# Share of the votes that a camera needs; pairs with less, such as those across a cut, count as unknown.
LEAST_AGREEMENT = 0.15
TRIALS = 300
INLIER_PIXELS = 0.5
SCALES = (0.8, 1.25)
# Mean displacement up to which a camera stands still: flow is no more exact, and moving water would be read into it.
STILL_PIXELS = 0.03
# Pixels within which votes count about fully in the last refinement.
FINEST_RESIDUAL = 0.05


def fit_camera(flow: Map, votes: Map, *, number: int) -> tuple[tuple[complex, complex], float] | None:
    """The camera between two frames, from the flow where it can be believed.

    Args:
        flow: ``float32[H, W, 2]``, in pixels.
        votes: ``float32[H, W]``, how well textured the pixels are that may vote, 0 for those that may not.
        number: of the pair, which decides its random draws.

    Returns:
        Factor and shift, about the middle of the view in complex numbers, and the share of the votes that agree, 0..1; None
        where too few vote or agree.
    """
    rows, columns = _best_of_cells(votes)
    if len(rows) < LEAST_VOTES:
        return None
    origin = places_of(*votes.shape)[rows, columns]
    target = origin + flow[rows, columns, 0] + 1j * flow[rows, columns, 1]
    model = _refined(origin, target, _most_agreed(origin, target, number=number))
    if np.abs(model[0] * origin + model[1] - origin).mean() < STILL_PIXELS:
        model = (1 + 0j, 0j)
    agreement = float(np.mean(np.abs(model[0] * origin + model[1] - target) < INLIER_PIXELS))
    return (model, agreement) if agreement >= LEAST_AGREEMENT else None


def _best_of_cells(votes: Map) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows and columns of the best textured pixel of each cell that has one."""
    down, across = votes.shape[0] // CELL, votes.shape[1] // CELL
    blocks = votes[: down * CELL, : across * CELL].reshape(down, CELL, across, CELL)
    cells = blocks.transpose(0, 2, 1, 3).reshape(down, across, -1)
    best = cells.argmax(axis=2)
    row, column = np.nonzero(cells.max(axis=2))
    return row * CELL + best[row, column] // CELL, column * CELL + best[row, column] % CELL


def _most_agreed(origin: Points, target: Points, *, number: int) -> tuple[complex, complex]:
    """RANSAC: of the similarities through two points each, the one that most points lie near."""
    rng = item_rng(0, "motion field", str(number))
    one, other = rng.integers(len(origin), size=(2, TRIALS))
    apart = np.abs(origin[one] - origin[other]) > CELL
    one, other = one[apart], other[apart]
    turns = (target[other] - target[one]) / (origin[other] - origin[one])
    # Standing still is tried too, and answers where all others are absurd.
    sound = (np.abs(turns) > SCALES[0]) & (np.abs(turns) < SCALES[1])
    turns, shifts = np.append(turns[sound], 1), np.append((target[one] - turns * origin[one])[sound], 0)
    errors = np.abs(turns[:, None] * origin + shifts[:, None] - target)
    best = int(np.maximum(1 - np.square(errors / INLIER_PIXELS), 0).sum(axis=1).argmax())
    return complex(turns[best]), complex(shifts[best])


def _refined(origin: Points, target: Points, model: tuple[complex, complex]) -> tuple[complex, complex]:
    """Least squares with Geman-McClure weights that narrow from a pixel to ``FINEST_RESIDUAL``."""
    turn, shift = model
    for width in np.geomspace(1, FINEST_RESIDUAL, 8).tolist():
        weights = 1 / np.square(1 + np.square(np.abs(turn * origin + shift - target) / width)) + 1e-9
        weights /= weights.sum()
        middle, aim = (weights * origin).sum(), (weights * target).sum()
        turn = (weights * np.conj(origin - middle) * (target - aim)).sum() / (weights * np.square(np.abs(origin - middle))).sum()
        shift = aim - turn * middle
    return complex(turn), complex(shift)


@lru_cache(maxsize=2)
def grid(height: int, width: int) -> tuple[Map, Map]:
    """Column and row of every pixel, ``float32[H, W]`` each."""
    columns, rows = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    return columns, rows


def places_of(height: int, width: int) -> Points:
    """Pixel centres from the middle of the view, x + iy."""
    columns, rows = grid(height, width)
    places: Points = (columns - (width - 1) / 2) + 1j * (rows.astype(np.float64) - (height - 1) / 2)
    return places
