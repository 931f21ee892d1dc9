from __future__ import annotations

import numpy as np
import numpy.typing as npt
from tests.eval.methods.contract import MethodContract, corrupted, inpaint, wandering_hole, world

from inpaintbench.eval.methods.each_frame import Biharmonic

STENCIL = {
    (0, 0): 20, (0, 1): -8, (1, 0): -8, (0, -1): -8, (-1, 0): -8, (1, 1): 2, (1, -1): 2, (-1, 1): 2, (-1, -1): 2,
    (0, 2): 1, (2, 0): 1, (0, -2): 1, (-2, 0): 1,
}  # fmt: skip
"""The Laplacian applied twice, on a grid."""


class TestContract(MethodContract):
    name = "biharmonic"


def by_dense_equations(levels: npt.NDArray[np.float64], hole: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Levels whose doubled Laplacian is 0 at each pixel of a hole that keeps two pixels away from the border."""
    places = [tuple(place) for place in np.argwhere(hole)]
    matrix, right = np.zeros((len(places), len(places))), np.zeros(len(places))
    for row, (down, across) in enumerate(places):
        for (dy, dx), factor in STENCIL.items():
            other = (down + dy, across + dx)
            if hole[other]:
                matrix[row, places.index(other)] += factor
            else:
                right[row] -= factor * levels[other]
    solved = levels.copy()
    solved[tuple(np.transpose(places))] = np.linalg.solve(matrix, right)
    return solved


def test_solves_the_biharmonic_equation_in_holes_that_do_not_touch() -> None:
    truth, hole = world()[:1], np.zeros((1, 48, 64), np.bool_)
    hole[0, 10:16, 12:20] = hole[0, 30:35, 40:44] = hole[0, 20, 30] = True
    found = inpaint(Biharmonic(), corrupted(truth, hole), hole)
    for channel in range(3):
        wanted = by_dense_equations(truth[0, ..., channel].astype(np.float64), hole[0])
        assert np.abs(found[0, ..., channel] - np.clip(wanted, 0, 255)).max() <= 0.51


def test_continues_a_plane_of_colours_exactly() -> None:
    rows, columns = np.mgrid[:40, :50]
    truth = np.stack([20 + 3 * rows, 200 - 2 * columns, 10 + rows + 2 * columns], axis=-1).astype(np.uint8)[None]
    hole = np.zeros((1, 40, 50), np.bool_)
    hole[0, 10:30, 15:40] = True
    np.testing.assert_array_equal(inpaint(Biharmonic(), corrupted(truth, hole), hole), truth)


def test_a_frame_that_is_all_hole_keeps_the_fill_value_and_does_not_hide_the_others() -> None:
    hole = wandering_hole()[:3]
    whole = hole.copy()
    whole[1] = True
    found = inpaint(Biharmonic(), corrupted(world()[:3], whole, fill=9), whole)
    assert (found[1] == 9).all()
    np.testing.assert_array_equal(found[2], inpaint(Biharmonic(), corrupted(world()[:3], hole, fill=9), hole)[2])
