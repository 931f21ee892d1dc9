"""Master prints: pure black and white, the bars on ink, period, orientation, and one print from every path."""

from __future__ import annotations

import math
from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter, map_coordinates, sobel

from inpaintbench.wings.chalearn.fingerprints.fingers import draw_finger, mirrored
from inpaintbench.wings.chalearn.fingerprints.master import master, orientation, ridge_period
from inpaintbench.wings.chalearn.fingerprints.records import CLASSES, Finger


def drawn(
    finger_class: str | None = None, *, seed: int = 0, width: int = 275, height: int = 400, pixels_per_inch: float = 500.0
) -> Finger:
    rng = np.random.default_rng(2000 + seed)
    return draw_finger(rng, finger_class=finger_class, width=width, height=height, pixels_per_inch=pixels_per_inch, seed=seed)


def orientation_rmsd_degrees(picture: np.ndarray, truth: np.ndarray, *, border: int) -> float:
    """Of the field that a structure tensor sees, the border left out."""
    smooth = gaussian_filter(picture.astype(float), 1.25)
    right, down = sobel(smooth, axis=1), sobel(smooth, axis=0)
    products = [gaussian_filter(one, 8.0) for one in (right * down, right**2 - down**2)]
    seen = np.arctan2(-2 * products[0], products[1]) / 2 + math.pi / 2
    apart = np.mod(seen - truth + math.pi / 2, math.pi) - math.pi / 2
    within = apart[border:-border, border:-border]
    return float(np.degrees(np.sqrt(np.mean(within**2))))


def median_period_over_nominal(finger: Finger, picture: np.ndarray) -> float:
    """From the zero crossings along lines across the ridges at 400 places."""
    scale = finger.pixels_per_inch / 500
    ink = gaussian_filter((picture == 0).astype(float), 1.0)
    wave = ink - gaussian_filter(ink, 8.0 * scale)
    rng = np.random.default_rng(0)
    y, x = (rng.integers(round(40 * scale), extent - round(40 * scale), 400) for extent in picture.shape)
    angle, nominal = orientation(finger)[y, x].astype(float), ridge_period(finger)[y, x]
    step = 0.25
    along = np.arange(-20 * scale, 20 * scale, step)
    lines = map_coordinates(
        wave, [y[:, None] - np.cos(angle)[:, None] * along, x[:, None] - np.sin(angle)[:, None] * along], order=1
    )
    ratios = []
    for line, period in zip(lines, nominal, strict=True):
        crossings = np.flatnonzero(np.diff(np.sign(line)) != 0)
        if len(crossings) >= 3:
            ratios.append(2 * step * np.diff(crossings).mean() / period)
    return float(np.median(ratios))


@pytest.mark.parametrize("finger_class", CLASSES)
def test_prints_meet_the_bars(finger_class: str) -> None:
    for seed in range(2):
        finger = drawn(finger_class, seed=seed)
        picture = master(finger)
        assert picture.shape == (400, 275)
        assert picture.dtype == np.uint8
        assert set(np.unique(picture).tolist()) == {0, 255}
        assert 0.36 <= np.mean(picture == 0) <= 0.41
        assert 0.95 < median_period_over_nominal(finger, picture) < 1.05
        assert orientation_rmsd_degrees(picture, orientation(finger), border=40) < 5


@pytest.mark.parametrize("finger_class", CLASSES)
def test_there_are_no_blobs_and_no_empty_cores(finger_class: str) -> None:
    """No disc of ink or of paper wider than the widest ridge and valley, around cores least of all."""
    finger = drawn(finger_class, seed=11)
    picture = master(finger)
    inside = picture[20:-20, 20:-20]
    assert cv2.distanceTransform(255 - inside, cv2.DIST_L2, 5).max() < 8
    assert cv2.distanceTransform(inside, cv2.DIST_L2, 5).max() < 8
    for x, y in finger.cores:
        around = picture[int(y) - 15 : int(y) + 16, int(x) - 15 : int(x) + 16]
        assert 0.3 < np.mean(around == 0) < 0.7


def test_the_mirrored_finger_prints_the_other_loop() -> None:
    finger = mirrored(drawn("right_loop", seed=3))
    assert orientation_rmsd_degrees(master(finger), orientation(finger), border=40) < 5
    flipped = np.mod(math.pi - orientation(drawn("right_loop", seed=3))[:, ::-1], math.pi)
    assert orientation_rmsd_degrees(master(finger), flipped, border=40) < 5


def test_the_border_is_white() -> None:
    picture = master(drawn("whorl"))
    picture[15:-15, 15:-15] = 255
    assert (picture == 255).all()


def test_every_path_gives_the_same_print() -> None:
    finger = drawn("double_loop", seed=4, width=121, height=150)
    plain = master(finger, backend="numpy")
    pytest.importorskip("numba")
    assert np.array_equal(plain, master(finger, backend="numba"))


def test_a_full_print_is_the_same_from_the_plain_form() -> None:
    finger = drawn("left_loop", seed=5)
    assert np.array_equal(master(finger), master(finger, backend="numpy"))


def test_the_seed_of_a_finger_makes_its_ridges() -> None:
    finger = drawn("arch", seed=6, width=120, height=120)
    assert np.array_equal(master(finger), master(finger))
    assert not np.array_equal(master(finger), master(replace(finger, seed=7)))


@pytest.mark.parametrize("pixels_per_inch", [330.0, 700.0])
def test_other_resolutions_show_the_same_kind_of_print(pixels_per_inch: float) -> None:
    scale = pixels_per_inch / 500
    finger = drawn("whorl", seed=1, width=round(275 * scale), height=round(400 * scale), pixels_per_inch=pixels_per_inch)
    picture = master(finger)
    assert 0.34 < np.mean(picture == 0) < 0.42
    assert 0.95 < median_period_over_nominal(finger, picture) < 1.05
    assert orientation_rmsd_degrees(picture, orientation(finger), border=round(40 * scale)) < 5


@given(width=st.integers(61, 140), height=st.integers(61, 140), finger_class=st.sampled_from(CLASSES), seed=st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_any_size_gives_ridges_within_a_white_border(width: int, height: int, finger_class: str, seed: int) -> None:
    picture = master(drawn(finger_class, seed=seed, width=width, height=height))
    assert picture.shape == (height, width)
    inside = picture[15:-15, 15:-15]
    # A few ridges alone fit into the smallest, and a core among them: 0.19 to 0.73 in 1,220 trials.
    assert 0.15 < np.mean(inside == 0) < 0.8
    assert np.count_nonzero(picture == 0) == np.count_nonzero(inside == 0)
