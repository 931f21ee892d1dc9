"""Levels of masks: four values of quadmasks, exact and coded, and what is none of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from inpaintbench.curation.sources.mask_values import AFFECTED, BACKGROUND, OBJECT, OVERLAP, quad_layers
from inpaintbench.errors import Rejected
from inpaintbench.eval.adapters.fitting import written

SHAPE = (4, 96, 128)


def quadmask() -> npt.NDArray[np.uint8]:
    """An object, what it changes below it, and where the two overlap; the object moves."""
    levels = np.full(SHAPE, BACKGROUND, np.uint8)
    for place, plane in enumerate(levels):
        plane[40:80, 30:100] = AFFECTED
        plane[10:60, 40 + place : 80 + place] = OBJECT
        plane[50:60, 40 + place : 80 + place] = OVERLAP
    return levels


def layers_of(levels: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    return (levels == OBJECT) | (levels == OVERLAP), levels != BACKGROUND


def test_the_four_values_are_object_overlap_affected_and_background() -> None:
    levels = quadmask()
    levels[:, 5, 5], levels[:, 90, 1:4] = OBJECT, AFFECTED  # single pixels of an exact mask count
    for made, expected in zip(quad_layers(levels), layers_of(levels), strict=True):
        np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize("shift", [-9, 3, 9])
def test_levels_a_little_off_go_to_the_nearest(shift: int) -> None:
    levels = quadmask()
    shifted = np.clip(levels.astype(int) + shift, 0, 255).astype(np.uint8)
    for made, expected in zip(quad_layers(shifted), layers_of(levels), strict=True):
        np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize("form", ["h264-crf18", "h264-crf30", "mp4v", "jpeg"])
def test_lossy_coding_leaves_no_rim_of_another_value(form: str) -> None:
    levels = quadmask()
    frames = written(np.repeat(levels[..., None], 3, axis=3), form)
    if frames is None:
        pytest.skip("no H.264 at hand")
    coded = frames.max(axis=3)
    assert (coded != levels).any()
    for made, expected in zip(quad_layers(coded), layers_of(levels), strict=True):
        near = np.zeros_like(expected)
        for rows in (-1, 0, 1):
            for columns in (-1, 0, 1):
                near |= np.roll(expected, (rows, columns), (1, 2)) != expected
        assert not ((made != expected) & ~near).any()  # right but at the very edge
        assert (made != expected).mean() < 0.01


@pytest.mark.parametrize(("value", "name"), [(200, "200"), (95, "95"), (32, "32")])
def test_an_area_of_another_value_is_refused_by_name(value: int, name: str) -> None:
    levels = quadmask()
    levels[1:, 82:94, 4:24] = value
    with pytest.raises(Rejected, match=f"its mask has areas of {name}, which is none of 0, 63, 127, 255"):
        quad_layers(levels)


def test_a_gradient_is_no_quadmask() -> None:
    with pytest.raises(Rejected, match="it is no quadmask"):
        quad_layers(np.broadcast_to(np.linspace(0, 255, SHAPE[2]).astype(np.uint8), SHAPE).copy())
