"""Contract of axes: versions of one clip with one hole that differ in one stated property and in nothing else."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from inpaintbench.catalogue import Leaf
from inpaintbench.types import Frames, Hole

Changes = Literal["preset", "clip", "hole", "input"]


class Version(NamedTuple):
    """One version of a clip and its hole, before its input is made."""

    truth: Frames
    """``uint8[T, H, W, 3]`` RGB."""
    fps: float
    hole: Hole
    """``bool[T, H, W]``, as methods are given it."""
    missing: Hole
    """``bool[T, H, W]``, pixels that are missing; another than ``hole`` where the hole is not exact."""


class Axis(Leaf, ABC):
    """Axis of a paired design: it makes from one clip with one hole a version for each of its levels.

    What a leaf does not define stays as it is: the clip, its hole, and an input that is the truth with its hole filled.
    """

    levels: tuple[str, ...]
    """Levels in the order of ``property``, the least first."""
    base_level: str | None = None
    """Level that the unchanged item of the clip already has; None where every level is made."""
    changes: ClassVar[Changes]
    """What its versions differ in: the preset of the hole, the clip, the hole, or the known pixels of the input."""
    property: str
    """What differs between levels, in words, e.g. ``size of the hole``."""
    truth: str = "the clip"
    """What the versions are scored against, in words."""

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

    def input(self, level: str, version: Version, rng: np.random.Generator) -> Frames | None:  # noqa: ARG002 - leaf signature
        """Frames that methods see, ``uint8[T, H, W, 3]``; None where they are the truth with its hole filled.

        Whoever calls fills what is missing; the leaf need not.
        """
        return None

    def facts(self, level: str, version: Version, shown: Frames | None) -> Mapping[str, float]:  # noqa: ARG002 - leaf signature
        """What was changed, measured: name, with its unit -> number. ``shown`` is the stored input, if there is one."""
        return {}
