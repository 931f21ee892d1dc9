from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inpaintbench.eval.metrics import ssim as similarity_maps
from inpaintbench.eval.metrics.ssim import Ssim, is_worth_compiling, similarity_map
from inpaintbench.eval.protocols.base import SSIM_VARIANTS

numba = pytest.importorskip("numba", reason="numba is not installed")


def pictures(kind: str, *, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    noise = rng.integers(0, 256, (2, height, width, 3), dtype=np.uint8)
    flat = np.zeros_like(noise[0]), np.full_like(noise[0], 255)
    return {"noise": (noise[0], noise[1]), "extremes": flat, "white": (flat[1], flat[1]), "equal": (noise[0], noise[0])}[kind]


def by_filters(ssim: Ssim, first: np.ndarray, second: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    monkeypatch.setattr("inpaintbench.eval.metrics.ssim.is_worth_compiling", lambda *_, **__: False)
    return ssim._similarity(first, second)


def compiled_map(ssim: Ssim, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return similarity_map(first, second, window_pixels=ssim.window_pixels, taps=ssim.taps, c1=ssim.c1, c2=ssim.c2)


def metric(variant: str, **constants: Any) -> Ssim:
    return Ssim(regions=("frame",), band_radius_pixels=4, **{**SSIM_VARIANTS[variant], **constants})


@pytest.mark.parametrize("kind", ["noise", "extremes", "white", "equal"])
@pytest.mark.parametrize(("window", "size"), [(3, (3, 3)), (7, (40, 7)), (7, (31, 53)), (11, (11, 200)), (11, (64, 48))])
def test_uniform_windows_give_the_bits_of_the_filters(
    kind: str, window: int, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = pictures(kind, height=size[0], width=size[1])
    ssim = metric("uniform_7", window_pixels=window)
    np.testing.assert_array_equal(compiled_map(ssim, first, second), by_filters(ssim, first, second, monkeypatch))


@pytest.mark.parametrize("kind", ["noise", "extremes", "white"])
@pytest.mark.parametrize("size", [(11, 11), (20, 31), (15, 600)])  # narrower and wider than a tile
def test_weighted_windows_equal_the_filters(kind: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = pictures(kind, height=size[0], width=size[1])
    ssim = metric("wang")
    expected = by_filters(ssim, first, second, monkeypatch)
    np.testing.assert_allclose(compiled_map(ssim, first, second), expected, atol=1e-9)


def test_it_is_compiled_once_that_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity_maps, "_pixels_asked", 0)
    picture = np.zeros((2000, 2000, 3), np.uint8)
    assert [is_worth_compiling(picture, window_pixels=7, taps=None) for _ in range(3)] == [False, False, True]
    assert not is_worth_compiling(picture, window_pixels=65, taps=None)  # its sums do not fit into 32 bits
    assert is_worth_compiling(picture, window_pixels=11, taps=np.ones(11) / 11)


def test_without_numba_the_filters_do_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity_maps, "has_numba", lambda: False)
    assert not is_worth_compiling(np.zeros((9000, 9000, 3), np.uint8), window_pixels=7, taps=None)
    assert not is_worth_compiling(np.zeros((9, 9, 3), np.uint8), window_pixels=11, taps=np.ones(11) / 11)
