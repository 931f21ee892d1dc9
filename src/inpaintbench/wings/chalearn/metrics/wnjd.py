"""Weakly normalised joint distance: does a repaired picture still show the pose?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack, get_args

import numpy as np

from inpaintbench.catalogue import known_name
from inpaintbench.deviations import Deviation
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where
from inpaintbench.types import Joint
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.poses import estimator
from inpaintbench.wings.chalearn.poses.base import Of
from inpaintbench.wings.chalearn.poses.matching import Pair, label, match

Reference = Literal["annotation", "estimate"]
MissingJoints = Literal["leave_out", "diagonal"]


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
        diagonal = math.hypot(view.width, view.height)
        return _measurement(pairs, known, diagonal=diagonal, missing_joints=self.missing_joints)

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


def _measurement(
    pairs: Sequence[Pair], known: Sequence[str], *, diagonal: float, missing_joints: MissingJoints
) -> Measurement:  # fmt: skip
    comparable = [pair for pair in pairs if pair.reference.name in known]
    compared = [pair for pair in comparable if pair.estimate is not None]
    counts = {
        "joints": len(compared),
        "missing": len(comparable) - len(compared),
        "unknown": len(pairs) - len(comparable),
    }
    if not comparable:
        return Measurement(None, "the estimator knows none of the labelled joints", counts)
    counted = compared if missing_joints == "leave_out" else comparable
    if not counted:
        return Measurement(None, "the estimator finds none of the joints in the repaired picture", counts)
    most = math.inf if missing_joints == "leave_out" else diagonal
    distances = [min(pair.distance_pixels, most) for pair in counted]
    by_joint: dict[str, list[float]] = {}
    for pair, distance in zip(counted, distances, strict=True):
        by_joint.setdefault(label(pair.reference), []).append(distance / diagonal)
    means = {joint: math.fsum(shares) / len(shares) for joint, shares in sorted(by_joint.items())}
    return Measurement(math.fsum(distances) / (len(counted) * diagonal), details={**counts, "by_joint": means})
