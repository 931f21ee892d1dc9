from __future__ import annotations

import numpy as np
from tests.eval.methods.contract import MethodContract, corrupted, inpaint, psnr, wandering_hole, world

from inpaintbench.eval.methods.each_frame import NavierStokes


class TestContract(MethodContract):
    name = "navier_stokes"


def test_continues_an_even_surface() -> None:
    truth = np.full((2, 40, 50, 3), (10, 120, 250), np.uint8)
    hole = np.zeros((2, 40, 50), np.bool_)
    hole[:, 10:30, 15:40] = True
    found = inpaint(NavierStokes(), corrupted(truth, hole), hole)
    assert np.abs(found.astype(np.int16) - truth).max() <= 3


def test_continues_a_slope_closely() -> None:
    rows = np.arange(40, 200, 2, dtype=np.uint8)
    truth = np.broadcast_to(rows[None, :, None, None], (1, 80, 60, 3))
    hole = np.zeros((1, 80, 60), np.bool_)
    hole[:, 37:43, 27:33] = True
    found = inpaint(NavierStokes(), corrupted(truth, hole), hole)
    assert np.abs(found.astype(np.int16) - truth).max() <= 6
    assert psnr(found, truth, hole) > 38


def test_each_frame_stands_alone() -> None:
    hole = wandering_hole()
    frames = corrupted(world(), hole)
    together = inpaint(NavierStokes(), frames, hole)
    for index in range(len(frames)):
        alone = slice(index, index + 1)
        np.testing.assert_array_equal(inpaint(NavierStokes(), frames[alone], hole[alone]), together[alone])


def test_a_frame_that_is_all_hole_keeps_the_fill_value_and_does_not_hide_the_others() -> None:
    hole = wandering_hole()
    whole = hole.copy()
    whole[3] = True
    found = inpaint(NavierStokes(), corrupted(world(), whole, fill=9), whole)
    assert (found[3] == 9).all()
    np.testing.assert_array_equal(found[4], inpaint(NavierStokes(), corrupted(world(), hole, fill=9), hole)[4])


def test_the_radius_reaches_the_filling() -> None:
    hole = wandering_hole()
    near, far = (inpaint(NavierStokes(radius_pixels=radius), corrupted(world(), hole), hole) for radius in (1, 9))
    assert (near != far)[hole].any()
