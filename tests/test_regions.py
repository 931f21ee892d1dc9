from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from inpaintbench import regions
from inpaintbench.errors import MaskShapeError

HOLES = arrays(np.bool_, st.tuples(st.integers(1, 3), st.integers(1, 12), st.integers(1, 12)))


@given(HOLES)
def test_fraction_and_centroid_agree_with_counting_pixels(hole: np.ndarray) -> None:
    for frame, fraction, centroid in zip(hole, regions.hole_fraction(hole), regions.centroids(hole), strict=True):
        assert fraction == pytest.approx(frame.sum() / frame.size)
        if frame.any():
            assert centroid == pytest.approx(np.argwhere(frame).mean(axis=0))
        else:
            assert np.isnan(centroid).all()


# Each radius is tried with a hole that certainly has something to grow, whatever is drawn.
@pytest.mark.parametrize("radius", range(4))
@given(HOLES)
@example(np.eye(5, dtype=bool)[None])
def test_dilation_is_the_set_of_pixels_near_the_hole(radius: int, hole: np.ndarray) -> None:
    grown = regions.dilate(hole, radius=radius)
    for frame, wide in zip(hole, grown, strict=True):
        near = np.zeros_like(frame)
        for row, column in np.argwhere(frame):
            near[max(0, row - radius) : row + radius + 1, max(0, column - radius) : column + radius + 1] = True
        assert (wide == near).all()


@pytest.mark.parametrize("times", range(4))
@given(HOLES)
@example(np.eye(5, dtype=bool)[None])
def test_dilation_by_a_cross_is_the_set_of_pixels_within_so_many_steps(times: int, hole: np.ndarray) -> None:
    grown = regions.dilate_by_cross(hole, times=times)
    rows, columns = np.indices(hole.shape[1:])
    for frame, wide in zip(hole, grown, strict=True):
        near = np.zeros_like(frame)
        for row, column in np.argwhere(frame):
            near |= np.abs(rows - row) + np.abs(columns - column) <= times
        assert (wide == near).all()


@given(HOLES)
def test_the_hole_and_the_frame_are_themselves(hole: np.ndarray) -> None:
    assert (regions.select(hole, "hole", band_radius=8) == hole).all()
    assert regions.select(hole, "frame", band_radius=8).shape == hole.shape
    assert regions.select(hole, "frame", band_radius=8).all()


def test_the_band_lies_on_both_sides_of_the_border() -> None:
    hole = np.zeros((1, 20, 20), bool)
    hole[0, 5:15, 5:15] = True
    band = regions.boundary_band(hole, radius=2)[0]
    assert band.sum() == 14 * 14 - 6 * 6
    assert not band[7:13, 7:13].any()


def object_and_shadow() -> tuple[np.ndarray, np.ndarray]:
    """A square, and a shadow beside it that reaches under it."""
    thing, shadow = np.zeros((2, 1, 30, 40), bool)
    thing[0, 5:15, 5:15] = True
    shadow[0, 10:20, 10:25] = True
    return thing, shadow


def test_object_effect_and_rest_share_no_pixel_and_leave_a_guard_between() -> None:
    thing, shadow = object_and_shadow()
    found = {
        region: regions.select(thing, region, band_radius=8, object_mask=thing, effect_mask=shadow)[0]
        for region in regions.OBJECT_REGIONS
    }
    assert (found["object"] == thing[0]).all()
    assert found["effect"].sum() == 10 * 15 - 25
    assert not (found["effect"] & thing[0]).any()
    for row, column in np.ndindex(30, 40):
        near = (thing | shadow)[0, max(0, row - 2) : row + 3, max(0, column - 2) : column + 3].any()
        assert found["rest"][row, column] == (not near)


def test_without_an_effect_mask_the_rest_keeps_away_from_the_hole() -> None:
    thing, hole = object_and_shadow()
    rest = regions.select(hole, "rest", band_radius=8, object_mask=thing)
    assert (rest == ~regions.dilate(hole | thing, radius=2)).all()
    assert (regions.select(hole, "rest", band_radius=8) == ~regions.dilate(hole, radius=2)).all()
    with pytest.raises(ValueError, match="'effect' needs object_mask and effect_mask"):
        regions.select(hole, "effect", band_radius=8, object_mask=thing)


def test_the_edge_of_the_frame_is_not_a_border_of_the_hole() -> None:
    hole = np.ones((1, 8, 8), bool)
    assert not regions.boundary_band(hole, radius=2).any()


def test_an_unknown_region_and_a_wrong_shape_are_told() -> None:
    hole = np.zeros((2, 4, 4), bool)
    with pytest.raises(ValueError, match="unknown region 'edge'"):
        regions.select(hole, "edge", band_radius=1)
    with pytest.raises(MaskShapeError, match=r"hole bool\(2, 4, 4\) != clip 'a1f3' bool\(2, 4, 5\)"):
        regions.check_shape(hole, frames=2, height=4, width=5, subject="a1f3")


def test_a_hole_of_the_right_shape_passes_and_one_of_numbers_does_not() -> None:
    hole = np.zeros((2, 4, 5), bool)
    regions.check_shape(hole, frames=2, height=4, width=5, subject="a1f3")
    with pytest.raises(MaskShapeError, match=r"hole uint8\(2, 4, 5\) != clip 'a1f3' bool\(2, 4, 5\)"):
        regions.check_shape(hole.astype(np.uint8), frames=2, height=4, width=5, subject="a1f3")


def test_the_box_is_the_smallest_around_what_is_there() -> None:
    mask = np.zeros((6, 8), np.uint8)
    assert regions.box_of(mask) is None
    mask[2, 3] = mask[4, 6] = 9
    assert regions.box_of(mask) == (slice(2, 5), slice(3, 7))
    mask[0, 0] = 1
    assert regions.box_of(mask) == (slice(0, 5), slice(0, 7))
