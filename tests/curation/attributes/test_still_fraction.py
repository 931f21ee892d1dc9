"""The share of a clip that stands still."""

from __future__ import annotations

import numpy as np
import pytest
from worlds import pan_clip

from inpaintbench.curation.attributes.changes import StillFraction
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


def measured(frames: Frames) -> float:
    return StillFraction().measure(ItemView.of_arrays(truth=frames, luma=np.ascontiguousarray(frames[..., 1])))


def test_slides_stand_still_and_a_scene_with_one_moving_leaf_does_not() -> None:
    clip = pan_clip("coffee", pixels_per_frame=1, frames=40, width=160, height=90)
    assert measured(clip) == 0
    slide = np.repeat(clip[:1], 40, axis=0)
    noisy = np.clip(slide + np.random.default_rng(0).normal(0, 2, slide.shape), 0, 255).astype(np.uint8)
    assert measured(slide) == 1
    assert measured(noisy) > 0.9
    leaf = noisy.copy()
    leaf[:, 40:56, 60:76] = clip[:, 40:56, 60:76]
    assert measured(leaf) < 0.1
    assert 0.3 < measured(np.concatenate([slide[:20], clip[:20]])) < 0.7


def test_one_frame_has_no_value() -> None:
    with pytest.raises(NotMeasurable, match="one frame"):
        measured(np.zeros((1, 32, 32, 3), np.uint8))
