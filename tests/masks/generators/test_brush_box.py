"""Brush and box masks: the law of LaMa, bins that hold, bad input."""

from __future__ import annotations

import math
from itertools import islice, pairwise
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import InputError, Rejected, UnknownNameError
from inpaintbench.masks.generators.base import Drawn
from inpaintbench.masks.generators.brush_box import PRESETS, Box, BrushBox, Stroke, boxes, strokes
from inpaintbench.masks.render import generate
from inpaintbench.view import ItemView

BINS = ([0.0, 0.2], [0.2, 0.4], [0.4, 0.6])
# Mean area of 600 masks whose lines were painted as exact capsules, measured apart from this package.
MEAN_AREA = {
    "thin-256": 0.274,
    "thin-512": 0.283,
    "medium-256": 0.222,
    "medium-512": 0.310,
    "thick-256": 0.397,
    "thick-512": 0.445,
}


def view(height: int = 512, width: int = 512, *, frames: int = 1) -> ItemView:
    return ItemView(item_id="item", frames=frames, height=height, width=width, fps=30.0, parts={})


def draw(leaf: BrushBox, seed: int = 0, *, height: int = 128, width: int = 128, frames: int = 1) -> Drawn:
    return leaf.generate(view(height, width, frames=frames), np.random.default_rng(seed))


def capsules(stroke: Stroke, mask: npt.NDArray[np.bool_]) -> None:
    """Every pixel whose centre is within half a width of a segment: the plain definition of a line with round ends."""
    size, (x, y) = len(mask), (stroke.x, stroke.y)
    for step_x, step_y, across in list(zip(stroke.steps_x, stroke.steps_y, stroke.widths, strict=True))[: stroke.segments]:
        end_x, end_y = min(max(int(x + step_x), 0), size), min(max(int(y + step_y), 0), size)
        low_x, high_x = max(0, min(x, end_x) - across), max(x, end_x) + across
        low_y, high_y = max(0, min(y, end_y) - across), max(y, end_y) + across
        part = mask[low_y:high_y, low_x:high_x]
        rows, columns = np.ogrid[low_y : low_y + part.shape[0], low_x : low_x + part.shape[1]]
        length = (end_x - x) ** 2 + (end_y - y) ** 2 or 1
        along = np.clip(((columns - x) * (end_x - x) + (rows - y) * (end_y - y)) / length, 0, 1)
        part |= np.hypot(columns - x - along * (end_x - x), rows - y - along * (end_y - y)) <= across / 2
        x, y = end_x, end_y


@pytest.mark.parametrize("name", PRESETS)
def test_mean_area_of_the_presets_is_that_of_lama(name: str) -> None:
    leaf, rng = BrushBox(preset=name), np.random.default_rng(7)
    frame = view(leaf.preset.image_size, leaf.preset.image_size)
    areas = np.array([leaf.generate(frame, rng).hole.mean() for _ in range(1200)])
    error = math.sqrt(areas.var(ddof=1) * (1 / len(areas) + 1 / 600))
    assert abs(areas.mean() - MEAN_AREA[name]) < 3 * error + 0.0005


@pytest.mark.parametrize("name", PRESETS)
def test_strokes_cover_what_exact_capsules_do(name: str) -> None:
    preset, rng = PRESETS[name], np.random.default_rng(3)
    size = preset.image_size
    painted_pixels = exact_pixels = 0
    for stroke in islice(strokes(preset, height=size, width=size, scale=1.0, rng=rng), 60):
        painted, exact = np.zeros((size, size), dtype=np.uint8), np.zeros((size, size), dtype=np.bool_)
        stroke.paint(painted)
        capsules(stroke, exact)
        assert painted.sum() <= stroke.most_pixels
        painted_pixels += int(painted.sum())
        exact_pixels += int(exact.sum())
    assert painted_pixels == pytest.approx(exact_pixels, rel=0.04)


@pytest.mark.parametrize("bounds", BINS)
def test_a_thousand_rejected_masks_lie_in_each_bin(bounds: list[float]) -> None:
    rng, frame = np.random.default_rng(6), view(128, 128)
    leaves = [BrushBox(preset=name, area=bounds, reach="rejection") for name in PRESETS]
    areas = [leaves[index % len(leaves)].generate(frame, rng).hole.mean() for index in range(1000)]
    assert bounds[0] < min(areas) <= max(areas) <= bounds[1]


