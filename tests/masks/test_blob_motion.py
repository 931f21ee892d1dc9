"""Control points against a plain transcription of the published algorithm in polar coordinates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.masks.blob_motion import PRESETS, BlobPreset, _reflect, find_preset, trajectory

# points n | head speed | head acceleration | brush | gap | start speed | p | A | D | k | kick
PUBLISHED = {
    "size-low_pose-low_displacement-low": ((10, 22), (10, 35), (0, 50), (75, 150), 400, (0, 3), 0.05, 0.05, 300, 1, (1, 1)),
    "size-low_pose-low_displacement-high": ((10, 22), (10, 35), (0, 50), (75, 150), 400, (5, 8), 0.05, 0.05, 300, 1, (1, 3)),
    "size-low_pose-high_displacement-low": ((10, 22), (10, 25), (0, 50), (50, 125), 400, (0, 3), 0.8, 1.0, 150, 1, (1, 1)),
    "size-low_pose-high_displacement-high": ((10, 22), (10, 25), (0, 50), (50, 125), 400, (9, 15), 0.8, 1.0, 150, 1, (1, 3)),
    "size-high_pose-low_displacement-low": ((7, 13), (50, 80), (0, 70), (205, 375), 300, (0, 3), 0.05, 0.5, None, 1, (1, 1)),
    "size-high_pose-low_displacement-high": ((7, 13), (50, 80), (0, 70), (205, 375), 300, (5, 8), 0.05, 0.5, None, 1, (1, 3)),
    "size-high_pose-high_displacement-low": ((7, 13), (50, 70), (0, 60), (150, 300), 300, (0, 3), 0.8, 1.5, 300, 0.75, (1, 1)),
    "size-high_pose-high_displacement-high": ((7, 13), (50, 70), (0, 60), (150, 300), 300, (9, 15), 0.8, 1.5, 300, 0.75, (1, 3)),
}


def test_presets_hold_the_published_constants() -> None:
    assert list(PRESETS) == list(PUBLISHED)
    for name, preset in PRESETS.items():
        found = (
            preset.control_points,
            preset.head_speed,
            preset.head_acceleration,
            preset.brush_width,
            preset.start_gap,
            preset.start_speed,
            preset.acceleration_probability,
            preset.acceleration_limit,
            preset.centroid_distance,
            preset.centroid_pull,
            preset.kick_speed,
        )
        assert found == PUBLISHED[name]


def test_an_unknown_preset_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'size-low_pose-low_displacement-high'"):
        find_preset("size-low_pose-low_displacement-hihg")


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("seed", [2357136044, 2546248239, 3071714933, 1, 2])
def test_control_points_equal_the_polar_transcription(name: str, seed: int) -> None:
    wanted_points, wanted_width = _polar_trajectory(np.random.RandomState(seed), PRESETS[name], frames=90)
    points, brush_width = trajectory(PRESETS[name], np.random.RandomState(seed), frames=90, whole_pixels=True)
    assert brush_width == wanted_width
    assert points.shape == wanted_points.shape
    np.testing.assert_allclose(points, wanted_points, rtol=0, atol=1e-9)


def test_whole_pixel_steps_are_whole_and_fractional_ones_are_not() -> None:
    preset = PRESETS["size-low_pose-high_displacement-low"]
    whole, _ = trajectory(preset, np.random.RandomState(3), frames=30, whole_pixels=True)
    fractional, _ = trajectory(preset, np.random.RandomState(3), frames=30, whole_pixels=False)
    steps = np.diff(whole, axis=0)
    np.testing.assert_allclose(steps, np.rint(steps), rtol=0, atol=1e-9)
    fractional_steps = np.diff(fractional, axis=0)
    assert np.abs(fractional_steps - np.rint(fractional_steps)).max() > 0.1


@pytest.mark.parametrize("name", PRESETS)
def test_points_stay_on_the_canvas_and_start_inside_the_gap(name: str) -> None:
    preset = PRESETS[name]
    points, _ = trajectory(preset, np.random.default_rng(5), frames=200, whole_pixels=False)
    assert points.min() >= 0
    assert (points <= (1920, 1080)).all()
    assert (points[0] >= preset.start_gap).all()
    assert (points[0] <= (1920 - preset.start_gap, 1080 - preset.start_gap)).all()


def test_first_frames_do_not_depend_on_how_many_follow() -> None:
    preset = PRESETS["size-high_pose-high_displacement-high"]
    short, _ = trajectory(preset, np.random.default_rng(8), frames=20, whole_pixels=False)
    long, _ = trajectory(preset, np.random.default_rng(8), frames=60, whole_pixels=False)
    np.testing.assert_array_equal(short, long[:20])


def test_a_canvas_without_room_is_refused() -> None:
    with pytest.raises(InputError, match=r"832 x 480 has no room .* 400 px .* above 800"):
        trajectory(
            PRESETS["size-low_pose-low_displacement-low"],
            np.random.default_rng(0),
            frames=1,
            whole_pixels=True,
            canvas=(832, 480),
        )


@given(st.floats(-5000, 5000), st.floats(-100, 100), st.floats(1, 500))
def test_reflection_lands_inside_by_a_triangle_wave(value: float, low: float, length: float) -> None:
    high = low + length
    reflected, sign = _reflect(value, low, high)
    assert low <= reflected <= high
    phase = (value - low) % (2 * length)
    assert reflected == pytest.approx(low + min(phase, 2 * length - phase), abs=1e-6)
    assert sign in (-1, 1)


def _polar_trajectory(rng: np.random.RandomState, preset: BlobPreset, *, frames: int) -> tuple[np.ndarray, int]:
    """Speeds and angles as the published generator keeps them, one uniform or integer draw at a time."""
    gap, (width, height) = preset.start_gap, (1920, 1080)
    brush_width = rng.randint(preset.brush_width[0], preset.brush_width[1] + 1)
    x, y = rng.randint(width), rng.randint(height)
    x, y = min(max(x, gap), width - gap), min(max(y, gap), height - gap)
    count = rng.randint(preset.control_points[0], preset.control_points[1] + 1)
    speed, angle = rng.uniform(*preset.head_speed), rng.uniform(0, 2 * math.pi)
    points = [(float(x), float(y))]
    for _ in range(count - 1):
        size, turn = rng.uniform(*preset.head_acceleration), rng.uniform(0, 3.0)
        speed, angle = _add(speed, angle, size, angle + turn)
        speed = min(max(speed, preset.head_speed[0]), preset.head_speed[1])
        *point, angle = _bounce(*points[-1], speed * math.cos(angle), speed * math.sin(angle), angle, gap)
        points.append((point[0], point[1]))
    velocities = [(rng.uniform(*preset.start_speed), rng.uniform(-math.pi, math.pi))] * count
    track = [list(points)]
    for _ in range(frames - 1):
        for index, (speed, angle) in enumerate(velocities):
            dx, dy = int(speed * math.cos(angle)), int(speed * math.sin(angle))
            x, y, angle = _bounce(*points[index], dx, dy, angle, 0)
            if rng.uniform() < preset.acceleration_probability:
                speed, angle = _add(speed, angle, rng.uniform(0, preset.acceleration_limit), rng.uniform(-math.pi, math.pi))
            points[index], velocities[index] = (x, y), (speed, angle)
        if rng.uniform() < 0.01:
            size, direction = rng.uniform(*preset.kick_speed), rng.uniform(-math.pi, math.pi)
            velocities = [_add(*velocity, size, direction) for velocity in velocities]
        if preset.centroid_distance is not None:
            centre_x, centre_y = np.mean(points, axis=0)
            for index, (x, y) in enumerate(points):
                distance = math.hypot(x - centre_x, y - centre_y)
                if distance > preset.centroid_distance:
                    pull = preset.centroid_pull * (distance - preset.centroid_distance)
                    velocities[index] = _add(*velocities[index], pull, math.atan2(centre_y - y, centre_x - x))
        track.append(list(points))
    return np.array(track), brush_width


def _add(speed: float, angle: float, other_speed: float, other_angle: float) -> tuple[float, float]:
    x = speed * math.cos(angle) + other_speed * math.cos(other_angle)
    y = speed * math.sin(angle) + other_speed * math.sin(other_angle)
    return math.hypot(x, y), math.atan2(y, x) % (2 * math.pi)


def _bounce(x: float, y: float, dx: float, dy: float, angle: float, gap: int) -> tuple[float, float, float]:
    x, y = x + dx, y + dy
    while not gap <= x <= 1920 - gap:
        x, angle = 2 * (gap if x < gap else 1920 - gap) - x, math.pi - angle
    while not gap <= y <= 1080 - gap:
        y, angle = 2 * (gap if y < gap else 1080 - gap) - y, -angle
    return x, y, angle
