from __future__ import annotations

import cv2
import numpy as np
import pytest
import scipy.ndimage
from tests.eval.metrics.contract import noisy, square_hole, world

from inpaintbench import regions
from inpaintbench.eval.metrics.pcons import HoleSharpness
from inpaintbench.view import ItemView, composite


def measured(truth: np.ndarray, hole: np.ndarray, prediction: np.ndarray) -> float | None:
    metric = HoleSharpness(regions=regions.REGIONS, band_radius_pixels=8)
    view = ItemView.of_arrays(truth=truth, hole=hole, prediction=prediction)
    return metric.measure(view.declaring(metric.name, metric.needs))["hole"].value


def blurred(frames: np.ndarray, sigma: float) -> np.ndarray:
    return np.stack([cv2.GaussianBlur(frame, (0, 0), sigma) for frame in frames])


def test_copies_are_one_flat_fills_zero_and_blur_lies_between() -> None:
    truth, hole = world(), square_hole()
    assert measured(truth, hole, truth) == 1
    assert measured(truth, hole, np.full_like(truth, 90)) == 0
    values = [measured(truth, hole, blurred(truth, sigma)) for sigma in (8, 4, 2)]
    assert values == sorted(values)
    assert 0 < values[0] < values[-1] < 0.9
    assert measured(truth, hole, noisy(truth, amplitude=60)) > 1.1


def test_equals_a_straightforward_reference() -> None:
    rng = np.random.default_rng(0)
    truth, prediction = rng.integers(0, 256, (2, 3, 40, 50, 3), dtype=np.uint8)
    hole = np.zeros((3, 40, 50), np.bool_)
    hole[0, :12, 30:], hole[1, 10:30, 8:20] = True, True
    found = composite(truth, hole, prediction)
    sums = {"truth": 0.0, "found": 0.0}
    for index in range(3):
        inside = scipy.ndimage.binary_erosion(hole[index], np.ones((3, 3)), border_value=1)
        for name, frames in (("truth", truth), ("found", found)):
            luma = cv2.cvtColor(frames[index], cv2.COLOR_RGB2GRAY).astype(np.float64)
            across, down = (scipy.ndimage.sobel(luma, axis=axis, mode="nearest") for axis in (1, 0))
            sums[name] += np.hypot(across, down)[inside].sum()
    assert measured(truth, hole, prediction) == pytest.approx(sums["found"] / sums["truth"], rel=1e-6)


def test_neither_the_seam_nor_known_pixels_count() -> None:
    truth, hole = world(), square_hole()
    shifted = np.clip(truth.astype(np.int16) + 40, 0, 255).astype(np.uint8)
    low = truth // 2
    assert measured(low, hole, low + 60) == pytest.approx(1, abs=1e-6)
    outside = np.where(hole[..., None], shifted, 255 - truth)
    assert measured(truth, hole, outside) == measured(truth, hole, shifted)


def test_only_the_hole_is_answered_for() -> None:
    assert HoleSharpness(regions=("frame", "hole", "band"), band_radius_pixels=8).regions == ("hole",)
    assert HoleSharpness(regions=("frame",), band_radius_pixels=8).measure(ItemView.of_arrays(truth=world())) == {}


@pytest.mark.parametrize(
    ("truth", "hole", "reason"),
    [
        (world(), np.zeros_like(square_hole()), "no frame has a hole pixel"),
        (np.full_like(world(), 7), square_hole(), "the truth is flat"),
    ],
)
def test_what_cannot_be_compared_has_a_reason(truth: np.ndarray, hole: np.ndarray, reason: str) -> None:
    metric = HoleSharpness(regions=("hole",), band_radius_pixels=8)
    found = metric.measure(ItemView.of_arrays(truth=truth, hole=hole, prediction=world()))["hole"]
    assert found.value is None
    assert reason in str(found.reason)


def test_reduces_to_the_mean() -> None:
    metric = HoleSharpness(regions=("hole",), band_radius_pixels=8)
    assert metric.reduce([0.5, 1.0]) == 0.75
    assert metric.reduce([]) is None
