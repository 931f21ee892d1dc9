"""An edit without a network that is not steady: every frame is a little brighter or darker than it should be."""

from __future__ import annotations

import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.eval.methods.base import Method, where_judged
from inpaintbench.ranges import Whole
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


class EditFlicker(Method):
    """Brightens and darkens frames in turn: FF-alpha and FF-beta rise with the strength.

    Args:
        levels: grey levels added to even frames and taken from odd ones, 0 to 127; 0 leaves everything as it is.

    Raises:
        InputError: levels outside 0..127.
    """

    name = "edit_flicker"
    version = "1"
    stateless = True
    needs = ("input",)
    uses = ("hole",)

    def __init__(self, *, levels: Whole = 12) -> None:
        if not 0 <= levels <= 127:
            raise InputError(f"levels is {levels}, choose grey levels from 0 (nothing changes) to 127")
        self.levels = levels

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``."""
        signs = np.where(np.arange(view.frames) % 2 == 0, self.levels, -self.levels)
        frames = np.clip(view.input.astype(np.int16) + signs[:, None, None, None], 0, 255).astype(np.uint8)
        return where_judged(view, frames)
