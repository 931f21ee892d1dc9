"""Structural similarity."""

from __future__ import annotations

from typing import Any, Literal, Unpack

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, Metric, Where, mean_over_clip, region_pixels
from inpaintbench.eval.passes.changed_windows import changed_box
from inpaintbench.eval.passes.similarity_maps import is_worth_compiling, similarity_map
from inpaintbench.ranges import Amount, Pixels, Positive, Side, Whole
from inpaintbench.view import ItemView

Picture = npt.NDArray[np.uint8]
Map = npt.NDArray[np.float64]
Window = Literal["uniform", "gaussian"]
Padding = Literal["valid", "reflect", "zero"]

WINDOWS = ("uniform", "gaussian")
PADDINGS = ("valid", "reflect", "zero")
LARGEST_WINDOW_PIXELS = 255
# Up to here the sums over a window of the squared grey levels of two pictures are exact in float32.
_LARGEST_FLOAT32_PIXELS = 11
_BORDERS = {"reflect": cv2.BORDER_REFLECT, "zero": cv2.BORDER_CONSTANT}


class Ssim(Metric):
    """Structural similarity of each frame over the pixels of a region, averaged over frames.

    Wang et al., 2004, per channel, equal to scikit-image. 1 for a perfect copy. ``SSIM_VARIANTS`` names the constants of several
    papers; values of different variants do not compare. Frames without a pixel of the region that has a value are left out.

    Args:
        data_range: L of the constants (K L)^2. Intensities are 0..1, so 1 is right; DEVIL, CVPR 2022, was scored with 2.
        window: ``"uniform"`` or ``"gaussian"``.
        window_pixels: side of the square window, odd.
        sigma: of the Gaussian window, in pixels, 0 for the uniform one.
        k1: constant of the luminance term.
        k2: constant of the contrast term.
        ddof: 1 for the sample covariance of as many values as the window has pixels, 0 for the population's.
        padding: what lies beyond the frame's edge. ``"valid"``: nothing, so pixels nearer to it than half a window have no
            value; ``"reflect"``: the picture mirrored, its outermost pixels repeated; ``"zero"``: black.
    """

    name = "ssim"
    version = "1"
    higher_is_better = True
    decimals = 4
    bounds = (-1.0, 1.0)
    needs = ("truth", "composite", "hole")

    def __init__(
        self,
        *,
        data_range: Positive,
        window: Window,
        window_pixels: Side,
        sigma: Pixels,
        k1: Amount,
        k2: Amount,
        ddof: Whole,
        padding: Padding,
        **where: Unpack[Where],
    ) -> None:
        _check(window, window_pixels, sigma, padding)
        super().__init__(**where)
        self.window_pixels, self.padding = window_pixels, padding
        self.taps = None if window == "uniform" else _gaussian(window_pixels, sigma=sigma)
        # Means and covariances are kept times the sum of the weights and its square: for a uniform window, whose weights are
        # 1, these are whole numbers until the constants come in, so nothing cancels.
        pixels = window_pixels**2
        self.total = pixels if self.taps is None else 1
        self.c1 = self.total**2 * (k1 * data_range * 255) ** 2
        self.c2 = self.total**2 * (pixels - ddof) / pixels * (k2 * data_range * 255) ** 2

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values in -1..1 for each region; None where no frame has a pixel of it with a value.

        Raises:
            NotMeasurable: the frames are smaller than the window, and not padded.
        """
        if self.padding == "valid" and min(view.height, view.width) < self.window_pixels:
            raise NotMeasurable(
                f"frames of {view.width}x{view.height} are smaller than the window of {self.window_pixels}x{self.window_pixels}"
            )
        values: dict[str, list[float]] = {region: [] for region in self.regions}
        masks = {region: region_pixels(view, region, band_radius_pixels=self.band_radius_pixels) for region in self.regions}
        for index, (truth, composite) in enumerate(zip(view.truth, view.composite, strict=True)):
            similarity = self.similarity(truth, composite)
            for region, pixels in masks.items():
                inside = self._inner(pixels[index]) if self.padding == "valid" else pixels[index]
                if inside.any():
                    values[region].append(float(similarity[inside].mean()))
        return {region: mean_over_clip(found, parts="frames", missing=self._missing(region)) for region, found in values.items()}

    def similarity(self, truth: Picture, composite: Picture) -> Map:
        """Similarity at every pixel that has a value, averaged over channels.

        Returns:
            ``float64[H, W]``, or ``float64[H - window + 1, W - window + 1]`` without padding.
        """
        truth, composite = self._padded(truth), self._padded(composite)
        margin = self.window_pixels - 1
        similarity = np.ones((truth.shape[0] - margin, truth.shape[1] - margin))
        # Windows that hold no changed pixel are exactly 1, so only those around the changed ones are computed.
        box = changed_box(truth, composite)
        if box is not None:
            rows, columns = (
                slice(max(span.start - margin, 0), min(span.stop + margin, length))
                for span, length in zip(box, truth.shape, strict=False)
            )
            changed = (slice(rows.start, rows.stop - margin), slice(columns.start, columns.stop - margin))
            similarity[changed] = self._similarity(truth[rows, columns], composite[rows, columns])
        return similarity

    def _similarity(self, truth: Picture, composite: Picture) -> Map:
        if is_worth_compiling(truth, window_pixels=self.window_pixels, taps=self.taps):
            return similarity_map(truth, composite, window_pixels=self.window_pixels, taps=self.taps, c1=self.c1, c2=self.c2)
        x, y = truth.astype(np.float32), composite.astype(np.float32)
        sum_x, sum_y, sum_xy = self._window_sums(x), self._window_sums(y), self._window_sums(x * y)
        sum_squares = self._window_sums(x * x + y * y)
        product, squares = sum_x * sum_y, sum_x * sum_x + sum_y * sum_y
        likeness = (2 * product + self.c1) * (2 * (self.total * sum_xy - product) + self.c2)
        unlikeness = (squares + self.c1) * (self.total * sum_squares - squares + self.c2)
        similarity: Map = (likeness / unlikeness).mean(axis=2)
        return similarity

    def _window_sums(self, picture: npt.NDArray[np.float32]) -> Map:
        if self.taps is not None:
            return self._inner(cv2.sepFilter2D(picture, cv2.CV_64F, self.taps, self.taps))
        depth = cv2.CV_32F if self.window_pixels <= _LARGEST_FLOAT32_PIXELS else cv2.CV_64F
        sums = cv2.boxFilter(picture, depth, (self.window_pixels, self.window_pixels), normalize=False)
        return self._inner(sums).astype(np.float64, copy=False)

    def _padded(self, picture: Picture) -> Picture:
        if self.padding == "valid":
            return picture
        half = self.window_pixels // 2
        return np.asarray(cv2.copyMakeBorder(picture, half, half, half, half, _BORDERS[self.padding]), np.uint8)

    def _inner(self, picture: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Without the edge where the window does not fit."""
        half = self.window_pixels // 2
        return picture[half:-half, half:-half]

    def _missing(self, region: str) -> str:
        apart = f" at least {self.window_pixels // 2} px from the frame's edge" if self.padding == "valid" else ""
        return f"no frame has a pixel of the region {region!r}{apart}"


def _check(window: str, window_pixels: int, sigma: float, padding: str) -> None:
    for name, value, choices in (("window", window, WINDOWS), ("padding", padding, PADDINGS)):
        if value not in choices:
            raise ValueError(f"{name} is {value!r}, choose from {', '.join(choices)}")
    if window_pixels % 2 == 0 or not 3 <= window_pixels <= LARGEST_WINDOW_PIXELS:
        raise ValueError(f"window_pixels is {window_pixels}, choose an odd number from 3 to {LARGEST_WINDOW_PIXELS}")
    if (sigma > 0) != (window == "gaussian"):
        raise ValueError(f"sigma is {sigma}, choose more than 0 for a Gaussian window and 0 for a uniform one")


def _gaussian(pixels: int, *, sigma: float) -> npt.NDArray[np.float64]:
    """Weights of a window in one direction, with sum 1."""
    distances = np.arange(pixels) - pixels // 2
    weights = np.exp(-0.5 * (distances / sigma) ** 2)
    taps: npt.NDArray[np.float64] = weights / weights.sum()
    return taps
