"""Share of plain black and white."""

from __future__ import annotations

import numpy as np
import pytest

from inpaintbench.curation.attributes.levels import ClippedFraction
from inpaintbench.view import ItemView


def test_counts_black_and_white_alone() -> None:
    clip = np.full((4, 20, 10), 120, np.uint8)
    clip[:, :3], clip[:, 3:5] = 16, 235
    clip[:, 5], clip[:, 6] = 17, 234
    assert ClippedFraction().measure(ItemView.of_arrays(luma=clip)) == pytest.approx(5 / 20)


def test_is_the_mean_over_frames() -> None:
    clip = np.full((10, 16, 16), 120, np.uint8)
    clip[:5] = 3
    assert ClippedFraction().measure(ItemView.of_arrays(luma=clip)) == pytest.approx(0.5)
