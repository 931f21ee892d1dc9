"""The leaf: published numbers, playing order, determinism, and what corrected blobs promise."""

from __future__ import annotations

from itertools import chain, cycle, islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inpaintbench.errors import InputError, Rejected, UnknownNameError
from inpaintbench.masks.generators import GENERATORS
from inpaintbench.masks.generators.devil_blobs import (
    LEAST_DISPLACEMENT_PIXELS,
    PRESETS,
    DevilBlobs,
    playing_order,
    published_seeds,
)
from inpaintbench.masks.measure import EXPECTED_INTERVALS, check_labels, measure
from inpaintbench.types import Hole, item_rng
from inpaintbench.view import ItemView

STIFF_SMALL = "size-low_pose-low_displacement-low"


def view(frames: int = 90, *, width: int = 832, height: int = 480) -> ItemView:
    return ItemView(item_id="item", frames=frames, height=height, width=width, fps=30.0, parts={})


def published(
    preset: str, *, frames: int = 90, width: int = 832, height: int = 480, index: int = 0, reverse: bool = False
) -> Hole:
    leaf = DevilBlobs(preset=preset, behaviour="as-published", index=index, reverse=reverse)
    return leaf.generate(view(frames, width=width, height=height), np.random.default_rng(0)).hole


def corrected(preset: str, seed: int, **options: bool) -> Hole:
    leaf = DevilBlobs(preset=preset, behaviour="corrected", **options)
    return leaf.generate(view(), item_rng(seed, "masks", preset)).hole


@pytest.mark.parametrize(
    ("preset", "pixels"),
    [
        (STIFF_SMALL, (65470, 65470, 65470)),
        ("size-low_pose-low_displacement-high", (65470, 65470, 63193)),
        ("size-high_pose-low_displacement-low", (152310, 154285, 145764)),
    ],
)
def test_hole_pixels_are_those_of_the_published_masks(preset: str, pixels: tuple[int, ...]) -> None:
    hole = published(preset, width=1920, height=1080)
    for frame, wanted in zip((0, 45, 89), pixels, strict=True):
        # Newer Pillow draws the edges of strokes a little differently.
        assert np.count_nonzero(hole[frame]) == pytest.approx(wanted, rel=0.002)


def test_the_seed_list_is_the_published_one() -> None:
    assert published_seeds()[:3] == (2357136044, 2546248239, 3071714933)
    assert len(set(published_seeds())) == 1000


def test_presets_that_differ_in_displacement_start_from_one_shape() -> None:
    for low in (name for name in PRESETS if name.endswith("displacement-low")):
        high = low.replace("displacement-low", "displacement-high")
        first = published(low, frames=1, index=7)
        np.testing.assert_array_equal(first, published(high, frames=1, index=7))


def test_as_published_ignores_the_rng_and_tells_masks_apart() -> None:
    leaf = DevilBlobs(preset=STIFF_SMALL, behaviour="as-published", index=1)
    one, other = (leaf.generate(view(3), np.random.default_rng(seed)).hole for seed in (1, 2))
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, published(STIFF_SMALL, frames=3, index=2))


def test_reverse_plays_the_last_frame_first() -> None:
    preset = "size-low_pose-low_displacement-high"
    forward = published(preset, width=208, height=120)
    np.testing.assert_array_equal(published(preset, width=208, height=120, reverse=True), forward[::-1])
    np.testing.assert_array_equal(published(preset, frames=45, width=208, height=120, reverse=True), forward[:44:-1])
    np.testing.assert_array_equal(corrected(preset, 3, reverse=True), corrected(preset, 3)[::-1])


def test_longer_clips_play_to_and_fro_and_shorter_ones_stop_early() -> None:
    preset = "size-low_pose-low_displacement-high"
    base, long = (published(preset, frames=frames, width=208, height=120) for frames in (90, 200))
    np.testing.assert_array_equal(long[:90], base)
    np.testing.assert_array_equal(long[90:178], base[88:0:-1])
    np.testing.assert_array_equal(long[178:], base[:22])
    np.testing.assert_array_equal(published(preset, frames=1, width=208, height=120), base[:1])


@given(st.integers(0, 400), st.integers(1, 95), st.booleans())
def test_the_playing_order_is_a_ping_pong(frames: int, base_frames: int, reverse: bool) -> None:
    forward = range(base_frames)[:: -1 if reverse else 1]
    period = list(chain(forward, forward[-2:0:-1]))
    assert playing_order(frames, base_frames=base_frames, reverse=reverse) == list(islice(cycle(period), frames))


