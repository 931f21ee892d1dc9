from __future__ import annotations

import cv2
import numpy as np
import pytest
from tests.wings.chalearn.fingerprints.stripes import rings, straight

from inpaintbench.wings.chalearn.fingerprints.fingers import draw_finger
from inpaintbench.wings.chalearn.fingerprints.master import master
from inpaintbench.wings.chalearn.methods.oriented_gabor import Ridges, draw_ridges, enhance, normalised


def print_on_paper() -> np.ndarray:
    """A master print behind an ellipse, ``uint8[400, 275]``."""
    picture = master(draw_finger(np.random.default_rng(3), finger_class="left_loop", seed=2))
    shape = cv2.ellipse(np.zeros_like(picture), (137, 200), (110, 165), 0, 0, 360, 255, cv2.FILLED)
    return np.where(shape > 0, picture, np.uint8(255))


def on(background: np.ndarray, picture: np.ndarray) -> np.ndarray:
    """Black hides the background, white lets it through, grey is grey."""
    share = picture[..., None] / 255.0
    return np.rint(background * share + picture[..., None] * (1 - share)).astype(np.uint8)


def flat(colour: tuple[int, int, int], *, noise: float = 6.0) -> np.ndarray:
    rng = np.random.default_rng(5)
    return np.clip(np.array(colour) + rng.normal(0, noise, (400, 275, 3)), 0, 255)


def likeness(found: np.ndarray, truth: np.ndarray) -> float:
    return float(np.corrcoef(found.ravel().astype(float), truth.ravel().astype(float))[0, 1])


@pytest.mark.parametrize("colour", [(255, 255, 255), (230, 30, 20), (90, 90, 90), (200, 160, 60)])
def test_a_print_comes_back_from_any_colour(colour: tuple[int, int, int]) -> None:
    truth = print_on_paper()
    found = enhance(on(flat(colour), truth))
    assert found.shape == truth.shape
    assert found.dtype == np.uint8
    assert likeness(found, truth) > 0.8
    assert found[:12, :12].min() > 240
    assert found[-12:, -12:].min() > 240


def test_faded_ridges_come_back() -> None:
    truth = print_on_paper()
    faded = truth.copy()
    faded[150:250] = 255 - (255 - truth[150:250].astype(int)) // 8
    found = enhance(np.rint(flat((200, 200, 190), noise=2) * (faded[..., None] / 255)).astype(np.uint8))
    strip = np.s_[160:240, 60:215]
    assert likeness(found[strip], truth[strip]) > 0.7


def test_thin_gaps_close() -> None:
    truth = print_on_paper()
    torn = truth.copy()
    torn[198:201] = 255
    found = enhance(on(flat((240, 240, 240)), torn))
    gap = np.s_[198:201, 50:225]
    assert likeness(found[gap], truth[gap]) > 0.6


def test_more_contrast_makes_up_its_mind_and_stays_the_same_drawing() -> None:
    degraded = on(flat((180, 170, 150)), print_on_paper())
    soft, hard = enhance(degraded), enhance(degraded, contrast=3)
    middle = np.s_[100:300, 80:200]
    assert hard[middle].std() > 1.2 * soft[middle].std()
    assert likeness(soft, hard) > 0.9


@pytest.mark.parametrize("pixels_per_inch", [250.0, 1000.0])
def test_any_resolution(pixels_per_inch: float) -> None:
    truth = print_on_paper()
    degraded = on(flat((210, 200, 190)), truth)
    factor = pixels_per_inch / 500
    scaled = cv2.resize(degraded, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    found = enhance(scaled, pixels_per_inch=pixels_per_inch)
    assert found.shape == scaled.shape[:2]
    assert likeness(found, cv2.resize(truth, scaled.shape[1::-1], interpolation=cv2.INTER_AREA)) > 0.75


def test_tiny_and_blank_pictures_are_drawn_without_ridges() -> None:
    for shape in ((1, 1, 3), (2, 3, 3), (9, 16, 3)):
        assert enhance(np.full(shape, 128, np.uint8)).shape == shape[:2]
    blank = enhance(np.full((400, 275, 3), 255, np.uint8))
    assert np.ptp(blank[150:250, 100:175]) < 10


def test_brightness_and_contrast_of_a_picture_do_not_matter_to_its_normal_form() -> None:
    picture = np.repeat(straight(20)[..., None], 3, 2)
    dim = (picture * 0.4 + 60).astype(np.uint8)
    inner = np.s_[20:-20, 20:-20]
    assert likeness(normalised(picture)[inner], normalised(dim)[inner]) > 0.97
    assert abs(normalised(dim)[inner]).max() <= 2.5


def test_ridges_are_drawn_along_a_given_field_alone() -> None:
    picture, theta = rings()
    dark = ((127.5 - picture.astype(np.float32)) / 85).astype(np.float32)
    right = Ridges(theta, np.full_like(theta, 8.6), np.ones_like(theta))
    across = Ridges(np.mod(theta + np.pi / 2, np.pi).astype(np.float32), right.period, right.quality)
    y, x = np.mgrid[: len(picture), : len(picture)] - 100
    away = (np.hypot(x, y) > 30) & (np.hypot(x, y) < 85)
    assert likeness(draw_ridges(dark, right)[away], dark[away]) > 0.99
    noisy = dark + np.random.default_rng(0).normal(0, 1, dark.shape).astype(np.float32)
    assert likeness(draw_ridges(noisy, right)[away], dark[away]) > 0.9
    assert abs(likeness(draw_ridges(noisy, across)[away], dark[away])) < 0.4
