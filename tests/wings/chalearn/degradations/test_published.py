"""The published effects against their formulas, written out pixel by pixel in floating point."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageFilter
from scipy import ndimage

from inpaintbench.wings.chalearn.degradations import published
from inpaintbench.wings.chalearn.degradations.published import published_ellipse

HEIGHT, WIDTH = 400, 275


def stripes(height: int = HEIGHT, width: int = WIDTH) -> npt.NDArray[np.uint8]:
    """Ridges of period 9 in all directions around the middle, greys between 20 and 255."""
    rows, columns = np.mgrid[:height, :width]
    far = np.hypot(rows - height / 2, columns - width / 2)
    return np.rint(137.5 + 117.5 * np.cos(2 * np.pi * far / 9)).astype(np.uint8)


def run(name: str, picture: npt.NDArray[np.uint8], *, seed: int, strength: float = 1.0) -> tuple[Any, Any, Any]:
    """What the effect gave, in floats, what it said, and its region 0..1, by the same random stream."""
    found, about = published.EFFECTS[name](picture, strength=strength, scale=1.0, rng=np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    rng.random()  # of the effect's own parameter
    region = np.asarray(published_ellipse(*picture.shape, scale=1.0, rng=rng), float) / 255
    return found.astype(float), about, region


@pytest.mark.parametrize("seed", range(4))
def test_brightness(seed: int) -> None:
    picture = stripes()
    found, about, region = run("brightness", picture, seed=seed)
    assert 1 <= about["factor"] <= 4
    dark = region * (255 - picture.astype(float)) / 255
    expected = np.clip(picture * about["factor"], 0, 255) * dark + picture * (1 - dark)
    np.testing.assert_allclose(found, expected, atol=3)


def test_a_brighter_black_stays_black() -> None:
    found, _, region = run("brightness", np.zeros((HEIGHT, WIDTH), np.uint8), seed=1)
    assert region.max() > 0.9
    assert (found == 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_contrast(seed: int) -> None:
    picture = stripes()
    found, about, region = run("contrast", picture, seed=seed)
    assert 1 <= about["divisor"] <= 5
    mean = round(float(picture.mean()))
    dark = region * (255 - picture.astype(float)) / 255
    expected = (mean + (picture.astype(float) - mean) / about["divisor"]) * dark + picture * (1 - dark)
    np.testing.assert_allclose(found, expected, atol=3)


@pytest.mark.parametrize("seed", range(4))
def test_resolution_takes_the_nearest_pixel(seed: int) -> None:
    picture = stripes()
    found, about, region = run("resolution", picture, seed=seed)
    down, across = int(HEIGHT / about["divisor"]), int(WIDTH / about["divisor"])

    def nearest(length: int, small: int) -> Any:
        once = np.minimum(((np.arange(small) + 0.5) * length / small).astype(int), length - 1)
        return once[np.minimum(((np.arange(length) + 0.5) * small / length).astype(int), small - 1)]

    changed = picture[np.ix_(nearest(HEIGHT, down), nearest(WIDTH, across))]
    # Where a pixel lies exactly between two, rounding decides.
    assert (np.abs(found - (changed * region + picture * (1 - region))) > 1.5).mean() < 0.01


@pytest.mark.parametrize("seed", range(4))
def test_blur_is_a_gaussian_in_the_region(seed: int) -> None:
    picture = stripes()
    found, about, region = run("blur", picture, seed=seed)
    smooth = ndimage.gaussian_filter(picture.astype(float), about["radius_pixels"], mode="nearest")
    error = found - (smooth * region + picture * (1 - region))
    assert np.sqrt((error**2).mean()) < 4  # Pillow's Gaussian is three boxes
    assert 0 <= about["radius_pixels"] <= 3


@pytest.mark.parametrize("seed", range(4))
def test_rotation_is_about_the_middle_with_white_corners(seed: int) -> None:
    # Rings stay rings when turned about their middle; sectors move by the angle.
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    angle = np.degrees(np.arctan2(-(rows - HEIGHT / 2 + 0.5), columns - WIDTH / 2 + 0.5))
    picture = np.where((angle % 40) < 20, 30, 220).astype(np.uint8)
    found, about, region = run("rotation", picture, seed=seed)
    turned = np.where(((angle - about["degrees"]) % 40) < 20, 30, 220)
    expected = turned * region + picture * (1 - region)
    from_middle = np.hypot(rows - HEIGHT / 2, columns - WIDTH / 2)
    inside = (from_middle > 20) & (from_middle < 130)
    assert (np.abs(found - expected)[inside] > 2).mean() < 0.05  # along the edges of sectors
    assert abs(about["degrees"]) <= 10


def test_rotation_uncovers_white() -> None:
    picture = np.zeros((60, 40), np.uint8)
    whites = [published.rotation(picture, strength=4.0, scale=0.2, rng=np.random.default_rng(seed))[0] for seed in range(20)]
    assert max(int(one.max()) for one in whites) > 200
    assert all(one[30, 20] == 0 for one in whites)


def test_fading_leaves_white_paper_white() -> None:
    paper = np.full((80, 50), 255, np.uint8)
    for name in published.EFFECTS:
        if name != "contrast":
            found, _, _ = run(name, paper, seed=2)
            assert (found == 255).all(), name


def test_lines_are_white_go_down_and_right_and_are_0_to_20() -> None:
    counts = []
    for seed in range(60):
        drawn, about = published.draw_lines(
            np.zeros((HEIGHT, WIDTH), np.uint8), strength=1.0, scale=1.0, rng=np.random.default_rng(seed)
        )
        assert set(np.unique(drawn)) <= {0, 255}
        counts.append(about["count"])
        if about["count"] == 1:
            rows, columns = np.nonzero(drawn)
            assert np.corrcoef(rows, columns)[0, 1] > 0.3
        assert (about["count"] == 0) == (not drawn.any())
    assert min(counts) <= 2
    assert max(counts) >= 18


def test_half_the_strength_draws_the_first_half_of_the_lines() -> None:
    black = np.zeros((HEIGHT, WIDTH), np.uint8)
    full, half = (published.draw_lines(black, strength=s, scale=1.0, rng=np.random.default_rng(5)) for s in (1.0, 0.5))
    assert half[1]["count"] == round(full[1]["count"] / 2) > 0
    assert (full[0][half[0] == 255] == 255).all()


def test_composite_is_the_published_formula() -> None:
    rng = np.random.default_rng(0)
    picture = rng.integers(0, 256, (40, 30), dtype=np.uint8)
    background = rng.integers(0, 256, (40, 30, 3), dtype=np.uint8)
    f = picture[..., None].astype(float)
    found = published.composite(picture, background)
    np.testing.assert_allclose(found, background * f / 255 + f * (1 - f / 255), atol=1)
    ink = Image.fromarray(picture)
    np.testing.assert_array_equal(found, np.asarray(Image.composite(Image.fromarray(background), ink.convert("RGB"), ink)))


@settings(max_examples=60, deadline=None)
@given(
    height=st.integers(1, 300),
    width=st.integers(1, 200),
    strength=st.sampled_from([0.0, 0.3, 1.0, 4.0]),
    scale=st.sampled_from([0.3, 1.0, 2.0]),
    seed=st.integers(0, 999),
)
def test_blur_is_pillows_to_the_last_bit(height: int, width: int, strength: float, scale: float, seed: int) -> None:
    picture = np.random.default_rng(seed).integers(0, 256, (height, width), dtype=np.uint8)
    found, about = published.blur(picture, strength=strength, scale=scale, rng=np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    rng.random()  # of the radius
    region, original = published_ellipse(height, width, scale=scale, rng=rng), Image.fromarray(picture)
    smooth = original.filter(ImageFilter.GaussianBlur(about["radius_pixels"]))
    np.testing.assert_array_equal(found, np.asarray(Image.composite(smooth, original, region)))


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(list(published.EFFECTS)),
    height=st.integers(1, 70),
    width=st.integers(1, 70),
    scale=st.sampled_from([0.3, 1.0, 2.0]),
    seed=st.integers(0, 99),
)
def test_strength_0_is_nothing_and_the_greatest_still_works(name: str, height: int, width: int, scale: float, seed: int) -> None:
    picture = np.random.default_rng(seed).integers(0, 256, (height, width), dtype=np.uint8)
    for effect in (published.EFFECTS[name], published.draw_lines):
        same, _ = effect(picture, strength=0.0, scale=scale, rng=np.random.default_rng(seed))
        np.testing.assert_array_equal(same, picture)
        most, about = effect(picture, strength=4.0, scale=scale, rng=np.random.default_rng(seed))
        assert most.shape == picture.shape
        assert most.dtype == np.uint8
        assert all(np.isfinite(value) for value in about.values())
