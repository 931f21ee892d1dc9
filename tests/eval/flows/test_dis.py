from __future__ import annotations

import cv2
import numpy as np
import pytest

from inpaintbench.compute import Compute
from inpaintbench.errors import NotMeasurable, UnknownNameError
from inpaintbench.eval.flows import FLOWS, Dis


def texture(height: int, width: int, *, seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).integers(0, 256, (height, width, 3)).astype(np.float32)
    return np.clip(128 + 6 * (cv2.GaussianBlur(noise, (0, 0), 2) - 127.5), 0, 255).astype(np.uint8)


def test_finds_the_shift_of_a_texture_right_and_down() -> None:
    scene = texture(110, 150)
    one, other = scene[None, 10:74, 20:116], scene[None, 8:72, 17:113]  # what is seen moves 3 px right and 2 px down
    found = Dis().flow(one, other, Compute())
    assert (found.shape, found.dtype) == ((1, 64, 96, 2), np.float32)
    np.testing.assert_allclose(np.median(found[0, 8:-8, 8:-8], axis=(0, 1)), (3, 2), atol=0.05)
    assert (np.abs(found[0, 8:-8, 8:-8] - (3, 2)).max(axis=2) < 0.5).mean() > 0.95


def test_a_pair_has_the_same_flow_whatever_stands_beside_it_and_on_any_number_of_threads() -> None:
    frames = np.stack([texture(240, 320, seed=seed) for seed in range(4)])
    together = Dis().flow(frames[:-1], frames[1:], Compute())
    cv2.setNumThreads(4)
    try:
        alone = [Dis().flow(frames[index : index + 1], frames[index + 1 : index + 2], Compute())[0] for index in range(3)]
        assert cv2.getNumThreads() == 4
    finally:
        cv2.setNumThreads(1)
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize(
    ("width", "height"),
    [(32, 18), (33, 17), (63, 40), (64, 33), (97, 65), (127, 31), (128, 130), (200, 16), (257, 64), (320, 183)],
)
def test_what_is_stored_of_it_makes_the_flow_that_opencv_gives_bit_by_bit(width: int, height: int) -> None:
    """At full size with the finest scale of 1, as before it was stored."""
    scene = texture(height + 4, width + 4)
    one, other = scene[None, :height, :width], scene[None, 1 : height + 1, 2 : width + 2]
    search = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
    grey = [cv2.cvtColor(frames[0], cv2.COLOR_RGB2GRAY) for frames in (one, other)]
    expected = search.calc(*grey, None)
    coarse = Dis().coarse(one, other, Compute())
    assert coarse.size in (expected.size, 2 * (width // 2) * (height // 2))
    np.testing.assert_array_equal(Dis().enlarged(coarse[0], height=height, width=width), expected)
    np.testing.assert_array_equal(Dis().flow(one, other, Compute())[0], expected)


def test_the_smallest_frames_work_and_smaller_ones_say_so() -> None:
    frames = texture(16, 20)[None]
    assert np.isfinite(Dis().flow(frames, frames, Compute())).all()
    with pytest.raises(NotMeasurable, match="frames of 20x15 are too small for optical flow, which needs 16 px"):
        Dis().flow(frames[:, :15], frames[:, :15], Compute())


@pytest.mark.parametrize("name", FLOWS)
def test_every_flow_states_its_facts(name: str) -> None:
    leaf = FLOWS.get(name)()
    assert leaf.name == name
    assert leaf.version
    assert (leaf.weights is None) == (name in ("dis", "farneback"))


def test_an_unknown_flow_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="unknown flow 'raft-small', did you mean 'raft_small'"):
        FLOWS.get("raft-small")
