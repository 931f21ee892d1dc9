from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.eval.metrics.editboard import EDITS, noise, sample

from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.metrics.edits import SemanticScore
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView


def metric(**changes: Any) -> SemanticScore:
    return SemanticScore(**{"regions": ("frame",), "band_radius_pixels": 8, "empty": "no_value", **changes})


def measured(truth: Frames, edit: Frames, mask: Hole | None, **changes: Any) -> Measurement:
    masks = {} if mask is None else {"object_mask": mask}
    view = ItemView.of_arrays(truth=truth, prediction=edit, **masks)
    return metric(**changes).measure(view.declaring("semantic_score", SemanticScore.needs))["frame"]


def some(frames: int, height: int, width: int) -> Hole:
    return np.random.default_rng(4).random((frames, height, width)) < 0.3


@pytest.mark.parametrize("size", [(13, 9), (6, 17)])
def test_equals_a_plain_loop_over_pixels_upright_and_lying(size: tuple[int, int]) -> None:
    truth, edit, mask = noise(3, *size), noise(3, *size, seed=1), some(3, *size)
    mask[2] = False  # the object has left
    for array in (truth, edit, mask):
        array.flags.writeable = False
    expected = []
    for index in range(3):
        levels = [
            max(abs(int(one) - int(other)) for one, other in zip(edit[index, y, x], truth[index, y, x], strict=True))
            for y, x in np.ndindex(size)
            if not mask[index, y, x]
        ]
        expected.append(sum(levels) / len(levels))
    found = measured(truth, edit, mask)
    assert found.value == pytest.approx(sum(expected) / 3, rel=1e-14)
    assert found.details["frame_values"] == expected
    assert found.details["frames"] == 3
    assert found.details["counted_share"] == pytest.approx(1 - mask.mean(), rel=1e-14)


@pytest.mark.real
def test_the_published_sample_has_the_published_numbers() -> None:
    views = sample(*EDITS)
    same, white, panda = (metric().measure(view)["frame"] for view in views)
    assert same.value == 0
    assert white.value == pytest.approx(34.860967730789, abs=1e-6)
    by_hand = [
        np.abs(one.astype(int) - other)[~mask].max(axis=-1).mean()
        for one, other, mask in zip(views[2].prediction, views[2].truth, views[2].object_mask, strict=True)
    ]
    assert panda.value == pytest.approx(np.mean(by_hand), abs=1e-9)
    assert (panda.details["frames"], len(panda.details["frame_values"])) == (8, 8)


def test_the_object_itself_does_not_matter() -> None:
    truth, mask = noise(2, 8, 9), some(2, 8, 9)
    edit = np.where(mask[..., None], 255 - truth, truth)
    assert measured(truth, edit, mask).value == 0
    assert measured(truth, edit, ~mask).value != 0


def test_without_a_mask_there_is_no_value() -> None:
    frames = noise(2, 8, 9)
    assert measured(frames, frames, None) == Measurement(None, "the item has no mask of an object", {"not_applicable": True})


def test_an_empty_mask_says_nothing_of_what_was_to_be_edited() -> None:
    frames = noise(2, 8, 9)
    found = measured(frames, frames, np.zeros((2, 8, 9), np.bool_))
    assert found == Measurement(None, "the mask of the object is empty in every frame")


@pytest.mark.parametrize("empty", ["no_value", "leave_out"])
def test_a_mask_over_everything_leaves_nothing(empty: str) -> None:
    frames = noise(2, 8, 9)
    found = measured(frames, frames, np.ones((2, 8, 9), np.bool_), empty=empty)
    assert (found.value, found.reason) == (None, "no frame has a pixel outside the object's mask")
    assert (found.details["empty_frames"], found.details["counted_share"]) == (2, 0)


@pytest.mark.parametrize(("empty", "value"), [("leave_out", 12.0), ("no_value", None)])
def test_a_frame_that_the_mask_covers_whole_is_never_nan(empty: str, value: float | None) -> None:
    truth, mask = np.full((3, 8, 9, 3), 100, np.uint8), np.zeros((3, 8, 9), np.bool_)
    edit = truth.copy()
    edit[0, ..., 1], edit[2, ..., 0] = 92, 116
    mask[1] = mask[0, 0, 0] = True
    found = measured(truth, edit, mask, empty=empty)
    assert found.value == value
    assert found.reason == (None if value else "1 of 3 frames lack a pixel outside the object's mask")
    assert found.details["frame_values"] == [8, None, 16]
    assert (found.details["frames"], found.details["empty_frames"]) == (2, 1)


@pytest.mark.parametrize(("shape", "told"), [((2, 8, 9), "2x8x9"), ((3, 9, 8), "3x9x8")])
def test_a_mask_of_another_shape_does_not_count(shape: tuple[int, int, int], told: str) -> None:
    frames = noise(3, 8, 9)
    found = measured(frames, frames, np.ones(shape, np.bool_))
    assert found == Measurement(None, f"the object's mask has the shape {told} (frames, height, width), its source 3x8x9")


def test_an_edit_with_fewer_frames_has_no_value() -> None:
    found = measured(noise(3, 8, 9), noise(1, 8, 9), some(3, 8, 9))
    assert found == Measurement(None, "the edit is 1 frame, its source is 3 frames")


def test_a_single_picture_can_be_measured() -> None:
    truth, mask = noise(1, 8, 9), some(1, 8, 9)
    expected = np.abs(truth.astype(int) - (255 - truth))[~mask].max(axis=-1).mean()
    assert measured(truth, 255 - truth, mask).value == pytest.approx(expected)


def test_a_frozen_edit_costs_the_motion_around_the_object() -> None:
    truth, mask = noise(3, 8, 9), some(3, 8, 9)
    frozen = np.stack([truth[0]] * 3)
    expected = [np.abs(frame.astype(int) - truth[0])[~away].max(axis=-1).mean() for frame, away in zip(truth, mask, strict=True)]
    found = measured(truth, frozen, mask)
    assert found.details["frame_values"] == pytest.approx(expected)
    assert found.details["frame_values"][0] == 0


def test_it_has_no_constants_that_make_no_sense_and_answers_for_the_frame_alone() -> None:
    with pytest.raises(ValueError, match="empty is 'zero', choose 'no_value' or 'leave_out'"):
        metric(empty="zero")
    view = ItemView.of_arrays(truth=noise(1, 8, 9), prediction=noise(1, 8, 9), object_mask=some(1, 8, 9))
    assert list(metric(regions=("band", "frame")).measure(view)) == ["frame"]
    assert metric(regions=("hole",)).measure(view) == {}


def test_reduces_to_the_mean() -> None:
    assert metric().reduce([1.0, 4.0]) == pytest.approx(2.5)
    assert metric().reduce([]) is None