@pytest.mark.parametrize("bounds", BINS)
def test_a_thousand_grown_masks_lie_in_each_bin(bounds: list[float]) -> None:
    rng, frame = np.random.default_rng(1), view()
    leaves = [BrushBox(preset=name, area=bounds) for name in PRESETS]
    areas = []
    for index in range(1000):
        drawn = leaves[index % len(leaves)].generate(frame, rng)
        areas.append(drawn.hole.mean())
        assert drawn.facts["area_fraction"] == areas[-1]
    assert min(areas) > bounds[0]
    assert max(areas) <= bounds[1]
    # The target is uniform in the bin; a last stroke goes beyond it by a part of the way to the end.
    assert np.quantile(areas, 0.2) < bounds[0] + 0.1
    assert np.quantile(areas, 0.8) > bounds[0] + 0.13


@pytest.mark.parametrize("bounds", BINS)
@pytest.mark.parametrize("name", PRESETS)
def test_rejection_gives_whole_masks_in_the_bin(name: str, bounds: list[float]) -> None:
    leaf, rng = BrushBox(preset=name, area=bounds, reach="rejection"), np.random.default_rng(2)
    size = PRESETS[name].image_size
    for _ in range(5):
        drawn = leaf.generate(view(size, size), rng)
        assert bounds[0] < drawn.hole.mean() <= bounds[1]
        times = PRESETS[name].times if drawn.facts["kind"] == "brush" else PRESETS[name].boxes.times  # type: ignore[union-attr]
        assert times[0] <= drawn.facts["strokes"] <= times[1]
        assert drawn.facts["draws"] >= 1


def test_rejection_is_the_law_without_bins_cut_to_the_bin() -> None:
    free, rng = BrushBox(preset="medium-256"), np.random.default_rng(4)
    every = np.array([free.generate(view(128, 128), rng).hole.mean() for _ in range(800)])
    inside = every[(every > 0.2) & (every <= 0.4)]
    cut = BrushBox(preset="medium-256", area=[0.2, 0.4], reach="rejection")
    facts = [cut.generate(view(128, 128), rng).facts for _ in range(300)]
    areas = np.array([fact["area_fraction"] for fact in facts])
    error = math.sqrt(areas.var() / len(areas) + inside.var() / len(inside))
    assert abs(areas.mean() - inside.mean()) < 3 * error
    assert np.mean([fact["draws"] for fact in facts]) == pytest.approx(len(every) / len(inside), rel=0.15)


@settings(max_examples=40, deadline=None)
@given(
    height=st.integers(1, 90),
    width=st.integers(1, 90),
    name=st.sampled_from(sorted(PRESETS)),
    low=st.floats(0, 0.8),
    spread=st.floats(0.01, 0.5),
    seed=st.integers(0, 99),
    reach=st.sampled_from(["grow", "rejection"]),
    scale_to_clip=st.booleans(),
)
def test_any_frame_gets_a_mask_in_its_bin_or_a_reason(
    height: int, width: int, name: str, low: float, spread: float, seed: int, reach: Any, scale_to_clip: bool
) -> None:
    bounds = [low, min(1.0, low + spread)]
    leaf = BrushBox(preset=name, area=bounds, reach=reach, scale_to_clip=scale_to_clip)
    try:
        hole = draw(leaf, seed, height=height, width=width).hole
    except Rejected as rejected:
        reason = str(rejected)
    else:
        assert hole.shape == (1, height, width)
        assert hole.dtype == np.bool_
        assert bounds[0] < hole.mean() <= bounds[1]
        return
    # Growing reaches whatever some whole number of pixels, inside the margin of boxes, can reach.
    assert reach == "rejection" or any(words in reason for words in ("no whole number", "cover at most", "no room for boxes"))


@pytest.mark.parametrize("side", [24, 25, 31, 40])
def test_boxes_about_as_large_as_the_frame_still_grow_into_every_bin(side: int) -> None:
    for low in (0.0, 0.3, 0.6):
        leaf = BrushBox(preset="medium-512", area=[low, low + 0.05], brush_probability=0, scale_to_clip=False)
        for seed in range(40):
            drawn = draw(leaf, seed, height=side, width=side)
            assert drawn.facts["kind"] == "box"
            assert low < drawn.hole.mean() <= low + 0.05


