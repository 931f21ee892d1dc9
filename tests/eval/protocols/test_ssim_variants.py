from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import ndimage
from skimage.metrics import structural_similarity
from tests.eval.metrics.test_mse import random_item

from inpaintbench import regions
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.ssim import Ssim
from inpaintbench.eval.protocols.base import SSIM_VARIANTS
from inpaintbench.view import ItemView

VALID = [name for name, constants in SSIM_VARIANTS.items() if constants["padding"] == "valid"]


def metric(variant: str, **constants: Any) -> Ssim:
    return Ssim(regions=regions.REGIONS, band_radius_pixels=4, **{**SSIM_VARIANTS[variant], **constants})


def pair(*, height: int = 90, width: int = 101, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A gradient with texture, and the same with noise in one part."""
    rng = np.random.default_rng(seed)
    truth = np.linspace(0, 200, width)[None, :, None] + rng.integers(0, 56, (height, width, 3))
    composite = truth.copy()
    composite[height // 4 : -3, 10:-20] += rng.integers(-40, 41, composite[height // 4 : -3, 10:-20].shape)
    return truth.astype(np.uint8), np.clip(composite, 0, 255).astype(np.uint8)


def scikit_image_map(truth: np.ndarray, composite: np.ndarray, constants: dict[str, Any]) -> np.ndarray:
    """Of both pictures in 0..1, averaged over channels, edge included."""
    gaussian = constants["window"] == "gaussian"
    window = {"gaussian_weights": True, "sigma": constants["sigma"]} if gaussian else {"win_size": constants["window_pixels"]}
    _, similarity = structural_similarity(
        truth / 255, composite / 255, data_range=constants["data_range"], channel_axis=2, full=True,
        use_sample_covariance=bool(constants["ddof"]), **window,
    )  # fmt: skip
    return similarity.mean(axis=2)


def padded_map(truth: np.ndarray, composite: np.ndarray, constants: dict[str, Any], *, mode: str) -> np.ndarray:
    """The definition in float64: weighted means by a plain correlation with the two-dimensional window."""
    size = constants["window_pixels"]
    steps = np.arange(size) - size // 2
    line = np.exp(-(steps**2) / (2 * constants["sigma"] ** 2)) if constants["sigma"] else np.ones(size)
    window = np.outer(line, line) / line.sum() ** 2

    def mean(picture: np.ndarray) -> np.ndarray:
        return np.stack([ndimage.correlate(plane, window, mode=mode, cval=0.0) for plane in np.moveaxis(picture, 2, 0)], 2)

    x, y = truth / 255, composite / 255
    bessel = size**2 / (size**2 - constants["ddof"])
    c1, c2 = (constants["k1"] * constants["data_range"]) ** 2, (constants["k2"] * constants["data_range"]) ** 2
    mean_x, mean_y = mean(x), mean(y)
    variances = bessel * (mean(x * x) - mean_x**2 + mean(y * y) - mean_y**2)
    covariance = bessel * (mean(x * y) - mean_x * mean_y)
    ratio = (2 * mean_x * mean_y + c1) * (2 * covariance + c2) / ((mean_x**2 + mean_y**2 + c1) * (variances + c2))
    return ratio.mean(axis=2)


@pytest.mark.parametrize("name", VALID)
def test_equals_scikit_image(name: str) -> None:
    truth, composite = pair()
    constants = dict(SSIM_VARIANTS[name])
    half = constants["window_pixels"] // 2
    expected = scikit_image_map(truth, composite, constants)[half:-half, half:-half]
    np.testing.assert_allclose(metric(name).similarity(truth, composite), expected, rtol=0, atol=1e-9)


def test_a_gaussian_window_takes_the_sample_covariance_as_scikit_image_does() -> None:
    truth, composite = pair()
    constants = {**SSIM_VARIANTS["wang"], "ddof": 1}
    expected = scikit_image_map(truth, composite, constants)[5:-5, 5:-5]
    np.testing.assert_allclose(metric("wang", ddof=1).similarity(truth, composite), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["uniform_7", "devil", "wang", "e2fgvi"])
def test_reflection_gives_the_edge_that_scikit_image_has(name: str) -> None:
    truth, composite = pair()
    expected = scikit_image_map(truth, composite, dict(SSIM_VARIANTS[name]))
    found = metric(name, padding="reflect").similarity(truth, composite)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("padding", "mode"), [("zero", "constant"), ("reflect", "reflect"), ("mirror", "mirror")])
@pytest.mark.parametrize("name", ["lama", "uniform_7"])
def test_padding_equals_the_definition(name: str, padding: str, mode: str) -> None:
    truth, composite = pair(height=24, width=31)
    constants = {**SSIM_VARIANTS[name], "padding": padding}
    expected = padded_map(truth, composite, constants, mode=mode)
    np.testing.assert_allclose(metric(name, padding=padding).similarity(truth, composite), expected, rtol=0, atol=1e-9)


def test_with_padding_every_pixel_of_a_region_counts() -> None:
    parts = random_item()
    parts["hole"][:], parts["hole"][:, :3] = False, True
    parts["composite"] = np.where(parts["hole"][..., None], 255 - parts["truth"], parts["truth"])
    constants = dict(SSIM_VARIANTS["lama"])
    maps = [padded_map(*frames, constants, mode="constant") for frames in zip(parts["truth"], parts["composite"], strict=True)]
    found = metric("lama").measure(ItemView.of_arrays(**parts))
    assert found["hole"].value == pytest.approx(np.mean([similarity[:3].mean() for similarity in maps]), abs=1e-9)
    assert found["frame"].value == pytest.approx(np.mean(maps), abs=1e-9)


def test_with_padding_frames_may_be_smaller_than_the_window() -> None:
    truth, composite = pair(height=20, width=34)
    view = ItemView.of_arrays(truth=truth[None], hole=np.zeros((1, 20, 34), np.bool_), composite=composite[None])
    found = metric("e2fgvi", window_pixels=25, padding="zero").measure(view)
    expected = padded_map(truth, composite, {**SSIM_VARIANTS["e2fgvi"], "window_pixels": 25}, mode="constant").mean()
    assert found["frame"].value == pytest.approx(expected, abs=1e-9)
    assert found["hole"].reason == "no frame has a pixel of the region 'hole'"
    with pytest.raises(NotMeasurable, match="frames of 34x20 are smaller than the window of 65x65"):
        metric("e2fgvi").measure(view)


@pytest.mark.parametrize("name", SSIM_VARIANTS)
def test_black_against_white_is_the_constant_alone(name: str) -> None:
    black = np.zeros((80, 80, 3), np.uint8)
    constant = (0.01 * float(SSIM_VARIANTS[name]["data_range"])) ** 2
    centre = metric(name).similarity(black, black + 255)[8:-8, 8:-8]
    np.testing.assert_allclose(centre, constant / (1 + constant), rtol=1e-9)


@pytest.mark.parametrize("name", SSIM_VARIANTS)
def test_a_perfect_copy_is_exactly_one(name: str) -> None:
    truth = pair()[0]
    assert (metric(name).similarity(truth, truth) == 1).all()


def test_larger_windows_and_ranges_flatter() -> None:
    rng = np.random.default_rng(4)
    coarse = rng.integers(30, 226, (9, 12, 3)).astype(float)
    truth = np.clip(ndimage.zoom(coarse, (16, 16, 1), order=1), 20, 235)
    composite = np.rint(truth + rng.integers(-20, 21, truth.shape)).astype(np.uint8)
    order = ["wang", "uniform_7", "devil", "e2fgvi"]
    values = [metric(name).similarity(np.rint(truth).astype(np.uint8), composite).mean() for name in order]
    assert values == sorted(values)
    assert len(set(values)) == len(values)


def test_the_constants_are_those_of_the_publications() -> None:
    """Wang et al. 2004: an 11x11 Gaussian of 1.5 pixels whose weights sum to 1 (the population's covariance); K of 0.01, 0.03."""
    told = {
        name: tuple(SSIM_VARIANTS[name][one] for one in ("window", "window_pixels", "sigma", "ddof", "data_range", "padding"))
        for name in SSIM_VARIANTS
    }
    assert told == {
        "uniform_7": ("uniform", 7, 0.0, 1, 1.0, "valid"),
        "devil": ("uniform", 7, 0.0, 1, 2.0, "valid"),
        "wang": ("gaussian", 11, 1.5, 0, 1.0, "valid"),
        "e2fgvi": ("uniform", 65, 0.0, 1, 1.0, "valid"),
        "lama": ("gaussian", 11, 1.5, 0, 1.0, "zero"),
        "torchmetrics": ("gaussian", 11, 1.5, 0, 1.0, "mirror"),
    }
    assert {(one["k1"], one["k2"]) for one in SSIM_VARIANTS.values()} == {(0.01, 0.03)}
