"""Pose estimators: each says where the joints of people in a picture are."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue
from inpaintbench.errors import InputError
from inpaintbench.types import content_id

if TYPE_CHECKING:
    from inpaintbench.wings.chalearn.poses.base import PoseEstimator

POSES: Catalogue[type[PoseEstimator]] = Catalogue(
    "pose estimator",
    {
        "stored": "inpaintbench.wings.chalearn.poses.stored:Stored",
        "keypoint_rcnn": "inpaintbench.wings.chalearn.poses.keypoint_rcnn:KeypointRcnn",
        "command": "inpaintbench.wings.chalearn.poses.command:CommandPose",
    },
    base="inpaintbench.wings.chalearn.poses.base:PoseEstimator",
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
