from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from skimage.metrics import structural_similarity
from tests.eval.metrics.contract import MetricContract
from tests.eval.metrics.published import metric_of, published_item
from tests.eval.metrics.test_mse import random_item

from inpaintbench import regions
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.ssim import Ssim
from inpaintbench.eval.protocols.base import SSIM_VARIANTS
from inpaintbench.view import ItemView


class TestContract(MetricContract):
    name = "ssim"
    reach_pixels = 3


def metric(*names: str, **constants: Any) -> Ssim:
    """The metric with the constants of scikit-image's default and a range of 1, but for those given."""
    return Ssim(regions=names or regions.REGIONS, band_radius_pixels=4, **{**SSIM_VARIANTS["uniform_7"], **constants})


def reference_map(truth: np.ndarray, composite: np.ndarray, *, data_range: float, window: int = 7, ddof: int = 1) -> np.ndarray:
    """scikit-image's map of one frame, averaged over channels, without the edge."""
    _, similarity = structural_similarity(
        truth / 255,
        composite / 255,
        win_size=window,
        data_range=data_range,
        channel_axis=2,
        use_sample_covariance=bool(ddof),
        full=True,
    )
    half = window // 2
    return similarity.mean(axis=2)[half:-half, half:-half]


@pytest.mark.parametrize(("data_range", "window", "ddof"), [(1.0, 7, 1), (2.0, 7, 1), (1.0, 3, 0), (1.0, 11, 1)])
@pytest.mark.parametrize("region", regions.REGIONS)
def test_equals_scikit_image(region: str, data_range: float, window: int, ddof: int) -> None:
    parts = random_item()
    half = window // 2
    pixels = regions.select(parts["hole"], region, band_radius=4)[:, half:-half, half:-half]
    expected = np.mean(
        [
            reference_map(truth, composite, data_range=data_range, window=window, ddof=ddof)[inside].mean()
            for truth, composite, inside in zip(parts["truth"], parts["composite"], pixels, strict=True)
        ]
    )
    ssim = metric(data_range=data_range, window_pixels=window, ddof=ddof)
    assert ssim.measure(ItemView.of_arrays(**parts))[region].value == pytest.approx(expected, abs=1e-11)


@settings(max_examples=30, deadline=None)
@given(
    top=st.integers(0, 29),
    left=st.integers(0, 35),
    height=st.integers(1, 30),
    width=st.integers(1, 36),
    channels=st.sampled_from([slice(0, 3), slice(0, 1), slice(2, 3)]),
    step=st.integers(1, 255),
)
@example(top=12, left=16, height=1, width=1, channels=slice(0, 1), step=99)
def test_computing_only_around_the_change_loses_nothing(
    top: int, left: int, height: int, width: int, channels: slice, step: int
) -> None:
    truth = np.random.default_rng(3).integers(0, 256, (30, 36, 3), dtype=np.uint8)
    composite = truth.copy()
    composite[top : top + height, left : left + width, channels] += np.uint8(step)
    found = metric().similarity(truth, composite)
    np.testing.assert_allclose(found, reference_map(truth, composite, data_range=1), atol=1e-11)


def test_flat_extremes_do_not_cancel() -> None:
    truth, composite = np.full((9, 9, 3), 255, np.uint8), np.full((9, 9, 3), 254, np.uint8)
    expected = (2 * 255 * 254 + 2.55**2) / (255**2 + 254**2 + 2.55**2)
    np.testing.assert_allclose(metric().similarity(truth, composite), expected, rtol=1e-15)


def test_an_identical_frame_is_exactly_one() -> None:
    truth = random_item()["truth"]
    view = ItemView.of_arrays(truth=truth, hole=random_item()["hole"], composite=truth)
    assert {one.value for one in metric().measure(view).values()} == {1.0}


def test_a_range_of_two_flatters() -> None:
    view = ItemView.of_arrays(**random_item())
    published, corrected = (metric(data_range=size).measure(view)["frame"].value for size in (2.0, 1.0))
    assert published is not None
    assert corrected is not None
    assert published > corrected


def test_a_hole_at_the_very_edge_has_no_whole_window() -> None:
    parts = random_item()
    parts["hole"][:], parts["hole"][:, :3] = False, True
    found = metric().measure(ItemView.of_arrays(**parts))["hole"]
    assert found.value is None
    assert found.reason == "no frame has a pixel of the region 'hole' at least 3 px from the frame's edge"


def test_frames_smaller_than_the_window_are_not_measurable() -> None:
    tiny = {"truth": np.zeros((1, 6, 40, 3), np.uint8), "hole": np.ones((1, 6, 40), np.bool_)}
    with pytest.raises(NotMeasurable, match="frames of 40x6 are smaller than the window of 7x7"):
        metric().measure(ItemView.of_arrays(**tiny, composite=tiny["truth"]))


@pytest.mark.parametrize(
    ("constants", "complaint"),
    [
        *(({"window_pixels": size}, f"window_pixels is {size}, choose an odd number from 3 to 255") for size in (1, 8, 257)),
        ({"window": "round"}, "window is 'round', choose from uniform, gaussian"),
        ({"padding": "wrap"}, "padding is 'wrap', choose from valid, reflect, mirror, zero"),
        ({"sigma": 1.5}, "sigma is 1.5, choose more than 0 for a Gaussian window and 0 for a uniform one"),
        ({"window": "gaussian"}, "sigma is 0.0, choose more than 0 for a Gaussian window"),
    ],
)
def test_constants_that_make_no_sense_are_refused(constants: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        metric(**constants)


@pytest.mark.real
@pytest.mark.parametrize(
    ("protocol", "expected"), [("devil/as-published", 0.994285869365951), ("devil/corrected", 0.9918304909629476)]
)
def test_gives_the_published_value(protocol: str, expected: float) -> None:
    assert metric_of(protocol, "ssim").measure(published_item())["frame"].value == pytest.approx(expected, abs=1e-9)
