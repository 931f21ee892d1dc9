from __future__ import annotations

import numpy as np
import pytest
from tests.eval.methods.contract import MethodContract, corrupted, inpaint, psnr
from worlds import camera_path, film, moving_texture, pan_clip, photograph, sensor_noise

from inpaintbench.eval.methods.borrowing import AffinePropagation, CameraMotion
from inpaintbench.eval.methods.each_frame import Telea
from inpaintbench.types import Frames, Hole

HEIGHT, WIDTH = 120, 160


class TestContract(MethodContract):
    name = "affine_propagation"


def disc(frames: int, *, radius: int, centre: tuple[int, int] = (60, 80)) -> Hole:
    rows, columns = np.ogrid[:HEIGHT, :WIDTH]
    inside = (rows - centre[0]) ** 2 + (columns - centre[1]) ** 2 < radius**2
    return np.repeat(inside[None], frames, axis=0)


def tripod(name: str, *, frames: int, noise_sigma: float = 0.0) -> Frames:
    return pan_clip(name, pixels_per_frame=0, frames=frames, width=WIDTH, height=HEIGHT, noise_sigma=noise_sigma)


def farthest_error(motion: np.ndarray, truth: np.ndarray) -> float:
    """Largest distance in pixels between where two motions put the corners of the frame."""
    corners = np.array([[0, 0, 1], [WIDTH, 0, 1], [0, HEIGHT, 1], [WIDTH, HEIGHT, 1]], np.float64).T
    return float(np.hypot(*((motion - truth) @ corners)[:2]).max())


@pytest.mark.parametrize("name", ["coffee", "chelsea", "astronaut"])
def test_is_at_least_8_db_above_telea_on_a_pan_with_a_still_hole(name: str) -> None:
    truth = pan_clip(name, pixels_per_frame=3, frames=24, width=WIDTH, height=HEIGHT)
    hole = disc(24, radius=22)
    frames = corrupted(truth, hole)
    ours, telea = (psnr(inpaint(method, frames, hole), truth, hole) for method in (AffinePropagation(), Telea()))
    assert ours >= telea + 8


@pytest.mark.parametrize("hole", [disc(20, radius=20), np.zeros((20, HEIGHT, WIDTH), np.bool_)])
def test_motion_agrees_with_the_camera(hole: Hole) -> None:
    steps = np.arange(20)
    path = camera_path(
        frames=20,
        width=WIDTH,
        height=HEIGHT,
        pan=np.stack([2.3 * steps, 8 * np.sin(steps / 4)], axis=1),
        zoom=1.3 * 1.01**steps,
        turn_radians=0.05 * np.sin(steps / 5),
    )
    truth = film(photograph("retina", width=400, height=300), path, width=WIDTH, height=HEIGHT, noise_sigma=1.5)
    camera = CameraMotion(corrupted(truth, hole), hole)
    for start, end in [(0, 1), (5, 4), (0, 8), (19, 6), (2, 17)]:
        motion = camera.between(start, end)
        assert motion is not None
        assert farthest_error(motion, np.linalg.inv(path[end]) @ path[start]) < 0.5


def test_motion_ignores_water_that_moves_by_itself() -> None:
    truth = moving_texture(pan_clip("coffee", pixels_per_frame=2, frames=12, width=WIDTH, height=HEIGHT), share=0.4, seed=3)
    hole = disc(12, radius=12, centre=(40, 80))
    motion = CameraMotion(corrupted(truth, hole), hole).between(0, 11)
    assert motion is not None
    assert farthest_error(motion, np.array([[1, 0, -22], [0, 1, 0], [0, 0, 1]])) < 1


def test_the_nearest_frame_lends_first_and_the_earlier_one_of_two() -> None:
    truth = tripod("coffee", frames=9)
    square = np.s_[50:70, 70:90]
    truth[(slice(None), *square)] = 20 * np.arange(9)[:, None, None, None]
    hole = np.zeros((9, HEIGHT, WIDTH), np.bool_)
    hole[4:6, 50:70, 70:90] = True
    found = inpaint(AffinePropagation(), corrupted(truth, hole), hole)
    assert (found[4][square] == 60).all()
    assert (found[5][square] == 120).all()
    hole[3] = hole[4]
    assert (inpaint(AffinePropagation(), corrupted(truth, hole), hole)[4][square] == 40).all()
    hole[6] = hole[2] = hole[4]
    assert (inpaint(AffinePropagation(), corrupted(truth, hole), hole)[4][square] == 20).all()


def test_frames_out_of_reach_lend_nothing() -> None:
    truth, hole = tripod("coffee", frames=9), np.zeros((9, HEIGHT, WIDTH), np.bool_)
    hole[:7] = disc(7, radius=10)
    frames = corrupted(truth, hole)
    found = inpaint(AffinePropagation(reach_frames=3), frames, hole)
    np.testing.assert_array_equal(found[:4], inpaint(Telea(), frames, hole)[:4])
    np.testing.assert_array_equal(found[4:], truth[4:])


def test_brightness_follows_the_borrower() -> None:
    brighter = np.arange(0, 24, 2, dtype=np.uint8)[:, None, None, None]
    truth = sensor_noise(tripod("coffee", frames=12) // 2 + brighter, sigma=1, seed=0)
    hole = np.zeros((12, HEIGHT, WIDTH), np.bool_)
    for index, left in enumerate(range(40, 100, 5)):
        hole[index, 40:70, left : left + 25] = True
    assert psnr(inpaint(AffinePropagation(), corrupted(truth, hole), hole), truth, hole) > 37


def test_nothing_is_borrowed_across_a_cut() -> None:
    shots = [pan_clip(name, pixels_per_frame=3, frames=10, width=WIDTH, height=HEIGHT) for name in ("coffee", "chelsea")]
    hole = disc(10, radius=20)
    alone = [inpaint(AffinePropagation(), corrupted(shot, hole), hole) for shot in shots]
    whole = np.concatenate([hole, hole])
    np.testing.assert_array_equal(
        inpaint(AffinePropagation(), corrupted(np.concatenate(shots), whole), whole), np.concatenate(alone)
    )


def test_a_frame_that_shows_nothing_is_bridged() -> None:
    truth = pan_clip("coffee", pixels_per_frame=3, frames=12, width=WIDTH, height=HEIGHT)
    hole = disc(12, radius=10)
    hole[6] = True
    frames = corrupted(truth, hole)
    camera = CameraMotion(frames, hole)
    assert camera.between(5, 6) is None
    bridged = camera.between(5, 7)
    assert bridged is not None
    assert farthest_error(bridged, np.array([[1, 0, -6], [0, 1, 0], [0, 0, 1]])) < 0.3
    found = inpaint(AffinePropagation(), frames, hole)
    assert (found[6] == 0).all()
    rest = np.arange(12) != 6
    assert psnr(found[rest], truth[rest], hole[rest]) > 30


def test_a_view_without_texture_is_filled_like_telea() -> None:
    truth, hole = np.full((5, HEIGHT, WIDTH, 3), 90, np.uint8), disc(5, radius=15)
    frames = corrupted(truth, hole)
    np.testing.assert_array_equal(inpaint(AffinePropagation(), frames, hole), inpaint(Telea(), frames, hole))


def test_pixels_that_no_frame_shows_are_filled_like_telea() -> None:
    truth, hole = tripod("coffee", frames=5), disc(5, radius=15)
    frames = corrupted(truth, hole)
    np.testing.assert_array_equal(inpaint(AffinePropagation(), frames, hole), inpaint(Telea(), frames, hole))
