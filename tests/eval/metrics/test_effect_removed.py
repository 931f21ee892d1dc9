"""Effects that were taken back, left, halved and overdone: known answers of a drawn scene."""

from __future__ import annotations

import numpy as np
import pytest

from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.metrics.removal import EffectRemoved, EffectResidual
from inpaintbench.regions import ALL_REGIONS
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

METRICS = (EffectRemoved, EffectResidual)


@pytest.fixture(scope="module")
def scene() -> tuple[Frames, Frames, Hole, Hole]:
    """Truth, input, object and effect, one frame of 160x120: an ellipse with a shadow."""
    y, x = np.mgrid[:120, :160]
    truth = np.rint(
        np.stack([127.5 + 80 * np.sin(x / 11), 127.5 + 80 * np.cos(y / 9), 127.5 + 60 * np.sin((x + y) / 13)], axis=-1)
    )
    shadow = 0.6 * np.clip(1 - np.hypot((x - 100) / 30, (y - 80) / 14), 0, 1)
    given = np.rint(truth * (1 - shadow[..., None]))
    inside = np.hypot((x - 70) / 18, (y - 60) / 25) <= 1
    given[inside] = (200, 60, 40)
    effect = (given != truth).any(axis=-1) & ~inside
    assert np.count_nonzero(effect) == 1139
    assert np.abs(given - truth)[effect].mean() == pytest.approx(27.330991, abs=2e-6)
    return truth.astype(np.uint8)[None], given.astype(np.uint8)[None], inside[None], effect[None]


def measured(scene: tuple[Frames, Frames, Hole, Hole], prediction: np.ndarray) -> list[dict[str, Measurement]]:
    truth, given, inside, effect = scene
    view = ItemView.of_arrays(
        truth=truth, input=given, hole=inside, object_mask=inside, effect_mask=effect, composite=prediction.astype(np.uint8)
    )
    return [
        metric.measure(view.declaring(metric.name, metric.parts))
        for metric in (leaf(regions=ALL_REGIONS, band_radius_pixels=8) for leaf in METRICS)
    ]


def test_untouched_is_0_and_1_and_the_truth_is_1_and_0(scene: tuple[Frames, Frames, Hole, Hole]) -> None:
    for prediction, expected in ((scene[1], (0, 1)), (scene[0], (1, 0))):
        for found, value in zip(measured(scene, prediction), expected, strict=True):
            assert {region: one.value for region, one in found.items()} == {"object": value, "effect": value}


def test_the_best_value_of_either_is_that_of_the_truth() -> None:
    assert [(leaf.bounds, leaf.higher_is_better) for leaf in METRICS] == [((-np.inf, 1), True), ((0, np.inf), False)]


@pytest.mark.parametrize(("levels", "known"), [(0.96, False), (1.0, True)])
def test_an_effect_of_less_than_one_level_has_no_value(levels: float, known: bool) -> None:
    """One level is what rounding alone can make: below it there is nothing that could be taken back."""
    truth = np.full((1, 10, 10, 3), 100, np.uint8)
    given, inside, effect = truth.copy(), np.zeros((1, 10, 10), np.bool_), np.zeros((1, 10, 10), np.bool_)
    inside[0, 0], effect[0, 5:] = True, True
    given[0, 5:] += 1
    given[0, 0] += 100
    given[0, 5:].reshape(-1)[: round(150 * (1 - levels))] = 100
    for found in measured((truth, given, inside, effect), truth):
        assert (found["effect"].value is not None) is known
        assert found["object"].value is not None
    if not known:
        assert found["effect"].reason == "input and truth differ by 0.96 levels in the region 'effect', less than 1"


def test_halved_and_overdone(scene: tuple[Frames, Frames, Hole, Hole]) -> None:
    truth, given = (frames.astype(float) for frames in scene[:2])
    removed, residual = measured(scene, np.rint((given + truth) / 2))
    assert removed["effect"].value == pytest.approx(0.5001120, abs=5e-8)
    assert residual["effect"].value == pytest.approx(0.4998501, abs=5e-8)
    assert removed["object"].value == pytest.approx(0.5004804, abs=5e-8)
    assert residual["object"].value == pytest.approx(0.4994457, abs=5e-8)
    removed, residual = measured(scene, np.rint(np.clip(1.1 * truth, 0, 255)))
    assert removed["effect"].details["removed"] == pytest.approx(1.3141801, abs=5e-8)
    assert removed["effect"].value == pytest.approx(2 - 1.3141801, abs=5e-8)  # as wrong as 0.686 of it gone
    assert residual["effect"].value == removed["effect"].details["residual"] == pytest.approx(0.4453689, abs=5e-8)


def test_errors_of_opposite_sign_do_not_cancel(scene: tuple[Frames, Frames, Hole, Hole]) -> None:
    """Half of a shadow is left and the other half is exact; then the exact half becomes as wrong the other way."""
    truth, given, inside, effect = (part.copy() for part in scene)
    truth, given = np.clip(truth, 50, 200), np.clip(truth, 50, 200)
    given[effect] -= 40
    half = truth.copy()
    half[..., :100, :] = given[..., :100, :]
    worse = half.copy()
    worse[..., 100:, :] = 2 * truth[..., 100:, :] - given[..., 100:, :]
    share = np.count_nonzero(effect[..., :100]) / np.count_nonzero(effect)
    for prediction, removed in ((half, 1 - share), (worse, 0)):
        found = measured((truth, given, inside, effect), prediction)[0]["effect"]
        assert found.value == pytest.approx(removed)
        assert found.value == pytest.approx(1 - float(found.details["residual"]))
    assert found.details["removed"] == pytest.approx(2 * (1 - share))


def test_frames_in_which_the_effect_is_faint_do_not_decide(scene: tuple[Frames, Frames, Hole, Hole]) -> None:
    truth, given, inside, effect = (np.repeat(part, 2, axis=0) for part in scene)
    given[1] = truth[1] + (effect[1] & (truth[1, ..., 0] < 255))[..., None]  # a level
    prediction = given.copy()
    prediction[0] = truth[0]  # and all of it is left there
    [removed, _] = measured((truth, given, inside, effect), prediction)
    assert 0.99 < float(removed["effect"].value or 0) < 1


def test_where_input_and_truth_are_alike_there_is_no_value(scene: tuple[Frames, Frames, Hole, Hole]) -> None:
    truth, given, inside, effect = scene
    for found in measured((truth, truth, inside, effect), given):
        assert found["effect"].value is None
        assert "0.00 levels" in str(found["effect"].reason)
    for found in measured((truth, given, inside, np.zeros_like(effect)), given):
        assert found["effect"].value is None
        assert "no frame has a pixel" in str(found["effect"].reason)
        assert found["object"].value is not None