@pytest.mark.parametrize("preset", PRESETS)
def test_corrected_blobs_keep_the_promise_of_their_preset(preset: str) -> None:
    for seed in range(2):
        hole = corrected(preset, seed)
        forward, backward = measure(hole), measure(hole[::-1])
        assert check_labels(preset, forward, width=832, height=480) == {}
        assert forward.empty_frames == 0
        least, most = EXPECTED_INTERVALS[preset].centroid_displacement_pixels
        for measured in (forward, backward):
            assert measured.centroid_displacement_pixels is not None
            # Blobs are accepted by every fifth frame; between two of these they can go a little farther.
            assert max(least, LEAST_DISPLACEMENT_PIXELS) <= measured.centroid_displacement_pixels <= 1.05 * most
        for half in (hole[:46], hole[:43:-1]):
            moved = measure(half).centroid_displacement_pixels
            assert moved is not None
            assert moved >= LEAST_DISPLACEMENT_PIXELS / 2


def test_published_low_displacement_blobs_can_be_static_and_corrected_ones_move_in_every_step() -> None:
    points = [
        DevilBlobs(preset=STIFF_SMALL, behaviour="as-published", index=index).trajectory(np.random.default_rng(0)).points
        for index in range(40)
    ]
    assert any(not np.diff(track, axis=0).any() for track in points)
    moving = DevilBlobs(preset=STIFF_SMALL).trajectory(np.random.default_rng(0)).points
    assert np.abs(np.diff(moving, axis=0)).max(axis=(1, 2)).min() > 0


def test_corrected_is_a_function_of_the_rng_alone() -> None:
    one, same, other = (
        DevilBlobs(preset=STIFF_SMALL, index=index).generate(view(10), np.random.default_rng(seed)).hole
        for index, seed in ((0, 4), (9, 4), (0, 5))
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_corrected_blobs_do_not_depend_on_the_clip() -> None:
    leaf = DevilBlobs(preset="size-high_pose-low_displacement-high")
    large, small = (
        leaf.generate(view(frames, width=width, height=height), np.random.default_rng(6)).hole
        for frames, width, height in ((60, 832, 480), (45, 416, 240))
    )
    assert small[44].mean() == pytest.approx(large[44].mean(), rel=0.02)
    overlap = large[44, ::2, ::2] & small[44]
    assert overlap.sum() > 0.97 * small[44].sum()


def test_corrected_blobs_of_one_index_start_from_different_shapes_in_different_presets() -> None:
    low, high = "size-low_pose-low_displacement-low", "size-low_pose-low_displacement-high"
    assert not np.array_equal(corrected(low, 0)[0], corrected(high, 0)[0])


@pytest.mark.parametrize("behaviour", ["as-published", "corrected"])
@pytest.mark.parametrize(("frames", "base_frames"), [(1, 1), (7, 1), (12, 5), (3, 120)])
def test_any_length_fits_the_clip(behaviour: str, frames: int, base_frames: int) -> None:
    leaf = GENERATORS.get("devil_blobs")(preset=STIFF_SMALL, behaviour=behaviour, base_frames=base_frames)
    hole = leaf.generate(view(frames, width=97, height=61), np.random.default_rng(0)).hole
    assert hole.shape == (frames, 61, 97)
    assert hole.dtype == np.bool_
    assert hole.any(axis=(1, 2)).all()


def test_bad_arguments_are_named() -> None:
    with pytest.raises(UnknownNameError, match="unknown blob preset 'small', choose from"):
        DevilBlobs(preset="small")
    with pytest.raises(UnknownNameError, match="unknown mask behaviour 'corected', did you mean 'corrected'"):
        DevilBlobs(preset=STIFF_SMALL, behaviour="corected")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"mask index 1000 is outside 0\.\.999"):
        DevilBlobs(preset=STIFF_SMALL, behaviour="as-published", index=1000)
    with pytest.raises(InputError, match="base_frames is 0"):
        DevilBlobs(preset=STIFF_SMALL, base_frames=0)
    with pytest.raises(InputError, match="has no room"):
        DevilBlobs(preset=STIFF_SMALL, canvas=(832, 480))


def test_an_impossible_promise_is_rejected_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inpaintbench.masks.generators.devil_blobs._MOST_DRAWS", 5)
    # On a canvas this large no blob of the preset covers enough to count as large.
    leaf = DevilBlobs(preset="size-high_pose-low_displacement-low", canvas=(4800, 2700))
    with pytest.raises(
        Rejected, match=r"no blob like size-high_pose-low_displacement-low in 5 draws on a canvas of \(4800, 2700\)"
    ):
        leaf.generate(view(2), np.random.default_rng(0))
