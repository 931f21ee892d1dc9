from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.eval.flows.given import Given, listed  # noqa: F401 - a fixture
from tests.eval.metrics.editboard import flickering, give, moving, noise, sample

from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.metrics.edits import FfBeta
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

PUBLISHED = {"flow": "farneback", "mask": "luma_at_most", "mask_level": 5, "least_valid_share": 0.7, "least_motion_pixels": 0.0}


def metric(**changes: Any) -> FfBeta:
    return FfBeta(**{"regions": ("frame",), "band_radius_pixels": 8, **PUBLISHED, **changes})


def measured(truth: Frames, edit: Frames, **changes: Any) -> Measurement:
    view = ItemView.of_arrays(truth=truth, prediction=edit)
    return metric(**changes).measure(view.declaring("ff_beta", FfBeta.needs))["frame"]


def of_flows(one: Any, other: Any, **changes: Any) -> Measurement:
    """Of clips of 9x7 with these flows, each of two pairs."""
    truth, edit = noise(3, 9, 7), noise(3, 9, 7, seed=1)
    give(truth, np.asarray(one, np.float32))
    give(edit, np.asarray(other, np.float32))
    return measured(truth, edit, flow="given", **changes)


@pytest.mark.parametrize("degrees", [0, 30, 90, 135, 180])
def test_a_turned_flow_costs_1_less_the_cosine_whatever_its_length(degrees: float, given: type[Given]) -> None:
    turn = math.radians(degrees)
    turned = 5 * np.array((3 * math.cos(turn) - 4 * math.sin(turn), 3 * math.sin(turn) + 4 * math.cos(turn)))
    assert of_flows((3, 4), turned).value == pytest.approx(1 - math.cos(turn), abs=1e-6)


def test_equals_a_plain_loop_over_pixels(given: type[Given]) -> None:
    one, other = np.random.default_rng(2).normal(0, 2, (2, 2, 9, 7, 2)).astype(np.float32)
    one[0, :3] = 0  # still in the source
    other[1, 2:5] = 1e-9
    expected = []
    for index in (0, 1):
        costs = []
        for y, x in np.ndindex(9, 7):
            (a, b), (c, d) = (flow[index, y, x].astype(float) for flow in (one, other))
            costs.append(1 - (a * c + b * d) / ((math.hypot(a, b) + 1e-7) * (math.hypot(c, d) + 1e-7)))
        expected.append(sum(costs) / len(costs))
    found = of_flows(one, other)
    assert found.value == pytest.approx(np.mean(expected), abs=1e-6)
    assert found.details["pair_values"] == pytest.approx(expected, abs=1e-6)
    assert (found.details["pairs"], found.details["counted_share"]) == (2, 1.0)


def test_pixels_that_are_still_in_both_can_be_left_out(given: type[Given]) -> None:
    one, other = np.zeros((2, 2, 9, 7, 2), np.float32)
    one[:, :2, :, 0] = 1  # 14 pixels move in the source alone
    other[:, 2:4, :, 1] = 1  # 14 others in the edit alone
    one[:, 4:6], other[:, 4:6] = 1, 2  # 14 together
    one[:, 6:, :, 0], other[:, 6:, :, 0] = 0.4, -0.4  # 21 hardly
    found = of_flows(one, other, least_motion_pixels=0.5)
    assert found.value == pytest.approx(2 / 3, abs=1e-6)
    assert found.details["counted_share"] == pytest.approx(42 / 63)
    assert of_flows(one, other).value == pytest.approx((14 + 14 + 0 + 2 * 21) / 63, abs=1e-6)
    assert of_flows(one, other, least_motion_pixels=0.3).value == pytest.approx((14 + 14 + 2 * 21) / 63, abs=1e-6)


def test_a_pixel_that_moves_exactly_as_far_as_is_asked_counts(given: type[Given]) -> None:
    one = np.zeros((2, 9, 7, 2), np.float32)
    one[:, :3, :, 0] = 1
    found = of_flows(one, one, least_motion_pixels=1.0)
    assert found.details["counted_share"] == pytest.approx(1 / 3)


