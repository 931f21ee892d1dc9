from __future__ import annotations

import cv2
import numpy as np
import pytest
from tests.eval.flows.test_dis import texture

from inpaintbench.compute import Compute
from inpaintbench.eval.flows import Farneback


def test_finds_the_shift_of_a_texture_right_and_down() -> None:
    scene = texture(110, 150)
    one, other = scene[None, 10:74, 20:116], scene[None, 8:72, 17:113]  # what is seen moves 3 px right and 2 px down
    found = Farneback().flow(one, other, Compute())
    assert (found.shape, found.dtype) == ((1, 64, 96, 2), np.float32)
    np.testing.assert_allclose(np.median(found[0, 8:-8, 8:-8], axis=(0, 1)), (3, 2), atol=0.05)
    assert (np.abs(found[0, 8:-8, 8:-8] - (3, 2)).max(axis=2) < 0.5).mean() > 0.95


def test_a_pair_has_the_same_flow_whatever_stands_beside_it_and_on_any_number_of_threads() -> None:
    frames = np.stack([texture(120, 160, seed=seed) for seed in range(3)])
    together = Farneback().flow(frames[:-1], frames[1:], Compute())
    cv2.setNumThreads(4)
    try:
        np.testing.assert_array_equal(Farneback().flow(frames[:-1], frames[1:], Compute()), together)
        alone = [Farneback().flow(frames[index : index + 1], frames[index + 1 : index + 2], Compute())[0] for index in range(2)]
    finally:
        cv2.setNumThreads(1)
    np.testing.assert_array_equal(together, alone)


def test_takes_grey_levels_of_rgb_and_the_constants_of_the_released_code() -> None:
    frames = np.stack([texture(64, 80, seed=seed) for seed in range(2)])
    frames[..., 2] = 0  # red and green alone: blue taken for red would give another grey
    one, other = (cv2.cvtColor(np.ascontiguousarray(frame[..., ::-1]), cv2.COLOR_BGR2GRAY) for frame in frames)
    expected = cv2.calcOpticalFlowFarneback(
        one, other, None, pyr_scale=0.5, levels=3, winsize=15, iterations=3, poly_n=5, poly_sigma=1.2, flags=0
    )
    np.testing.assert_array_equal(Farneback().flow(frames[:1], frames[1:], Compute())[0], expected)


@pytest.mark.parametrize("size", [(1, 1), (2, 9), (40, 5)])
def test_frames_of_any_size_have_a_finite_flow(size: tuple[int, int]) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (2, *size, 3), dtype=np.uint8)
    assert np.isfinite(Farneback().flow(frames[:1], frames[1:], Compute())).all()


def test_a_flat_picture_does_not_move() -> None:
    frames = np.full((1, 40, 50, 3), 90, np.uint8)
    assert not Farneback().flow(frames, frames, Compute()).any()
