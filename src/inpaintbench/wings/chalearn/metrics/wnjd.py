"""Weakly normalised joint distance: does a repaired picture still show the pose, and which parts of people does a method lose?

Estimated joints are paired with those of a reference. The tables by joint are those of ChaLearn LAP 2018, Table 7.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any, Literal, NamedTuple, Unpack, get_args

import numpy as np

from inpaintbench.catalogue import Deviation, known_name
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where
from inpaintbench.types import Joint, Score
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.poses import Of, estimator

Reference = Literal["annotation", "estimate"]
MissingJoints = Literal["leave_out", "diagonal"]
# Joints with their index in a list.
Numbered = list[tuple[int, Joint]]


class Wnjd(SingleRegionMetric):
    """Mean distance between the joints that a pose estimator finds in a repaired picture and where they are, divided by the
    picture's diagonal.

    ChaLearn LAP 2018, track 1: ``(1/N) sum ||O_i - P_i|| / ||(w, h)||`` over the N labelled joints (the printed sum begins at 0,
    which would be one joint too many). 0 where nothing moved. The details have the number of joints and the value of each, with
    its side (``by_joint``).

    A labelled joint that the estimator does not know (``unknown``) is left out of the mean and counted; where no joint is left,
    the item has no value. Joints that it does not find (``missing``) are counted too.

    Args:
        pose: the estimator, as ``inpaintbench.wings.chalearn.poses.estimator`` takes it; the run may name another.
        reference: ``"annotation"``: the labelled joints. ``"estimate"``: what the same estimator finds in the original, of the
            labelled joints where there are any, of all where there are none; its own errors then count less.
        missing_joints: ``"leave_out"``: joints that are not found are left out of the mean, so that a method which destroys hard
            poses gains by it, and a picture in which nobody is found has no value. ``"diagonal"``: they are as far off as a
            picture is wide from corner to corner, 1, which no joint inside it exceeds.

    Raises:
        UnknownNameError: no such reference, or no such way with missing joints.
    """

    name = "wnjd"
    deviations = (
        Deviation(
            "pose estimator",
            "a stacked hourglass, which the organisers ran and which finds sixteen joints in whatever it is shown",
            "Keypoint R-CNN, 17 joints of COCO; `--pose` names another",
            "numbers of another estimator, which compare with none that were printed",
        ),
        Deviation(
            "joints that are not found",
            "there are none",
            "are left out of the mean and counted; a picture in which nobody is found has no value",
            "means are over fewer joints and pictures; the counts stand in the details",
            {"missing_joints": "leave_out"},
        ),
    )
    version = "1"
    higher_is_better = False
    decimals = 4
    needs = ("truth", "composite", "joints")

    def __init__(self, *, pose: str, reference: Reference, missing_joints: MissingJoints, **where: Unpack[Where]) -> None:
        known_name("reference of WNJD", reference, get_args(Reference))
        known_name("way with missing joints", missing_joints, get_args(MissingJoints))
        super().__init__(**where)
        self.pose, self.reference, self.missing_joints = pose, reference, missing_joints

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """Those of the estimator that the protocol names."""
        return ("keypoint-rcnn",) if constants["pose"] == "keypoint_rcnn" else ()

    def measurement(self, view: ItemView) -> Measurement:
        """A value from 0 for the frame.

        Raises:
            NotMeasurable: a clip, no labelled joints to compare with, or no answer of the estimator.
        """
        if view.frames != 1:
            raise NotMeasurable(f"joints are labelled for single pictures, this item has {view.frames} frames")
        reference = self._reference_joints(view)
        pairs = match(reference, self._estimated(view, "prediction"))
        known = estimator(self._pose(view)).joint_names
        comparable = [pair for pair in pairs if pair.reference.name in known]
        compared = [pair for pair in comparable if pair.estimate is not None]
        counts = {
            "joints": len(compared),
            "missing": len(comparable) - len(compared),
            "unknown": len(pairs) - len(comparable),
        }
        if not comparable:
            return Measurement(None, "the estimator knows none of the labelled joints", counts)
        diagonal, most, counted = math.hypot(view.width, view.height), math.inf, compared
        if self.missing_joints == "diagonal":
            most, counted = diagonal, comparable
        if not counted:
            return Measurement(None, "the estimator finds none of the joints in the repaired picture", counts)
        distances = [min(pair.distance_pixels, most) for pair in counted]
        by_joint: dict[str, list[float]] = {}
        for pair, distance in zip(counted, distances, strict=True):
            by_joint.setdefault(label(pair.reference), []).append(distance / diagonal)
        means = {joint: math.fsum(shares) / len(shares) for joint, shares in sorted(by_joint.items())}
        return Measurement(math.fsum(distances) / (len(counted) * diagonal), details={**counts, "by_joint": means})

    def _reference_joints(self, view: ItemView) -> tuple[Joint, ...]:
        labelled = view.joints if view.has("joints") else ()
        if self.reference == "annotation":
            if not labelled:
                raise NotMeasurable("the item has no labelled joints")
            return labelled
        joints = self._estimated(view, "truth")
        if not joints:
            raise NotMeasurable("the estimator finds nobody in the original")
        if not labelled:
            return joints
        pairs = [pair for pair in match(labelled, joints) if pair.estimate is not None]
        if not pairs:
            raise NotMeasurable("the estimator finds none of the labelled joints in the original")
        return tuple(pair.estimate for pair in pairs if pair.estimate is not None)

    def _estimated(self, view: ItemView, of: Of) -> tuple[Joint, ...]:
        pose, compute = self._pose(view), view.shared.compute
        picture = np.asarray((view.truth if of == "truth" else view.composite)[0])

        def estimate() -> tuple[Joint, ...]:
            joints: tuple[Joint, ...] = estimator(pose).estimate(picture, item_id=view.item_id, of=of, compute=compute)
            return joints

        joints: tuple[Joint, ...] = view.shared.once(("pose", pose), estimate) if of == "truth" else estimate()
        return joints

    def _pose(self, view: ItemView) -> str:
        return view.shared.compute.pose or self.pose


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
        for index, estimate in _within(references[one], found.get(other, [])):
            pairs[index] = Pair(reference[index], estimate)
    return [pairs[index] for index in range(len(reference))]


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

    def cost(one: int, other: int) -> float:
        joints = dict(references[one])
        pairs = [Pair(joints[index], estimate) for index, estimate in _within(references[one], found[other])]
        distances = [pair.distance_pixels for pair in pairs if pair.estimate is not None]
        return math.fsum(distances) / len(distances) if distances else math.inf

    costs = np.array([[cost(one, other) for other in others] for one in ones])
    # Whoever shares no joint with anybody is the last resort, at a finite price.
    finite = costs[np.isfinite(costs)]
    dearest = (float(finite.max()) if finite.size else 0.0) * (len(ones) + 1) + 1
    rows, columns = linear_sum_assignment(np.where(np.isfinite(costs), costs, dearest))
    chosen = {ones[row]: others[column] for row, column in zip(rows, columns, strict=True)}
    return [(one, chosen.get(one, -1)) for one in ones]


def _within(reference: Numbered, found: Numbered) -> list[tuple[int, Joint | None]]:
    """The joints of one person: index in the reference and the estimate."""
    pairs = []
    for name in dict.fromkeys(joint.name for _, joint in reference):
        ours, theirs = [one for one in reference if one[1].name == name], [joint for _, joint in found if joint.name == name]
        pairs += _of_name(ours, theirs)
    return pairs


def _of_name(reference: Numbered, found: Sequence[Joint]) -> list[tuple[int, Joint | None]]:
    sided = all(joint.side for joint in (*(one for _, one in reference), *found))
    whose = {joint.side_of for joint in (*(one for _, one in reference), *found)}
    if sided and len(whose) == 1:
        by_side = {joint.side: joint for joint in found}
        return [(index, by_side.get(joint.side)) for index, joint in reference]
    if sided and len(found) == 2 and {joint.side_of for _, joint in reference} == {"image"}:
        left, right = sorted(found, key=lambda joint: joint.x)
        return [(index, left if joint.side == "left" else right) for index, joint in reference]
    # The way to pair at most two with at most two that is shortest in all.
    slots: list[Joint | None] = [*found, *[None] * max(0, len(reference) - len(found))]

    def length(order: Sequence[Joint | None]) -> tuple[int, float]:
        pairs = [Pair(joint, estimate) for (_, joint), estimate in zip(reference, order, strict=True)]
        return order.count(None), math.fsum(pair.distance_pixels for pair in pairs if pair.estimate is not None)

    best = min(permutations(slots, len(reference)), key=length)
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
        if score.metric == Wnjd.name and score.value is not None:
            of_method = values.setdefault(score.method, {})
            for joint, value in score.details["by_joint"].items():
                of_method.setdefault(joint, []).append(float(value))
    return {
        method: {joint: JointMean(math.fsum(found) / len(found), len(found)) for joint, found in sorted(joints.items())}
        for method, joints in values.items()
    }
