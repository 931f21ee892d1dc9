from __future__ import annotations

import numpy as np
import pytest
from worlds import PHOTOGRAPHS, photograph, sensor_noise

from inpaintbench.eval.exemplar.filling import continue_repeats, shifts_of

NONE = np.zeros((90, 110), np.bool_)


def tiled(down: int, across: int) -> np.ndarray:
    tile = photograph("coffee", width=across, height=down)
    return np.tile(tile, (-(-90 // down), -(-110 // across), 1))[:90, :110]


def holed() -> np.ndarray:
    hole = NONE.copy()
    hole[20:70, 30:75] = hole[80:, 100:] = True
    return hole


@pytest.mark.parametrize(("down", "across"), [(9, 13), (22, 27)])
def test_finds_the_periods_and_continues_along_them(down: int, across: int) -> None:
    truth, hole = tiled(down, across), holed()
    found = shifts_of(np.where(hole[..., None], np.uint8(0), truth), hole)
    assert {(down, 0), (0, across)} <= set(found)
    assert all(shift[0] % down == 0 and shift[1] % across == 0 for shift in found)
    filled, rest = continue_repeats(np.where(hole[..., None], np.uint8(0), truth), hole)
    assert not rest.any()
    np.testing.assert_array_equal(filled, truth)


def test_periods_show_through_noise() -> None:
    assert {(9, 0), (0, 13)} <= set(shifts_of(sensor_noise(tiled(9, 13)[None], sigma=2, seed=1)[0], holed()))


@pytest.mark.parametrize("name", sorted(PHOTOGRAPHS))
def test_photographs_do_not_repeat_themselves(name: str) -> None:
    picture, hole = photograph(name, width=110, height=90), holed()
    assert shifts_of(picture, hole) == []
    filled, rest = continue_repeats(picture, hole)
    np.testing.assert_array_equal(filled, picture)
    np.testing.assert_array_equal(rest, hole)


def test_smooth_and_plain_pictures_do_not_repeat_themselves() -> None:
    ramp = np.broadcast_to(np.linspace(0, 255, 110).astype(np.uint8)[None, :, None], (90, 110, 3))
    assert shifts_of(ramp, holed()) == shifts_of(np.full((90, 110, 3), 7, np.uint8), holed()) == []
    assert shifts_of(np.zeros((1, 2, 3), np.uint8), np.array([[True, False]])) == []
