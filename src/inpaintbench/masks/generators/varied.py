"""The hole of another item of the same clip, as an axis of a paired design makes it."""

from __future__ import annotations

import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.masks.axes import AXES
from inpaintbench.masks.axes.base import known_level
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.view import ItemView


class Varied(Generator):
    """The hole is ``object_mask``, that of the unchanged item, at one ``level`` of one ``axis``.

    Along most axes it is the same hole, or the same cut to the new clip's size and frames. Levels share their random numbers.
    """

    name = "varied"
    version = "1"
    needs = ("object_mask",)
    same_draw = ("level",)

    def __init__(self, *, axis: str = "hole_duration", level: str | None = None) -> None:
        """``level``: one of the axis's ``levels``; the last one by default.

        Raises:
            UnknownNameError: no such axis or level.
            InputError: an axis of presets, which the generator of the presets draws.
        """
        self.axis = AXES.get(axis)()
        if self.axis.changes == "preset":
            raise InputError(f"the axis {axis!r} is one of presets: devil_blobs draws its holes")
        self.level = known_level(self.axis, self.axis.levels[-1] if level is None else level)

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:
        """The hole of this level, ``bool[T, H, W]`` of the level's clip.

        Raises:
            Rejected: the axis cannot make it of this hole.
        """
        return Drawn(self.axis.hole(self.level, view.object_mask, rng))
