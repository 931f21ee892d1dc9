"""WNJD of each joint, with its side: which parts of people a method loses (ChaLearn LAP 2018, Table 7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from inpaintbench.types import Score

METRIC = "wnjd"


class JointMean(NamedTuple):
    """One joint of one method."""

    mean: float
    items: int
    """In which it was compared."""


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