def test_bins_are_half_open() -> None:
    # Of a frame of 2 x 5 pixels only areas of 1 or 2 pixels lie in (0, 0.2]; 3 and 4 in (0.2, 0.4].
    for bounds, counts in (([0, 0.2], {1, 2}), ([0.2, 0.4], {3, 4})):
        leaf = BrushBox(preset="thin-256", area=bounds)
        assert {int(draw(leaf, seed, height=2, width=5).hole.sum()) for seed in range(60)} == counts


def test_one_pixel_is_all_or_rejected() -> None:
    assert draw(BrushBox(preset="thick-512"), height=1, width=1).hole.all()
    with pytest.raises(Rejected, match="no whole number of pixels of a 1x1 frame lies in the area bin 20-40 %"):
        draw(BrushBox(preset="thick-512", area=[0.2, 0.4]), height=1, width=1)


def test_the_same_seed_gives_the_same_mask() -> None:
    leaf = BrushBox(preset="thick-256", area=[0.2, 0.4])
    np.testing.assert_array_equal(draw(leaf, 5).hole, draw(leaf, 5).hole)
    assert not np.array_equal(draw(leaf, 5).hole, draw(leaf, 6).hole)


@pytest.mark.parametrize(("probability", "kinds"), [(0.0, {"box"}), (1.0, {"brush"}), (None, {"brush", "box"})])
def test_brush_probability_chooses_the_kind(probability: float | None, kinds: set[str]) -> None:
    leaf = BrushBox(preset="medium-256", brush_probability=probability, area=[0.2, 0.4])
    assert {draw(leaf, seed).facts["kind"] for seed in range(30)} == kinds


def test_growing_keeps_the_share_of_brush_masks() -> None:
    rng, leaf = np.random.default_rng(0), BrushBox(preset="thick-256", area=[0.4, 0.6], brush_probability=0.3)
    share = np.mean([leaf.generate(view(128, 128), rng).facts["kind"] == "brush" for _ in range(600)])
    assert abs(share - 0.3) < 3 * math.sqrt(0.3 * 0.7 / 600)


def test_boxes_stay_inside_their_margin_and_range() -> None:
    limits = PRESETS["thick-512"].boxes
    assert limits is not None
    drawn = list(islice(boxes(limits, height=512, width=512, scale=1.0, rng=np.random.default_rng(0)), 3000))
    sides = {side for box in drawn for side in (box.width, box.height)}
    assert (min(sides), max(sides)) == (30, 300)
    painted = np.zeros((512, 512), dtype=np.uint8)
    for box in drawn:
        alone = np.zeros_like(painted)
        box.paint(alone)
        assert alone.sum() == box.width * box.height == box.most_pixels
        painted |= alone
    assert cv2.boundingRect(painted) == (10, 10, 492, 492)


def test_strokes_have_the_ranges_of_the_preset_and_mirror_every_other() -> None:
    preset = PRESETS["thin-256"]
    drawn = list(islice(strokes(preset, height=256, width=256, scale=1.0, rng=np.random.default_rng(0)), 2000))
    lengths = {round(math.hypot(x, y)) for one in drawn for x, y in zip(one.steps_x, one.steps_y, strict=True)}
    widths = {width for one in drawn for width in one.widths}
    assert (min(lengths), max(lengths)) == (10, 49)
    assert (min(widths), max(widths)) == (5, 14)
    assert {one.segments for one in drawn} == {1, 2, 3, 4, 5}
    for index, one in enumerate(drawn):
        sign = -1 if index % 2 == 0 else 1
        assert all(sign * step > 0 for step in one.steps_x)


def test_lengths_scale_with_the_clip_unless_told_not_to() -> None:
    def mean(size: int, *, scale_to_clip: bool) -> float:
        leaf, rng = BrushBox(preset="thick-256", scale_to_clip=scale_to_clip), np.random.default_rng(0)
        return float(np.mean([leaf.generate(view(size, size), rng).hole.mean() for _ in range(300)]))

    full = mean(256, scale_to_clip=True)
    assert mean(512, scale_to_clip=True) == pytest.approx(full, abs=0.05)
    assert mean(512, scale_to_clip=False) < 0.5 * full


@pytest.mark.parametrize("shape", [Stroke(3, 4, [50.0], [50.0], [30], 1, 5000.0), Box(0.05, 0.07, 20, 30, 0, 600.0)])
def test_a_shape_of_size_zero_is_one_pixel(shape: Stroke | Box) -> None:
    canvas = np.zeros((64, 64), dtype=np.uint8)
    shape.paint(canvas, size=0.0)
    assert list(zip(*np.nonzero(canvas), strict=True)) == [(4, 3)]


