"""The share of a clip that is bars."""

from __future__ import annotations

import numpy as np
import pytest
from worlds import pan_clip

from inpaintbench.curation.attributes.overlays import Letterbox
from inpaintbench.view import ItemView


def test_the_share_is_that_of_the_bars() -> None:
    frames = pan_clip("coffee", pixels_per_frame=2, frames=20, width=160, height=90)
    assert Letterbox().measure(ItemView.of_arrays(truth=frames)) == 0
    boxed = np.pad(frames, ((0, 0), (15, 15), (20, 20), (0, 0)))
    measured = Letterbox().measure(ItemView.of_arrays(truth=boxed))
    assert measured == pytest.approx(1 - (160 * 90) / (200 * 120))


@pytest.mark.parametrize("shape", [(1, 16, 16, 3), (3, 90, 160, 3)])
def test_black_and_tiny_clips_have_none(shape: tuple[int, ...]) -> None:
    assert Letterbox().measure(ItemView.of_arrays(truth=np.zeros(shape, np.uint8))) == 0
    noise = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    assert Letterbox().measure(ItemView.of_arrays(truth=noise)) == 0
