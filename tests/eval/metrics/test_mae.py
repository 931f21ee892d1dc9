"""Mean absolute error of pixels that can be counted."""

from __future__ import annotations

import numpy as np
import pytest

from inpaintbench.eval.metrics.psnr import Mae
from inpaintbench.view import ItemView


def test_mean_absolute_difference() -> None:
    truth, other = np.zeros((1, 4, 4, 3), np.uint8), np.zeros((1, 4, 4, 3), np.uint8)
    other[0, 0, 0] = (51, 0, 0)
    hole = np.zeros((1, 4, 4), np.bool_)
    hole[0, 0, :2] = True
    metric = Mae(regions=("frame", "hole", "band"), band_radius_pixels=1)
    view = ItemView.of_arrays(truth=truth, composite=other, hole=hole)
    found = metric.measure(view.declaring("mae", metric.parts))
    assert found["frame"].value == pytest.approx(0.2 / 48)
    assert found["hole"].value == pytest.approx(0.2 / 6)
