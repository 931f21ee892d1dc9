from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import InputError, Rejected
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.annotated_people.base import Box, Person
from inpaintbench.wings.chalearn.annotated_people.source import CropRule, clipped, cut_out

RULE = CropRule(shortest_side=10)
CORNERS = ((100, 100), (199, 100), (100, 299), (199, 299))


def person(*points: tuple[float, float], number: int = 0) -> Person:
    joints = tuple(Joint(number, "knee", "left", float(x), float(y)) for x, y in points)
    return Person("mpii", "a.jpg", number, joints, "mpii/a.jpg")


def test_the_box_grows_by_half_and_joints_move_along() -> None:
    crop = cut_out(person(*CORNERS), [], RULE, size=(1000, 1000))
    # 99 x 199 between the outer joints; a quarter more on each side: 75.25 .. 223.75 and 50.25 .. 348.75.
    assert (crop.left, crop.top, crop.right, crop.bottom) == (75, 50, 224, 349)
    assert [(joint.x, joint.y) for joint in crop.joints] == [(25, 50), (124, 50), (25, 249), (124, 249)]


def test_head_box_and_enlarged_torso_box_belong_to_the_person() -> None:
    rule = replace(RULE, grow=0, torso_scale=2)
    tall = replace(person(*CORNERS), head_box=Box(120, 40, 150, 90), torso_box=Box(150, 150, 250, 200))
    crop = cut_out(tall, [], rule, size=(1000, 1000))
    assert (crop.left, crop.top, crop.right, crop.bottom) == (100, 40, 301, 300)


def test_it_is_clipped_to_the_picture() -> None:
    crop = cut_out(person(*CORNERS), [], replace(RULE, grow=5), size=(210, 320))
    assert (crop.left, crop.top, crop.right, crop.bottom) == (0, 0, 210, 320)
    assert crop.joints[0].x == 100


def test_a_picture_of_unknown_size_is_clipped_later_to_the_same_crop() -> None:
    unknown = cut_out(person(*CORNERS), [], RULE)
    assert clipped(unknown, size=(210, 320), shortest_side=10) == cut_out(person(*CORNERS), [], RULE, size=(210, 320))


@pytest.mark.parametrize(
    ("who", "rule", "reason"),
    [
        (person((1, 1), (2, 2)), RULE, "2 labelled joints, fewer than 3"),
        (person(*CORNERS), CropRule(), "149x299 pixels, a side is under 224"),
        (person((900, 5), (905, 5), (905, 300)), RULE, "0x"),
    ],
)
def test_refusals(who: Person, rule: CropRule, reason: str) -> None:
    with pytest.raises(Rejected, match=reason):
        cut_out(who, [], rule, size=(800, 800))


def test_others_may_span_half_of_it_and_no_more() -> None:
    rule = replace(RULE, grow=0, most_covered=0.5)
    me = person((0, 0), (99, 0), (0, 99), (99, 99))
    beside = person((0, 0), (99, 49), (50, 500), number=1)  # one joint is not in the crop
    assert cut_out(me, [beside], rule, size=(500, 500)).right == 100
    with pytest.raises(Rejected, match="person 1 span 52%"):
        cut_out(me, [person((0, 0), (99, 53), number=1)], rule, size=(500, 500))


@given(
    points=st.lists(st.tuples(st.floats(-50, 450), st.floats(-50, 350)), min_size=3, max_size=8),
    grow=st.floats(0, 2),
)
@settings(max_examples=60, deadline=None)
def test_crops_lie_in_the_picture_and_hold_every_joint_that_does(points: list[tuple[float, float]], grow: float) -> None:
    who = person(*points)
    try:
        crop = cut_out(who, [], CropRule(grow=grow, shortest_side=1), size=(400, 300))
    except Rejected:
        assert not any(0 <= x < 400 and 0 <= y < 300 for x, y in points)
        return
    assert 0 <= crop.left < crop.right <= 400
    assert 0 <= crop.top < crop.bottom <= 300
    for before, after in zip(who.joints, crop.joints, strict=True):
        assert (after.x + crop.left, after.y + crop.top) == pytest.approx((before.x, before.y))
        if 0 <= before.x < 399 and 0 <= before.y < 299:
            assert -0.5 <= after.x < crop.right - crop.left
            assert -0.5 <= after.y < crop.bottom - crop.top


@pytest.mark.parametrize(
    "bad", [{"grow": -0.1}, {"grow": float("nan")}, {"shortest_side": 0}, {"fewest_joints": 0}, {"most_covered": -1}]
)
def test_rules_that_make_no_sense(bad: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(bad))):
        CropRule(**bad)  # type: ignore[arg-type]
