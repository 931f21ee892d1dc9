"""Contract of axes: versions of one clip with one hole that differ in one stated property and in nothing else."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from inpaintbench.catalogue import Leaf, known_name
from inpaintbench.types import Frames, Hole

Changes = Literal["preset", "clip", "hole", "input"]
# Least side of a truth that is made smaller, pixels: what networks of video inpainting make of it, an eighth, still has eight.
LEAST_SIDE = 64


class Axis(Leaf, ABC):
    """Axis of a paired design: it makes from one clip with one hole a version for each of its levels.

    What a leaf does not define stays as it is: the clip, its hole, and an input that is the truth with its hole filled.
    """

    levels: tuple[str, ...]
    """Levels, that with which the others are compared first, in the order of ``property`` where there is one."""
    base_level: str | None = None
    """Level that the unchanged item of the clip already has; None where every level is made."""
    changes: ClassVar[Changes]
    """What its versions differ in: the preset of the hole, the clip, the hole, or the known pixels of the input."""
    property: str
    """What differs between levels, in words, e.g. ``size of the hole``."""
    truth: str = "the clip"
    """What the versions are scored against, in words."""
    exact: ClassVar[bool] = True
    """False where what is missing is the hole of the unchanged item, whatever hole the version has."""

    needs_still_camera: ClassVar[bool] = False
    """True where the camera of the clip must stand still; whoever chooses clips sees to it."""

    def clip(self, level: str, frames: Frames, fps: float) -> tuple[Frames, float] | None:  # noqa: ARG002 - leaf signature
        """Another truth, ``uint8[T, H, W, 3]``, and its frames a second; None where the clip stays as it is.

        Raises:
            Rejected: the clip has no frames or pixels to spare.
        """
        return None

    def hole(self, level: str, hole: Hole, rng: np.random.Generator) -> Hole:  # noqa: ARG002 - leaf signature
        """The hole of this version, made of that of the unchanged clip, both ``bool[T, H, W]``.

        Raises:
            Rejected: nothing would be left of it.
        """
        return hole

    def input(self, level: str, truth: Frames, hole: Hole, fps: float, rng: np.random.Generator) -> Frames | None:  # noqa: ARG002 - leaf signature
        """Frames that methods see, ``uint8[T, H, W, 3]``; None where they are the truth with its hole filled.

        Whoever calls fills what is missing; the leaf need not. ``rng`` gives the same numbers for every level.
        """
        return None

    def facts(self, level: str, *, frames: int, height: int, width: int) -> Mapping[str, float]:  # noqa: ARG002 - leaf signature
        """What is stated of a level over a clip of this size: name, with its unit -> number."""
        return {}


def known_level(axis: Axis, level: str) -> str:
    """The name of a level of an axis, checked.

    Raises:
        UnknownNameError: it is none of them.
    """
    return known_name(f"level of {axis.name}", level, axis.levels)
