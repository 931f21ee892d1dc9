"""Noise of known deviation over photographs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from worlds import luma, moving_texture, photograph

from inpaintbench.curation.attributes.levels import Noise
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Luma
from inpaintbench.view import ItemView

CLEAN = ("coffee", "rocket", "chelsea", "astronaut", "retina")


def noise(plane: Luma) -> float:
    return Noise().measure(ItemView.of_arrays(luma=plane if plane.ndim == 3 else plane[None]))


def noisy(plane: npt.NDArray[np.uint8], sigma: float, seed: int = 0) -> Luma:
    grains = np.random.default_rng(seed).normal(0, sigma, plane.shape)
    return np.clip(np.rint(plane + grains), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("name", CLEAN)
def test_recovers_a_known_deviation(name: str) -> None:
    plane = luma(photograph(name, width=832, height=480)[None])[0]
    own = noise(plane)
    assert own < 0.6
    for sigma in (1.0, 2.0, 4.0, 8.0, 15.0):
        assert noise(noisy(plane, sigma)) == pytest.approx(sigma, rel=0.15)


def test_photographs_with_noise_of_their_own_add_up() -> None:
    plane = luma(photograph("hubble", width=832, height=480)[None])[0]
    own = noise(plane)
    for sigma in (4.0, 8.0, 15.0):
        assert noise(noisy(plane, sigma)) == pytest.approx(np.hypot(sigma, own), rel=0.15)


def test_texture_over_most_of_the_view_is_not_taken_for_noise() -> None:
    rng = np.random.default_rng(4)
    frame = np.full((1, 360, 640, 3), 120, np.uint8)
    plane = luma(moving_texture(frame, share=0.8, seed=1))[0]
    plane[90:, ::2] = rng.integers(40, 200, plane[90:, ::2].shape)
    assert noise(noisy(plane, 2.0)) == pytest.approx(2.0, rel=0.15)


def test_clipped_parts_do_not_hide_the_noise() -> None:
    plane = np.full((256, 320), 120, np.uint8)
    clip = np.clip(noisy(plane, 6.0), 16, 235)
    clip[:, :150] = 235
    assert noise(clip) == pytest.approx(6.0, rel=0.15)


def test_without_noise_nothing_is_measured() -> None:
    columns = np.linspace(30, 200, 320).round().astype(np.uint8)
    assert noise(np.tile(columns, (180, 1))) < 0.3


@pytest.mark.parametrize("size", [(16, 16), (16, 90), (33, 40)])
def test_small_views(size: tuple[int, int]) -> None:
    found = [noise(noisy(np.full((5, *size), 110, np.uint8), 5.0, seed)) for seed in range(8)]
    assert np.mean(found) == pytest.approx(5.0, rel=0.2)


def test_a_black_view_and_a_tiny_one_have_reasons() -> None:
    with pytest.raises(NotMeasurable, match="free of black and white"):
        noise(np.full((2, 64, 64), 16, np.uint8))
    with pytest.raises(NotMeasurable, match="the view is 6x40, noise needs 16"):
        noise(np.full((2, 40, 6), 100, np.uint8))
