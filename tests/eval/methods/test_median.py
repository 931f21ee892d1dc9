from __future__ import annotations

import numpy as np
import pytest
import scipy.ndimage
from tests.eval.methods.contract import MethodContract, world

from inpaintbench.errors import InputError
from inpaintbench.eval.methods.each_frame import Median
from inpaintbench.view import ItemView


class TestContract(MethodContract):
    name = "median"


@pytest.mark.parametrize("window", [3, 7])
def test_without_a_hole_whole_frames_are_filtered_as_by_scipy(window: int) -> None:
    found = Median(window_pixels=window).inpaint(ItemView.of_arrays(input=world()))
    expected = scipy.ndimage.median_filter(world(), (1, window, window, 1), mode="nearest")
    np.testing.assert_array_equal(found, expected)


def test_specks_go() -> None:
    frames = np.full((1, 20, 20, 3), 90, np.uint8)
    frames[0, 4::6, 4::6] = 255
    assert (Median().inpaint(ItemView.of_arrays(input=frames)) == 90).all()


@pytest.mark.parametrize("window", [1, 4, 101, 2.5])
def test_a_window_that_is_none_is_refused(window: float) -> None:
    with pytest.raises(InputError, match=f"window_pixels is {window}, choose an odd number from 3 to 99"):
        Median(window_pixels=window)  # type: ignore[arg-type]
