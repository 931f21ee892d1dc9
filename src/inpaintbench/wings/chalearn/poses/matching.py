"""Pairs of estimated and reference joints, and WNJD of each joint: which parts of people a method loses.

The tables by joint are those of ChaLearn LAP 2018, Table 7.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from inpaintbench.types import Joint, Score

# The metric whose scores hold joints.
METRIC = "wnjd"


class Pair(NamedTuple):
    """A reference joint and the estimate for it."""

    reference: Joint
    estimate: Joint | None
    """None where the person or the joint was not found."""

    @property
    def distance_pixels(self) -> float:
        """Between the two, infinite without an estimate."""
        if self.estimate is None:
            return math.inf
        return math.hypot(self.estimate.x - self.reference.x, self.estimate.y - self.reference.y)


def label(joint: Joint) -> str:
    """A joint with its side where it has one: ``left knee``, ``upper neck``."""
    return " ".join(filter(None, (joint.side, joint.name.replace("_", " "))))


def match(reference: Sequence[Joint], estimates: Sequence[Joint]) -> list[Pair]:
    """One pair for each reference joint, in their order.

    People are paired so that the sum of their mean distances is smallest; estimated people beyond those of the reference are left
    out. Within a person joints answer each other by name and side. Where the reference means the viewer's left and right, the one
    of two estimates that lies farther left in the picture is the left one. Where the side of a joint that people have two of is
    not stated, or cannot be told so, joints are paired so that they lie nearest.
    """
    references, found = _by_person(reference), _by_person(estimates)
    pairs: dict[int, Pair] = {}
    for one, other in _people(references, found):
        for index, estimate in _within(references[one], [joint for _, joint in found.get(other, [])]):
            pairs[index] = Pair(reference[index], estimate)
    return [pairs[index] for index in range(len(reference))]


Numbered = list[tuple[int, Joint]]


def _by_person(joints: Iterable[Joint]) -> dict[int, Numbered]:
    people: dict[int, Numbered] = {}
    for index, joint in enumerate(joints):
        people.setdefault(joint.person, []).append((index, joint))
    return people


def _people(references: Mapping[int, Numbered], found: Mapping[int, Numbered]) -> list[tuple[int, int]]:
    """Each person of the reference with a found one, or with -1."""
    ones, others = list(references), list(found)
    if not others or len(ones) * len(others) <= 1:
        return [(one, others[0] if others else -1) for one in ones]
    from scipy.optimize import linear_sum_assignment

    costs = np.array([[_cost(references[one], found[other]) for other in others] for one in ones])
    # Whoever shares no joint with anybody is the last resort, at a finite price.
    finite = costs[np.isfinite(costs)]
    dearest = (float(finite.max()) if finite.size else 0.0) * (len(ones) + 1) + 1
    rows, columns = linear_sum_assignment(np.where(np.isfinite(costs), costs, dearest))
    chosen = {ones[row]: others[column] for row, column in zip(rows, columns, strict=True)}
    return [(one, chosen.get(one, -1)) for one in ones]


def _cost(reference: Numbered, found: Numbered) -> float:
    joints = dict(reference)
    pairs = [Pair(joints[index], estimate) for index, estimate in _within(reference, [joint for _, joint in found])]
    distances = [pair.distance_pixels for pair in pairs if pair.estimate is not None]
    return math.fsum(distances) / len(distances) if distances else math.inf


def _within(reference: Numbered, found: Sequence[Joint]) -> list[tuple[int, Joint | None]]:
    """The joints of one person: index in the reference and the estimate."""
    names = dict.fromkeys(joint.name for _, joint in reference)
    return [
        pair
        for name in names
        for pair in _of_name(
            [one for one in reference if one[1].name == name], [joint for joint in found if joint.name == name]
        )
    ]  # fmt: skip


def _of_name(reference: Numbered, found: Sequence[Joint]) -> list[tuple[int, Joint | None]]:
    sided = all(joint.side for joint in (*(one for _, one in reference), *found))
    whose = {joint.side_of for joint in (*(one for _, one in reference), *found)}
    if sided and len(whose) == 1:
        by_side = {joint.side: joint for joint in found}
        return [(index, by_side.get(joint.side)) for index, joint in reference]
    if sided and len(found) == 2 and {joint.side_of for _, joint in reference} == {"image"}:
        left, right = sorted(found, key=lambda joint: joint.x)
        return [(index, left if joint.side == "left" else right) for index, joint in reference]
    return _nearest(reference, found)


def _nearest(reference: Numbered, found: Sequence[Joint]) -> list[tuple[int, Joint | None]]:
    """The way to pair at most two with at most two that is shortest in all."""
    slots: list[Joint | None] = [*found, *[None] * max(0, len(reference) - len(found))]

    def length(order: Sequence[Joint | None]) -> float:
        pairs = [Pair(joint, estimate) for (_, joint), estimate in zip(reference, order, strict=True)]
        return math.fsum(pair.distance_pixels for pair in pairs if pair.estimate is not None)

    best = min(permutations(slots, len(reference)), key=lambda order: (order.count(None), length(order)))
    return [(index, estimate) for (index, _), estimate in zip(reference, best, strict=True)]


class JointMean(NamedTuple):
    """One joint of one method."""

    mean: float
    items: int
    """Items in which it was compared."""


def joint_means(scores: Sequence[Score]) -> dict[str, dict[str, JointMean]]:
    """Method -> joint (``left knee``, ``pelvis``) -> mean over the items in which it was found, joints in alphabetical order.

    Within an item people count together, so an item weighs the same however many it shows. Joints that were never compared are
    not there.
    """
    values: dict[str, dict[str, list[float]]] = {}
    for score in scores:
        if score.metric == METRIC and score.value is not None:
            of_method = values.setdefault(score.method, {})
            for joint, value in score.details["by_joint"].items():
                of_method.setdefault(joint, []).append(float(value))
    return {
        method: {joint: JointMean(math.fsum(found) / len(found), len(found)) for joint, found in sorted(joints.items())}
        for method, joints in values.items()
    }
