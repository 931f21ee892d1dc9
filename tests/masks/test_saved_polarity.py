"""What the values of saved masks mean."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inpaintbench.errors import Rejected
from inpaintbench.masks.saved_folder import Polarity, are_objects, read_hole_from


def picture(*, inside: int, outside: int, frames: int = 2) -> npt.NDArray[np.uint8]:
    """A square of one value in the middle of another."""
    values = np.full((frames, 20, 30), outside, np.uint8)
    values[:, 6:12, 10:18] = inside
    return values


SQUARE = picture(inside=1, outside=0) == 1


@pytest.mark.parametrize(
    ("inside", "outside", "polarity", "guessed"),
    [
        (255, 0, "white_is_hole", True),
        (0, 255, "black_is_hole", True),
        (240, 12, "white_is_hole", True),
        (3, 0, "white_is_hole", False),
    ],
)
def test_polarity_is_told_from_where_the_hole_lies(inside: int, outside: int, polarity: str, guessed: bool) -> None:
    read = read_hole_from(picture(inside=inside, outside=outside))
    assert np.array_equal(read.hole, SQUARE)
    assert (read.polarity, read.guessed) == (polarity, guessed)


def test_a_stated_polarity_is_no_guess() -> None:
    values = picture(inside=255, outside=0)
    white, black = (read_hole_from(values, polarity=polarity) for polarity in ("white_is_hole", "black_is_hole"))
    assert np.array_equal(white.hole, SQUARE)
    assert np.array_equal(black.hole, ~SQUARE)
    assert not white.guessed
    assert not black.guessed


@given(share=st.floats(0.25, 0.75), polarity=st.sampled_from(["white_is_hole", "black_is_hole"]))
def test_scattered_holes_are_not_guessed(share: float, polarity: Polarity) -> None:
    values = np.where(np.random.default_rng(0).random((3, 60, 60)) < share, 255, 0).astype(np.uint8)
    with pytest.raises(Rejected, match=r"cannot tell whether white or black.*state `polarity`"):
        read_hole_from(values)
    assert read_hole_from(values, polarity=polarity).hole.sum() in (np.sum(values == 255), np.sum(values == 0))


def test_one_object_of_several() -> None:
    values = picture(inside=2, outside=0)
    values[:, 0:3, 0:3] = 1
    assert read_hole_from(values).objects == (1, 2)
    assert np.array_equal(read_hole_from(values).hole, values > 0)
    assert np.array_equal(read_hole_from(values, objects=2).hole, SQUARE)
    assert np.array_equal(read_hole_from(values, objects=2, polarity="black_is_hole").hole, ~SQUARE)
    with pytest.raises(Rejected, match="no object 7 in the masks, they hold the values 0, 1, 2"):
        read_hole_from(values, objects=7)


def test_void_is_no_object_and_grey_edges_are_no_numbers() -> None:
    with_void = picture(inside=1, outside=0)
    with_void[:, 5, 10:18] = 255
    assert np.array_equal(read_hole_from(with_void).hole, with_void == 1)
    soft = picture(inside=255, outside=0)
    soft[:, 5, 10:18], soft[:, 4, 10:18] = 128, 5
    assert np.array_equal(read_hole_from(soft).hole, soft > 127)
    assert np.array_equal(read_hole_from(soft, threshold=0).hole, soft > 0)


@pytest.mark.parametrize(
    ("present", "objects"),
    [
        ([0, 1], True),
        ([0, 1, 2, 31], True),
        ([1, 255], True),
        ([0, 255], False),
        ([0], False),
        ([0, 3, 128, 255], False),
        ([0, 32], False),
    ],
)
def test_numbers_are_told_from_grey_levels(present: list[int], objects: bool) -> None:
    assert are_objects(present) == objects


@pytest.mark.parametrize(("level", "colour"), [(0, "black"), (255, "white")])
def test_masks_of_one_colour_say_nothing(level: int, colour: str) -> None:
    with pytest.raises(Rejected, match=rf"\(all pixels are {colour}\): state `polarity`"):
        read_hole_from(np.full((2, 8, 8), level, np.uint8))
