import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.curation.sources.virtual_camera import (
    LARGEST_SCALE,
    MOTIONS,
    ROLL_DEGREES,
    add_sensor_noise,
    capture,
    largest_scale,
    transforms,
)

VIEW, PHOTOGRAPH = (160, 96), (400, 300)


def path(motion, *, speed=0.2, frames=60, view=VIEW, photograph=PHOTOGRAPH, focus=(200.0, 150.0), lift=0.0, seed=0):
    return transforms(
        MOTIONS[motion],
        speed=speed,
        frames=frames,
        view=view,
        photograph=photograph,
        focus=focus,
        lift=lift,
        rng=np.random.default_rng(seed),
    )


def outline(found, view):
    """Outer edges of the pixels of the view's corners, in photograph pixels, ``float64[T, 4, 2]``."""
    right, bottom = view[0] - 0.5, view[1] - 0.5
    corners = np.array([[-0.5, -0.5, 1], [right, -0.5, 1], [right, bottom, 1], [-0.5, bottom, 1]])
    return (corners @ found.transpose(0, 2, 1))[..., :2]


def middles(found, view):
    return (found @ [(view[0] - 1) / 2, (view[1] - 1) / 2, 1])[:, :2]


@settings(max_examples=150, deadline=None)
@given(
    motion=st.sampled_from(sorted(MOTIONS)),
    speed=st.floats(0, 0.9),
    width=st.integers(17, 400),
    height=st.integers(17, 300),
    focus=st.tuples(st.floats(0, 400), st.floats(0, 300)),
    lift=st.floats(0, 0.3),
    seed=st.integers(0, 99),
)
def test_nothing_is_enlarged_and_the_window_stays_inside(motion, speed, width, height, focus, lift, seed):
    view = (width, height)
    if largest_scale(MOTIONS[motion], speed=speed, view=view, photograph=PHOTOGRAPH) < 1:
        return
    found = path(motion, speed=speed, view=view, focus=focus, lift=lift, seed=seed)
    stretch = np.linalg.svd(found[:, :2, :2], compute_uv=False)
    assert stretch.min() >= 1 - 1e-12
    corners = outline(found, view)
    assert corners.min() >= -0.5 - 1e-9
    assert (corners.reshape(-1, 2).max(axis=0) <= np.array(PHOTOGRAPH) - 0.5 + 1e-9).all()


def test_the_largest_scale_is_exact_without_shake():
    assert largest_scale(MOTIONS["tripod"], speed=0.0, view=(100, 50), photograph=(300, 100)) == 2
    assert largest_scale(MOTIONS["pan_left"], speed=0.5, view=(100, 50), photograph=(300, 200)) == 2
    assert largest_scale(MOTIONS["tilt_up"], speed=1 / 3, view=(100, 60), photograph=(900, 80)) == pytest.approx(1)
    assert largest_scale(MOTIONS["zoom_in"], speed=0.75, view=(100, 50), photograph=(300, 200)) == pytest.approx(1.5)


def test_the_scale_is_capped():
    found = path("tripod", photograph=(4000, 3000), focus=(2000, 1500))
    assert np.linalg.svd(found[0, :2, :2], compute_uv=False).max() <= LARGEST_SCALE + 1e-9


@pytest.mark.parametrize(
    ("motion", "direction"),
    [("pan_right", (1, 0)), ("pan_left", (-1, 0)), ("tilt_down", (0, 1)), ("tilt_up", (0, -1)), ("pan_and_tilt", (-0.7, 0.7))],
)
def test_speed_is_the_share_of_the_view_that_is_gone(motion, direction):
    found = path(motion, speed=0.2)
    steps = np.diff(middles(found, VIEW), axis=0)
    scale = found[0, 0, 0]
    wanted = 0.2 * np.multiply(direction, VIEW) * scale / 59
    np.testing.assert_allclose(steps, np.broadcast_to(wanted, steps.shape), atol=1e-9)
    assert np.ptp(found[:, :2, :2], axis=0).max() == 0


def test_zooming_loses_the_share_of_the_area():
    closer = np.linalg.det(path("zoom_in", speed=0.36)[:, :2, :2])
    wider = np.linalg.det(path("zoom_out", speed=0.36)[:, :2, :2])
    assert closer[-1] / closer[0] == pytest.approx(0.64)
    assert (np.diff(closer) < 0).all()
    np.testing.assert_allclose(wider, closer[::-1])
    np.testing.assert_allclose(middles(path("zoom_in", speed=0.36), VIEW), np.tile([[200, 150]], (60, 1)), atol=1.0)