def test_tubes_hold_the_bin_each_and_drift_keeps_the_area() -> None:
    tubes = draw(BrushBox(preset="medium-256", area=[0.2, 0.4], motion="tube", tube_frames=4), frames=10)
    areas = tubes.hole.mean(axis=(1, 2))
    assert ((areas > 0.2) & (areas <= 0.4)).all()
    assert tubes.facts["tubes"] == 3
    assert tubes.facts["area_fraction"] == pytest.approx(areas.mean())
    drifting = draw(BrushBox(preset="medium-256", area=[0.2, 0.4], motion="drifting"), frames=10).hole
    assert len({int(frame.sum()) for frame in drifting}) == 1
    assert not np.array_equal(drifting[0], drifting[9])


def test_bad_arguments_are_named() -> None:
    with pytest.raises(UnknownNameError, match="unknown brush preset 'thik-512', did you mean 'thick-512'"):
        BrushBox(preset="thik-512")
    with pytest.raises(UnknownNameError, match="unknown way to reach an area bin 'grown', did you mean 'grow'"):
        BrushBox(reach="grown")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"area is \[0.6, 0.4\], which is empty"):
        BrushBox(area=[0.6, 0.4])
    with pytest.raises(InputError, match="area bin 40%-40% is empty: a mask is in it when low < area <= high"):
        BrushBox(area=[0.4, 0.4])
    for area in ([-0.1, 0.2], [0.2, 1.1], [0.2], 0.2, [math.nan, 0.5], ["a", "b"]):
        with pytest.raises(InputError, match=r"area|share"):
            BrushBox(area=area)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"brush_probability is 1.5, give a share from 0 up to 1"):
        BrushBox(brush_probability=1.5)
    with pytest.raises(InputError, match="preset 'thin-512' has no boxes"):
        BrushBox(preset="thin-512", brush_probability=0.5)


def test_bins_out_of_reach_are_rejected_with_bin_and_preset() -> None:
    with pytest.raises(Rejected, match=r"boxes of preset 'thick-256' cover at most .* below the area bin 99-100 %"):
        draw(BrushBox(preset="thick-256", area=[0.99, 1.0]), height=256, width=256)
    with pytest.raises(Rejected, match="none of 1000 masks of preset 'medium-256' on a 32x32 frame lies in the area bin 98-99 %"):
        draw(BrushBox(preset="medium-256", area=[0.98, 0.99], reach="rejection"), height=32, width=32)
    with pytest.raises(Rejected, match="has no room for boxes inside a margin of 10 pixels"):
        draw(BrushBox(preset="thick-512", scale_to_clip=False), height=20, width=64)


def test_growing_gives_up_when_shapes_do_not_get_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inpaintbench.masks.generators.brush_box.MOST_SHAPES", 3)
    with pytest.raises(Rejected, match="3 shapes of preset 'thin-512' did not reach the area bin 80-90 % on a 128x128 frame"):
        draw(BrushBox(preset="thin-512", area=[0.8, 0.9]))


def test_paired_masks_of_other_bins_have_the_same_strokes() -> None:
    def hole(area: tuple[float, float], seed: int, *, paired: bool = True) -> np.ndarray:
        constants = {"preset": "medium-256", "area": area, **({"paired": True} if paired else {})}
        made = generate("brush_box", constants, seed=seed, frames=1, height=96, width=96).hole
        assert made is not None
        return made

    bins = ((0.0, 0.2), (0.2, 0.4), (0.4, 0.6))
    inside, apart = [], []
    for seed in range(12):
        paired, others = [hole(area, seed) for area in bins], [hole(area, seed, paired=False) for area in bins]
        assert all(low < one.mean() <= high for one, (low, high) in zip(paired, bins, strict=True))
        inside += [(small & large).sum() / small.sum() for small, large in pairwise(paired)]
        apart += [(small & large).sum() / small.sum() for small, large in pairwise(others)]
    assert np.mean(inside) > 0.97
    assert np.mean(apart) < 0.8
    with pytest.raises(InputError, match="rejection draws other shapes"):
        BrushBox(area=(0.0, 0.2), reach="rejection", paired=True)
    with pytest.raises(InputError, match="give an area"):
        BrushBox(paired=True)
