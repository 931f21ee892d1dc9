from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.metrics.wnjd import label, match


def knee(side: str | None, x: float, *, person: int = 0, y: float = 0.0, side_of: str = "person") -> Joint:
    return Joint(person, "knee", side, x, y, side_of=side_of)


def answers(reference: list[Joint], estimates: list[Joint]) -> list[float | None]:
    """The x of the estimate for each reference joint."""
    pairs = match(reference, estimates)
    assert [pair.reference for pair in pairs] == reference
    return [None if pair.estimate is None else pair.estimate.x for pair in pairs]


def test_sides_are_kept_even_where_swapping_them_would_be_nearer() -> None:
    assert answers([knee("left", 0), knee("right", 10)], [knee("left", 9), knee("right", 1)]) == [9, 1]


def test_left_as_the_viewer_sees_it_is_the_left_of_the_picture() -> None:
    seen = [knee("right", 10, side_of="image"), knee("left", 0, side_of="image")]
    assert answers(seen, [knee("left", 9), knee("right", 1)]) == [9, 1]
    assert answers(seen, [replace(one, x=one.x + 3) for one in seen]) == [13, 3]


def test_without_sides_the_nearest_pairing_counts() -> None:
    assert answers([knee(None, 0), knee(None, 10)], [knee("left", 9), knee("right", 1)]) == [1, 9]
    assert answers([knee(None, 0)], [knee("left", 9), knee("right", 1)]) == [1]
    assert answers([knee(None, 0), knee(None, 10)], [knee("left", 9)]) == [None, 9]
    assert answers([knee("left", 0), knee("right", 10)], [knee("left", 2, side_of="image")]) == [2, None]


def test_joints_in_the_middle_have_no_side() -> None:
    nose, pelvis = Joint(0, "nose", None, 3, 4), Joint(0, "pelvis", None, 5, 6)
    assert answers([nose, pelvis], [replace(nose, x=4)]) == [4, None]
    assert [label(one) for one in (nose, knee("left", 0), Joint(0, "upper_neck", None, 0, 0))] == [
        "nose",
        "left knee",
        "upper neck",
    ]


def test_people_are_paired_by_what_is_nearest_in_all_and_strangers_are_left_out() -> None:
    reference = [knee("left", 0), knee("left", 100, person=1)]
    estimates = [knee("left", 300), knee("left", 98, person=1), knee("left", 3, person=2)]
    assert answers(reference, estimates) == [3, 98]
    assert answers(reference, estimates[1:2]) == [None, 98]
    assert answers(reference, []) == [None, None]
    assert match([], estimates) == match([], estimates[:1]) == []


def test_who_shares_no_joint_with_anybody_takes_nobody_from_another() -> None:
    nose = Joint(0, "nose", None, 0, 0)
    assert answers([nose, knee("left", 50, person=1)], [knee("left", 1)]) == [None, 1]


def test_distances() -> None:
    near, lost = match([knee("left", 0), knee("right", 0)], [knee("left", 3, y=4)])
    assert near.distance_pixels == 5
    assert lost.distance_pixels == np.inf


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_estimates_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    people = [
        Joint(person, name, side, *rng.uniform(0, 100, 2))
        for person in range(3) for name in ("knee", "wrist") for side in ("left", "right")
    ]  # fmt: skip
    estimates = [replace(joint, person=2 - joint.person, x=joint.x + rng.normal()) for joint in people]
    shuffled = [estimates[index] for index in rng.permutation(len(estimates))]
    assert match(people, shuffled) == match(people, estimates)
    assert all(pair.estimate and pair.distance_pixels < 5 for pair in match(people, estimates))