def test_a_tripod_does_not_move():
    assert np.ptp(path("tripod"), axis=0).max() == 0


def test_an_unsteady_hand_reaches_its_speed_smoothly_and_rolls():
    found = path("hand_shake", speed=0.05, frames=90)
    scale = np.hypot(found[:, 0, 0], found[:, 1, 0])
    away = (middles(found, VIEW) - (200, 150)) / (scale[:, None] * VIEW[1])
    np.testing.assert_allclose(np.abs(away).max(axis=0), 0.05, atol=1e-9)
    assert np.abs(np.diff(away, axis=0)).max() < 0.05 / 2
    roll = np.degrees(np.arctan2(found[:, 1, 0], found[:, 0, 0]))
    assert np.abs(roll).max() == pytest.approx(ROLL_DEGREES)
    assert np.ptp(scale) < 1e-9


def test_shakes_differ_between_generators_and_repeat_with_the_same():
    np.testing.assert_array_equal(path("hand_shake", seed=3), path("hand_shake", seed=3))
    assert not np.array_equal(path("hand_shake", seed=3), path("hand_shake", seed=4))


def test_the_focus_lies_in_the_middle_or_lifted_above_it():
    level, lifted = path("tripod", focus=(190, 140)), path("tripod", focus=(190, 140), lift=0.2)
    np.testing.assert_allclose(middles(level, VIEW)[0], (190, 140))
    above = np.linalg.inv(lifted[0]) @ (190, 140, 1)
    assert above[1] == pytest.approx((VIEW[1] - 1) / 2 - 0.2 * VIEW[1])


def test_whole_pixel_views_are_cut_outs():
    photograph = np.random.default_rng(0).integers(0, 256, (60, 80, 3), np.uint8)
    found = np.tile(np.eye(3), (2, 1, 1))
    found[1, :2, 2] = (7, 5)
    first, second = capture(photograph, found, width=40, height=30)
    np.testing.assert_array_equal(first, photograph[:30, :40])
    np.testing.assert_array_equal(second, photograph[5:35, 7:47])


def test_frames_show_the_photograph_where_the_transform_says():
    rows, columns = np.mgrid[:300, :400]
    photograph = np.stack([columns // 2, rows // 2, np.full_like(rows, 90)], axis=2).astype(np.uint8)
    found = path("zoom_and_pan", speed=0.4)
    for transform, frame in list(zip(found, capture(photograph, found, width=160, height=96), strict=True))[::15]:
        x, y = 33, 70
        wanted = transform @ (x, y, 1)
        np.testing.assert_allclose(frame[y, x, :2], wanted[:2] / 2, atol=1.01)


def test_seeing_several_pixels_as_one_does_not_alias():
    stripes = np.zeros((300, 400, 3), np.uint8)
    stripes[:, ::2] = 255
    transform = np.diag([2.0, 2.0, 1.0])[None]
    (frame,) = capture(stripes, transform, width=160, height=96)
    bare = cv2.warpAffine(stripes, transform[0, :2], (160, 96), flags=cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP)
    assert np.ptp(bare) == 0
    assert bare.mean() in (0, 255)
    assert abs(frame.astype(float) - 127.5).mean() < 20


@pytest.mark.parametrize("sigma", [1.0, 1.5, 4.0])
def test_sensor_noise_has_the_wanted_spread_and_is_independent(sigma):
    frames = np.full((4, 120, 160, 3), 128, np.uint8)
    add_sensor_noise(frames, sigma=sigma, rng=np.random.default_rng(0))
    noise = frames.astype(float) - 128
    assert noise.std() == pytest.approx(sigma, rel=0.06)
    assert abs(noise.mean()) < 0.02 * sigma + 0.01
    assert abs(np.corrcoef(noise.reshape(4, -1)) - np.eye(4)).max() < 0.02
    assert abs(np.corrcoef(noise[:, :, 1:].ravel(), noise[:, :, :-1].ravel())[0, 1]) < 0.02


def test_noise_saturates_and_can_be_off():
    frames = np.full((2, 20, 20, 3), 255, np.uint8)
    add_sensor_noise(frames, sigma=0, rng=np.random.default_rng(0))
    assert (frames == 255).all()
    add_sensor_noise(frames, sigma=2, rng=np.random.default_rng(0))
    assert 240 < frames.min() < 255
    assert (frames == 255).mean() > 0.5
