"""Points and ridge angles of the truth: a marked point is found where it is said to be, angles as they are seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter, sobel

from inpaintbench.wings.chalearn.fingerprints import skin
from inpaintbench.wings.chalearn.fingerprints.fields import elastic_field, remapped, warp
from inpaintbench.wings.chalearn.fingerprints.impressions import draw_impression
from inpaintbench.wings.chalearn.fingerprints.records import Elastic, Finger, Print
from inpaintbench.wings.chalearn.fingerprints.skin import (
    Skin,
    orientation_in_truth,
    origins,
    origins_in_truth,
    points_in_truth,
    transformed_angles,
)

CENTRE = (120.0, 215.0)


def print_of(seed: int, *, strength: float = 800.0, reach: float = 32.0, style: str = "challenge") -> Print:
    finger = Finger("arch", 275, 400, 500.0, (), (), (), (1.5, 1.0, 1.0), 0)
    rng = np.random.default_rng(seed)
    impression = draw_impression(rng, finger=finger, number=0, seed=seed, style=style)  # type: ignore[arg-type]
    return Print(finger, impression, Elastic(seed, strength, reach))


def shown(print_: Print, picture: np.ndarray) -> np.ndarray:
    """``picture`` through skin and elastic field as prints go."""
    x, y = origins(Skin.of(print_.finger, print_.impression))
    elastic = print_.elastic
    field = elastic_field(400, 275, seed=elastic.seed, strength=elastic.strength, reach=elastic.reach)
    return warp(remapped(picture, x, y), field)


@given(seed=st.integers(0, 10_000), x=st.floats(60, 215), y=st.floats(60, 340), style=st.sampled_from(["natural", "challenge"]))
@settings(max_examples=25, deadline=None)
def test_a_dot_is_seen_where_its_point_is_said_to_be(seed: int, x: float, y: float, style: str) -> None:
    print_ = print_of(seed, style=style)
    rows, columns = np.mgrid[:400, :275]
    dot = 255 * (1 - np.exp(-((columns - x) ** 2 + (rows - y) ** 2) / 8))
    ink = 255.0 - shown(print_, np.rint(dot).astype(np.uint8))
    (place,) = points_in_truth(print_, ((x, y),))
    assert place is not None
    peak = (ink**2 * columns).sum() / (ink**2).sum(), (ink**2 * rows).sum() / (ink**2).sum()
    # a bent field draws a dot lopsided by a little
    assert np.hypot(place[0] - peak[0], place[1] - peak[1]) < 0.6


def test_the_places_show_the_points() -> None:
    print_ = print_of(5)
    x, y = origins_in_truth(print_)
    points = ((100.0, 150.0), (180.5, 300.25), (137.0, 199.5), (60.0, 80.0))
    for (point_x, point_y), place in zip(points, points_in_truth(print_, points), strict=True):
        assert place is not None
        column, row = int(place[0]), int(place[1])
        across, down = place[0] - column, place[1] - row
        weights = np.outer([1 - down, down], [1 - across, across])
        assert (x[row : row + 2, column : column + 2] * weights).sum() == pytest.approx(point_x, abs=0.05)
        assert (y[row : row + 2, column : column + 2] * weights).sum() == pytest.approx(point_y, abs=0.05)


def test_without_any_movement_points_stay_and_those_outside_are_none() -> None:
    print_ = print_of(0, strength=0.0)
    still = replace(print_, impression=replace(print_.impression, rotation_degrees=0.0, translation=(0.0, 0.0)))
    points = ((0.0, 0.0), (274.0, 399.0), (12.25, 7.5), (-3.0, 5.0), (100.0, 402.0))
    found = points_in_truth(still, points)
    assert found[3:] == (None, None)
    np.testing.assert_allclose(np.array(found[:3], float), points[:3], atol=0.02)
    assert points_in_truth(still, ()) == ()


def test_a_rigid_motion_moves_points_rigidly() -> None:
    print_ = print_of(0, strength=0.0)
    moved = replace(print_.impression, rotation_degrees=90.0, translation=(4.0, -2.0), skin_plasticity=0.0)
    print_ = replace(print_, impression=moved)
    # counter-clockwise by a right angle: what is right of the centre comes to lie above it
    (found,) = points_in_truth(print_, ((167.0, 199.5),))
    assert found == pytest.approx((137 + 4, 199.5 - 30 - 2), abs=0.02)


def test_a_folding_field_still_gives_a_place_that_shows_the_point() -> None:
    print_ = print_of(3, strength=800.0, reach=8.0)
    x, y = origins_in_truth(print_)
    points = tuple((float(a), float(b)) for a in range(70, 210, 20) for b in range(100, 300, 25))
    for point, place in zip(points, points_in_truth(print_, points), strict=True):
        if place is not None:
            column, row = (int(np.clip(round(v), 0, size - 1)) for v, size in zip(place, (275, 400), strict=True))
            near = np.s_[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2]
            assert np.hypot(x[near] - point[0], y[near] - point[1]).min() < 4


@pytest.mark.parametrize("seed", range(4))
def test_angles_of_rings_are_as_seen(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def of_rings(finger: Finger, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        # along a ring, a right angle from the radius; y up
        return np.mod(np.arctan2(-(y - CENTRE[1]), x - CENTRE[0]) + np.pi / 2, np.pi)

    monkeypatch.setattr(skin, "orientation_at", of_rings)
    print_ = print_of(seed)
    rows, columns = np.mgrid[:400, :275]
    rings = np.rint(127.5 + 127.5 * np.cos(2 * np.pi * np.hypot(columns - CENTRE[0], rows - CENTRE[1]) / 8)).astype(np.uint8)
    truth = gaussian_filter(shown(print_, rings).astype(float), 1.0)
    across, down = sobel(truth, axis=1), sobel(truth, axis=0)
    xx, yy, xy = (gaussian_filter(product, 4) for product in (across**2, down**2, across * down))
    measured = 0.5 * np.arctan2(-2 * xy, xx - yy) + np.pi / 2
    found = orientation_in_truth(print_)
    assert found.dtype == np.float32
    assert found.min() >= 0
    assert found.max() < np.pi
    x, y = origins_in_truth(print_)
    fair = (np.hypot(x - CENTRE[0], y - CENTRE[1]) > 30) & (x > 20) & (x < 255) & (y > 20) & (y < 380)
    fair[:30] = fair[-30:] = False
    fair[:, :30] = fair[:, -30:] = False
    away = np.mod(found - measured + np.pi / 2, np.pi) - np.pi / 2
    assert np.degrees(np.sqrt(np.mean(away[fair] ** 2))) < 1.5
    plain = np.mod(of_rings(print_.finger, columns, rows) - measured + np.pi / 2, np.pi) - np.pi / 2
    assert np.degrees(np.sqrt(np.mean(plain[fair] ** 2))) > 4


def test_a_turned_picture_turns_its_angles() -> None:
    """What is shown transformed_angles counter-clockwise has ridges transformed_angles counter-clockwise."""
    angle = np.radians(25)
    rows, columns = np.mgrid[:40, :50].astype(np.float32)
    # the pixel (column, row) shows what lay 25 degrees further clockwise
    x = np.cos(angle) * columns - np.sin(angle) * rows
    y = np.sin(angle) * columns + np.cos(angle) * rows
    found = transformed_angles(np.full((40, 50), np.radians(10)), x.astype(np.float32), y.astype(np.float32))
    np.testing.assert_allclose(np.degrees(found), 35, atol=0.01)


def test_a_stretched_picture_flattens_its_angles() -> None:
    rows, columns = np.mgrid[:20, :30].astype(np.float32)
    found = transformed_angles(np.full((20, 30), np.radians(45)), columns / 2, rows)
    np.testing.assert_allclose(np.tan(found), 0.5, atol=1e-4)
