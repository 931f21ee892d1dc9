"""An edit without a network that spoils what should stay: the object beside its place."""

from __future__ import annotations

import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.eval.methods.base import Method, where_judged
from inpaintbench.ranges import Offset
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


class EditShift(Method):
    """Lays a copy of the object some pixels to the right over the frame; without a mask the whole frame moves, its left column
    repeated.

    Args:
        pixels: how far, 0 or more; 0 leaves everything as it is.

    Raises:
        InputError: a distance below 0.
    """

    name = "edit_shift"
    version = "1"
    stateless = True
    needs = ("input",)
    uses = ("hole", "object_mask")

    def __init__(self, *, pixels: Offset = 12) -> None:
        if pixels < 0:
            raise InputError(f"pixels is {pixels}, choose how far the object moves, 0 or more")
        self.pixels = pixels

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``."""
        source = np.maximum(np.arange(view.width) - self.pixels, 0)
        frames = view.input[:, :, source]
        if view.has("object_mask"):
            inside = view.object_mask[:, :, source] & (np.arange(view.width) >= self.pixels)
            frames = np.where(inside[..., None], frames, view.input)
        return where_judged(view, frames)
