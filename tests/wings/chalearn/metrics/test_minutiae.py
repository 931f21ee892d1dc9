"""Minutiae of two lists matched one to one, and of degraded prints."""

from __future__ import annotations

import itertools
import math
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.fingerprints.estimation import orientation_rmsd
from inpaintbench.wings.chalearn.fingerprints.fingers import draw_finger
from inpaintbench.wings.chalearn.fingerprints.master import master
from inpaintbench.wings.chalearn.metrics.minutiae import Minutiae, MinutiaePrecision, MinutiaeRecall, match
from inpaintbench.wings.chalearn.metrics.ridges import OrientationRmsd, RidgeFrequencyError, compare_periods

Point = tuple[float, float, float]
CONSTANTS = PROTOCOLS.get("fingerprint/ridges").metrics


def lists() -> tuple[list[Point], list[Point]]:
    """Predicted and true minutiae."""
    true = [(60 + (13 * i) % 211, 40 + (29 * i) % 173, (0.37 * i) % math.tau) for i in range(20)]
    moved = [
        (x + 3 * math.sin(i), y + 3 * math.cos(2 * i), angle + 0.15 * math.sin(5 * i))
        for i, (x, y, angle) in enumerate(true)
        if i % 7 != 3
    ]
    return [*moved, *((200 + 7 * j, 220 - 5 * j, 0.1 * j) for j in range(4))], true


def test_equals_the_known_matching() -> None:
    found = match(*lists(), reach_pixels=8, angle_degrees=15)
    assert (found.matched, found.precision, found.recall) == (17, pytest.approx(0.8095238), pytest.approx(0.85))
    assert found.f1 == pytest.approx(0.8292683, abs=5e-8)
    assert found.distance / found.matched == pytest.approx(2.8851144, abs=5e-8)
    assert match(*lists(), reach_pixels=8, angle_degrees=5).matched == 6


POINTS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.floats(0, 6.28)), max_size=5)


@settings(max_examples=100)
@given(predicted=POINTS, true=POINTS, seed=st.integers(0, 99))
def test_no_assignment_has_more_pairs_and_the_order_of_the_lists_does_not_matter(
    predicted: list[Point], true: list[Point], seed: int
) -> None:
    found = match(predicted, true, reach_pixels=8, angle_degrees=40)
    rng = np.random.default_rng(seed)
    shuffled = [[points[at] for at in rng.permutation(len(points))] for points in (predicted, true)]
    other = match(*shuffled, reach_pixels=8, angle_degrees=40)
    assert other[:3] == found[:3]
    assert other.distance == pytest.approx(found.distance, abs=1e-9)
    few, many = sorted((predicted, true), key=len)
    pairs = (
        sum(
            math.dist(one[:2], two[:2]) <= 8 and abs((one[2] - two[2] + math.pi) % math.tau - math.pi) <= math.radians(40)
            for one, two in zip(few, order, strict=True)
        )
        for order in itertools.permutations(many, len(few))
    )
    assert found.matched == max(pairs)


def test_empty_lists() -> None:
    some = [(1.0, 1.0, 0.0)]
    both, missed, invented = (match(*two, reach_pixels=8, angle_degrees=15) for two in (([], []), ([], some), (some, [])))
    assert (both.precision, both.recall, both.f1) == (1, 1, 1)
    assert (missed.precision, missed.recall, missed.f1) == (0, 0, 0) == (invented.precision, invented.recall, invented.f1)


@pytest.fixture(scope="module")
def pictures() -> dict[str, np.ndarray]:
    truth = master(draw_finger(np.random.default_rng(5), finger_class="right_loop", seed=5))
    rng = np.random.default_rng(0)
    noisy = np.clip(truth + rng.normal(0, 60, truth.shape), 0, 255).astype(np.uint8)
    return {
        "truth": truth,
        "noisy": noisy,
        "scratched": cv2.line(truth.copy(), (20, 40), (250, 380), 255, 9),
        "blank": np.full_like(truth, 255),
        "mirrored": np.ascontiguousarray(truth[:, ::-1]),
    }


def measured(leaf: type[Any], truth: np.ndarray, ours: np.ndarray) -> Any:
    metric = leaf(**CONSTANTS[leaf.name], regions=("frame",), band_radius_pixels=8)
    view = ItemView.of_arrays(**{
        name: np.repeat(picture[None, ..., None], 3, axis=-1) for name, picture in (("truth", truth), ("composite", ours))
    })  # fmt: skip
    return metric.measure(view.declaring(metric.name, metric.parts))["frame"]


