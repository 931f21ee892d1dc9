"""Patch masks: the share hidden, exact counts, cut cells, the second mask over a first one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import InputError, Rejected, UnknownNameError
from inpaintbench.masks.generators.base import Drawn
from inpaintbench.masks.generators.brush_box import BrushBox
from inpaintbench.masks.generators.shapes import Patches
from inpaintbench.view import ItemView


def draw(leaf: Patches | BrushBox, rng: np.random.Generator, *, height: int = 256, width: int = 256, frames: int = 1) -> Drawn:
    view = ItemView(item_id="item", frames=frames, height=height, width=width, fps=30.0, parts={})
    return leaf.generate(view, rng)


@pytest.mark.parametrize("ratio", [0.2, 0.4, 0.6])
@pytest.mark.parametrize("size", [16, 32])
def test_bernoulli_hides_the_ratio_on_average_with_its_variance(ratio: float, size: int) -> None:
    rng, leaf, masks, cells = np.random.default_rng(0), Patches(size=size, ratio=ratio), 400, (256 // size) ** 2
    areas = np.array([draw(leaf, rng).hole.mean() for _ in range(masks)])
    spread = math.sqrt(ratio * (1 - ratio) / cells)
    assert abs(areas.mean() - ratio) < 3 * spread / math.sqrt(masks)
    assert areas.std() == pytest.approx(spread, rel=0.15)


@settings(max_examples=60, deadline=None)
@given(
    height=st.integers(1, 70),
    width=st.integers(1, 70),
    size=st.integers(1, 40),
    ratio=st.floats(0, 1),
    count=st.sampled_from(["bernoulli", "exact"]),
    frames=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_cells_are_all_or_nothing_on_any_frame(
    height: int, width: int, size: int, ratio: float, count: Any, frames: int, seed: int
) -> None:
    leaf = Patches(size=size, ratio=ratio, count=count)
    if min(height, width) < size:
        with pytest.raises(Rejected, match=f"a frame of {width}x{height} is smaller than one patch"):
            draw(leaf, np.random.default_rng(seed), height=height, width=width, frames=frames)
        return
    drawn = draw(leaf, np.random.default_rng(seed), height=height, width=width, frames=frames)
    assert drawn.hole.shape == (frames, height, width)
    assert drawn.hole.dtype == np.bool_
    corners = drawn.hole[0, ::size, ::size]
    assert drawn.facts["cells"] == corners.size
    assert drawn.facts["cells_hidden"] == corners.sum()
    assert drawn.facts["area_fraction"] == pytest.approx(drawn.hole.mean())
    for row in range(height):
        np.testing.assert_array_equal(drawn.hole[0, row], [corners[row // size, x // size] for x in range(width)])
    if count == "exact":
        assert corners.sum() == round(ratio * corners.size)


@pytest.mark.parametrize("count", ["bernoulli", "exact"])
def test_ratios_of_none_and_all_are_exact(count: Any) -> None:
    rng = np.random.default_rng(0)
    assert not draw(Patches(ratio=0, count=count), rng).hole.any()
    assert draw(Patches(ratio=1, count=count), rng, height=250, width=300).hole.all()


def test_exact_choices_are_all_as_likely() -> None:
    rng, leaf = np.random.default_rng(0), Patches(size=32, ratio=0.25, count="exact")
    often = np.mean([draw(leaf, rng, height=64, width=64).hole[0, ::32, ::32] for _ in range(2000)], axis=0)
    assert np.abs(often - 0.25).max() < 4 * math.sqrt(0.25 * 0.75 / 2000)


def test_a_ratio_range_is_drawn_uniformly_for_each_mask() -> None:
    rng, leaf = np.random.default_rng(0), Patches(ratio=[0.2, 0.6], size=8)
    facts = [draw(leaf, rng).facts for _ in range(600)]
    ratios = np.array([fact["ratio"] for fact in facts])
    assert ratios.min() >= 0.2
    assert ratios.max() <= 0.6
    assert abs(ratios.mean() - 0.4) < 3 * 0.4 / math.sqrt(12 * 600)
    assert ratios.std() == pytest.approx(0.4 / math.sqrt(12), rel=0.1)
    assert np.corrcoef(ratios, [fact["area_fraction"] for fact in facts])[0, 1] > 0.95


def test_patches_over_a_brush_mask_hide_their_ratio_of_what_it_left() -> None:
    rng = np.random.default_rng(3)
    first, second, ratio = BrushBox(preset="thick-256", area=[0.2, 0.6]), Patches(size=16, ratio=0.4), 0.4
    gaps = []
    for _ in range(400):
        hole = draw(first, rng).hole
        rest = draw(second, rng).hole & ~hole
        gaps.append(rest.mean() - ratio * (1 - hole.mean()))
    assert abs(np.mean(gaps)) < 3 * np.std(gaps) / math.sqrt(len(gaps))
    assert np.std(gaps) < math.sqrt(ratio * (1 - ratio) / 256)


def test_tubes_are_cells_in_space_and_time() -> None:
    drawn = draw(Patches(ratio=0.5, size=16, motion="tube", tube_frames=3), np.random.default_rng(0), frames=8)
    for start, end in ((0, 3), (3, 6), (6, 8)):
        assert (drawn.hole[start:end] == drawn.hole[start]).all()
    # Independent cells at a ratio of a half agree half of the time.
    agree = [(drawn.hole[a, ::16, ::16] == drawn.hole[b, ::16, ::16]).mean() for a, b in ((0, 3), (3, 6), (0, 6))]
    assert all(abs(share - 0.5) < 4 * 0.5 / 16 for share in agree)
    assert drawn.facts["cells"] == 3 * 256
    assert drawn.facts["cells_hidden"] == sum(drawn.hole[start, ::16, ::16].sum() for start in (0, 3, 6))
    assert drawn.facts["area_fraction"] == pytest.approx(drawn.hole.mean())


def test_one_frame_is_static_whatever_the_motion() -> None:
    holes = [draw(Patches(motion=motion), np.random.default_rng(0)).hole for motion in ("static", "drifting", "tube")]
    np.testing.assert_array_equal(holes[0], holes[1])
    np.testing.assert_array_equal(holes[0], holes[2])


def test_bad_arguments_are_named() -> None:
    for ratio in (-0.1, 1.1, math.nan, [0.2, 1.5], [0.2, math.nan], "half", [0.1, 0.2, 0.3]):
        with pytest.raises(InputError, match="ratio is"):
            Patches(ratio=ratio)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"ratio is \[0.6, 0.2\], which is empty"):
        Patches(ratio=[0.6, 0.2])
    for size in (0, -4, 2.5, True):
        with pytest.raises(InputError, match=r"size is .*, give a whole number from 1 upwards"):
            Patches(size=size)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="unknown patch count 'exac', did you mean 'exact'"):
        Patches(count="exac")  # type: ignore[arg-type]