def test_a_pair_in_which_nothing_moves_agrees(given: type[Given]) -> None:
    one = np.zeros((2, 9, 7, 2), np.float32)
    one[1, ..., 0] = 1
    found = of_flows(one, one[..., ::-1], least_motion_pixels=0.5)
    assert found.value == pytest.approx(0.5)
    assert found.details["pair_values"] == [0.0, pytest.approx(1)]
    assert (found.details["pairs"], found.details["counted_share"]) == (2, 0.5)


@pytest.mark.real
def test_the_published_sample_has_the_published_numbers() -> None:
    white = metric().measure(sample("bear_white")[0])["frame"]
    assert white.value == pytest.approx(0.2193, abs=1e-4)
    assert white.details["valid_share"] == pytest.approx(0.7898, abs=1e-4)
    assert (white.details["applies"], white.details["pairs"]) == ("ff_alpha", 7)
    assert metric().measure(sample("bear", frames=3)[0])["frame"].value == pytest.approx(0.0, abs=1e-6)


def test_a_flat_video_costs_1_as_published_and_0_when_still_pixels_are_left_out() -> None:
    flat = np.full((3, 40, 50, 3), 120, np.uint8)
    assert measured(flat, flat).value == 1.0
    found = measured(flat, flat, least_motion_pixels=0.5)
    assert (found.value, found.details["pairs"], found.details["counted_share"]) == (0.0, 2, 0.0)


def test_keeping_a_still_clip_still_beats_making_it_shake() -> None:
    still = np.repeat(moving(frames=1), 4, axis=0)
    shaking = np.stack([np.roll(frame, 3 * (place % 2), axis=1) for place, frame in enumerate(still)])
    steady, shaken = (measured(still, edit, least_motion_pixels=0.5).value for edit in (255 - still, shaking))
    assert steady is not None
    assert shaken is not None
    assert steady == 0 < shaken


@pytest.mark.real
def test_a_still_photograph_is_not_0_against_itself_as_published() -> None:
    [view] = sample("bear", frames=1)
    still = np.repeat(view.truth, 2, axis=0)
    value = measured(still, still).value
    assert value is not None
    assert 0.05 < value < 1
    assert measured(still, still, least_motion_pixels=0.5).value == 0


@pytest.mark.parametrize("least", [0.0, 0.5])
def test_a_frozen_edit_of_a_clip_that_moves_costs_about_1(least: float) -> None:
    truth = moving()
    flat = np.full_like(truth, 90)
    assert measured(truth, flat, least_motion_pixels=least).value == pytest.approx(1, abs=1e-6)
    value = measured(truth, np.repeat(truth[:1], len(truth), axis=0), least_motion_pixels=least).value
    assert value == pytest.approx(1, abs=0.35)
    assert measured(truth, truth, least_motion_pixels=least).value == pytest.approx(0, abs=1e-6)


def test_repeated_frames_cost_as_published_and_nothing_without_still_pixels() -> None:
    truth = np.repeat(moving(frames=3), 2, axis=0)
    found = measured(truth, truth, least_motion_pixels=0.5)
    assert found.details["pair_values"] == [0.0, pytest.approx(0, abs=1e-6), 0.0, pytest.approx(0, abs=1e-6), 0.0]
    assert found.value == pytest.approx(0, abs=1e-6)
    published = measured(truth, truth)
    assert published.details["pairs"] == 5
    assert published.value is not None
    assert 0 < published.value < 1


@pytest.mark.parametrize("least", [0.0, 0.5])
def test_it_rises_with_flicker(least: float) -> None:
    truth = moving()
    found = [
        measured(truth, flickering(truth, amplitude=amplitude), least_motion_pixels=least).value
        for amplitude in (0, 5, 15, 30, 60)
    ]
    assert all(value is not None for value in found)
    assert found == sorted(set(found))


@pytest.mark.real
def test_it_rises_with_flicker_on_a_real_clip() -> None:
    [view] = sample("bear", frames=3)
    edits = [flickering(view.truth, amplitude=amplitude) for amplitude in (0, 5, 25)]
    views = [ItemView.of_arrays(truth=view.truth, prediction=edit, shared=view.shared) for edit in edits]
    found = [one["frame"].value for one in metric().measure_together(views)]
    assert found == sorted(set(found))


