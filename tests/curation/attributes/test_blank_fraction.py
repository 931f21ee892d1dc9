"""The share of a clip that shows nothing."""

from __future__ import annotations

import numpy as np
from worlds import pan_clip

from inpaintbench.curation.attributes.levels import BlankFraction
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


def measured(frames: Frames) -> float:
    return BlankFraction().measure(ItemView.of_arrays(truth=frames, luma=np.ascontiguousarray(frames[..., 1])))


def test_black_white_and_grainy_grey_frames_count() -> None:
    clip = pan_clip("coffee", pixels_per_frame=1, frames=30, width=160, height=90)
    assert measured(clip) == 0
    film = clip.copy()
    film[:5], film[5:8] = 16, 235
    film[8:10] = np.random.default_rng(0).normal(90, 4, film[8:10].shape).astype(np.uint8)
    assert measured(film) == 10 / 30
