"""Impressions: what is drawn, what is printed, and that nothing but the record decides it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import label

from inpaintbench.errors import InputError
from inpaintbench.types import item_rng
from inpaintbench.wings.chalearn.fingerprints.fields import elastic_field, warp
from inpaintbench.wings.chalearn.fingerprints.fingers import draw_finger
from inpaintbench.wings.chalearn.fingerprints.impressions import draw_impression, impress, printed
from inpaintbench.wings.chalearn.fingerprints.master import master
from inpaintbench.wings.chalearn.fingerprints.records import CLASSES, Elastic, Finger, Impression, Print

PLAIN = {"noise": 0.0, "scratches": 0, "rotation_degrees": 0.0, "translation": (0.0, 0.0)}


def finger(width: int = 275, height: int = 400, ppi: float = 500.0) -> Finger:
    return Finger("arch", width, height, ppi, (), (), (), (1.5, 1.0, 1.0), 0)


def rings(one: Finger) -> np.ndarray:
    """A master without a generator: rings around a point off the canvas's centre."""
    y, x = np.mgrid[: one.height, : one.width]
    radius = np.hypot(x - 0.45 * one.width, y - 0.55 * one.height) / (one.pixels_per_inch / 500)
    ink = np.cos(2 * np.pi * radius / 8.6) > 0.3
    border = round(15 * one.pixels_per_inch / 500)
    inside = np.zeros_like(ink)
    inside[border : one.height - border, border : one.width - border] = True
    return np.where(ink & inside, np.uint8(0), np.uint8(255))


def drawn(one: Finger, seed: int = 0, **arguments: Any) -> Impression:
    return draw_impression(np.random.default_rng(seed), finger=one, number=seed, seed=seed, **arguments)


def test_the_challenges_style_is_what_it_used() -> None:
    one = finger()
    all_drawn = [drawn(one, seed, style="challenge") for seed in range(200)]
    for impression in all_drawn:
        assert (impression.moisture, impression.pressure, impression.scratches, impression.skin_plasticity) == (0, 0.5, 0, 2)
        assert impression.contact_shift == (0, 0)
        assert all(step == round(step) and abs(step) <= 5 for step in impression.translation)
        assert 5000 <= 9000 * impression.noise <= 13_000
    angles = [impression.rotation_degrees for impression in all_drawn]
    assert -10 <= min(angles) < -9
    assert 9 < max(angles) <= 10


def test_natural_impressions_vary_within_their_ranges() -> None:
    one = finger()
    all_drawn = [drawn(one, seed) for seed in range(200)]
    for impression in all_drawn:
        assert -1 <= impression.moisture <= 1
        assert 0 <= impression.pressure <= 1
        assert abs(impression.rotation_degrees) <= 10
        assert max(map(abs, impression.translation)) <= 5
        assert impression.scratches >= 0
    assert 0.1 < np.mean([impression.skin_plasticity == 0 for impression in all_drawn]) < 0.4
    assert np.std([impression.moisture for impression in all_drawn]) > 0.3
    assert {impression.scratches for impression in all_drawn} >= {0, 1, 2, 3}
    assert drawn(one, moisture=-0.25).moisture == -0.25


def test_lengths_grow_with_the_resolution() -> None:
    single, double = (drawn(finger(275 * n, 400 * n, 500.0 * n), 5, style="challenge") for n in (1, 2))
    np.testing.assert_allclose(double.silhouette, 2 * np.array(single.silhouette))
    assert double.translation == tuple(2 * step for step in single.translation)


