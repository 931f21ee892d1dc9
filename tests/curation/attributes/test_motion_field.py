"""The split of optical flow into camera and rest, against cameras and movers that are known exactly."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from worlds import camera_path, film, luma, moving_texture, photograph

from inpaintbench.curation.attributes import motion_field as module
from inpaintbench.curation.attributes.motion_field import PairMotion, motion_field, pair_starts, parallax
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Frames, Luma

WIDTH, HEIGHT, FRAMES, FPS = 256, 144, 24, 30.0
LAG = 4
STEPS = np.arange(FRAMES) - (FRAMES - 1) / 2
CAMERAS = {
    "tripod": {},
    "pan and tilt": {"pan": np.outer(STEPS, [1.5, 0.6])},
    "fast pan": {"pan": np.outer(STEPS, [-5, 0])},
    "zoom in": {"zoom": np.exp(0.008 * (STEPS - STEPS[0]))},
    "turn": {"turn_radians": 0.005 * STEPS},
}


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    module._pairs.cache_clear()


def filmed(camera: str, *, of: str = "coffee", noise_sigma: float = 1.5) -> tuple[Frames, npt.NDArray[np.float64]]:
    path = camera_path(frames=FRAMES, width=WIDTH, height=HEIGHT, **CAMERAS[camera])
    return film(photograph(of, width=480, height=270), path, width=WIDTH, height=HEIGHT, noise_sigma=noise_sigma), path


def exact_displacement(path: npt.NDArray[np.float64], *, first: int, second: int) -> npt.NDArray[np.float64]:
    """Where the camera takes each pixel, ``float64[H, W, 2]``, pixel by pixel."""
    matrix = np.linalg.inv(path[second]) @ path[first]
    exact = np.empty((HEIGHT, WIDTH, 2))
    for row in range(HEIGHT):
        for column in range(WIDTH):
            x, y, depth = matrix @ [column, row, 1]
            exact[row, column] = x / depth - column, y / depth - row
    return exact


@pytest.mark.parametrize("camera", list(CAMERAS))
def test_finds_the_exact_camera(camera: str) -> None:
    frames, path = filmed(camera)
    field = motion_field(luma(frames), fps=FPS)
    lag, starts = pair_starts(FRAMES, fps=FPS)
    assert len(field.pairs) == field.asked == len(starts)
    exact = exact_displacement(path, first=starts[3], second=starts[3] + lag)
    np.testing.assert_allclose(field.pairs[3].camera, exact, atol=0.35)
    assert np.mean([pair.moving.mean() for pair in field.pairs]) < 0.12
    assert min(pair.agreement for pair in field.pairs) > 0.8


@pytest.mark.parametrize("camera", ["tripod", "pan and tilt"])
def test_three_fifths_of_moving_texture_do_not_pull_at_the_camera(camera: str) -> None:
    frames, path = filmed(camera)
    flooded = moving_texture(frames, share=0.6, seed=1)
    field = motion_field(luma(flooded), fps=FPS)
    lag, starts = pair_starts(FRAMES, fps=FPS)
    exact = exact_displacement(path, first=starts[5], second=starts[5] + lag)
    np.testing.assert_allclose(field.pairs[5].camera, exact, atol=0.3)
    moving = np.mean([pair.moving for pair in field.pairs], axis=0)
    shore = HEIGHT - round(0.6 * HEIGHT)
    assert moving[: shore - 12].mean() < 0.05
    assert moving[shore + 12 :].mean() > 0.8


def test_pixels_that_leave_the_view_are_not_seen() -> None:
    frames, _ = filmed("fast pan")
    pair = motion_field(luma(frames), fps=FPS).pairs[0]
    gone = LAG * 5  # pixels that a camera moving left loses at the right
    assert not pair.seen[:, WIDTH - gone :].any()
    assert pair.seen[8:-8, 8 : WIDTH - gone - 8].all()


def test_what_changes_its_look_is_unexplained_and_what_keeps_it_is_not() -> None:
    frames, _ = filmed("pan and tilt")
    changing = luma(frames)
    rng = np.random.default_rng(0)
    for frame in changing:
        boiling = cv2.GaussianBlur(rng.normal(size=(60, WIDTH)).astype(np.float32), (0, 0), 2)
        frame[-60:] = np.clip(120 + 400 * boiling, 0, 255)
    unexplained = np.mean([pair.unexplained for pair in motion_field(changing, fps=FPS).pairs], axis=0)
    assert np.median(unexplained[: HEIGHT - 70]) < 0.2
    assert np.median(unexplained[-50:]) > 0.4


@pytest.mark.parametrize(("frames", "fps", "lag"), [(90, 30.0, 4), (90, 60.0, 9), (12, 1.0, 1), (3, 60.0, 2), (2, 30.0, 1)])
def test_pairs_are_a_fixed_time_apart_and_lie_in_the_clip(frames: int, fps: float, lag: int) -> None:
    found, starts = pair_starts(frames, fps=fps)
    assert found == lag
    assert starts[0] == 0
    assert starts[-1] == frames - 1 - lag
    assert starts == sorted(set(starts))


def test_parallax_is_told_from_directions() -> None:
    rng = np.random.default_rng(3)
    camera = np.zeros((40, 60, 2), np.float32)
    camera[..., 0] = 2.0
    angles = rng.uniform(0, 2 * np.pi, (40, 60))
    mixed = np.stack([np.cos(angles), np.sin(angles)], axis=2).astype(np.float32)
    across = np.zeros_like(camera)
    across[..., 1] = 1.0
    for residual, expected in ((0.7 * camera, 1.0), (-camera, 1.0), (mixed, 0.0), (across, 0.0)):
        assert parallax(_field(camera, residual)) == pytest.approx(expected, abs=0.05)
    assert parallax(_field(np.zeros_like(camera), mixed)) == 0


def _field(camera: npt.NDArray[np.float32], residual: npt.NDArray[np.float32]) -> module.MotionField:
    whole = np.ones(camera.shape[:2], np.float32)
    pair = PairMotion(
        camera=camera, residual=residual, seen=whole > 0, moving=whole, unexplained=0 * whole, agreement=1.0, read=1.0
    )
    return module.MotionField(pairs=(pair,), asked=1, lag_seconds=0.1, width=camera.shape[1])


def test_displacements_become_speeds() -> None:
    field = _field(np.zeros((40, 60, 2), np.float32), np.zeros((40, 60, 2), np.float32))
    assert field.view_widths_a_second(6) == pytest.approx(1.0)


def test_pairs_across_a_cut_are_left_out() -> None:
    one, other = (luma(filmed("tripod", of=name)[0]) for name in ("coffee", "rocket"))
    field = motion_field(np.concatenate([one[:12], other[12:]]), fps=FPS)
    lag, starts = pair_starts(FRAMES, fps=FPS)
    across = sum(start < 12 <= start + lag for start in starts)
    assert across >= 1
    assert field.asked - len(field.pairs) == across


def test_does_not_depend_on_threads_or_on_what_ran_before() -> None:
    clips = [luma(filmed(camera)[0]) for camera in ("turn", "zoom in")]
    forwards = [_bytes(clip) for clip in clips]
    module._pairs.cache_clear()
    cv2.setRNGSeed(99)
    threads = cv2.getNumThreads()
    cv2.setNumThreads(2)
    try:
        backwards = [_bytes(clip) for clip in reversed(clips)]
        assert cv2.getNumThreads() == 2
    finally:
        cv2.setNumThreads(threads)
    assert forwards == backwards[::-1]


def _bytes(clip: Luma) -> list[bytes]:
    return [pair.residual.tobytes() + pair.moving.tobytes() for pair in motion_field(clip, fps=FPS).pairs]


def test_is_remembered_by_content_not_by_array() -> None:
    plane = luma(filmed("turn")[0])
    first = motion_field(plane, fps=FPS)
    assert motion_field(plane.copy(), fps=FPS).pairs is first.pairs
    plane[:] = plane[:1]
    assert motion_field(plane, fps=FPS).pairs is not first.pairs


@pytest.mark.parametrize("shape", [(16, 16), (16, 700), (700, 16), (1200, 40), (31, 900)])
def test_takes_views_of_any_size(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    still = cv2.GaussianBlur(rng.integers(0, 256, shape, np.uint8), (0, 0), 1.5)
    clip = np.stack([still] * 5)
    try:
        field = motion_field(clip, fps=FPS)
    except NotMeasurable as reason:
        assert shape == (16, 16) and "texture" in str(reason)  # noqa: PT017, PT018 - four votes are too few
    else:
        assert max(field.pairs[0].seen.shape) <= 256
        assert np.abs(field.pairs[0].camera).max() < 0.01


@pytest.mark.parametrize(
    ("clip", "reason"),
    [
        (np.full((1, 48, 64), 99, np.uint8), "the clip has one frame, motion needs two"),
        (np.full((30, 48, 64), 99, np.uint8), "in none of 10 pairs of frames does the view have texture"),
    ],
)
def test_no_motion_has_a_reason(clip: Luma, reason: str) -> None:
    with pytest.raises(NotMeasurable, match=reason):
        motion_field(clip, fps=FPS)
