from __future__ import annotations

import numpy as np
import pytest
import scipy.ndimage
from tests.eval.methods.contract import MethodContract, world

from inpaintbench.errors import InputError
from inpaintbench.eval.methods.each_frame import Gaussian
from inpaintbench.view import ItemView


class TestContract(MethodContract):
    name = "gaussian"


def test_without_a_hole_whole_frames_are_smoothed_as_by_scipy() -> None:
    found = Gaussian(sigma_pixels=2).inpaint(ItemView.of_arrays(input=world()))
    expected = scipy.ndimage.gaussian_filter(world().astype(float), (0, 2, 2, 0), mode="nearest", truncate=4)
    assert np.abs(found - expected).max() <= 2


@pytest.mark.parametrize("sigma", [0.0, -1.0, float("nan")])
def test_a_deviation_that_is_not_above_0_is_refused(sigma: float) -> None:
    with pytest.raises(InputError, match=f"sigma_pixels is {sigma}, choose a number above 0"):
        Gaussian(sigma_pixels=sigma)
