"""Brightness between coded black and white."""

from __future__ import annotations

import numpy as np
import pytest
from worlds import luma, photograph

from inpaintbench.curation.attributes.levels import Exposure
from inpaintbench.view import ItemView


@pytest.mark.parametrize(("level", "exposure"), [(16, 0.0), (235, 1.0), (0, 0.0), (255, 1.0), (71, 55 / 219)])
def test_known_levels(level: int, exposure: float) -> None:
    assert Exposure().measure(ItemView.of_arrays(luma=np.full((3, 16, 20), level, np.uint8))) == pytest.approx(exposure)


def test_is_the_mean_grey_of_the_picture() -> None:
    picture = photograph("chelsea", width=320, height=180)
    grey = (picture @ [0.299, 0.587, 0.114]).mean() / 255
    assert Exposure().measure(ItemView.of_arrays(luma=luma(picture[None]))) == pytest.approx(grey, abs=0.005)


def test_a_fade_is_half_of_what_it_ends_at() -> None:
    fade = (16 + 200 * np.linspace(0, 1, 91)[:, None, None] * np.ones((1, 16, 16))).astype(np.uint8)
    assert Exposure().measure(ItemView.of_arrays(luma=fade)) == pytest.approx(100 / 219, abs=0.01)
