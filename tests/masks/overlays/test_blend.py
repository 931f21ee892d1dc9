"""Blending is exact, checked against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import MaskShapeError
from inpaintbench.masks.overlays.raster import over


def test_every_alpha_and_every_truth_are_rounded_exactly() -> None:
    alpha, truth = np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8))
    for paint in (0, 1, 127, 200, 254, 255):
        frames = np.repeat(truth[None, ..., None], 3, axis=-1)
        got = over(frames, alpha[None], np.full_like(frames, paint))[0, ..., 1]
        total = (255 - alpha.astype(int)) * truth + alpha.astype(int) * paint
        assert np.array_equal(got, (2 * total + 255) // 510)  # round to nearest; there are no ties, 255 is odd


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 255))
def test_one_pixel_is_the_rounded_fraction(truth: int, alpha: int, paint: int) -> None:
    frame = np.full((1, 1, 1, 3), truth, np.uint8)
    got = over(frame, np.full((1, 1, 1), alpha, np.uint8), np.full_like(frame, paint))
    assert got[0, 0, 0, 0] == round(Fraction((255 - alpha) * truth + alpha * paint, 255))


def test_alpha_comes_back_from_black_and_white() -> None:
    rng = np.random.default_rng(3)
    alpha = rng.integers(0, 256, (4, 20, 30), dtype=np.uint8)
    colour = rng.integers(0, 256, (4, 20, 30, 3), dtype=np.uint8)
    black = over(np.zeros_like(colour), alpha, colour)
    white = over(np.full_like(colour, 255), alpha, colour)
    assert np.array_equal(np.repeat(alpha[..., None], 3, axis=-1), 255 - (white - black))


def test_the_truth_is_kept_where_there_is_no_overlay_and_not_written_to() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 256, (3, 9, 8, 3), dtype=np.uint8)
    alpha = np.zeros((3, 9, 8), np.uint8)
    alpha[1, 2:4, 3:5] = 200
    before = truth.copy()
    got = over(truth, alpha, np.full_like(truth, 9))
    assert np.array_equal(truth, before)
    assert np.array_equal(got[alpha == 0], truth[alpha == 0])
    assert not np.array_equal(got[1], truth[1])


def test_shapes_that_do_not_fit_are_an_error() -> None:
    frames = np.zeros((2, 4, 4, 3), np.uint8)
    with pytest.raises(MaskShapeError, match="do not fit the frames"):
        over(frames, np.zeros((2, 4, 5), np.uint8), frames)
    with pytest.raises(MaskShapeError, match="do not fit the frames"):
        over(frames, np.zeros((2, 4, 4), np.uint8), frames[:1])
