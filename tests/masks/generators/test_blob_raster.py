"""Pixels against Pillow drawing on and resizing whole canvases."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from inpaintbench.masks.blob_motion import CANVAS, PRESETS, trajectory
from inpaintbench.masks.generators.devil_blobs import Canvas, cover_size, render, sampling


def whole_canvas(points: np.ndarray, brush_width: int) -> Image.Image:
    """One stroke, pair by pair, on an empty 1-bit canvas."""
    image = Image.new("1", CANVAS)
    draw = ImageDraw.Draw(image)
    radius = brush_width // 2 - 1
    corners = [(float(x), float(y)) for x, y in points]
    for start, end in itertools.pairwise(corners):
        draw.line([start, end], fill=1, width=brush_width)
    for x, y in corners:
        draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill=1)
    return image


def pixels(image: Image.Image) -> np.ndarray:
    return np.asarray(image.convert("L")) > 0


@pytest.mark.parametrize("name", PRESETS)
def test_strokes_equal_drawing_on_the_whole_canvas(name: str) -> None:
    points, brush_width = trajectory(PRESETS[name], np.random.RandomState(11), frames=90, whole_pixels=False)
    canvas = Canvas(CANVAS)
    for moment in range(0, 90, 9):
        patch = canvas.stroke(points[moment], brush_width=brush_width)
        drawn = np.zeros(CANVAS[::-1], bool)
        height, width = patch.pixels.shape
        drawn[patch.top : patch.top + height, patch.left : patch.left + width] = patch.pixels
        assert np.count_nonzero(drawn != pixels(whole_canvas(points[moment], brush_width))) == 0


def test_strokes_over_every_edge_equal_drawing_on_the_whole_canvas() -> None:
    rng = np.random.default_rng(3)
    canvas = Canvas(CANVAS)
    for centre in [(0, 0), (1920, 1080), (0, 1080), (1920, 0), (960, 0), (0, 540), (1900, 540), (960, 1079)]:
        points = np.clip(np.add(centre, rng.normal(0, 80, (9, 2))), 0, CANVAS)
        hole = render(points[None], brush_width=201, canvas=CANVAS, order=[0], width=1920, height=1080)
        assert np.array_equal(hole[0], pixels(whole_canvas(points, 201)))
        assert canvas.stroke(points, brush_width=201).pixels.sum() == hole.sum(), "the canvas was not wiped clean"


@pytest.mark.parametrize(
    ("width", "height"), [(832, 480), (416, 240), (854, 480), (480, 832), (333, 333), (1280, 720), (2000, 1130)]
)
def test_views_equal_pillow_resizing_the_whole_canvas(width: int, height: int) -> None:
    points, brush_width = trajectory(
        PRESETS["size-high_pose-high_displacement-high"], np.random.RandomState(4), frames=30, whole_pixels=False
    )
    hole = render(points, brush_width=brush_width, canvas=CANVAS, order=[0, 14, 29], width=width, height=height)
    ratio = max(width / CANVAS[0], height / CANVAS[1])
    size = (math.ceil(round(CANVAS[0] * ratio, 9)), math.ceil(round(CANVAS[1] * ratio, 9)))
    left, top = (size[0] - width) // 2, (size[1] - height) // 2
    for frame, moment in zip(hole, (0, 14, 29), strict=True):
        whole = pixels(whole_canvas(points[moment], brush_width).resize(size, Image.Resampling.NEAREST))
        np.testing.assert_array_equal(frame, whole[top : top + height, left : left + width])


def test_the_canvas_size_itself_is_not_resized() -> None:
    rows, columns = sampling(canvas=CANVAS, width=1920, height=1080)
    np.testing.assert_array_equal(rows, np.arange(1080))
    np.testing.assert_array_equal(columns, np.arange(1920))


def test_the_published_geometry_is_854_wide_less_11_on_each_side() -> None:
    assert cover_size(CANVAS, width=832, height=480) == (854, 480)
    _, columns = sampling(canvas=CANVAS, width=832, height=480)
    whole = np.asarray(Image.fromarray(np.arange(1920, dtype=np.int32)[None]).resize((854, 1), Image.Resampling.NEAREST))[0]
    np.testing.assert_array_equal(columns, whole[11:843])


@settings(deadline=None)
@given(st.integers(1, 3000), st.integers(1, 3000), st.integers(1, 3000), st.integers(1, 3000))
def test_the_cover_is_the_smallest_that_leaves_nothing_open(across: int, down: int, width: int, height: int) -> None:
    covered = cover_size((across, down), width=width, height=height)
    assert covered[0] >= width
    assert covered[1] >= height
    assert width == covered[0] or height == covered[1]
    assert abs(covered[0] * down - covered[1] * across) < max(across, down)


def test_bytes_of_a_hole_are_0_and_1() -> None:
    points, brush_width = trajectory(
        PRESETS["size-low_pose-low_displacement-low"], np.random.RandomState(1), frames=1, whole_pixels=True
    )
    hole = render(points, brush_width=brush_width, canvas=CANVAS, order=[0], width=832, height=480)
    assert set(np.unique(hole.view(np.uint8))) == {0, 1}


def test_a_moment_shown_twice_gives_the_same_frame() -> None:
    points, brush_width = trajectory(
        PRESETS["size-low_pose-low_displacement-high"], np.random.RandomState(1), frames=3, whole_pixels=True
    )
    hole = render(points, brush_width=brush_width, canvas=CANVAS, order=[0, 1, 2, 1, 0], width=416, height=240)
    np.testing.assert_array_equal(hole, hole[::-1])
    assert not np.array_equal(hole[0], hole[2])
