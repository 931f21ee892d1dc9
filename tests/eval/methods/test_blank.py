from __future__ import annotations

import numpy as np
from tests.eval.methods.contract import MethodContract, corrupted, inpaint, wandering_hole, world

from inpaintbench.eval.methods.each_frame import Blank


class TestContract(MethodContract):
    name = "blank"


def test_holes_keep_the_fill_value() -> None:
    frames = corrupted(world(), wandering_hole(), fill=77)
    np.testing.assert_array_equal(inpaint(Blank(), frames, wandering_hole()), frames)
