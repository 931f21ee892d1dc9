"""What every metric of a protocol must do, whatever it measures.

A metric's test subclasses ``MetricContract`` and says its name and how far from a pixel it looks.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest

from inpaintbench import regions
from inpaintbench.eval.metrics.base import Metric
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView, composite

HEIGHT, WIDTH, FRAMES = 250, 260, 4


class MetricContract:
    """Tests shared by all metrics; the world is a texture under a camera that moves 3 px a frame, with a still square hole."""

    name: str
    reach_pixels: int
    """A pixel farther than this from a region (for PCons: from the place of the patch) must not matter."""

    @pytest.fixture(params=["devil/as-published", "devil/corrected"])
    def metric(self, request: pytest.FixtureRequest) -> Metric:
        [metric] = PROTOCOLS.get(request.param).build_metrics([self.name])
        return metric

    def test_answers_once_for_each_region_and_leaves_its_input_alone(self, metric: Metric) -> None:
        parts = {"truth": world(), "hole": square_hole(), "prediction": noisy(world(), amplitude=30)}
        for part in parts.values():
            part.flags.writeable = False
        found = metric.measure(ItemView.of_arrays(**parts).declaring(metric.name, metric.needs))
        assert list(found) == list(regions.REGIONS)
        assert all(one.value is not None and not math.isnan(one.value) and one.reason is None for one in found.values())

    def test_is_best_on_a_perfect_copy_and_worsens_with_noise(self, metric: Metric) -> None:
        truth = world()
        noises = [truth, *(noisy(truth, amplitude=amplitude) for amplitude in (4, 20, 100))]
        for region in regions.REGIONS:
            values = [value(metric, region, truth=truth, hole=square_hole(), prediction=noise) for noise in noises]
            best_first = values if metric.higher_is_better else [-value for value in values]
            assert best_first == sorted(best_first, reverse=True)
            # The frame's value may stand on places that no noise reached.
            assert region == "frame" or len(set(values)) == len(values)

    def test_the_middle_of_the_hole_does_not_matter_to_the_band(self, metric: Metric) -> None:
        truth, hole, prediction = world(), square_hole(), noisy(world(), amplitude=30)
        near = regions.dilate(regions.boundary_band(hole, radius=8), radius=self.reach_pixels)
        middle = hole & ~near
        assert middle.any()
        other = np.where(middle[..., None], 255 - prediction, prediction)
        values = [value(metric, "band", truth=truth, hole=hole, prediction=one) for one in (prediction, other)]
        assert values[0] == values[1]

    def test_what_is_far_from_the_hole_does_not_matter_to_it(self, metric: Metric) -> None:
        truth, hole, prediction = world(), square_hole(), noisy(world(), amplitude=30)
        far = ~regions.dilate(hole, radius=self.reach_pixels)
        assert far.any()
        other = np.where(far[..., None], 255 - truth, truth)
        frames = [value(metric, "hole", truth=one, hole=hole, prediction=prediction) for one in (truth, other)]
        assert frames[0] == frames[1]

    def test_without_a_hole_only_the_frame_is_measured(self, metric: Metric) -> None:
        found = metric.measure(ItemView.of_arrays(truth=world(), hole=np.zeros_like(square_hole()), prediction=world()))
        assert found["frame"].value is not None
        assert found["hole"].value is None
        assert "'hole'" in str(found["hole"].reason)
        assert found["band"].value is None

    def test_frames_without_a_hole_are_left_out(self, metric: Metric) -> None:
        truth, hole, prediction = world(), square_hole(), noisy(world(), amplitude=30)
        hole[0] = False
        parts = {"truth": truth, "hole": hole, "composite": composite(truth, hole, prediction)}
        later = {name: part[1:] for name, part in parts.items()}
        for region in ("hole", "band"):
            assert value(metric, region, **parts) == value(metric, region, **later)

    def test_reduces_to_the_mean_in_any_order(self, metric: Metric) -> None:
        measurements = [0.25, 31.5, 2.125, 0.1]
        assert metric.reduce(measurements) == metric.reduce(measurements[::-1]) == pytest.approx(np.mean(measurements))
        assert metric.reduce([]) is None


def value(metric: Metric, region: str, **parts: np.ndarray) -> float:
    """What ``metric`` gives for ``region``; it must give something."""
    found = metric.measure(ItemView.of_arrays(**parts))[region].value
    assert found is not None
    return found


def world(*, pixels_per_frame: int = 3) -> Frames:
    """A smooth random texture that slides to the left by whole pixels."""
    shape = (HEIGHT, WIDTH + FRAMES * pixels_per_frame, 3)
    texture = cv2.GaussianBlur(np.random.default_rng(0).integers(0, 256, shape).astype(np.float32), (0, 0), 2)
    texture = np.clip(128 + 6 * (texture - 127.5), 0, 255).astype(np.uint8)
    return np.stack([texture[:, index * pixels_per_frame :][:, :WIDTH] for index in range(FRAMES)])


def square_hole() -> Hole:
    """130 px wide, the same in all frames."""
    hole = np.zeros((FRAMES, HEIGHT, WIDTH), np.bool_)
    hole[:, 60:190, 62:192] = True
    return hole


def noisy(frames: Frames, *, amplitude: int) -> Frames:
    noise = np.random.default_rng(1).integers(-amplitude, amplitude + 1, frames.shape)
    return np.clip(frames + noise, 0, 255).astype(np.uint8)
