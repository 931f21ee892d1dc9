import cv2
import numpy as np
import pytest

from inpaintbench.curation.sources.embedded import BEND_HEIGHT, GRAVITY, fill, lay_shoreline

VIEW = (120, 80)


@pytest.fixture(scope="module")
def photograph():
    noise = np.random.default_rng(0).integers(0, 256, (200, 300, 3), np.uint8)
    return np.asarray(cv2.GaussianBlur(noise, (0, 0), 3))


def shifts(*offsets, scale=1.0):
    found = np.tile(np.diag([scale, scale, 1.0]), (len(offsets), 1, 1))
    found[:, :2, 2] = offsets
    return found


def flooded(photograph, path, *, share=0.4, seed=0):
    shoreline = lay_shoreline(path, view=VIEW, share=share, rng=np.random.default_rng(seed))
    return fill(shoreline, photograph=photograph, middle=150.0, rng=np.random.default_rng(seed + 1))


def painted(water, photograph, transform, *, seconds=0.0):
    frame = np.asarray(cv2.warpAffine(photograph, transform[:2], VIEW, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP))
    before = frame.copy()
    hole = water.paint(frame, transform=transform, seconds=seconds)
    return before, frame, hole


@pytest.mark.parametrize("share", [0.1, 0.35, 0.45, 0.8])
@pytest.mark.parametrize("scale", [1.0, 1.7])
def test_the_share_is_what_was_asked_and_what_is_painted(photograph, share, scale):
    path = shifts((10, 5), (40, 25), (70, 45), scale=scale)
    water = flooded(photograph, path, share=share)
    masks = np.stack([painted(water, photograph, transform)[2] for transform in path])
    assert masks.mean() == pytest.approx(share, abs=0.015)
    assert water.shoreline.share(path, view=VIEW) == pytest.approx(masks.mean(), abs=0.005)


def test_land_is_untouched_and_the_extent_is_exact(photograph):
    path = shifts((60, 40))
    before, frame, mask = painted(flooded(photograph, path), photograph, path[0])
    np.testing.assert_array_equal(frame[~mask], before[~mask])
    assert (frame[mask] != before[mask]).any(axis=1).mean() > 0.98


def test_the_shore_is_irregular_within_its_bounds(photograph):
    path = shifts((60, 40))
    water = flooded(photograph, path)
    rows = painted(water, photograph, path[0])[2].argmax(axis=0) + 40
    assert np.ptp(rows) >= 2
    assert rows.min() >= water.shoreline.highest_row() - 2
    assert np.ptp(rows) <= 2 * BEND_HEIGHT * 80 * np.sum(water.shoreline.bends[:, 0] ** -0.5) + 2


def test_the_water_is_fixed_to_the_scene(photograph):
    path = shifts((60, 40), (68, 44))
    water = flooded(photograph, path)
    _, here, mask = painted(water, photograph, path[0], seconds=0.5)
    _, there, moved = painted(water, photograph, path[1], seconds=0.5)
    np.testing.assert_array_equal(mask[4:, 8:], moved[:-4, :-8])
    same = mask[4:, 8:]
    difference = np.abs(here[4:, 8:].astype(int) - there[:-4, :-8])[same]
    assert difference.mean() < 1


def test_the_water_moves_in_time(photograph):
    path = shifts((60, 40))
    water = flooded(photograph, path)
    _, first, mask = painted(water, photograph, path[0], seconds=0)
    _, later, same = painted(water, photograph, path[0], seconds=1 / 30)
    np.testing.assert_array_equal(mask, same)
    assert np.abs(first.astype(int) - later)[mask].mean() > 2


def test_waves_obey_the_dispersion_relation_of_deep_water(photograph):
    path = shifts((60, 40))
    water = flooded(photograph, path)
    periods = 2 * np.pi / np.sqrt(GRAVITY * water.waves[:, 0])
    x, near = np.meshgrid(np.linspace(60, 180, 40, dtype=np.float32), np.linspace(0.45, 0.8, 30, dtype=np.float32))
    for index, period in enumerate(periods):
        one = type(water)(**{**vars(water), "waves": water.waves[index : index + 1]})
        start, half, whole = (np.stack(one._slopes(x, near, seconds)) for seconds in (0.0, period / 2, period))
        np.testing.assert_allclose(half, -start, atol=1e-4)
        np.testing.assert_allclose(whole, start, atol=1e-4)


def test_a_view_without_any_water_stays_as_it_is(photograph):
    water = flooded(photograph, shifts((60, 100)))
    before, frame, mask = painted(water, photograph, shifts((60, 0))[0])
    assert not mask.any()
    np.testing.assert_array_equal(frame, before)
