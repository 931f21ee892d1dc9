"""The contract of pose estimators, wherever their joints come from."""

from __future__ import annotations

import math
from importlib.resources import files
from pathlib import Path

from inpaintbench import contracts, video
from inpaintbench.compute import Compute
from inpaintbench.contracts import Check, NotChecked, require
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.poses import JOINT_NAMES, Of, PoseEstimator

# Id of the item that joints are asked for; a file of stored joints needs it.
ITEM = "item"


def states_its_facts(estimator: PoseEstimator) -> None:
    """Name, version, documentation, and joints that it can find, each once and by a known name."""
    contracts.states_its_facts(estimator, "joint_names")
    foreign = [name for name in estimator.joint_names if name not in JOINT_NAMES]
    require(not foreign, f"it finds {', '.join(foreign)}; joints are {', '.join(JOINT_NAMES)}")
    require(len(set(estimator.joint_names)) == len(estimator.joint_names), f"it names a joint twice: {estimator.joint_names}")


def tells_its_content(estimator: PoseEstimator) -> None:
    """The same text whenever nothing behind it has changed."""
    first, second = estimator.content(), estimator.content()
    require(isinstance(first, str), f"its content is {first!r}, no text")
    require(first == second, f"its content is {first!r} and then {second!r}")


def gives_joints_that_it_names_and_leaves_the_picture_alone(estimator: PoseEstimator) -> None:
    """Joints of known names and sides at finite places, of the truth and of a prediction."""
    answers: tuple[Of, ...] = ("truth", "prediction")
    for of in answers:
        for joint in _joints(estimator, of):
            where = f"{joint.name} at ({joint.x}, {joint.y})"
            require(joint.name in estimator.joint_names, f"its joint_names lack {joint.name!r}, which it finds")
            require(joint.side in (None, "left", "right"), f"side of the {where} is {joint.side!r}, not left, right or None")
            require(math.isfinite(joint.x) and math.isfinite(joint.y), f"it finds the {where}; leave out what was not found")
            require(isinstance(joint.person, int), f"person of the {where} is {joint.person!r}, no number of a person")


def gives_the_same_twice(estimator: PoseEstimator) -> None:
    """Equal pictures have equal joints."""
    first, second = (_joints(estimator, "prediction") for _ in range(2))
    require(first == second, "the second time it gives other joints")


CHECKS: tuple[Check, ...] = (
    states_its_facts,
    tells_its_content,
    gives_joints_that_it_names_and_leaves_the_picture_alone,
    gives_the_same_twice,
)


def _joints(estimator: PoseEstimator, of: Of) -> tuple[Joint, ...]:
    # A woman from the head to the waist, 512x512: the public-domain portrait that scikit-image comes with.
    picture = video.read_image(Path(str(files("skimage") / "data" / "astronaut.png")))
    contracts.read_only(picture)
    try:
        joints = estimator.estimate(picture, item_id=ITEM, of=of, compute=Compute())
    except NotMeasurable as error:
        raise NotChecked(str(error)) from error
    require(isinstance(joints, tuple), f"it gives a {type(joints).__name__}, not a tuple")
    require(all(isinstance(joint, Joint) for joint in joints), "it gives something else than joints")
    return joints
