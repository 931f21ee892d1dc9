from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.eval.metrics.contract import MetricContract
from tests.eval.metrics.test_flicker import FRAMES, HEIGHT, WIDTH, moving, moving_hole
from tiny_networks import edited

from inpaintbench import regions
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.metrics.frame_changes import TemporalDifference, TemporalFlickering
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView


class TestContract(MetricContract):
    name = "temporal_difference"
    reach_pixels = 0

    @pytest.fixture
    def metric(self) -> TemporalDifference:
        return TemporalDifference(regions=regions.REGIONS, band_radius_pixels=8)


def metric(*names: str) -> TemporalDifference:
    return TemporalDifference(regions=names or regions.REGIONS, band_radius_pixels=4)


def everything() -> Hole:
    return np.ones((FRAMES, HEIGHT, WIDTH), np.bool_)


def measured(prediction: Frames, region: str = "hole", hole: Hole | None = None) -> Measurement:
    given = everything() if hole is None else hole
    return metric().measure(ItemView.of_arrays(truth=moving(), hole=given, prediction=prediction))[region]


def amounts(frames: Frames) -> list[float]:
    return [float(np.abs(change).mean()) / 255 for change in np.diff(frames.astype(float), axis=0)]


@pytest.mark.parametrize("region", regions.REGIONS)
def test_compares_amounts_of_change_over_pixels_in_the_region_of_both_frames(region: str) -> None:
    truth, hole, prediction = moving() / 255, moving_hole(), moving(1, pixels_per_frame=0) / 255
    composite = np.where(hole[..., None], prediction, truth)
    pixels = regions.select(hole, region, band_radius=4)
    expected = []
    for at in range(FRAMES - 1):
        both = pixels[at] & pixels[at + 1]
        ours, true = (np.abs(frames[at + 1] - frames[at])[both].mean() for frames in (composite, truth))
        expected.append(ours - true)
    found = measured(moving(1, pixels_per_frame=0), region, hole)
    assert found.value == pytest.approx(np.mean(np.abs(expected)), rel=1e-12)
    assert found.details["signed"] == pytest.approx(np.mean(expected), rel=1e-12)
    assert found.details["pairs"] == FRAMES - 1


def test_a_frozen_fill_lacks_all_the_change_of_the_truth() -> None:
    found = measured(np.repeat(moving()[:1], FRAMES, axis=0))
    motion = np.mean(amounts(moving()))
    assert found.value == pytest.approx(motion, rel=1e-12)
    assert found.details["signed"] == pytest.approx(-motion, rel=1e-12)
    assert found.details["composite"] == 0


def test_a_flickering_fill_has_too_much() -> None:
    signs = np.where(np.arange(FRAMES) % 2, 40, -40)[:, None, None, None]
    flickering = (moving() + signs).astype(np.uint8)
    found = measured(flickering)
    assert found.details["signed"] == pytest.approx(found.value, rel=1e-12)
    assert found.value == pytest.approx(np.mean(amounts(flickering)) - np.mean(amounts(moving())), rel=1e-9)
    assert found.value > 0


def test_faults_of_opposite_sign_do_not_cancel() -> None:
    truth = np.zeros((3, 8, 8, 3), np.uint8)
    truth[1:] = 40
    late = np.zeros_like(truth)
    late[2] = 40
    found = metric("frame").measure(ItemView.of_arrays(truth=truth, hole=np.ones((3, 8, 8), np.bool_), prediction=late))["frame"]
    assert found.value == pytest.approx(40 / 255, rel=1e-12)
    assert found.details == {
        "pairs": 2, "signed": 0, "composite": pytest.approx(20 / 255), "truth": pytest.approx(20 / 255)
    }  # fmt: skip


def test_other_content_that_moves_as_much_is_not_blamed() -> None:
    assert measured(moving()[:, ::-1]).value == pytest.approx(0, abs=1e-12)
    assert measured(moving() + 30).value == pytest.approx(0, abs=1e-12)


def test_holes_that_never_meet_have_no_value_and_a_reason() -> None:
    hole = np.zeros((2, 20, 20), np.bool_)
    hole[0, :3, :3] = hole[1, -3:, -3:] = True
    frames = np.zeros((2, 20, 20, 3), np.uint8)
    found = metric("hole").measure(ItemView.of_arrays(truth=frames, hole=hole, prediction=frames))["hole"]
    assert found == Measurement(None, "no two consecutive frames share a pixel of the region 'hole'")


def test_a_single_frame_cannot_be_measured() -> None:
    frames = moving()[:1]
    with pytest.raises(NotMeasurable, match="one frame has no next frame"):
        metric().measure(ItemView.of_arrays(truth=frames, hole=moving_hole()[:1], prediction=frames))
    assert TemporalDifference.fewest_frames == 2


def test_temporal_flickering_is_what_ivebench_gives() -> None:
    """Its ``calculate_flickering_score``: (255 - mean over pairs of the mean absolute difference) / 255."""
    frames = np.random.default_rng(0).integers(0, 256, (3, 20, 30, 3), np.uint8)
    differences = [np.abs(one.astype(float) - other).mean() for one, other in pairwise(frames)]
    found = TemporalFlickering(regions=("frame",), band_radius_pixels=8).measure(edited(frames))["frame"]
    assert found.value == pytest.approx((255 - np.mean(differences)) / 255, rel=1e-12)
    assert found.details == {"pairs": 2}
    with pytest.raises(NotMeasurable, match="one frame"):
        TemporalFlickering(regions=("frame",), band_radius_pixels=8).measure(edited(frames[:1]))
