"""The elastic field against a straightforward filter, and its warp against plain interpolation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter, map_coordinates

from inpaintbench.errors import InputError
from inpaintbench.types import item_rng
from inpaintbench.wings.chalearn.fingerprints.fields import elastic_field, warp


def plain_field(height: int, width: int, seed: int, strength: float, reach: float) -> list[np.ndarray]:
    rng = item_rng(seed, "fingerprints.elastic", "")
    noise = (np.frombuffer(rng.bytes(height * width), np.uint8).reshape(height, width) / 127.5 - 1 for _ in "xy")
    return [strength * gaussian_filter(white, reach, mode="constant") for white in noise]


def picture(height: int, width: int) -> np.ndarray:
    y, x = np.mgrid[:height, :width]
    return np.rint(127.5 + 127.5 * np.sin(x / 3) * np.cos(y / 4)).astype(np.uint8)


@pytest.mark.parametrize(("height", "width"), [(400, 275), (275, 400), (61, 33)])
def test_the_default_field_is_simards(height: int, width: int) -> None:
    longer = max(height, width)
    expected = plain_field(height, width, 7, 2 * longer, 0.08 * longer)
    for found, plain in zip(elastic_field(height, width, seed=7), expected, strict=True):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, plain, atol=0.003 * plain.std() + 1 / 1024)


def test_points_of_the_default_canvas_move_by_about_five_and_a_half_pixels() -> None:
    fields = np.array([elastic_field(400, 275, seed=seed) for seed in range(20)])
    away = np.hypot(fields[:, 0], fields[:, 1])
    assert 5.0 < np.sqrt(np.mean(away**2)) < 6.0
    assert 12 < away.max() < 24


def test_strength_scales_the_field_and_seeds_differ() -> None:
    once, twice = elastic_field(80, 60, seed=1, strength=50, reach=6), elastic_field(80, 60, seed=1, strength=100, reach=6)
    np.testing.assert_allclose(2 * once[0], twice[0], atol=2 / 1024)
    assert np.array_equal(once[1], elastic_field(80, 60, seed=1, strength=50, reach=6)[1])
    other = elastic_field(80, 60, seed=2, strength=50, reach=6)
    assert np.abs(other[0] - once[0]).mean() > 0.5
    assert np.abs(once[0] - once[1]).mean() > 0.5


@given(height=st.integers(1, 40), width=st.integers(1, 40), colour=st.booleans())
@settings(max_examples=25, deadline=None)
def test_no_strength_gives_the_same_bytes_back(height: int, width: int, colour: bool) -> None:
    before = np.random.default_rng(0).integers(0, 256, (height, width, 3) if colour else (height, width), dtype=np.uint8)
    assert np.array_equal(warp(before, elastic_field(height, width, seed=0, strength=0.0)), before)


def test_the_warp_is_bilinear_and_white_outside() -> None:
    before = picture(90, 70)
    dx, dy = elastic_field(90, 70, seed=3, strength=180, reach=6)
    y, x = np.mgrid[:90, :70]
    expected = map_coordinates(before.astype(float), [y + dy, x + dx], order=1, mode="grid-constant", cval=255)
    found = warp(before, (dx, dy)).astype(float)
    # positions are rounded to 1/32 of a pixel, and neighbours differ by up to 255
    assert np.abs(found - expected).max() <= 255 * 2 / 64 + 0.5
    assert np.sqrt(np.mean((found - expected) ** 2)) < 1.0


def test_a_whole_shift_moves_whole_pixels() -> None:
    before = picture(20, 30)
    shift = np.full((20, 30), 4, np.float32), np.full((20, 30), -3, np.float32)
    expected = np.full((20, 30), 7, np.uint8)
    expected[3:, :-4] = before[:-3, 4:]
    assert np.array_equal(warp(before, shift, outside=7), expected)


def test_colours_are_warped_alike() -> None:
    before = picture(50, 40)
    field = elastic_field(50, 40, seed=4)
    grey = warp(before, field)
    colours = warp(np.repeat(before[..., None], 3, axis=2), field)
    assert np.array_equal(colours, np.repeat(grey[..., None], 3, axis=2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"strength": -1.0}, "strength of an elastic field is -1.0"),
        ({"strength": float("nan")}, "strength of an elastic field is nan"),
        ({"reach": 0.0}, "reach of an elastic field is 0.0"),
        ({"reach": float("inf")}, "reach of an elastic field is inf"),
    ],
)
def test_impossible_fields_are_named(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        elastic_field(20, 20, seed=0, **arguments)


def test_sizes_must_fit() -> None:
    with pytest.raises(InputError, match="0x20"):
        elastic_field(20, 0, seed=0)
    with pytest.raises(InputError, match="picture is 20x10 and the field 10x20"):
        warp(np.zeros((10, 20), np.uint8), elastic_field(20, 10, seed=0))
