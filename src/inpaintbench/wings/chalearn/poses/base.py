"""Base class of pose estimators, and joints as JSON."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import Leaf, unknown_name
from inpaintbench.compute import Compute
from inpaintbench.errors import InputError
from inpaintbench.types import Joint

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


def joints_of(rows: Iterable[Mapping[str, Any]], *, where: str) -> tuple[Joint, ...]:
    """Joints from plain data: ``name``, ``x`` and ``y``, and where known ``side``, ``person``, ``side_of``.

    Args:
        rows: as read from JSON or CSV.
        where: what they are from, for errors.

    Raises:
        InputError: an unknown joint or side, or a coordinate that is no number.
    """
    return tuple(_joint(row, where) for row in rows)


def _joint(row: Mapping[str, Any], where: str) -> Joint:
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
    return Joint(person, name, side, x, y, side_of=str(row.get("side_of") or "person"))
