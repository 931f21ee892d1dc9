from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from skimage.metrics import peak_signal_noise_ratio
from tests.eval.metrics.contract import MetricContract
from tests.eval.metrics.published import metric_of, published_item
from tests.eval.metrics.test_mse import random_item

from inpaintbench import regions
from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.metrics.psnr import Mse, Psnr, decibels
from inpaintbench.eval.protocols.base import CEILING_DECIBELS, POOLED, mean_of_decibels
from inpaintbench.eval.values.statistics import InfiniteRule
from inpaintbench.view import ItemView


class TestContract(MetricContract):
    name = "psnr"
    reach_pixels = 0


def metric(*names: str, infinite: InfiniteRule = "count", **changes: Any) -> Psnr:
    """As published: the mean of the decibels of frames."""
    return Psnr(regions=names or regions.REGIONS, band_radius_pixels=4, **{**mean_of_decibels(infinite), **changes})


def pooled(*names: str, **changes: Any) -> Psnr:
    """As corrected protocols have it."""
    return Psnr(regions=names or regions.REGIONS, band_radius_pixels=4, **{**POOLED, **changes})


def test_intervals_end_where_values_do() -> None:
    assert (Psnr.bounds, Mse.bounds) == ((0, math.inf), (0, 1))


def test_is_the_mean_of_what_scikit_image_gives_for_each_frame() -> None:
    parts = random_item()
    frames = zip(parts["truth"], parts["composite"], strict=True)
    expected = np.mean([peak_signal_noise_ratio(truth, composite, data_range=255) for truth, composite in frames])
    assert metric("frame").measure(ItemView.of_arrays(**parts))["frame"].value == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("region", ["hole", "band"])
def test_in_a_region_only_its_pixels_count(region: str) -> None:
    parts = random_item()
    pixels = regions.select(parts["hole"], region, band_radius=4)
    expected = np.mean(
        [
            peak_signal_noise_ratio(truth[inside], composite[inside], data_range=255)
            for truth, composite, inside in zip(parts["truth"], parts["composite"], pixels, strict=True)
        ]
    )
    assert metric().measure(ItemView.of_arrays(**parts))[region].value == pytest.approx(expected, abs=1e-10)


def test_black_instead_of_white_is_zero_decibels() -> None:
    parts = {"truth": np.full((1, 8, 8, 3), 255, np.uint8), "hole": np.ones((1, 8, 8), np.bool_)}
    view = ItemView.of_arrays(**parts, composite=np.zeros_like(parts["truth"]))
    assert metric("frame").measure(view)["frame"].value == 0


@pytest.mark.parametrize(("infinite", "is_infinite"), [("largest_finite", True), ("count", False)])
def test_one_identical_frame_decides_the_item_only_under_the_published_rule(infinite: InfiniteRule, is_infinite: bool) -> None:
    parts = random_item()
    parts["composite"][1] = parts["truth"][1]
    found = metric("frame", infinite=infinite).measure(ItemView.of_arrays(**parts))["frame"]
    assert found.value is not None
    assert math.isinf(found.value) == is_infinite
    assert found.details == {"frames": 3, "infinite_frames": 1}
    if not is_infinite:
        rest = {name: part[[0, 2]] for name, part in parts.items()}
        assert found.value == metric("frame").measure(ItemView.of_arrays(**rest))["frame"].value


def test_infinite_items_reduce_by_the_rule() -> None:
    values = [20.0, math.inf, 30.0]
    assert metric(infinite="largest_finite").reduce(values) == pytest.approx(80 / 3)
    assert metric(infinite="count").reduce(values) == 25
    assert metric(infinite="largest_finite").reduce([math.inf]) is None
    assert metric(infinite="count").reduce([math.inf]) is None


def test_decibels_follow_the_peak() -> None:
    assert decibels(0.01, data_range=1) == pytest.approx(20)
    assert decibels(0.01, data_range=2) - decibels(0.01, data_range=1) == pytest.approx(20 * math.log10(2))
    assert decibels(0, data_range=1) == math.inf


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="'largest_finit', did you mean 'largest_finite'"):
        metric(infinite="largest_finit")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="kind of value to average 'error', did you mean 'errors'"):
        pooled(averaged="error")


def test_the_corrected_value_is_the_psnr_of_the_mean_squared_error() -> None:
    parts = random_item()
    parts["composite"][1] = parts["truth"][1]  # a frame without an error is one frame of three, and no more
    view = ItemView.of_arrays(**parts)
    errors = Mse(regions=regions.REGIONS, band_radius_pixels=4).measure(view)
    found = pooled().measure(view)
    for region in regions.REGIONS:
        assert found[region].value == decibels(float(errors[region].value or 0), data_range=1.0)
        assert found[region].details == {"frames": 3}
    expected = peak_signal_noise_ratio(parts["truth"], parts["composite"], data_range=255)
    assert found["frame"].value == pytest.approx(expected, abs=1e-10)


def test_a_perfect_copy_has_the_ceiling_and_counts_like_any_other() -> None:
    assert round(10 * math.log10(12 * 255**2), 2) == CEILING_DECIBELS
    parts = random_item()
    exact = pooled().measure(ItemView.of_arrays(**{**parts, "composite": parts["truth"]}))
    assert {one.value for one in exact.values()} == {CEILING_DECIBELS}
    nearly = {**parts, "composite": parts["truth"].copy()}
    nearly["composite"][0, 0, 0, 0] ^= np.uint8(1)  # less than rounding leaves everywhere
    assert pooled("frame").measure(ItemView.of_arrays(**nearly))["frame"].value == CEILING_DECIBELS
    assert pooled().reduce([CEILING_DECIBELS, 20.0]) == pytest.approx((CEILING_DECIBELS + 20) / 2)
    assert (
        pooled("frame", ceiling_decibels=None)
        .measure(ItemView.of_arrays(**{**parts, "composite": parts["truth"]}))["frame"]
        .value
        == math.inf
    )


@pytest.mark.real
def test_gives_the_published_value() -> None:
    view = published_item()
    frames = [(pair.astype(np.float32) / np.float32(255)) for pair in (view.truth, view.composite)]
    released = np.mean([peak_signal_noise_ratio(*pair, data_range=1) for pair in zip(*frames, strict=True)])
    assert released == pytest.approx(41.16293134667157, abs=1e-9)
    # The released code subtracts in float32, which costs it the last 2e-6 dB; whole grey levels are exact.
    found = metric_of("devil/as-published", "psnr").measure(view)["frame"].value
    assert found == pytest.approx(41.16293134667157, abs=2e-6)
