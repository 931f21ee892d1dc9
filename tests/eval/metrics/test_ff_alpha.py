from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.eval.flows.given import Given, listed  # noqa: F401 - a fixture
from tests.eval.metrics.editboard import EDITS, flickering, give, moving, noise, pulled, sample, whole_steps

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.metrics.edits import FfAlpha
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

PUBLISHED = {"flow": "farneback", "mask": "luma_at_most", "mask_level": 5, "least_valid_share": 0.7, "empty": "no_value"}
STILL = np.zeros(2, np.float32)


def metric(**changes: Any) -> FfAlpha:
    return FfAlpha(**{"regions": ("frame",), "band_radius_pixels": 8, **PUBLISHED, **changes})


def measured(truth: Frames, edit: Frames, **changes: Any) -> Measurement:
    view = ItemView.of_arrays(truth=truth, prediction=edit)
    return metric(**changes).measure(view.declaring("ff_alpha", FfAlpha.needs))["frame"]


def clip(*, height: int, width: int) -> tuple[Frames, np.ndarray]:
    """A source that mostly follows a wild flow, three frames."""
    motion = whole_steps(height=height, width=width)
    frames = [noise(height, width)]
    for step in motion:
        spread = np.random.default_rng(len(frames)).integers(-7, 8, frames[0].shape)
        frames.append(np.clip(pulled(frames[-1], step) + spread, 0, 255).astype(np.uint8))
    return np.stack(frames), motion


@pytest.mark.parametrize("size", [(14, 11), (9, 20)])
def test_equals_a_plain_loop_over_pixels_upright_and_lying(size: tuple[int, int], given: type[Given]) -> None:
    height, width = size
    truth, motion = clip(height=height, width=width)
    edit = noise(3, height, width, seed=9)
    give(truth, motion)
    expected, valid = [], []
    for index in (0, 1):
        source, ours = (pulled(frames[index], motion[index]).astype(int) for frames in (truth, edit))
        kept = []
        for y, x in np.ndindex(height, width):
            red, green, blue = abs(truth[index + 1, y, x] - source[y, x])
            if int(0.299 * red + 0.587 * green + 0.114 * blue + 0.5) <= 5:
                kept.append(max(abs(int(one) - int(other)) for one, other in zip(edit[index + 1, y, x], ours[y, x], strict=True)))
        expected.append(sum(kept) / len(kept))
        valid.append(len(kept) / (height * width))
    found = measured(truth, edit, flow="given", least_valid_share=0.0)
    assert found.value == pytest.approx(np.mean(expected), rel=1e-12)
    assert found.details["pair_values"] == pytest.approx(expected, rel=1e-12)
    assert found.details["pair_valid_shares"] == pytest.approx(valid, rel=1e-12)
    assert found.details["valid_share"] == pytest.approx(np.mean(valid), rel=1e-12)
    assert (found.details["pairs"], found.details["applies"]) == (2, "ff_alpha")
    assert 0 < np.mean(valid) < 1


@pytest.mark.real
def test_the_published_sample_has_the_published_numbers() -> None:
    same, white, panda = (found["frame"] for found in metric().measure_together(sample(*EDITS)))
    assert same.value == pytest.approx(3.0377, abs=0.01)
    assert white.value == pytest.approx(15.5556, abs=0.01)
    assert panda.value is not None
    assert same.value < panda.value < white.value
    for found in (same, white, panda):
        assert found.details["valid_share"] == pytest.approx(0.7898, abs=1e-4)
        assert found.details["applies"] == "ff_alpha"
        assert found.details["pairs"] == len(found.details["pair_values"]) == 7


@pytest.mark.real
def test_by_the_mask_of_the_paper_the_sample_has_no_value_and_never_0() -> None:
    found = metric(mask="channels_below").measure(sample("bear_white")[0])["frame"]
    assert found.value is None
    assert found.reason == "62.18 % of the source's pixels follow its flow, fewer than the 70 % of FF-alpha: FF-beta applies"
    assert found.details["applies"] == "ff_beta"
    assert np.mean(found.details["pair_values"]) == pytest.approx(14.706, abs=0.01)


def test_the_share_decides_whether_it_applies_and_belongs_to_the_source_alone(given: type[Given]) -> None:
    truth = np.zeros((2, 10, 10, 3), np.uint8)
    truth[1, :3] = 200  # 70 of 100 pixels stay
    give(truth, STILL)
    for edit in (truth, noise(2, 10, 10)):
        enough = measured(truth, edit, flow="given", least_valid_share=0.7)
        assert (enough.details["valid_share"], enough.details["applies"]) == (0.7, "ff_alpha")
        assert enough.value == enough.details["pair_values"][0]
        short = measured(truth, edit, flow="given", least_valid_share=0.71)
        assert (short.value, short.details["applies"]) == (None, "ff_beta")
        assert "FF-beta applies" in str(short.reason)
        assert short.details["pair_values"] == enough.details["pair_values"]


@pytest.mark.parametrize(("empty", "value"), [("leave_out", 30.0), ("no_value", None)])
def test_a_pair_without_a_valid_pixel_is_never_nan(empty: str, value: float | None, given: type[Given]) -> None:
    truth = np.zeros((5, 6, 6, 3), np.uint8)
    truth[4] = 255
    edit = np.zeros_like(truth)
    edit[1::2, ..., 1] = 30
    give(truth, STILL)
    found = measured(truth, edit, flow="given", empty=empty)
    assert found.value == value
    assert found.details["pair_values"] == [30, 30, 30, None]
    assert found.details["pair_valid_shares"] == [1, 1, 1, 0]
    assert (found.details["pairs"], found.details["empty_pairs"]) == (3, 1)
    assert found.reason == (None if value else "1 of 4 pairs lack a valid pixel")


