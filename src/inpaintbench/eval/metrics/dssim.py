"""Structural dissimilarity."""

from __future__ import annotations

from typing import Any, Unpack

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, Metric, Where, mean_over_clip, region_pixels
from inpaintbench.ranges import Amount, Pixels, Positive, Side, Whole
from inpaintbench.view import ItemView

Map = npt.NDArray[np.float64]
Picture = npt.NDArray[Any]


class Dssim(Metric):
    """``(1 - SSIM) / 2`` of each frame over the pixels of a region, averaged over frames.

    0 for a perfect copy, at most 1. SSIM is that of Wang et al., 2004, with a Gaussian window, channel by channel. The challenge
    that printed it as "SSIM" (ChaLearn LAP 2018, tracks 1 and 2) scored with scikit-image before 0.16, which smoothed with more
    taps than the window that the sample covariance and the cropped border were made for; both numbers are constants here. Values
    equal those of scikit-image for 13 taps and a window of 11 (before 0.16) and for 11 and 11 (since then). Frames without a
    pixel of the region that has a value are left out.

    Args:
        data_range: L of the constants (K L)^2; intensities are 0..1.
        sigma: of the Gaussian, in pixels.
        taps: of the Gaussian in each direction, odd; beyond the frame's edge the picture is mirrored, its outermost pixels
            repeated.
        window_pixels: side of the window by whose pixels covariances are corrected, and of which half, rounded down, is cut off
            at each edge of the frame, odd.
        k1: constant of the luminance term.
        k2: constant of the contrast term.
        ddof: 1 for the sample covariance of as many values as the window has pixels, 0 for the population's.

    Raises:
        InputError: a number of taps or pixels that is not odd, or a sigma that is not above 0.
    """

    name = "dssim"
    version = "1"
    higher_is_better = False
    decimals = 4
    bounds = (0.0, 1.0)
    needs = ("truth", "composite", "hole")

    def __init__(
        self,
        *,
        data_range: Positive,
        sigma: Pixels,
        taps: Side,
        window_pixels: Side,
        k1: Amount,
        k2: Amount,
        ddof: Whole,
        **where: Unpack[Where],
    ) -> None:
        for name, number in (("taps", taps), ("window_pixels", window_pixels)):
            if number < 3 or number % 2 == 0:
                raise InputError(f"{name} is {number}, choose an odd number from 3")
        if not sigma > 0:
            raise InputError(f"sigma is {sigma}, choose a number above 0, e.g. 1.5")
        super().__init__(**where)
        self.window_pixels, self.half, self.edge = window_pixels, taps // 2, window_pixels // 2
        self.kernel = _gaussian(taps, sigma=sigma)
        pixels = window_pixels**2
        self.correction = pixels / (pixels - ddof)
        self.c1, self.c2 = (k1 * data_range * 255) ** 2, (k2 * data_range * 255) ** 2

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """Values in 0..1 for each region; None where no frame has a pixel of it with a value.

        Raises:
            NotMeasurable: the frames are smaller than the window.
        """
        if min(view.height, view.width) < self.window_pixels:
            raise NotMeasurable(
                f"frames of {view.width}x{view.height} are smaller than the window of {self.window_pixels}x{self.window_pixels}"
            )
        values: dict[str, list[float]] = {region: [] for region in self.regions}
        masks = {region: region_pixels(view, region, band_radius_pixels=self.band_radius_pixels) for region in self.regions}
        for index, (truth, composite) in enumerate(zip(view.truth, view.composite, strict=True)):
            dissimilarity = self.dissimilarity(truth, composite)
            for region, pixels in masks.items():
                inside = pixels[index, self.edge : -self.edge, self.edge : -self.edge]
                if inside.any():
                    values[region].append(float(dissimilarity[inside].mean()))
        missing = "no frame has a pixel of the region {!r} at least {} px from the frame's edge"
        return {
            region: mean_over_clip(scores, parts="frames", missing=missing.format(region, self.edge))
            for region, scores in values.items()
        }

    def dissimilarity(self, truth: Picture, composite: Picture) -> Map:
        """At every pixel that has a value, averaged over channels.

        Args:
            truth: ``[H, W, 3]`` with levels of 0..255, of any numeric type.
            composite: the same.

        Returns:
            ``float64[H - window + 1, W - window + 1]``.
        """
        height, width = truth.shape[:2]
        similarity = np.zeros((height, width))
        # Windows that hold no changed pixel are exactly 0, so only those around the changed ones are computed.
        changed = (truth != composite).any(axis=2).view(np.uint8)
        left, top, across, down = cv2.boundingRect(changed)
        if across:
            rows = slice(max(top - self.half, 0), min(top + down + self.half, height))
            columns = slice(max(left - self.half, 0), min(left + across + self.half, width))
            similarity[rows, columns] = self._inside(self._padded(truth, rows, columns), self._padded(composite, rows, columns))
        return similarity[self.edge : -self.edge, self.edge : -self.edge]

    def _padded(self, picture: Picture, rows: slice, columns: slice) -> Map:
        half = self.half
        wide = cv2.copyMakeBorder(picture, half, half, half, half, cv2.BORDER_REFLECT)
        return np.asarray(wide[rows.start : rows.stop + 2 * half, columns.start : columns.stop + 2 * half], np.float64)

    def _inside(self, x: Map, y: Map) -> Map:
        mean_x, mean_y = self._smoothed(x), self._smoothed(y)
        product, squares = mean_x * mean_y, mean_x * mean_x + mean_y * mean_y
        covariance = self.correction * (self._smoothed(x * y) - product)
        variances = self.correction * (self._smoothed(x * x + y * y) - squares)
        similarity = (2 * product + self.c1) * (2 * covariance + self.c2) / ((squares + self.c1) * (variances + self.c2))
        dissimilarity: Map = (1 - similarity.mean(axis=2)) / 2
        return dissimilarity

    def _smoothed(self, picture: Map) -> Map:
        half = self.half
        smooth = cv2.sepFilter2D(picture, cv2.CV_64F, self.kernel, self.kernel)
        return np.asarray(smooth[half:-half, half:-half], np.float64)


def _gaussian(taps: int, *, sigma: float) -> Map:
    offsets = np.arange(taps) - taps // 2
    weights = np.exp(-(offsets**2) / (2 * sigma**2))
    normalised: Map = weights / weights.sum()
    return normalised
