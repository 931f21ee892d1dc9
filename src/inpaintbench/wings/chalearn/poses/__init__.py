"""Pose estimators: each says where the joints of people in a picture are; their base class, and joints as JSON."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import Catalogue, Leaf, unknown_name
from inpaintbench.compute import Compute
from inpaintbench.errors import InputError
from inpaintbench.types import Joint, content_id

Picture = npt.NDArray[np.uint8]
# What the picture is.
Of = Literal["truth", "prediction"]

# Joints that people have two of, then those that they have one of.
SIDED = ("ankle", "knee", "hip", "wrist", "elbow", "shoulder", "eye", "ear")
MIDDLE = ("pelvis", "thorax", "upper_neck", "head_top", "nose", "head")
JOINT_NAMES = (*SIDED, *MIDDLE)


class PoseEstimator(Leaf, ABC):
    """A way to find joints."""

    argument: str | None = None
    """Name of the one text that it is built with, such as "file"; None = it is built with nothing."""

    joint_names: tuple[str, ...]
    """Joints that it can find; labelled joints of another name are left out of a comparison instead of counting as lost."""

    @abstractmethod
    def estimate(self, picture: Picture, *, item_id: str, of: Of, compute: Compute) -> tuple[Joint, ...]:
        """The joints of everybody in ``picture``, ``uint8[H, W, 3]`` RGB; nothing where nobody is found.

        Raises:
            NotMeasurable: there is no answer; the text says why.
        """

    @abstractmethod
    def content(self) -> str:
        """Changes whenever the file or the program behind it does."""


POSES: Catalogue[type[PoseEstimator]] = Catalogue(
    "pose estimator",
    {
        "stored": "inpaintbench.wings.chalearn.poses.stored:Stored",
        "keypoint_rcnn": "inpaintbench.wings.chalearn.poses.keypoint_rcnn:KeypointRcnn",
        "command": "inpaintbench.wings.chalearn.poses.command:CommandPose",
    },
    base="inpaintbench.wings.chalearn.poses:PoseEstimator",
)


def identity(spec: str) -> str:
    """16 hex digits that change with the estimator, its version and the file or program that it is given.

    Raises:
        UnknownNameError: no such estimator.
        InputError: an argument is missing, too much or cannot be used.
    """
    leaf = estimator(spec)
    return content_id(leaf.name, leaf.version, leaf.content())


def estimator(spec: str) -> PoseEstimator:
    """The estimator of ``keypoint_rcnn``, ``stored:FILE`` or ``command:PROGRAM ARGUMENTS``, built once a process.

    Raises:
        UnknownNameError: no such estimator.
        InputError: an argument is missing, too much or cannot be used.
    """
    argument = spec.partition(":")[2]
    state = os.stat(argument) if os.path.isfile(argument) else None
    return _built(spec, None if state is None else (state.st_size, state.st_mtime_ns))


@lru_cache(maxsize=4)
def _built(spec: str, state: tuple[int, int] | None) -> PoseEstimator:  # noqa: ARG001 - a file that changed is read again
    name, colon, argument = spec.partition(":")
    leaf = POSES.get(name)
    build: Callable[..., PoseEstimator] = leaf  # with one text, or with nothing
    wanted = leaf.argument
    if wanted and not argument:
        raise InputError(f"pose estimator {spec!r} lacks its {wanted}: write {name}:{wanted.upper()}")
    if colon and not wanted:
        raise InputError(f"pose estimator {name!r} takes nothing after its name, {spec!r} gives {argument!r}")
    return build(argument) if wanted else build()


def joints_of(rows: Iterable[Mapping[str, Any]], *, where: str) -> tuple[Joint, ...]:
    """Joints from plain data: ``name``, ``x`` and ``y``, and where known ``side``, ``person``, ``side_of``.

    Args:
        rows: as read from JSON or CSV.
        where: what they are from, for errors.

    Raises:
        InputError: an unknown joint or side, or a coordinate that is no number.
    """
    joints = []
    for row in rows:
        if not isinstance(row, Mapping):
            raise InputError(f"a joint of {where} is {row!r}; wanted name, side, x and y")
        name, side = str(row.get("name")), row.get("side") or None
        if name not in JOINT_NAMES:
            raise InputError(f"{where}: {unknown_name('joint', name, list(JOINT_NAMES))}")
        if side not in (None, "left", "right"):
            raise InputError(f"side of the {name} of {where} is {side!r}; write left, right or nothing")
        try:
            person, x, y = int(row.get("person") or 0), float(row["x"]), float(row["y"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"the {name} of {where} has no x, y or person that is a number: {dict(row)}") from error
        if not (math.isfinite(x) and math.isfinite(y)):
            raise InputError(f"the {name} of {where} lies at ({x}, {y}); leave a joint out that was not found")
        joints.append(Joint(person, name, side, x, y, side_of=str(row.get("side_of") or "person")))
    return tuple(joints)