def test_no_valid_pixel_at_all_is_no_value(given: type[Given]) -> None:
    truth = np.zeros((3, 6, 6, 3), np.uint8)
    truth[1] = 255
    give(truth, STILL)
    assert measured(truth, truth, flow="given", empty="leave_out").value is None
    found = measured(truth, truth, flow="given", empty="leave_out", least_valid_share=0.0)
    assert (found.value, found.reason) == (None, "no pair has a valid pixel")


def test_a_flat_video_changes_by_what_its_edit_changes() -> None:
    truth = np.full((4, 40, 50, 3), 120, np.uint8)
    assert measured(truth, truth).value == 0
    edit = truth.copy()
    edit[1::2, ..., 2] -= 7
    found = measured(truth, edit)
    assert (found.value, found.details["valid_share"]) == (7.0, 1.0)


def test_a_still_video_is_valid_everywhere_and_costs_next_to_nothing() -> None:
    truth = np.repeat(moving(frames=1), 3, axis=0)
    found = measured(truth, truth)
    assert found.details["valid_share"] > 0.99
    assert found.value == pytest.approx(0, abs=0.5)


def test_repeated_frames_have_pairs_of_their_own() -> None:
    truth = np.repeat(moving(frames=3), 2, axis=0)
    found = measured(truth, truth)
    assert found.details["pairs"] == 5
    assert found.details["pair_values"][::2] == pytest.approx([0, 0, 0], abs=0.5)
    assert found.value == pytest.approx(np.mean(found.details["pair_values"]))


def test_an_edit_that_is_frozen_costs_what_the_motion_of_the_source_does_to_it(given: type[Given]) -> None:
    right = np.array((2, 0), np.float32)
    truth = np.zeros((3, 12, 20, 3), np.uint8)
    give(truth, right)
    frame = noise(12, 20)
    frozen = np.stack([frame] * 3)
    change = np.abs(frame.astype(int) - pulled(frame, np.broadcast_to(right, (12, 20, 2)))).max(axis=2)
    found = measured(truth, frozen, flow="given")
    assert found.value == pytest.approx(change.mean(), rel=1e-12)
    assert found.value > 50


def test_it_rises_with_flicker() -> None:
    truth = moving()
    found = [measured(truth, flickering(truth, amplitude=amplitude)).value for amplitude in (0, 2, 5, 10, 20, 40)]
    assert all(value is not None for value in found)
    assert found == sorted(set(found))


@pytest.mark.real
def test_it_rises_with_flicker_on_a_real_clip() -> None:
    [view] = sample("bear", frames=3)
    edits = [flickering(view.truth, amplitude=amplitude) for amplitude in (0, 4, 10, 25)]
    views = [ItemView.of_arrays(truth=view.truth, prediction=edit, shared=view.shared) for edit in edits]
    found = [one["frame"].value for one in metric().measure_together(views)]
    assert found == sorted(set(found))


def test_edits_measured_together_are_as_measured_alone_and_the_source_is_looked_at_once(given: type[Given]) -> None:
    truth, motion = clip(height=14, width=11)
    give(truth, motion)
    first = noise(3, 14, 11, seed=1)
    edits = [first, noise(2, 14, 11), noise(3, 14, 11, seed=2), first]
    for array in (truth, *edits):
        array.flags.writeable = False
    views = [ItemView.of_arrays(truth=truth, prediction=edit) for edit in edits]
    constants = {"flow": "given", "least_valid_share": 0.0}
    together = metric(**constants).measure_together([view.declaring("ff_alpha", FfAlpha.needs) for view in views])
    assert given.calls == 1
    assert together == [metric(**constants).measure(view) for view in views]
    assert together[0] == together[3] != together[2]
    assert together[1]["frame"] == Measurement(None, "the edit is 2 frames, its source is 3 frames")
    assert metric().measure_together([]) == []


def test_an_edit_of_another_size_has_no_value() -> None:
    found = measured(noise(2, 8, 10), noise(2, 10, 8))
    assert found == Measurement(None, "the edit is 8x10, its source is 10x8")


def test_a_single_frame_cannot_be_measured() -> None:
    with pytest.raises(NotMeasurable, match="one frame has no next frame"):
        measured(noise(1, 8, 8), noise(1, 8, 8))
    assert FfAlpha.fewest_frames == 2


def test_only_the_frame_has_an_answer() -> None:
    view = ItemView.of_arrays(truth=moving(), prediction=moving())
    assert list(metric(regions=("hole", "frame")).measure(view)) == ["frame"]
    assert metric(regions=("hole", "band")).measure(view) == {}


@pytest.mark.parametrize(("flow", "weights"), [("farneback", ()), ("raft_large", ("raft-large",))])
def test_the_weights_are_those_of_the_flow(flow: str, weights: tuple[str, ...]) -> None:
    assert FfAlpha.weights_of({**PUBLISHED, "flow": flow}) == weights


def test_a_rule_for_empty_pairs_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="empty is 'skip', choose 'no_value' or 'leave_out'"):
        metric(empty="skip")


def test_reduces_to_the_mean() -> None:
    assert metric().reduce([1.0, 4.0]) == pytest.approx(2.5)
    assert metric().reduce([]) is None
