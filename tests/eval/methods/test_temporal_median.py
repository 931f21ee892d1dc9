from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.eval.methods.contract import MethodContract, corrupted, inpaint, wandering_hole, world

from inpaintbench.eval.methods import borrowing
from inpaintbench.eval.methods.borrowing import TemporalMedian, median_of_known
from inpaintbench.eval.methods.each_frame import Telea


class TestContract(MethodContract):
    name = "temporal_median"


@given(arrays(np.uint8, (5, 4, 3)), arrays(np.bool_, (5, 4)))
@settings(max_examples=200)
def test_median_agrees_with_masked_arrays(levels: np.ndarray, missing: np.ndarray) -> None:
    missing[0] &= ~missing.all(axis=0)
    expected = np.ma.median(np.ma.array(levels.astype(np.float64), mask=np.repeat(missing[..., None], 3, axis=2)), axis=0)
    np.testing.assert_array_equal(median_of_known(levels, missing), np.floor(np.asarray(expected) + 0.5))


@given(st.lists(st.integers(0, 255), min_size=1, max_size=6))
def test_missing_frames_do_not_count(known: list[int]) -> None:
    levels = np.array([*known, 0, 255, 77], np.uint8).repeat(3).reshape(-1, 1, 3)
    missing = np.array([False] * len(known) + [True] * 3)[:, None]
    assert median_of_known(levels, missing)[0, 0] == np.floor(np.median(known) + 0.5)


def test_behind_a_still_camera_a_moving_hole_is_filled_exactly() -> None:
    truth = np.repeat(world()[:1], 7, axis=0)
    hole = wandering_hole()
    hole[:, 40:] = False
    np.testing.assert_array_equal(inpaint(TemporalMedian(), corrupted(truth, hole), hole), truth)


def test_an_outlier_in_one_frame_does_not_show() -> None:
    truth = np.full((5, 8, 8, 3), 100, np.uint8)
    truth[4] = 255
    hole = np.zeros((5, 8, 8), np.bool_)
    hole[0, 2:6, 2:6] = True
    assert (inpaint(TemporalMedian(), corrupted(truth, hole), hole)[0] == 100).all()


def test_pixels_that_are_never_known_are_filled_like_telea() -> None:
    hole = np.zeros((7, 48, 64), np.bool_)
    hole[:, 10:30, 20:40] = True
    frames = corrupted(world(), hole)
    np.testing.assert_array_equal(inpaint(TemporalMedian(), frames, hole), inpaint(Telea(), frames, hole))


def test_pixels_are_worked_off_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    frames, hole = corrupted(world(), wandering_hole()), wandering_hole()
    whole = inpaint(TemporalMedian(), frames, hole)
    monkeypatch.setattr(borrowing, "_PIXELS_AT_ONCE", 7)
    np.testing.assert_array_equal(inpaint(TemporalMedian(), frames, hole), whole)
