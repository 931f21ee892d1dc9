from __future__ import annotations

import numpy as np
import pytest
from tests.eval.metrics.contract import MetricContract

from inpaintbench import regions
from inpaintbench.errors import NotMeasurable, UnknownNameError
from inpaintbench.eval.metrics.frame_changes import Flicker, changes
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

FRAMES, HEIGHT, WIDTH = 6, 40, 60


class TestContract(MetricContract):
    name = "flicker"
    reach_pixels = 0

    @pytest.fixture
    def metric(self) -> Flicker:
        return Flicker(regions=regions.REGIONS, band_radius_pixels=8)


def metric(*names: str) -> Flicker:
    return Flicker(regions=names or regions.REGIONS, band_radius_pixels=4)


def moving(seed: int = 0, *, pixels_per_frame: int = 2) -> Frames:
    """A texture without extremes that slides to the left."""
    wide = np.random.default_rng(seed).integers(60, 196, (HEIGHT, WIDTH + FRAMES * pixels_per_frame, 3), dtype=np.uint8)
    return np.stack([wide[:, index * pixels_per_frame :][:, :WIDTH] for index in range(FRAMES)])


def moving_hole() -> Hole:
    hole = np.zeros((FRAMES, HEIGHT, WIDTH), np.bool_)
    for index, frame in enumerate(hole):
        frame[8 + index : 28 + index, 10 + 3 * index : 35 + 3 * index] = True
    return hole


def measured(prediction: Frames, region: str, hole: Hole | None = None) -> float:
    given = moving_hole() if hole is None else hole
    found = metric().measure(ItemView.of_arrays(truth=moving(), hole=given, prediction=prediction))[region]
    assert found.value is not None
    return found.value


def test_is_the_mean_change_of_the_error_over_pixels_in_the_region_of_both_frames() -> None:
    truth, hole, prediction = moving(), moving_hole(), moving(1, pixels_per_frame=1)
    error = np.where(hole[..., None], prediction / 255 - truth / 255, 0)
    for region in regions.REGIONS:
        pixels = regions.select(hole, region, band_radius=4)
        both = pixels[1:] & pixels[:-1]
        expected = np.mean([np.abs(error[at + 1] - error[at])[both[at]].mean() for at in range(FRAMES - 1)])
        assert measured(prediction, region) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("region", ["hole", "frame"])
def test_an_error_that_stays_does_not_flicker(region: str) -> None:
    hole = np.zeros((FRAMES, HEIGHT, WIDTH), np.bool_)
    hole[:, 10:30, 15:40] = True
    assert measured(moving() + 20, region, hole) == 0
    stain = np.random.default_rng(0).integers(0, 60, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    assert measured(moving() + stain, region, hole) == 0


def test_an_error_that_alternates_flickers_by_twice_its_size() -> None:
    signs = np.where(np.arange(FRAMES) % 2, 1, -1)[:, None, None, None]
    assert measured((moving() + 15 * signs).astype(np.uint8), "hole") == pytest.approx(2 * 15 / 255, rel=1e-12)


def test_the_largest_flicker_is_two() -> None:
    frames = np.zeros((2, 8, 8, 3), np.uint8)
    frames[1] = 255
    view = ItemView.of_arrays(truth=frames, hole=np.ones((2, 8, 8), np.bool_), prediction=255 - frames)
    assert metric("hole").measure(view)["hole"].value == 2


def test_a_frozen_fill_flickers_as_the_truth_moves() -> None:
    frozen = np.repeat(moving()[:1], FRAMES, axis=0)
    hole = np.ones((FRAMES, HEIGHT, WIDTH), np.bool_)
    motion = np.abs(np.diff(moving().astype(float), axis=0)).mean() / 255
    assert measured(frozen, "hole", hole) == pytest.approx(motion, rel=1e-12)


def test_pairs_without_a_common_pixel_are_left_out() -> None:
    hole = moving_hole()
    hole[3] = np.roll(hole[3], -30, axis=1)
    hole[3, :, :20] = False
    hole[3] &= ~hole[2] & ~hole[4]
    assert hole[3].any()
    view = ItemView.of_arrays(truth=moving(), hole=hole, prediction=moving(1))
    found = metric().measure(view)
    assert found["hole"].details == {"pairs": FRAMES - 3}
    assert found["frame"].details == {"pairs": FRAMES - 1}


def test_holes_that_never_meet_have_no_value_and_a_reason() -> None:
    hole = np.zeros((2, 20, 20), np.bool_)
    hole[0, :3, :3] = hole[1, -3:, -3:] = True
    frames = np.zeros((2, 20, 20, 3), np.uint8)
    found = metric("hole").measure(ItemView.of_arrays(truth=frames, hole=hole, prediction=frames))["hole"]
    assert found.value is None
    assert found.reason == "no two consecutive frames share a pixel of the region 'hole'"


def test_changes_keep_their_sign() -> None:
    frames = np.array([0, 255, 100], np.uint8)[:, None, None, None] * np.ones((1, 4, 5, 3), np.uint8)
    assert [set(change.ravel().tolist()) for change in changes(frames)] == [{255}, {-155}]


def test_a_single_frame_cannot_be_measured() -> None:
    frames = moving()[:1]
    view = ItemView.of_arrays(truth=frames, hole=moving_hole()[:1], prediction=frames)
    with pytest.raises(NotMeasurable, match="one frame has no next frame"):
        metric().measure(view)
    assert Flicker.fewest_frames == 2


def test_an_unknown_region_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown region 'holes'"):
        metric("holes")
