"""Limbs cover what they should, edges are soft by a pixel, and light comes from one side."""

from __future__ import annotations

import numpy as np
import pytest

from inpaintbench.curation.sources.figure import Canvas, Cloth, Limb, Part, covers, paint

RED, BLUE = (200.0, 0.0, 0.0), (0.0, 0.0, 200.0)


def part(*limbs: Limb, pattern: str = "plain", second: tuple[float, float, float] = RED) -> Part:
    return Part("limb", limbs, Cloth(RED, second, pattern, 8), depth=0)


def painted(piece: Part, *, background: float = 0) -> Canvas:
    canvas = np.full((60, 80, 3), background, np.float32)
    paint(canvas, piece, weave=np.zeros((60, 80), np.float32))
    return canvas


def test_a_limb_covers_its_capsule() -> None:
    red = painted(part(Limb((20, 30), (60, 30), 8, 8)))[..., 0] > 0
    y, x = np.mgrid[:60, :80]
    distance = np.hypot(x - np.clip(x, 20, 60), y - 30)
    assert np.array_equal(red, distance < 8.5)


def test_a_limb_tapers() -> None:
    red = painted(part(Limb((20, 30), (60, 30), 12, 4)))[..., 0] > 0
    assert [int(red[:, column].sum()) // 2 for column in (20, 40, 60)] == pytest.approx([12, 8, 4], abs=1)


def test_light_falls_from_the_upper_left() -> None:
    canvas = painted(part(Limb((40, 30), (40, 30), 20, 20)))[..., 0]
    assert canvas[20, 33] > 1.3 * canvas[42, 52] > 0


def test_patterns_use_the_second_colour() -> None:
    for pattern in ("stripes", "checks", "weave"):
        canvas = painted(part(Limb((10, 30), (70, 30), 10, 10), pattern=pattern, second=BLUE))
        assert canvas[30, 20:60, 0].max() > 100
        assert canvas[30, 20:60, 2].max() > 60
    assert not painted(part(Limb((10, 30), (70, 30), 10, 10), second=BLUE))[..., 2].any()


def test_parts_cast_a_shadow_and_leave_the_rest_alone() -> None:
    canvas = painted(part(Limb((15, 15), (15, 15), 6, 6)), background=100)
    assert canvas[15, 24, 1] < 99
    assert (canvas[40:, 40:] == 100).all()


def test_parts_outside_the_canvas_leave_it_alone() -> None:
    assert not painted(part(Limb((400, 30), (500, 30), 8, 8))).any()


def test_limbs_of_one_part_flow_together() -> None:
    two = part(Limb((30, 30), (30, 30), 10, 10), Limb((47, 30), (47, 30), 10, 10))
    apart = [painted(part(limb))[..., 0] > 0 for limb in two.limbs]
    together = painted(two)[..., 0] > 0
    assert (together >= apart[0] | apart[1]).all()
    assert together.sum() > (apart[0] | apart[1]).sum()


@pytest.mark.parametrize(
    ("point", "inside"), [((20, 30), True), ((60, 36), True), ((67.5, 30), True), ((68.5, 30), False), ((40, 39), False)]
)
def test_points_are_covered_where_limbs_are(point: tuple[float, float], inside: bool) -> None:
    assert covers(part(Limb((20, 30), (60, 30), 8, 8)), *point) == inside
