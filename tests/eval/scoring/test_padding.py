from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inpaintbench.errors import InputError
from inpaintbench.eval.adapters.fitting import Padding

SIDE = st.integers(1, 40)
DIVISOR = st.integers(1, 50)


@pytest.mark.parametrize(
    ("divisor", "padding"),
    [
        (1, (0, 0, 0, 0)),
        (8, (0, 0, 0, 0)),
        (16, (0, 0, 0, 0)),
        ((432, 240), (0, 0, 16, 16)),  # STTN
        (64, (16, 16, 0, 0)),  # DFCNet
        ([432, 240], (0, 0, 16, 16)),  # as it comes out of JSON
    ],
)
def test_published_divisors_at_832x480(divisor: int | tuple[int, int], padding: tuple[int, int, int, int]) -> None:
    assert Padding.of(480, 832, divisor) == padding


def test_an_odd_pixel_goes_to_the_bottom_and_the_right() -> None:
    assert Padding.of(5, 7, (10, 8)) == Padding(top=1, bottom=2, left=1, right=2)


def test_sides_reach_the_least_ones_and_then_the_divisor() -> None:
    assert Padding.of(100, 320, 8, least=128) == Padding(top=14, bottom=14, left=0, right=0)
    assert Padding.of(160, 250, 8, least=(256, 216)) == Padding(top=28, bottom=28, left=3, right=3)


@given(SIDE, SIDE, st.one_of(DIVISOR, st.tuples(DIVISOR, DIVISOR)), st.booleans())
def test_cropping_undoes_padding_and_padded_sides_divide(
    height: int, width: int, divisor: int | tuple[int, int], colour: bool
) -> None:
    shape = (2, height, width, 3) if colour else (2, height, width)
    array = (np.arange(np.prod(shape)) % 251).astype(np.uint8).reshape(shape)
    padding = Padding.of(height, width, divisor)
    padded = padding.pad(array)
    across, down = (divisor, divisor) if isinstance(divisor, int) else divisor
    assert padded.shape[1] % down == 0
    assert padded.shape[2] % across == 0
    assert padded.shape[1] - height < down
    assert padded.shape[2] - width < across
    np.testing.assert_array_equal(padding.crop(padded), array)


def test_mirrors_with_the_edge_pixel_repeated_even_beyond_the_frame() -> None:
    row = np.array([[[1, 2, 3]]], np.uint8)
    assert Padding(0, 0, 2, 3).pad(row).tolist() == [[[2, 1, 1, 2, 3, 3, 2, 1]]]
    assert Padding(0, 0, 0, 9).pad(row).tolist() == [[[1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1]]]


def test_holes_stay_holes() -> None:
    hole = np.zeros((1, 2, 2), np.bool_)
    hole[0, 0, 0] = True
    padded = Padding(1, 0, 1, 0).pad(hole)
    assert padded.dtype == np.bool_
    assert padded.tolist() == [[[True, True, False], [True, True, False], [False, False, False]]]


@pytest.mark.parametrize("divisor", [0, -8, (8, 0), (8,), (8, 8, 8), (8.0, 8)])
def test_a_divisor_that_divides_nothing_is_refused(divisor: int) -> None:
    with pytest.raises(InputError, match="is neither a whole number from 1 to 16384 nor two of them"):
        Padding.of(480, 832, divisor)
