"""Drawn fingers: classes by law, singular points where their class has them, mirrors."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import InputError
from inpaintbench.wings.chalearn.fingerprints.fingers import NATURAL_LAW, draw_finger, mirrored
from inpaintbench.wings.chalearn.fingerprints.records import CLASSES, Finger

LEFT_DELTA, RIGHT_DELTA = ((0.12, 0.325), (0.625, 0.815)), ((0.675, 0.88), (0.625, 0.815))
LOOP_CORE = ((0.40, 0.60), (0.35, 0.55))
PLACES = {
    "arch": ([], []),
    "tented_arch": ([LOOP_CORE], [((0.40, 0.60), (0.60, 0.70))]),
    "right_loop": ([LOOP_CORE], [LEFT_DELTA]),
    "left_loop": ([LOOP_CORE], [RIGHT_DELTA]),
    "double_loop": (
        [((0.40, 0.50), (0.325, 0.45)), ((0.50, 0.60), (0.475, 0.60))],
        [((0.05, 0.25), (0.625, 0.875)), ((0.75, 0.95), (0.65, 0.85))],
    ),
    "whorl": ([((0.40, 0.60), (0.40, 0.575))] * 2, [LEFT_DELTA, RIGHT_DELTA]),
}


def drawn(finger_class: str | None = None, *, seed: int = 0, **options: Any) -> Finger:
    return draw_finger(np.random.default_rng(seed), finger_class=finger_class, seed=seed, **options)


def in_place(finger: Finger) -> None:
    """The points lie in the ranges of their class, given to the pixel."""
    border = round(15 * finger.pixels_per_inch / 500)
    for points, places in zip((finger.cores, finger.deltas), PLACES[finger.finger_class], strict=True):
        assert len(points) == len(places)
        for point, place in zip(points, places, strict=True):
            for value, extent, (low, high) in zip(point, (finger.width, finger.height), place, strict=True):
                inner = extent - 2 * border
                assert border + low * inner - 1 <= value <= border + high * inner + 1


@pytest.mark.parametrize("finger_class", CLASSES)
def test_points_lie_where_the_class_has_them(finger_class: str) -> None:
    for seed in range(100):
        finger = drawn(finger_class, seed=seed)
        assert finger.finger_class == finger_class
        assert len(finger.bends_degrees) == len(finger.cores)
        assert (finger.arch is None) == (finger_class != "arch")
        in_place(finger)


def test_a_tented_arch_has_its_delta_below_its_core() -> None:
    for seed in range(20):
        finger = drawn("tented_arch", seed=seed)
        assert finger.cores[0][0] == finger.deltas[0][0]
        assert finger.cores[0][1] < finger.deltas[0][1]


def test_a_whorl_has_its_cores_above_each_other_and_apart() -> None:
    for seed in range(100):
        (x, upper), (other_x, lower) = drawn("whorl", seed=seed).cores
        assert x == other_x
        assert lower - upper > 0.02 * 370


def test_places_fill_their_ranges() -> None:
    x = [(drawn("right_loop", seed=seed).cores[0][0] - 15) / 245 for seed in range(400)]
    assert min(x) < 0.41
    assert max(x) > 0.59
    assert np.mean(x) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(("law", "weights"), [("natural", NATURAL_LAW), ("uniform", dict.fromkeys(CLASSES, 1.0))])
def test_classes_follow_the_law(law: Any, weights: dict[str, float]) -> None:
    rng = np.random.default_rng(7)
    counts = Counter(draw_finger(rng, law=law, seed=0).finger_class for _ in range(6000))
    for name in CLASSES:
        assert counts[name] / 6000 == pytest.approx(weights[name] / sum(weights.values()), abs=0.025)


def test_a_law_may_weigh_some_classes_alone() -> None:
    rng = np.random.default_rng(1)
    counts = Counter(draw_finger(rng, law={"whorl": 3, "arch": 1, "left_loop": 0}, seed=0).finger_class for _ in range(800))
    assert set(counts) == {"whorl", "arch"}
    assert counts["whorl"] / 800 == pytest.approx(0.75, abs=0.06)


def test_the_same_generator_gives_the_same_finger_and_json_keeps_it() -> None:
    finger = drawn(seed=3)
    assert finger == drawn(seed=3)
    assert finger != drawn(seed=4)
    assert json.loads(json.dumps(asdict(finger)))["cores"] == [list(core) for core in finger.cores]


@pytest.mark.parametrize("finger_class", CLASSES)
def test_two_mirrors_give_the_finger_back(finger_class: str) -> None:
    finger = drawn(finger_class, seed=5)
    back = mirrored(mirrored(finger))
    assert (back.finger_class, back.arch, back.bends_degrees) == (finger.finger_class, finger.arch, finger.bends_degrees)
    assert np.allclose(np.array(back.cores + back.deltas), np.array(finger.cores + finger.deltas))


def test_a_mirrored_right_loop_is_a_left_loop() -> None:
    for seed in range(50):
        loop = mirrored(drawn("right_loop", seed=seed))
        assert loop.finger_class == "left_loop"
        in_place(loop)
        assert loop.deltas[0][0] > loop.cores[0][0]
        assert mirrored(loop).finger_class == "right_loop"


@given(
    finger_class=st.sampled_from(CLASSES),
    extra=st.tuples(st.integers(0, 300), st.integers(0, 300)),
    pixels_per_inch=st.sampled_from([330.0, 391.0, 500.0, 1200.0]),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=50, deadline=None)
def test_any_canvas_from_the_least_on(finger_class: str, extra: tuple[int, int], pixels_per_inch: float, seed: int) -> None:
    least = 4 * round(15 * pixels_per_inch / 500) + 1
    size = {"width": least + extra[0], "height": least + extra[1], "pixels_per_inch": pixels_per_inch}
    in_place(drawn(finger_class, seed=seed, **size))


def test_a_canvas_too_small_for_the_filter_is_refused_with_the_least_size() -> None:
    drawn(width=61, height=61)
    for size in ((60, 400), (275, 60), (0, 0)):
        with pytest.raises(InputError, match="at least 61x61"):
            drawn(width=size[0], height=size[1])
    with pytest.raises(InputError, match="at least 121x121"):
        drawn(width=120, height=400, pixels_per_inch=1000.0)


@pytest.mark.parametrize("pixels_per_inch", [0.0, -500.0, 329.0, 1201.0, float("nan"), float("inf")])
def test_resolutions_out_of_range_are_refused(pixels_per_inch: float) -> None:
    with pytest.raises(InputError, match="330 to 1200"):
        drawn(pixels_per_inch=pixels_per_inch)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ("common", "no class law 'common'"),
        ({"spiral": 1.0}, "'spiral'"),
        ({"whorl": -0.5}, "whorl the weight -0.5"),
        ({"whorl": float("nan")}, "whorl the weight nan"),
        ({"whorl": "much"}, "whorl the weight 'much'"),
        ({"whorl": 0.0, "arch": 0}, "no class a weight above 0"),
        ({}, "no class a weight above 0"),
    ],
)
def test_impossible_laws_are_refused(law: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        drawn(law=law)


def test_an_unknown_class_is_refused() -> None:
    with pytest.raises(InputError, match="no finger class 'spiral': choose one of arch"):
        drawn("spiral")
