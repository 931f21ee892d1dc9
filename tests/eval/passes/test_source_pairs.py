from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest
from tests.eval.flows.given import Given, listed  # noqa: F401 - a fixture
from tests.eval.metrics.editboard import give, noise, pulled, whole_steps

from inpaintbench.errors import NotMeasurable, UnknownNameError
from inpaintbench.eval.passes import flow_pairs as module
from inpaintbench.eval.passes.flow_pairs import SourceRule, carried, sources
from inpaintbench.view import ItemView

RULE = {"flow": "farneback", "mask": "luma_at_most", "mask_level": 5, "least_valid_share": 0.7}


def rule(**changes: Any) -> SourceRule:
    return SourceRule(**{**RULE, **changes})


def shares(found: SourceRule, view: ItemView) -> list[float]:
    return [float(pair.valid.mean()) for pair in found.pairs(view)]


def test_a_frame_is_read_at_each_place_less_the_flow_there_and_is_black_outside() -> None:
    frame, motion = noise(14, 11), whole_steps()[0]
    np.testing.assert_array_equal(carried(frame, sources(motion)), pulled(frame, motion))


def test_between_pixels_it_is_read_bilinearly() -> None:
    frame = np.zeros((1, 4, 3), np.uint8)
    frame[0, :, 0] = (0, 100, 200, 40)
    motion = np.zeros((1, 4, 2), np.float32)
    motion[..., 0] = 0.25
    # The first place is read at -0.25: a quarter of what is outside and three quarters of 0.
    assert carried(frame, sources(motion))[0, :, 0].tolist() == [0, 75, 175, 80]


@pytest.mark.parametrize("mask", ["luma_at_most", "channels_below"])
def test_valid_pixels_are_those_of_a_plain_loop(mask: str, given: type[Given]) -> None:
    truth, motion = noise(3, 14, 11), whole_steps()
    for index in (0, 1):  # most of the next frame is what the flow says, give or take a few levels
        spread = np.random.default_rng(index).integers(-9, 10, truth.shape[1:])
        truth[index + 1] = np.clip(pulled(truth[index], motion[index]) + spread, 0, 255)
    give(truth, motion)
    pairs = list(rule(flow="given", mask=mask).pairs(ItemView.of_arrays(truth=truth)))
    assert [pair.first for pair in pairs] == [0, 1]
    for pair in pairs:
        np.testing.assert_array_equal(pair.motion, motion[pair.first])
        expected = np.zeros((14, 11), np.bool_)
        moved = pulled(truth[pair.first], motion[pair.first])
        for y, x in np.ndindex(14, 11):
            red, green, blue = (
                abs(int(one) - int(other)) for one, other in zip(truth[pair.first + 1, y, x], moved[y, x], strict=True)
            )
            luma = int(0.299 * red + 0.587 * green + 0.114 * blue + 0.5)
            expected[y, x] = luma <= 5 if mask == "luma_at_most" else max(red, green, blue) < 5
        np.testing.assert_array_equal(pair.valid, expected)
        assert 0 < expected.mean() < 1


def test_all_metrics_and_edits_of_an_item_share_what_was_found(given: type[Given]) -> None:
    truth = noise(3, 14, 11)
    give(truth, whole_steps())
    view = ItemView.of_arrays(truth=truth)
    found = rule(flow="given").pairs(view)
    assert rule(flow="given", least_valid_share=0.5).pairs(view) is found
    assert given.calls == 1
    assert rule(flow="given", mask_level=6).pairs(view) is not found


@pytest.mark.parametrize("held_bytes", [1, 14 * 11 * 8 * 2])
def test_how_much_is_held_does_not_matter(held_bytes: int, given: type[Given], monkeypatch: pytest.MonkeyPatch) -> None:
    truth = noise(5, 14, 11)
    give(truth, whole_steps(frames=5))
    usual = list(rule(flow="given").pairs(ItemView.of_arrays(truth=truth)))
    monkeypatch.setattr(module, "_HELD_BYTES", held_bytes)
    monkeypatch.setattr(module, "_KEPT_BYTES", held_bytes)
    few = list(rule(flow="given").pairs(ItemView.of_arrays(truth=truth)))
    assert [pair.first for pair in few] == [0, 1, 2, 3]
    for one, other in zip(usual, few, strict=True):
        np.testing.assert_array_equal(one.motion, other.motion)
        np.testing.assert_array_equal(one.valid, other.valid)


@pytest.mark.parametrize(("right", "least", "most"), [(2, 0.98, 1.0), (-8, 0.93, 1.0), (30, 0.0, 0.4)])
def test_slow_motion_is_explained_and_fast_motion_is_lost(right: int, least: float, most: float) -> None:
    blurred = cv2.GaussianBlur(np.random.default_rng(0).uniform(0, 255, (512, 512)).astype(np.float32), (0, 0), 3)
    texture = cv2.normalize(blurred, None, 0, 255, cv2.NORM_MINMAX).astype(np.uint8)
    picture = np.repeat(texture[..., None], 3, axis=2)
    truth = np.stack([picture, np.roll(picture, right, axis=1)])
    [share] = shares(rule(), ItemView.of_arrays(truth=truth))
    assert least <= share <= most


def test_one_frame_has_no_pair() -> None:
    with pytest.raises(NotMeasurable, match="one frame has no next frame"):
        rule().pairs(ItemView.of_arrays(truth=noise(1, 8, 8)))


def test_flow_that_is_not_finite_is_not_measurable(given: type[Given]) -> None:
    truth, motion = noise(3, 14, 11), whole_steps()
    motion[1, 3, 4, 0] = np.nan
    give(truth, motion)
    with pytest.raises(NotMeasurable, match="the optical flow 'given' gave values that are not finite"):
        rule(flow="given").pairs(ItemView.of_arrays(truth=truth))


@pytest.mark.parametrize(
    ("changes", "error", "complaint"),
    [
        ({"flow": "farnback"}, UnknownNameError, "unknown flow 'farnback', did you mean 'farneback'"),
        ({"mask": "luma"}, ValueError, "mask is 'luma', choose 'luma_at_most' or 'channels_below'"),
        ({"mask_level": 5.5}, ValueError, "mask_level is 5.5, it must be a whole number in 0..255"),
        ({"mask_level": 256}, ValueError, "mask_level is 256"),
        ({"least_valid_share": 70}, ValueError, "least_valid_share is 70, it must be in 0..1"),
    ],
)
def test_constants_that_make_no_sense_are_refused(changes: dict[str, Any], error: type[Exception], complaint: str) -> None:
    with pytest.raises(error, match=complaint):
        rule(**changes)
