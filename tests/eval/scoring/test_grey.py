from __future__ import annotations

import numpy as np
from PIL import Image

from inpaintbench.eval.adapters.fitting import grey, grey_view
from inpaintbench.view import ItemView


def colours() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (2, 300, 200, 3), dtype=np.uint8)


def test_levels_are_those_of_pillow_in_three_channels() -> None:
    for frame, found in zip(colours(), grey(colours()), strict=True):
        expected = np.asarray(Image.fromarray(frame).convert("L"))
        for channel in range(3):
            np.testing.assert_array_equal(found[..., channel], expected)


def test_grey_stays_as_it_is() -> None:
    frames = np.repeat(np.arange(256, dtype=np.uint8).reshape(1, 16, 16, 1), 3, axis=3)
    np.testing.assert_array_equal(grey(frames), frames)


def test_a_view_keeps_its_hole_and_greys_what_is_compared() -> None:
    truth, prediction = colours()[:1], 255 - colours()[:1]
    hole = np.zeros(truth.shape[:3], np.bool_)
    hole[:, 20:60] = True
    found = grey_view(ItemView.of_arrays(item_id="one", truth=truth, hole=hole, prediction=prediction))
    assert (found.item_id, found.frames, found.height, found.width) == ("one", 1, 300, 200)
    np.testing.assert_array_equal(found.hole, hole)
    np.testing.assert_array_equal(found.truth, grey(truth))
    np.testing.assert_array_equal(found.prediction, grey(prediction))
    np.testing.assert_array_equal(found.composite, np.where(hole[..., None], grey(prediction), grey(truth)))
