"""Patches of the picture itself."""

from __future__ import annotations

import cv2
import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.eval.exemplar.filling import Backend, fill, select_backend
from inpaintbench.eval.methods.base import Method, fill_each_frame
from inpaintbench.ranges import Seed, Side, Whole
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

_LARGEST_PATCH_PIXELS = 21  # sums of squares of a larger one could outgrow 32 bits
_TELEA_RADIUS_PIXELS = 3.0


class Exemplar(Method):
    """Fills each frame by itself with patches of what is known of it: seeded random matches from coarse to fine, as PatchMatch
    (Barnes et al., 2009) finds them, blended by the vote of those that overlap (Wexler et al., 2007). Needs no weights.

    A picture that repeats itself is continued exactly. The same seed gives the same bytes on every run, with or without numba.
    Frames without one whole patch to copy are filled like ``telea``.

    Args:
        seed: another one gives another filling.
        patch_pixels: side of a patch, odd, 3 to 21.
        levels: sizes of the picture that are worked on, each half of the one before.
        iterations: rounds of votes in each of the smaller sizes.
        backend: "auto", "numba" or "numpy"; numba is many times faster.

    Raises:
        InputError: a constant out of its range. MissingExtraError: numba was asked for and is not installed.
    """

    name = "exemplar"
    version = "1"
    stateless = True
    needs = ("input", "hole")

    def __init__(
        self, *, seed: Seed = 0, patch_pixels: Side = 7, levels: Whole = 5, iterations: Whole = 2, backend: Backend = "auto"
    ) -> None:
        if not 3 <= patch_pixels <= _LARGEST_PATCH_PIXELS or patch_pixels % 2 == 0:
            raise InputError(f"patch_pixels is {patch_pixels}, choose an odd number from 3 to {_LARGEST_PATCH_PIXELS}")
        for name, value in (("levels", levels), ("iterations", iterations)):
            if value < 1:
                raise InputError(f"{name} is {value}, choose a whole number from 1 up")
        select_backend(backend)
        self.seed, self.patch_pixels, self.levels, self.iterations = seed, patch_pixels, levels, iterations
        self.backend: Backend = backend

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``; a frame that is all hole stays as it is."""
        filled = view.input.copy()
        hole = view.hole
        for index in np.flatnonzero(hole.any(axis=(1, 2)) & ~hole.all(axis=(1, 2))):
            picture = fill(
                view.input[index],
                hole[index],
                seed=self.seed,
                patch_pixels=self.patch_pixels,
                levels=self.levels,
                iterations=self.iterations,
                backend=self.backend,
            )
            if picture is None:
                alone = slice(index, index + 1)
                picture = fill_each_frame(
                    view.input[alone], hole[alone], algorithm=cv2.INPAINT_TELEA, radius_pixels=_TELEA_RADIUS_PIXELS
                )[0]
            filled[index] = picture
        return filled
