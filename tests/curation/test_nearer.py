"""The window around an object."""

from __future__ import annotations

import numpy as np
import pytest

from inpaintbench.curation.nearer import mask_of, window
from inpaintbench.errors import Rejected


def test_the_window_has_the_object_in_its_middle_as_far_as_frames_go() -> None:
    mask = np.zeros((3, 40, 40), np.bool_)
    mask[0, 18:22, 10:14] = True
    mask[2, 20:24, 12:18] = True
    assert window(mask) == (slice(11, 31), slice(4, 24))
    corner = np.zeros((1, 40, 40), np.bool_)
    corner[0, :3, 35:] = True
    assert window(corner) == (slice(0, 20), slice(20, 40))
    assert (mask_of(corner) == corner[:, :20, 20:]).all()


def test_a_window_is_as_large_as_the_object_and_never_more_than_half_of_the_area() -> None:
    mask = np.zeros((2, 40, 40), np.bool_)
    mask[0, 5:33, 7] = True
    assert window(mask)[0] == slice(5, 33)
    assert mask_of(mask).shape == (2, 20, 20)
    mask[1, 33, 7] = True
    with pytest.raises(Rejected, match="does not stay within half of the area"):
        window(mask)