def test_upright_frames_move_as_lying_ones() -> None:
    lying, other = moving(), moving(right=3)[:, ::-1]
    upright, turned = (np.ascontiguousarray(frames.transpose(0, 2, 1, 3)) for frames in (lying, other))
    assert upright.shape[1] > upright.shape[2]
    assert measured(upright, turned).value == pytest.approx(float(measured(lying, other).value or 0), abs=1e-3)


def test_edits_measured_together_are_as_measured_alone_and_the_source_is_looked_at_once(given: type[Given]) -> None:
    truth = noise(3, 9, 7)
    edits = [noise(3, 9, 7, seed=1), noise(2, 9, 7, seed=2), noise(3, 9, 7, seed=3), noise(3, 9, 7, seed=1)]
    for seed, frames in enumerate((truth, *edits)):
        give(frames, np.random.default_rng(seed % 4).normal(0, 2, (len(frames) - 1, 9, 7, 2)))
        frames.flags.writeable = False
    views = [ItemView.of_arrays(truth=truth, prediction=edit) for edit in edits]
    together = metric(flow="given").measure_together([view.declaring("ff_beta", FfBeta.needs) for view in views])
    assert given.calls == 1 + 3  # the source once, and each edit that fits it
    assert together == [metric(flow="given").measure(view) for view in views]
    assert together[0] == together[3] != together[2]
    assert together[1]["frame"] == Measurement(None, "the edit is 2 frames, its source is 3 frames")
    assert metric().measure_together([]) == []
    assert metric(flow="given").measure_together(views[1:2]) == [together[1]]


def test_an_edit_whose_flow_is_not_finite_has_no_value_and_spoils_no_other(given: type[Given]) -> None:
    truth, good, bad = (noise(3, 9, 7, seed=seed) for seed in range(3))
    motion = np.ones((2, 9, 7, 2), np.float32)
    give(truth, motion)
    give(good, motion)
    motion[1, 0, 0, 0] = np.nan
    give(bad, motion)
    views = [ItemView.of_arrays(truth=truth, prediction=edit) for edit in (good, bad)]
    one, other = (found["frame"] for found in metric(flow="given").measure_together(views))
    assert one.value == pytest.approx(0, abs=1e-6)
    assert (other.value, other.reason) == (None, "1 of 2 pairs gave NaN")
    assert other.details["pair_values"] == [pytest.approx(0, abs=1e-6), None]


def test_with_a_learned_flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torchvision")
    truth = moving(frames=2, height=64, width=96)
    parts = {"truth": truth, "prediction": flickering(truth, amplitude=30)}
    compute = Compute(device="cpu", random_weights=3)
    found = metric(flow="raft_small").measure(ItemView.of_arrays(shared=Shared(compute=compute), **parts))["frame"]
    assert found.value is not None
    assert 0 < found.value < 2
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    with pytest.raises(NotMeasurable, match="weights missing: run `inpaintbench models fetch raft-large`"):
        metric(flow="raft_large").measure(ItemView.of_arrays(shared=Shared(compute=Compute(device="cpu")), **parts))


def test_a_single_frame_cannot_be_measured() -> None:
    with pytest.raises(NotMeasurable, match="one frame has no next frame"):
        measured(noise(1, 8, 8), noise(1, 8, 8))
    assert FfBeta.fewest_frames == 2


def test_only_the_frame_has_an_answer() -> None:
    view = ItemView.of_arrays(truth=moving(frames=2), prediction=moving(frames=2))
    assert list(metric(regions=("hole", "frame")).measure(view)) == ["frame"]
    assert metric(regions=("hole", "band")).measure(view) == {}


@pytest.mark.parametrize("least", [-1.0, math.nan])
def test_a_least_motion_that_makes_no_sense_is_refused(least: float) -> None:
    with pytest.raises(ValueError, match=f"least_motion_pixels is {least}, it must be 0 or more"):
        metric(least_motion_pixels=least)


def test_the_weights_are_those_of_the_flow() -> None:
    assert FfBeta.weights_of(PUBLISHED) == ()
    assert FfBeta.weights_of({**PUBLISHED, "flow": "raft_large"}) == ("raft-large",)


def test_reduces_to_the_mean() -> None:
    assert metric().reduce([0.1, 0.4]) == pytest.approx(0.25)
    assert metric().reduce([]) is None
