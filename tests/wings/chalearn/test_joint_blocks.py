"""Blocks around joints: every rule of the challenge, on images of any shape."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import InputError, Rejected
from inpaintbench.masks.generators.base import Drawn
from inpaintbench.types import Joint
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.joint_blocks import JointBlocks, size_limits

NAMES = ("wrist", "elbow", "shoulder", "knee", "nose")


def joints_at(*points: tuple[float, float]) -> tuple[Joint, ...]:
    """Joints at (x, y)."""
    return tuple(Joint(0, NAMES[i % len(NAMES)], None, x, y) for i, (x, y) in enumerate(points))


def view(joints: tuple[Joint, ...], *, width: int, height: int, frames: int = 1) -> ItemView:
    return ItemView(item_id="item", frames=frames, height=height, width=width, fps=1.0, parts={"joints": lambda: joints})


def generate(joints: tuple[Joint, ...], *, width: int, height: int, seed: int = 0, frames: int = 1, **options: object) -> Drawn:
    leaf = JointBlocks(**options)  # type: ignore[arg-type]
    return leaf.generate(view(joints, width=width, height=height, frames=frames), np.random.default_rng(seed))


images = st.tuples(st.integers(230, 700), st.integers(230, 700))
places = st.lists(st.tuples(st.floats(-0.2, 1.2), st.floats(-0.2, 1.2)), min_size=1, max_size=16)


@settings(max_examples=80, deadline=None)
@given(size=images, shares=places, seed=st.integers(0, 2**32), margin=st.integers(0, 100), replacement=st.booleans())
def test_every_rule_holds(
    size: tuple[int, int], shares: list[tuple[float, float]], seed: int, margin: int, replacement: bool
) -> None:
    width, height = size
    # One joint in the middle has room in every image of these sizes.
    joints = joints_at(*((x * width, y * height) for x, y in [*shares, (0.5, 0.5)]))
    drawn = generate(joints, width=width, height=height, seed=seed, margin=margin, replacement=replacement)
    blocks, facts = drawn.facts["block_triples"], drawn.facts
    assert 1 <= facts["blocks"] == len(blocks) <= facts["blocks_wanted"] <= 10
    inside = [joint for joint in joints if 0 <= round(joint.x) < width and 0 <= round(joint.y) < height]
    if not replacement:
        assert len(blocks) <= len(inside)
    pile = np.zeros((height, width), int)
    for row, column, side in blocks:
        assert 20 * side > min(width, height) > 3 * side
        assert margin <= row <= height - margin - side
        assert margin <= column <= width - margin - side
        pile[row : row + side, column : column + side] += 1
        middle = row + (side - 1) / 2, column + (side - 1) / 2
        assert min(max(abs(joint.y - middle[0]), abs(joint.x - middle[1])) for joint in inside) <= 1.5 * side
    assert pile.max() == 1
    assert np.array_equal(drawn.hole, pile[None] > 0)
    assert facts["area_fraction"] == pytest.approx(drawn.hole.mean())
    assert facts["area_fraction"] <= 0.7
    assert json.loads(json.dumps(facts)) == facts


@settings(max_examples=60, deadline=None)
@given(side=st.integers(1, 5000))
def test_sizes_are_strictly_between_their_limits(side: int) -> None:
    least, most = size_limits(side, 1 / 20, 1 / 3)
    assert 20 * (least - 1) <= side < 20 * least
    assert 3 * most < side <= 3 * (most + 1)


def test_triples_are_row_column_size() -> None:
    # A wide, low image: only columns can be that large.
    drawn = generate(joints_at((900, 150)), width=1000, height=300, margin=50, most_blocks=1)
    (row, column, side), *rest = drawn.facts["block_triples"]
    assert not rest
    assert row < 250 < column
    assert drawn.hole[0, row, column]
    assert drawn.hole[0].sum() == side * side


def test_numbers_and_sizes_are_uniform_where_there_is_room() -> None:
    grid = joints_at(*((x, y) for x in range(200, 2900, 300) for y in range(200, 2900, 300)))
    wanted, sides = [], []
    for seed in range(600):
        facts = generate(grid, width=3000, height=3000, seed=seed, smallest=0.01, largest=0.03).facts
        wanted.append(facts["blocks_wanted"])
        sides.append(facts["block_triples"][0][2])
    counts = np.bincount(wanted, minlength=11)[1:]
    assert ((counts - 60) ** 2 / 60).sum() < 27.9  # chi squared, 9 degrees of freedom: 0.1 %
    assert (min(sides), max(sides)) == (31, 89)
    assert np.mean(sides) == pytest.approx(60, abs=4 * 17 / math.sqrt(600))


def test_joints_are_inside_or_just_outside_their_block() -> None:
    offsets = []
    for seed in range(400):
        facts = generate(joints_at((250, 350)), width=500, height=700, seed=seed, margin=0, most_blocks=1).facts
        row, column, side = facts["block_triples"][0]
        offsets.append([(350 - row - (side - 1) / 2) / side, (250 - column - (side - 1) / 2) / side])
    assert np.abs(offsets).max() <= 1
    assert np.abs(offsets).max(axis=0).min() > 0.9
    # Both coordinates are within half a side in a quarter of the cases.
    assert np.mean(np.abs(offsets).max(axis=1) < 0.5) == pytest.approx(0.25, abs=0.09)


def test_the_number_shrinks_when_there_is_no_room() -> None:
    crowded = [generate(joints_at((130, 130)), width=260, height=260, seed=seed).facts for seed in range(40)]
    assert any(facts["blocks"] < facts["blocks_wanted"] for facts in crowded)
    assert all(facts["blocks"] >= 1 for facts in crowded)


def test_a_place_is_found_whenever_there_is_one() -> None:
    # Room for nothing but the smallest block, near the last of many joints.
    joints = joints_at(*((5.0, 5.0 + i) for i in range(40)), (150, 150))
    for seed in range(20):
        facts = generate(joints, width=300, height=300, seed=seed, margin=142, most_blocks=1).facts
        assert facts["block_triples"][0][2] == 16


def test_the_area_limit_holds() -> None:
    for seed in range(30):
        facts = generate(joints_at((300, 300), (200, 400)), width=600, height=600, seed=seed, margin=0, largest_area=0.02).facts
        assert facts["area_fraction"] <= 0.02


def test_hidden_joints_are_those_under_the_hole() -> None:
    joints = joints_at((250, 350), (260, 350), (120, 120), (250, 250), (251, 356), (330, 500))
    for seed in range(20):
        drawn = generate(joints, width=500, height=700, seed=seed)
        under = [joint.name for joint in joints if drawn.hole[0, round(joint.y), round(joint.x)]]
        assert drawn.facts["joints_hidden"] == len(under)
        assert drawn.facts["hidden_joint_names"] == sorted(set(under))


def test_all_frames_have_the_same_blocks_and_the_same_seed_the_same_bytes() -> None:
    joints = joints_at((250, 350), (200, 300))
    one, other = (generate(joints, width=500, height=700, frames=frames, seed=3) for frames in (1, 4))
    assert other.hole.shape == (4, 700, 500)
    assert (other.hole == one.hole).all()
    assert one.facts == other.facts == generate(joints, width=500, height=700, seed=3).facts
    assert one.facts != generate(joints, width=500, height=700, seed=4).facts


@pytest.mark.parametrize("joints", [(), joints_at((math.nan, 5), (5, math.nan)), joints_at((-3, 50), (50, 9999), (math.inf, 3))])
def test_images_without_joints_are_rejected(joints: tuple[Joint, ...]) -> None:
    with pytest.raises(Rejected, match="no joints inside the image of 400x500"):
        generate(joints, width=400, height=500)


def test_joints_outside_do_not_count() -> None:
    joints = joints_at((250, 350), (math.nan, 350), (-50, 350))
    assert generate(joints, width=500, height=700, most_blocks=1).facts["blocks"] == 1


@pytest.mark.parametrize(("width", "height"), [(180, 240), (240, 180), (210, 900), (1, 1)])
def test_images_without_room_for_the_margin_are_rejected(width: int, height: int) -> None:
    with pytest.raises(Rejected, match=f"image {width}x{height} is too small"):
        generate(joints_at((0, 0)), width=width, height=height)


def test_joints_near_the_edge_alone_are_rejected() -> None:
    with pytest.raises(Rejected, match="none of the 2 joints has room"):
        generate(joints_at((2, 2), (1990, 5)), width=2000, height=1000, smallest=0.01, largest=0.02)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": -1}, "margin is -1"),
        ({"most_blocks": 0}, "most_blocks is 0"),
        ({"smallest": 0.5}, "block sizes 0.5-0.333333 are empty"),
        ({"largest": 1.5}, "block sizes"),
        ({"largest_area": 0}, "largest_area is 0"),
    ],
)
def test_bad_constants_are_errors(options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        JointBlocks(**options)  # type: ignore[arg-type]
