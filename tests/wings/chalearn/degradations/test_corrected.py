"""The corrected effects: nothing at strength 0, blank paper stays blank, each does what it is named for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.wings.chalearn.degradations import corrected
from inpaintbench.wings.chalearn.degradations.planes import soft_ellipse

HEIGHT, WIDTH = 240, 180


def ridges(period: float = 9.0) -> npt.NDArray[np.uint8]:
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    wave = np.cos(2 * np.pi * (rows * 0.8 + columns * 0.6) / period)
    return np.rint(np.clip(127.5 + 260 * wave, 0, 255)).astype(np.uint8)


def region_of(seed: int, height: int = HEIGHT, width: int = WIDTH) -> Any:
    """Region 0..1 of an effect with that random stream."""
    rng = np.random.default_rng(seed)
    rng.random()  # of the effect's own parameter
    return soft_ellipse(height, width, scale=1.0, rng=rng) / 255


LARGE = max(range(100), key=lambda seed: int((region_of(seed) > 0.98).sum()))
"""A stream whose region holds much of the picture in full."""


def run(name: str, picture: npt.NDArray[np.uint8], *, seed: int = LARGE, strength: float = 1.0) -> tuple[Any, Any, Any]:
    """What the effect gave, what it said, and its region."""
    found, about = corrected.EFFECTS[name](picture, strength=strength, scale=1.0, rng=np.random.default_rng(seed))
    return found, about, region_of(seed)


@pytest.mark.parametrize("name", corrected.EFFECTS)
def test_effects_keep_to_their_regions(name: str) -> None:
    picture, changed = ridges(), 0
    for seed in range(6):
        found, _, region = run(name, picture, seed=seed)
        assert (found == picture)[region == 0].all()
        changed += int((found != picture)[region > 0.5].sum())
    assert changed > 5000


@pytest.mark.parametrize("name", [*corrected.EFFECTS, "lines"])
def test_blank_paper_stays_blank(name: str) -> None:
    paper = np.full((HEIGHT, WIDTH), 255, np.uint8)
    effect = corrected.EFFECTS.get(name, corrected.draw_lines)
    for strength in (1.0, 4.0):
        found, _ = effect(paper, strength=strength, scale=1.0, rng=np.random.default_rng(1))
        assert (found == 255).all()


@pytest.mark.parametrize("seed", range(4))
def test_brightness_divides_ink_even_where_it_is_black(seed: int) -> None:
    picture = ridges()
    found, about, region = run("brightness", picture, seed=seed)
    ink = 255 - picture.astype(float)
    expected = 255 - ink * (region / about["divisor"] + 1 - region)
    np.testing.assert_allclose(found, expected, atol=1.5)


def test_contrast_brings_ridges_and_valleys_together() -> None:
    picture = ridges()
    found, about, region = run("contrast", picture)
    inside = region > 0.98
    assert inside.sum() > 500
    assert found[inside].std() == pytest.approx(picture[inside].std() / about["divisor"], rel=0.15)
    assert found[inside].mean() == pytest.approx(picture[inside].mean(), abs=6)


def test_blur_and_resolution_flatten_ridges_without_aliases() -> None:
    fine = ridges(period=3.0)
    for name, own in (("blur", "sigma_pixels"), ("resolution", "divisor")):
        found, about, region = run(name, fine, strength=4.0)
        assert about[own] > 2
        inside = region > 0.98
        # Taking the nearest pixel would keep black and white; the average of a finer pattern is grey.
        assert found[inside].std() < 0.35 * fine[inside].std(), name


def test_dry_takes_ink_away_and_wet_adds_it() -> None:
    picture = ridges()
    dry, _, region = run("dry", picture)
    wet, _, _ = run("wet", picture)
    inside = region > 0.9
    assert (dry >= picture).all()
    assert dry[inside].mean() > picture[inside].mean() + 5
    assert wet[inside].mean() < picture[inside].mean() - 5


def test_wet_fills_valleys_and_dry_breaks_ridges_more_with_strength() -> None:
    picture = ridges()
    region = run("wet", picture)[2] > 0.9
    for name, sign in (("wet", -1), ("dry", 1)):
        means = [float(run(name, picture, strength=strength)[0][region].mean()) for strength in (0.0, 0.5, 1.0, 2.0, 4.0)]
        assert (sign * np.diff(means) > 0).all(), name


def test_rotation_turns_anticlockwise_about_the_middle() -> None:
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    angle = np.degrees(np.arctan2(-(rows - (HEIGHT - 1) / 2), columns - (WIDTH - 1) / 2))
    picture = np.where((angle % 40) < 20, 30, 220).astype(np.uint8)
    found, about, region = run("rotation", picture)
    expected = np.where(((angle - about["degrees"]) % 40) < 20, 30, 220)
    far = np.hypot(rows - HEIGHT / 2, columns - WIDTH / 2)
    inside = (region > 0.98) & (far > 20) & (far < 85)
    assert inside.sum() > 500
    assert (np.abs(found - expected)[inside] > 20).mean() < 0.12  # along the edges of sectors


def test_lines_run_in_all_directions_and_are_smooth() -> None:
    black = np.zeros((HEIGHT, WIDTH), np.uint8)
    slopes = []
    for seed in range(400):
        drawn, about = corrected.draw_lines(black, strength=1.0, scale=1.0, rng=np.random.default_rng(seed))
        assert (about["count"] == 0) == (not drawn.any())
        if about["count"] == 1:
            rows, columns = np.nonzero(drawn > 60)
            slopes.append(float(np.corrcoef(rows, columns)[0, 1]))
    assert min(slopes) < -0.5 < 0.5 < max(slopes)
    assert len(np.unique(drawn)) > 10


def test_composite_is_the_product() -> None:
    rng = np.random.default_rng(0)
    picture, background = rng.integers(0, 256, (9, 7), dtype=np.uint8), rng.integers(0, 256, (9, 7, 3), dtype=np.uint8)
    product = background.astype(float) * picture[..., None] / 255
    np.testing.assert_allclose(corrected.composite(picture, background), product, atol=0.5)


def test_mixing_is_exact_at_its_ends_and_where_both_are_equal() -> None:
    every = np.arange(256, dtype=np.uint8)
    one, other = np.meshgrid(every, every)
    for opacity in (0, 1, 100, 254, 255):
        share = np.full_like(one, opacity)
        found = corrected.mixed(one, other, share)
        np.testing.assert_allclose(found, (one * (opacity / 255) + other * (1 - opacity / 255)), atol=0.51)
        assert (np.diagonal(found) == every).all()


def test_white_backgrounds_leave_every_grey() -> None:
    greys = np.arange(256, dtype=np.uint8)[None]
    found = corrected.composite(greys, np.full((1, 256, 3), 255, np.uint8))
    assert (found == greys[..., None]).all()


@settings(max_examples=80, deadline=None)
@given(
    name=st.sampled_from(["lines", *corrected.EFFECTS]),
    height=st.integers(1, 70),
    width=st.integers(1, 70),
    scale=st.sampled_from([0.3, 1.0, 2.0]),
    seed=st.integers(0, 99),
)
def test_strength_0_is_nothing_and_the_greatest_still_works(name: str, height: int, width: int, scale: float, seed: int) -> None:
    picture = np.random.default_rng(seed).integers(0, 256, (height, width), dtype=np.uint8)
    effect = corrected.EFFECTS.get(name, corrected.draw_lines)
    same, _ = effect(picture, strength=0.0, scale=scale, rng=np.random.default_rng(seed))
    np.testing.assert_array_equal(same, picture)
    most, about = effect(picture, strength=4.0, scale=scale, rng=np.random.default_rng(seed))
    assert most.shape == picture.shape
    assert most.dtype == np.uint8
    assert all(np.isfinite(value) for value in about.values())
