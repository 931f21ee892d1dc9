"""Methods without a network that look at one frame at a time: they fill its holes, or filter it whole."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError
from inpaintbench.eval.exemplar.filling import Backend, fill, select_backend
from inpaintbench.eval.methods.base import EachFrame, Method, WholeFrames, fill_in_place
from inpaintbench.ranges import Radius, Seed, Side, Whole
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

_LARGEST_PATCH_PIXELS = 21  # sums of squares of a larger one could outgrow 32 bits
_TELEA_RADIUS_PIXELS = 3.0


class Blank(Method):
    """Fills nothing: holes keep the fill value of the input, which is the floor any method has to beat."""

    name = "blank"
    version = "1"
    stateless = True
    needs = ("input",)
    reference = True

    def inpaint(self, view: ItemView) -> Frames:
        """A copy of the input, ``uint8[T, H, W, 3]``."""
        return view.input.copy()


class _OpenCV(EachFrame):
    algorithm: int

    def __init__(self, *, radius_pixels: Radius = 3.0) -> None:
        self.radius_pixels = radius_pixels

    def fill(self, picture: Frames, missing: npt.NDArray[np.bool_]) -> Frames:
        """The frame as OpenCV fills it."""
        return np.asarray(cv2.inpaint(picture, missing.view(np.uint8), self.radius_pixels, self.algorithm), np.uint8)


class Telea(_OpenCV):
    """Fills each frame by itself, from the border of the hole inwards (Telea, "An image inpainting technique based on the fast
    marching method", 2004, as OpenCV has it).

    Args:
        radius_pixels: how far around a pixel its colour is drawn from.
    """

    name = "telea"
    version = "1"
    algorithm = cv2.INPAINT_TELEA


class NavierStokes(_OpenCV):
    """Fills each frame by itself, continuing the lines of equal brightness into the hole (Bertalmio, Bertozzi and Sapiro,
    "Navier-Stokes, fluid dynamics, and image and video inpainting", 2001, as OpenCV has it).

    Args:
        radius_pixels: how far around a pixel its colour is drawn from.
    """

    name = "navier_stokes"
    version = "1"
    algorithm = cv2.INPAINT_NS


class Biharmonic(EachFrame):
    """Fills each frame by itself with the smoothest surface that meets the border of the hole in level and slope (Damelin and
    Hoang, "On surface completion and image inpainting by biharmonic functions", 2018, as scikit-image has it).

    Exact for any plane of colours; blurred where there was texture. Parts of a hole that do not touch are solved for one by one,
    which gives the same and is faster. The largest part decides what a frame takes: its pixels are unknowns of one system.
    """

    name = "biharmonic"
    version = "1"

    def fill(self, picture: Frames, missing: npt.NDArray[np.bool_]) -> Frames:
        """The frame with the surface in its hole, rounded."""
        from skimage.restoration import inpaint_biharmonic

        frame = np.where(missing[..., None], np.uint8(0), picture) / 255
        solution = inpaint_biharmonic(frame, missing, split_into_regions=True, channel_axis=-1)
        return np.asarray(np.rint(255 * np.clip(solution, 0, 1)), np.uint8)


class Exemplar(EachFrame):
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

    def fill(self, picture: Frames, missing: npt.NDArray[np.bool_]) -> Frames:
        """The frame with patches of itself in its hole."""
        filled: Frames | None = fill(
            picture, missing, seed=self.seed, patch_pixels=self.patch_pixels, levels=self.levels, iterations=self.iterations,
            backend=self.backend,
        )  # fmt: skip
        if filled is None:
            [filled] = fill_in_place(picture[None].copy(), missing[None], radius_pixels=_TELEA_RADIUS_PIXELS)
        return filled


class Median(WholeFrames):
    """Gives every pixel the median of a square around it, channel by channel: removes specks and keeps edges.

    Args:
        window_pixels: side of the square, odd, from 3 to 99.

    Raises:
        InputError: a side that is even or out of range.
    """

    name = "median"
    version = "1"

    def __init__(self, *, window_pixels: Side = 3) -> None:
        if window_pixels not in range(3, 100, 2):
            raise InputError(f"window_pixels is {window_pixels}, choose an odd number from 3 to 99")
        self.window_pixels = int(window_pixels)

    def changed(self, view: ItemView) -> Frames:
        """The filtered frames."""
        # A frame has to lie in one piece: OpenCV takes no slices of wider ones.
        return np.array([cv2.medianBlur(np.ascontiguousarray(frame), self.window_pixels) for frame in view.input], np.uint8)


class Gaussian(WholeFrames):
    """Smooths every frame with a Gaussian, channel by channel: removes fine noise, and what is fine in the picture with it.

    Args:
        sigma_pixels: standard deviation, above 0.

    Raises:
        InputError: a standard deviation that is not above 0.
    """

    name = "gaussian"
    version = "1"

    def __init__(self, *, sigma_pixels: Radius = 1.5) -> None:
        if not sigma_pixels > 0:
            raise InputError(f"sigma_pixels is {sigma_pixels}, choose a number above 0, e.g. 1.5")
        self.sigma_pixels = float(sigma_pixels)

    def changed(self, view: ItemView) -> Frames:
        """The filtered frames."""
        sigma = self.sigma_pixels
        return np.stack([cv2.GaussianBlur(frame, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE) for frame in view.input])
