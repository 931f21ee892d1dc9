"""The orientation field: a scalar form of the formula, singular points by the Poincare index, mirrors."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from inpaintbench.wings.chalearn.fingerprints.fingers import draw_finger, mirrored
from inpaintbench.wings.chalearn.fingerprints.master import orientation, orientation_at
from inpaintbench.wings.chalearn.fingerprints.records import CLASSES, Finger

Field = npt.NDArray[np.float64]


def drawn(finger_class: str, seed: int = 0, width: int = 275, height: int = 400, pixels_per_inch: float = 500.0) -> Finger:
    rng = np.random.default_rng(1000 + seed)
    return draw_finger(rng, finger_class=finger_class, seed=seed, width=width, height=height, pixels_per_inch=pixels_per_inch)


def by_formula(finger: Finger, x: float, y: float) -> float:
    """One point, in degrees and step by step."""
    if finger.arch is not None:
        k, f1, f2 = finger.arch
        right, down = finger.width - 30, finger.height - 30
        slope = max(0.0, k - k * (y - 15) / (down * f2)) * math.cos(math.pi * (x - 15) / (right * f1))
        return math.degrees(math.atan(slope)) % 180
    twice = sum(math.degrees(math.atan2(y - delta_y, x - delta_x)) for delta_x, delta_y in finger.deltas)
    for (core_x, core_y), (u, v) in zip(finger.cores, finger.bends_degrees, strict=True):
        knots = [-180 + u, -135 + 2 / 3 * u, -90, -45 + 2 / 3 * v, v, 45 + 2 / 3 * v, 90, 135 + 2 / 3 * u, 180 + u]
        around = math.degrees(math.atan2(y - core_y, x - core_x))
        before = min(int((around + 180) // 45), 7)
        part = (around + 180) / 45 - before
        twice -= knots[before] * (1 - part) + knots[before + 1] * part
    return twice / 2 % 180


def apart(a: Field, b: Field) -> Field:
    """How far ridge angles differ, radians in 0..pi/2."""
    return np.abs(np.mod(a - b + math.pi / 2, math.pi) - math.pi / 2)


def poincare(field: Field) -> npt.NDArray[np.int_]:
    """Half turns of the ridges around each square of four pixels, counter-clockwise as seen."""
    corners = (field[:-1, :-1], field[1:, :-1], field[1:, 1:], field[:-1, 1:], field[:-1, :-1])
    turn = np.zeros(corners[0].shape)
    for one, following in pairwise(corners):
        step = following - one
        turn += step - math.pi * np.rint(step / math.pi)
    return np.rint(turn / math.pi).astype(int)


def placed(finger: Finger) -> npt.NDArray[np.int_]:
    """+1 in the squares that hold a core, -1 in those that hold a delta."""
    squares = np.zeros((finger.height - 1, finger.width - 1), int)
    for points, sign in ((finger.cores, 1), (finger.deltas, -1)):
        for x, y in points:
            squares[math.floor(y), math.floor(x)] += sign
    return squares


@pytest.mark.parametrize("finger_class", CLASSES)
def test_field_is_the_formula_at_points(finger_class: str) -> None:
    finger = drawn(finger_class)
    field = orientation(finger)
    assert field.shape == (400, 275)
    assert field.dtype == np.float32
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 275, 500), rng.integers(0, 400, 500)
    wanted = np.radians([by_formula(finger, float(a), float(b)) for a, b in zip(x, y, strict=True)])
    assert apart(field[y, x].astype(np.float64), wanted).max() < 1e-5
    assert apart(orientation_at(finger, x, y), wanted).max() < 1e-9


@pytest.mark.parametrize("finger_class", CLASSES)
def test_angles_are_from_0_up_to_half_a_turn(finger_class: str) -> None:
    for seed in range(5):
        field = orientation(drawn(finger_class, seed))
        assert field.min() >= 0
        assert float(field.max()) < math.pi


@pytest.mark.parametrize("finger_class", CLASSES)
def test_singular_points_are_where_they_were_placed_and_nowhere_else(finger_class: str) -> None:
    for seed in range(10):
        finger = drawn(finger_class, seed)
        assert np.array_equal(poincare(orientation(finger).astype(np.float64)), placed(finger))
        other = mirrored(finger)
        assert np.array_equal(poincare(orientation(other).astype(np.float64)), placed(other))


@pytest.mark.parametrize("finger_class", CLASSES)
@pytest.mark.parametrize(("width", "height", "pixels_per_inch"), [(275, 400, 500.0), (201, 333, 391.0)])
def test_a_mirrored_finger_has_the_mirrored_field(finger_class: str, width: int, height: int, pixels_per_inch: float) -> None:
    for seed in range(3):
        finger = drawn(finger_class, seed, width, height, pixels_per_inch)
        field, other = orientation(finger).astype(np.float64), orientation(mirrored(finger)).astype(np.float64)
        assert apart(other[:, ::-1], math.pi - field).max() < 1e-5


def test_ridges_run_as_people_see_them() -> None:
    """Over a core and under a delta they lie flat and between the two stand up; they rise from the left and fall to the right."""
    tent = Finger("tented_arch", 275, 400, 500.0, ((137.5, 180.8),), ((137.5, 260.5),), ((0.0, 0.0),), None, 0)
    degrees = np.degrees(orientation_at(tent, [137.5, 137.5, 137.5, 100.0, 175.0], [90.0, 220.0, 350.0, 220.0, 220.0]))
    assert degrees[:3] == pytest.approx([0, 90, 0], abs=1e-9)
    assert 20 < degrees[3] < 90
    assert 90 < degrees[4] < 160


@pytest.mark.parametrize(("finger_class", "side"), [("right_loop", 1), ("left_loop", -1)])
def test_a_loop_opens_away_from_its_delta(finger_class: str, side: int) -> None:
    for seed in range(10):
        finger = drawn(finger_class, seed)
        core_x, core_y = finger.cores[0]
        leg = float(orientation_at(finger, core_x + side * 40, core_y + 70))
        assert side * math.tan(leg) < 0  # down to its side


def test_points_and_canvas_agree() -> None:
    finger = drawn("whorl")
    x, y = np.arange(275.0)[None, :], np.arange(400.0)[:, None]
    assert np.array_equal(orientation_at(finger, x, y).astype(np.float32), orientation(finger))
    assert orientation_at(finger, 20.0, 30.0).shape == ()