def test_records_survive_json() -> None:
    one = finger()
    print_ = Print(one, drawn(one, 3), Elastic(1, 800.0, 32.0))
    again = Print.of_plain(json.loads(json.dumps(asdict(print_))))
    assert again == print_
    assert np.array_equal(printed(rings(one), again)[1], printed(rings(one), print_)[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"style": "police"}, "no style 'police' of impressions: give natural or challenge"),
        ({"number": -1}, "number of the impression is -1"),
        ({"moisture": 1.5}, "the moisture is 1.5"),
        ({"moisture": float("nan")}, "the moisture is nan"),
        ({"moisture": 0.5, "style": "challenge"}, "the challenge's style has none"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        draw_impression(np.random.default_rng(0), finger=finger(), seed=0, **{"number": 0, **arguments})


def test_a_master_of_another_finger_is_refused() -> None:
    with pytest.raises(InputError, match=r"shape \(30, 40\), but the finger's canvas has 400 rows and 275 columns"):
        impress(np.zeros((30, 40), np.uint8), finger(), drawn(finger()))


def test_without_noise_and_movement_the_inside_is_the_master() -> None:
    one = finger()
    before = rings(one)
    after = impress(before, one, replace(drawn(one, style="challenge"), **PLAIN))
    assert np.all(after[before == 255] == 255)
    middle = np.s_[120:280, 70:200]
    assert np.array_equal(after[middle] < 200, before[middle] < 128)
    assert np.all(after[:15] == 255)
    assert np.all(after[:, -15:] == 255)


def test_moved_prints_have_no_pinholes() -> None:
    """The movement alone leaves no white dot inside ridges: solid ink stays solid."""
    one = finger()
    solid = np.zeros((400, 275), np.uint8)
    turned = replace(drawn(one, style="challenge"), noise=0.0, rotation_degrees=10.0, translation=(5.0, -5.0))
    after = impress(solid, one, turned)
    assert np.all(after[110:300, 80:195] == 0)


def test_truth_is_the_undistorted_picture_under_the_elastic_field() -> None:
    one = finger()
    print_ = Print(one, drawn(one, 1), Elastic(9, 700.0, 30.0))
    undistorted, truth = printed(rings(one), print_)
    assert np.array_equal(undistorted, impress(rings(one), one, print_.impression))
    assert np.array_equal(truth, warp(undistorted, elastic_field(400, 275, seed=9, strength=700.0, reach=30.0)))
    still = replace(print_, elastic=Elastic(9, 0.0, 30.0))
    assert np.array_equal(*printed(rings(one), still))


def test_the_seed_decides_specks_scratches_and_edges() -> None:
    one = finger()
    impression = drawn(one, 4, style="challenge")
    first = impress(rings(one), one, impression)
    assert np.array_equal(first, impress(rings(one), one, impression))
    other = impress(rings(one), one, replace(impression, seed=99))
    assert 0.02 < np.mean(np.abs(first.astype(int) - other) > 30) < 0.3


def test_stages_have_streams_of_their_own() -> None:
    """One scratch more changes nothing but where that scratch is."""
    one = finger()
    impression = replace(drawn(one, 4), scratches=1, moisture=0.4)
    few, more = (impress(rings(one), one, replace(impression, scratches=n)) for n in (1, 2))
    changed = np.abs(few.astype(int) - more) > 8
    assert 0 < changed.mean() < 0.01


def test_edges_crumble() -> None:
    """Crumbs lie outside the body of the print, and the body's edge is longer than a smooth curve of its area."""
    one = finger()
    solid = np.zeros((400, 275), np.uint8)
    after = impress(solid, one, replace(drawn(one, style="challenge"), **PLAIN))
    ink = after < 110
    _, parts = label(ink)
    assert parts > 20
    assert ink[200, 60:215].mean() > 0.95
    contours, _ = cv2.findContours(ink.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    body = max(contours, key=cv2.contourArea)
    assert cv2.arcLength(body, True) > 1.5 * 2 * np.sqrt(np.pi * cv2.contourArea(body))


@given(
    size=st.tuples(st.integers(31, 160), st.integers(31, 160)),
    ppi=st.sampled_from([125.0, 250.0, 333.3, 500.0]),
    moisture=st.sampled_from([-1.0, 0.0, 1.0]),
    pressure=st.sampled_from([0.0, 0.5, 1.0]),
    ends=st.tuples(
        st.sampled_from([0.0, 2.0]), st.sampled_from([0, 9]), st.sampled_from([-10.0, 10.0]), st.sampled_from([0.0, 3.0])
    ),
)
@settings(max_examples=40, deadline=None)
def test_any_size_and_both_ends_of_every_range(
    size: tuple[int, int], ppi: float, moisture: float, pressure: float, ends: tuple[float, int, float, float]
) -> None:
    one = finger(*size, ppi)
    noise, scratches, rotation, plasticity = ends
    impression = replace(
        drawn(one), moisture=moisture, pressure=pressure, noise=noise, scratches=scratches, rotation_degrees=rotation,
        skin_plasticity=plasticity,
    )  # fmt: skip
    undistorted, truth = printed(rings(one), Print(one, impression, Elastic(0, 2.0 * max(size), 0.08 * max(size))))
    assert undistorted.shape == truth.shape == (size[1], size[0])
    assert undistorted.dtype == truth.dtype == np.uint8
    assert undistorted.max() == 255


def test_challenge_prints_are_as_bright_as_the_challenges() -> None:
    """Mean of squared truth values 0.728, as the published scores of a black submission say."""
    squares, dark = [], []
    for number, finger_class in enumerate(CLASSES):
        one = draw_finger(item_rng(number, "test", ""), finger_class=finger_class, seed=number)
        ridges = master(one)
        for seed in range(2):
            print_ = Print(one, drawn(one, seed, style="challenge"), Elastic(seed, 800.0, 32.0))
            truth = printed(ridges, print_)[1]
            squares.append(np.mean((truth / 255) ** 2))
            dark.append(np.mean(truth < 110))
    assert 0.713 < np.mean(squares) < 0.743
    assert all(0.69 < square < 0.77 for square in squares)
    assert 0.155 < np.mean(dark) < 0.195