def test_a_print_has_all_its_own_minutiae_and_loses_them_by_damage(pictures: dict[str, np.ndarray]) -> None:
    truth = pictures["truth"]
    values = {name: measured(Minutiae, truth, picture) for name, picture in pictures.items()}
    assert values["truth"].value == 1
    assert values["truth"].details["true"] > 15
    assert 0.2 < values["noisy"].value < 1
    assert 0.2 < values["scratched"].value < 1
    assert values["mirrored"].value < 0.4
    assert values["blank"].value == 0
    curve = [values["noisy"].details[f"f1_at_{reach}"] for reach in (4, 8, 12, 16)]
    assert curve == sorted(curve)
    assert curve[1] == values["noisy"].value
    details = values["scratched"].details
    assert measured(MinutiaePrecision, truth, pictures["scratched"]).value == details["precision"]
    assert measured(MinutiaeRecall, truth, pictures["scratched"]).value == details["recall"]
    assert details["f1"] == pytest.approx(2 / (1 / details["precision"] + 1 / details["recall"]))


def test_orientation_of_a_print(pictures: dict[str, np.ndarray]) -> None:
    truth = pictures["truth"]
    values = {name: measured(OrientationRmsd, truth, picture).value for name, picture in pictures.items()}
    assert values["truth"] == 0
    assert values["noisy"] < 12
    assert values["scratched"] < 20
    assert 25 < values["mirrored"] < 75
    assert 85 < values["blank"] <= 90
    y, x = np.mgrid[:64, :80]
    true = (0.02 * x + 0.03 * y) % math.pi
    ours = (true + 0.3 * np.sin(x / 9) * np.cos(y / 7) + 0.05) % math.pi
    inside = np.hypot((x - 40) / 35, (y - 32) / 28) <= 1
    assert orientation_rmsd(ours, true, mask=inside) == pytest.approx(9.0339404, abs=5e-8)
    assert orientation_rmsd(ours, true) == pytest.approx(9.1782144, abs=5e-8)


def test_frequency_of_a_print(pictures: dict[str, np.ndarray]) -> None:
    truth = pictures["truth"]
    assert measured(RidgeFrequencyError, truth, truth).value == 0
    assert measured(RidgeFrequencyError, truth, pictures["noisy"]).value > 0
    blank = measured(RidgeFrequencyError, truth, pictures["blank"])
    assert blank.value == 100
    assert blank.details["dead"] == blank.details["places"] > 50
    y, x = np.mgrid[:64, :80]
    inside = np.hypot((x - 40) / 35, (y - 32) / 28) <= 1
    periods, true = (one + 0.5 * np.sin(x / 11)[inside] for one in (9.4, 9))
    assert compare_periods(periods, true).percent == pytest.approx(4.2798951, abs=5e-8)


def test_ridges_that_are_painted_over_are_no_better_than_wrong_ones(pictures: dict[str, np.ndarray]) -> None:
    truth = pictures["truth"]
    height, width = truth.shape
    wrong, flat = truth.copy(), truth.copy()
    wrong[:, width * 55 // 100 :] = cv2.resize(truth, None, fx=1.5, fy=1.5)[:height, :width][:, width * 55 // 100 :]
    flat[:, width * 55 // 100 :] = 128
    errors = [measured(RidgeFrequencyError, truth, picture) for picture in (wrong, flat)]
    assert 0 < errors[0].value < errors[1].value < 100
    assert errors[1].details["coverage"] < 0.75
    errors = [measured(OrientationRmsd, truth, picture) for picture in (wrong, flat)]
    assert 0 < errors[0].value < errors[1].value < 90
    assert errors[1].details["flat"] > 0.25


def test_no_place_counts_more_than_one_without_ridges() -> None:
    unknown = math.nan
    assert compare_periods(np.array([9.0, unknown, 3.0, 6.0]), np.array([9.0, 9.0, 9.0, unknown])) == pytest.approx(
        (200 / 3, 3, 1)
    )


def test_ridges_that_lie_closer_have_a_higher_frequency() -> None:
    x = np.arange(200)
    stripes = {period: np.tile(127.5 + 120 * np.cos(2 * np.pi * x / period), (200, 1)) for period in (9.0, 9.9)}
    pictures = {
        period: cv2.copyMakeBorder(picture.astype(np.uint8), 40, 40, 40, 40, cv2.BORDER_CONSTANT, value=(255,))
        for period, picture in stripes.items()
    }
    found = measured(RidgeFrequencyError, pictures[9.0], pictures[9.9])
    assert found.value == pytest.approx(100 * (1 - 9.0 / 9.9), abs=1)
    assert found.details["coverage"] > 0.9


@pytest.mark.parametrize("leaf", [Minutiae, OrientationRmsd, RidgeFrequencyError])
def test_where_the_truth_shows_no_print_there_is_no_value(leaf: type[Any], pictures: dict[str, np.ndarray]) -> None:
    found = measured(leaf, pictures["blank"], pictures["truth"])
    assert found.value is None
    assert "the truth shows no" in str(found.reason)
