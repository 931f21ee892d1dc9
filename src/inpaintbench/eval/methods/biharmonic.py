"""Smooth surfaces through what surrounds a hole."""

from __future__ import annotations

import numpy as np

from inpaintbench.eval.methods.base import Method
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


class Biharmonic(Method):
    """Fills each frame by itself with the smoothest surface that meets the border of the hole in level and slope (Damelin and
    Hoang, "On surface completion and image inpainting by biharmonic functions", 2018, as scikit-image has it).

    Exact for any plane of colours; blurred where there was texture. Parts of a hole that do not touch are solved for one by one,
    which gives the same and is faster. The largest part decides what a frame takes: its pixels are unknowns of one system.
    """

    name = "biharmonic"
    version = "1"
    stateless = True
    needs = ("input", "hole")

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``, rounded; a frame that is all hole stays as it is."""
        from skimage.restoration import inpaint_biharmonic

        filled, hole = view.input.copy(), view.hole
        for index in np.flatnonzero(hole.any(axis=(1, 2)) & ~hole.all(axis=(1, 2))):
            missing = hole[index]
            frame = np.where(missing[..., None], np.uint8(0), view.input[index]) / 255
            solution = inpaint_biharmonic(frame, missing, split_into_regions=True, channel_axis=-1)
            filled[index][missing] = np.rint(255 * np.clip(solution[missing], 0, 1)).astype(np.uint8)
        return filled
