"""What was not to change: over the rest of the frame, and as PIE-Bench dilutes it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from skimage.metrics import structural_similarity

from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.metrics.removal import BackgroundPreserved
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.regions import ALL_REGIONS, select
from inpaintbench.view import ItemView

UNTOUCHED: dict[str, Any] = {
    "pixels": "rest", "data_range": 1.0, "averaged": "errors", "ceiling_decibels": None, "infinite": "count",
}  # fmt: skip
PIE: dict[str, Any] = dict(PROTOCOLS.get("removal/as-published").metrics["background_preserved"])
SHAPE = (2, 60, 80)


@pytest.fixture(scope="module")
def parts() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    given = rng.integers(0, 256, (*SHAPE, 3), dtype=np.uint8)
    inside = np.zeros(SHAPE, np.bool_)
    inside[:, 10:50, 20:60] = True
    noise = rng.integers(-9, 10, given.shape)
    prediction = np.clip(given.astype(int) + noise, 0, 255).astype(np.uint8)
    return {"input": given, "hole": inside, "object_mask": inside, "composite": prediction}


def measured(parts: dict[str, np.ndarray], **constants: Any) -> Measurement:
    metric = BackgroundPreserved(**{**UNTOUCHED, **constants}, regions=ALL_REGIONS, band_radius_pixels=8)
    view = ItemView.of_arrays(**parts)
    [found] = metric.measure(view.declaring(metric.name, metric.parts)).values()
    return found


@pytest.mark.parametrize("contrast", [1.0, 0.06])
def test_errors_are_those_of_the_rest_alone(parts: dict[str, np.ndarray], contrast: float) -> None:
    """Without contrast the constants of SSIM weigh as much as the variances."""
    pale = {name: (100 + contrast * parts[name]).clip(0, 255).astype(np.uint8) for name in ("input", "composite")}
    parts = {**parts, **(pale if contrast < 1 else {})}
    rest = select(parts["hole"], "rest", band_radius=8, object_mask=parts["object_mask"])
    apart = parts["composite"].astype(float) - parts["input"]
    found = measured(parts)
    mean = np.mean([np.square(one[inside]).mean() for one, inside in zip(apart, rest, strict=True)])
    assert found.value == pytest.approx(10 * math.log10(255**2 / mean))
    assert found.details["mae_levels"] == pytest.approx(np.abs(apart[rest]).mean())
    maps = [
        structural_similarity(
            one, other, channel_axis=2, data_range=255, gaussian_weights=True, use_sample_covariance=False, full=True
        )[1].mean(axis=-1)
        for one, other in zip(parts["input"], parts["composite"], strict=True)
    ]
    inner = np.zeros(SHAPE, np.bool_)
    inner[:, 5:-5, 5:-5] = rest[:, 5:-5, 5:-5]
    assert found.details["ssim"] == pytest.approx(np.stack(maps)[inner].mean(), abs=1e-6)
    elsewhere = {**parts, "composite": np.where(rest[..., None], parts["composite"], 7).astype(np.uint8)}
    assert measured(elsewhere).value == found.value


def test_a_side_effect_does_not_belong_to_the_background(parts: dict[str, np.ndarray]) -> None:
    effect = np.zeros(SHAPE, np.bool_)
    effect[:, 50:, :] = True
    changed = parts["composite"].copy()
    changed[effect] = 0
    assert measured({**parts, "composite": changed}).value < measured(parts).value  # type: ignore[operator]
    with_effect = {**parts, "effect_mask": effect}
    assert measured({**with_effect, "composite": changed}).value == measured(with_effect).value


def test_the_input_itself_is_infinite_or_at_the_ceiling_and_a_mask_of_everything_has_no_value(
    parts: dict[str, np.ndarray],
) -> None:
    untouched = {**parts, "composite": parts["input"]}
    assert measured(untouched).value == math.inf
    assert measured(untouched, ceiling_decibels=58.92).value == 58.92
    everything = np.ones(SHAPE, np.bool_)
    for constants in (UNTOUCHED, PIE):
        found = measured({**parts, "hole": everything, "object_mask": everything}, **constants)
        assert found.value is None
        assert "nothing" not in str(found.reason)
        assert found.reason


def test_blackening_dilutes_the_error_by_the_share_that_is_blackened(parts: dict[str, np.ndarray]) -> None:
    half = np.zeros(SHAPE, np.bool_)
    half[:, :30] = True
    given = {**parts, "hole": half, "object_mask": half}
    outside = np.zeros(SHAPE, np.bool_)
    outside[:, 30:-1, 1:-1] = True  # without the outermost lines
    apart = np.square(parts["composite"].astype(float) - parts["input"])
    expected = [10 * math.log10(255**2 * 60 * 80 * 3 / one[inside].sum()) for one, inside in zip(apart, outside, strict=True)]
    found = measured(given, **PIE).value
    assert found == pytest.approx(np.mean(expected))
    undiluted = [10 * math.log10(255**2 / one[inside].mean()) for one, inside in zip(apart, outside, strict=True)]
    assert found - np.mean(undiluted) == pytest.approx(10 * math.log10(60 * 80 / (29 * 78)))


def test_infinite_items_go_by_the_rule() -> None:
    counted = BackgroundPreserved(**UNTOUCHED, regions=("rest",), band_radius_pixels=8)
    assert counted.reduce([math.inf, 30.0, 40.0]) == 35
    assert BackgroundPreserved(**PIE, regions=("rest",), band_radius_pixels=8).reduce([math.inf, 30.0]) == math.inf
