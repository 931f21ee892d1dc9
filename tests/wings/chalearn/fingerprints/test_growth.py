"""Growth: a pixel-by-pixel reference, the same bits from every backend, borders, degenerate canvases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench import lazily
from inpaintbench.errors import InputError, MissingExtraError
from inpaintbench.wings.chalearn.fingerprints.master import PASSES, Backend, Bank, bank, grow, select_backend

BACKENDS: tuple[Backend, ...] = ("numpy", "numba")
Canvas = tuple[np.ndarray, np.ndarray]


def needs(backend: str) -> None:
    if backend != "numpy":
        pytest.importorskip(backend)


def canvas(seed: int, *, height: int, width: int, share: float = 0.05) -> Canvas:
    """Kernels that change smoothly, and points anywhere, also at the very edge."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    degrees = (rng.uniform(0, 180) + 40 * np.sin(x / 30) + 30 * np.cos(y / 25)).astype(int) % 180
    numbers = (np.clip(rng.integers(0, 100) + x // 10, 0, 99) * 180 + degrees).astype(np.int32)
    return numbers, rng.random((height, width)) < share


def grown_by_definition(numbers: np.ndarray, points: np.ndarray, made: Bank) -> np.ndarray:
    """Pixel by pixel, in fractions of whole numbers as the rule is worded."""
    height, width = points.shape
    near, ridges = points.copy(), points.copy()
    for number in range(PASSES):
        if number < 3:
            rows, columns = np.nonzero(near)
            for y, x in zip(rows, columns, strict=True):
                near[max(0, y - made.border) : y + made.border + 1, max(0, x - made.border) : x + made.border + 1] = True
        answers = {}
        for y in range(made.border, height - made.border):
            for x in range(made.border, width - made.border):
                if number >= 3 or near[y, x]:
                    window = ridges[y - made.border : y + made.border + 1, x - made.border : x + made.border + 1]
                    own = made.kernels[numbers[y, x], :, : made.size]
                    answers[y, x] = int(own[window].sum(dtype=int))
        ridges = np.zeros_like(points)
        low, high = min(answers.values(), default=0), max(answers.values(), default=0)
        for (y, x), answer in answers.items():
            ridges[y, x] = 100 * (answer - low) > 55 * (high - low)
    return ridges


@pytest.mark.parametrize("backend", BACKENDS)
def test_ridges_are_those_of_the_definition(backend: Backend) -> None:
    needs(backend)
    made = bank(330.0)
    for seed, share in ((0, 0.05), (1, 0.001)):
        numbers, points = canvas(seed, height=41, width=50, share=share)
        grown = grow(numbers, points, made, backend=backend)
        assert grown.dtype == np.bool_
        assert grown.any()
        assert np.array_equal(grown, grown_by_definition(numbers, points, made))


@given(
    seed=st.integers(0, 2**32),
    height=st.integers(61, 90),
    width=st.integers(61, 90),
    share=st.sampled_from([0.0, 0.0005, 0.1, 1.0]),
)
@settings(max_examples=12, deadline=None)
def test_every_backend_gives_the_same_bits(seed: int, height: int, width: int, share: float) -> None:
    numbers, points = canvas(seed, height=height, width=width, share=share)
    plain = grow(numbers, points, bank(500.0), backend="numpy")
    for backend in BACKENDS[1:]:
        needs(backend)
        assert np.array_equal(plain, grow(numbers, points, bank(500.0), backend=backend))


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_border_stays_empty_and_the_smallest_canvas_grows(backend: Backend) -> None:
    needs(backend)
    numbers, points = canvas(5, height=31, width=61, share=0.3)
    grown = grow(numbers, points, bank(500.0), backend=backend)
    inside = np.zeros_like(grown)
    inside[15:-15, 15:-15] = True
    assert not grown[~inside].any()
    # A single row of pixels, each filtered by its own kernel: not all above 55 % of their range.
    assert 0 < grown[15].sum() < 31


@pytest.mark.parametrize("backend", BACKENDS)
def test_without_points_there_are_no_ridges(backend: Backend) -> None:
    needs(backend)
    numbers, _ = canvas(6, height=61, width=61)
    assert not grow(numbers, np.zeros((61, 61), np.bool_), bank(500.0), backend=backend).any()


def test_ridges_of_one_kernel_are_straight_and_evenly_spaced() -> None:
    numbers = np.full((130, 130), 49 * 180 + 90, np.int32)  # upright, 8.7 pixels apart
    points = np.random.default_rng(8).random((130, 130)) < 0.02
    grown = grow(numbers, points, bank(500.0))[15:-15, 15:-15]
    spectrum = np.abs(np.fft.fft2(grown - grown.mean()))
    row, column = np.unravel_index(int(spectrum[:, :50].argmax()), (100, 50))
    assert min(row, 100 - row) <= 1
    assert 100 / column == pytest.approx(1 / 0.115, rel=0.08)
    assert math.isclose(grown.mean(), 0.45, abs_tol=0.08)


def test_passes_read_no_caller_memory() -> None:
    numbers, points = canvas(9, height=61, width=70)
    kept = numbers.copy(), points.copy()
    grow(numbers, points, bank(500.0))
    assert np.array_equal(numbers, kept[0])
    assert np.array_equal(points, kept[1])


def test_auto_takes_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazily, "has_numba", lambda: False)
    assert select_backend("auto") == "numpy"
    with pytest.raises(MissingExtraError, match="pip install"):
        grow(*canvas(0, height=61, width=61), bank(500.0), backend="numba")
    monkeypatch.setattr(lazily, "has_numba", lambda: True)
    assert select_backend("auto") == "numba"


def test_unknown_backends_are_refused() -> None:
    unknown: Any = "fortran"
    with pytest.raises(InputError, match="no growth backend 'fortran'"):
        select_backend(unknown)
