from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from skimage.metrics import structural_similarity
from tests.eval.metrics.test_mse import random_item

from inpaintbench import regions
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.metrics.ssim import Dssim
from inpaintbench.view import ItemView

CONSTANTS = {"data_range": 1.0, "sigma": 1.5, "taps": 13, "window_pixels": 11, "k1": 0.01, "k2": 0.03, "ddof": 1}


def metric(*names: str, **constants: Any) -> Dssim:
    return Dssim(regions=names or ("frame",), band_radius_pixels=4, **{**CONSTANTS, **constants})


def published_map(truth: np.ndarray, other: np.ndarray) -> np.ndarray:
    """DSSIM as scikit-image 0.13 gave it, from its description: its Gaussian reached four standard deviations."""
    x, y = truth / 255, other / 255

    def smooth(picture: np.ndarray) -> np.ndarray:
        return np.stack([gaussian_filter(picture[..., channel], 1.5, truncate=4.0) for channel in range(3)], axis=2)

    ux, uy = smooth(x), smooth(y)
    norm = 121 / 120
    vx, vy, vxy = norm * (smooth(x * x) - ux * ux), norm * (smooth(y * y) - uy * uy), norm * (smooth(x * y) - ux * uy)
    c1, c2 = 0.01**2, 0.03**2
    similarity = ((2 * ux * uy + c1) * (2 * vxy + c2)) / ((ux**2 + uy**2 + c1) * (vx + vy + c2))
    return (1 - similarity.mean(axis=2)[5:-5, 5:-5]) / 2


def test_thirteen_taps_are_those_of_the_challenge() -> None:
    parts = random_item()
    expected = np.mean([published_map(*pair).mean() for pair in zip(parts["truth"], parts["composite"], strict=True)])
    found = metric().measure(ItemView.of_arrays(**parts))["frame"]
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.details == {"frames": 3}


@pytest.mark.parametrize("ddof", [0, 1])
def test_eleven_taps_equal_scikit_image_of_today(ddof: int) -> None:
    parts = random_item()
    expected = np.mean(
        [
            (
                1
                - structural_similarity(
                    truth / 255,
                    other / 255,
                    data_range=1,
                    channel_axis=2,
                    gaussian_weights=True,
                    use_sample_covariance=bool(ddof),
                )
            )
            / 2
            for truth, other in zip(parts["truth"], parts["composite"], strict=True)
        ]
    )
    assert metric(taps=11, ddof=ddof).measure(ItemView.of_arrays(**parts))["frame"].value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("constants", "similarity"),
    [({}, 0.8069714922), ({"taps": 11}, 0.8064701675), ({"taps": 11, "ddof": 0}, 0.8065276298)],
)
def test_golden_values(constants: dict[str, int], similarity: float) -> None:
    """64x48 pixels, row i, column j: truth ((7i + 13j) mod 256) / 255, prediction 0.1 ((i + j) mod 3 - 1) off, clipped."""
    i, j = np.mgrid[:64, :48]
    truth = np.mod(7 * i + 13 * j, 256) / 255
    prediction = np.clip(truth + 0.1 * (np.mod(i + j, 3) - 1), 0, 1)
    pictures = [np.repeat(255 * one[..., None], 3, axis=2) for one in (truth, prediction)]
    found = metric(**constants).dissimilarity(*pictures).mean()
    assert found == pytest.approx((1 - similarity) / 2, abs=5e-11)


@pytest.mark.parametrize("top", [0, 3, 20, 33])
@pytest.mark.parametrize("left", [0, 25, 44])
def test_computing_only_around_the_change_loses_nothing(top: int, left: int) -> None:
    truth = np.random.default_rng(3).integers(0, 256, (36, 48, 3), dtype=np.uint8)
    other = truth.copy()
    other[top : top + 3, left : left + 4, 1] += np.uint8(77)
    np.testing.assert_allclose(metric().dissimilarity(truth, other), published_map(truth, other), atol=1e-12)


def test_each_region_is_the_mean_of_its_pixels_inside_the_edge() -> None:
    parts = random_item()
    found = metric("frame", "hole", "band").measure(ItemView.of_arrays(**parts))
    maps = [published_map(*pair) for pair in zip(parts["truth"], parts["composite"], strict=True)]
    for region in ("frame", "hole", "band"):
        pixels = regions.select(parts["hole"], region, band_radius=4)[:, 5:-5, 5:-5]
        expected = np.mean([one[inside].mean() for one, inside in zip(maps, pixels, strict=True)])
        assert found[region].value == pytest.approx(expected, abs=1e-12)


def test_a_perfect_copy_is_exactly_0_and_the_opposite_nearly_1() -> None:
    truth = random_item()["truth"]
    hole = np.ones(truth.shape[:3], np.bool_)
    assert metric().measure(ItemView.of_arrays(truth=truth, hole=hole, composite=truth))["frame"].value == 0
    stripes = np.zeros((1, 40, 40, 3), np.uint8)
    stripes[:, ::2] = 255
    value = metric().measure(ItemView.of_arrays(truth=stripes, hole=hole[:1, :40, :40], composite=255 - stripes))["frame"].value
    assert value is not None
    assert 0.99 < value <= 1


def test_what_cannot_be_measured_says_why() -> None:
    tiny = np.zeros((1, 10, 40, 3), np.uint8)
    with pytest.raises(NotMeasurable, match="frames of 40x10 are smaller than the window of 11x11"):
        metric().measure(ItemView.of_arrays(truth=tiny, hole=np.ones((1, 10, 40), np.bool_), composite=tiny))
    parts = random_item()
    parts["hole"][:] = False
    parts["hole"][:, :5] = True
    found = metric("hole").measure(ItemView.of_arrays(**parts))["hole"]
    assert (found.value, found.reason) == (None, "no frame has a pixel of the region 'hole' at least 5 px from the frame's edge")


@pytest.mark.parametrize(
    ("constants", "complaint"),
    [
        ({"taps": 12}, "taps is 12, choose an odd number from 3"),
        ({"window_pixels": 1}, "window_pixels is 1, choose an odd number from 3"),
        ({"sigma": 0.0}, "sigma is 0.0, choose a number above 0"),
    ],
)
def test_constants_that_make_no_sense_are_refused(constants: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        metric(**constants)
